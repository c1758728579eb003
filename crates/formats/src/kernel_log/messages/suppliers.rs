//! Which device waits for which.

use crate::evidence::{Evidence, Link, LinkKind, SpanKind};

/// Links a device to what it waits for, from a reason; once, however often it is logged.
pub fn waits_for(device: &str, reason: &str, evidence: &mut Evidence) {
    let Some(supplier) = supplier(reason) else { return };
    let link = Link {
        kind: LinkKind::Supplier,
        from: (SpanKind::Probe, device.to_owned()),
        to: (SpanKind::Probe, supplier.to_owned()),
    };
    if evidence.links.last() != Some(&link) {
        evidence.links.push(link);
    }
}

/// `wait for supplier X`, `supplier X not ready`.
fn supplier(reason: &str) -> Option<&str> {
    let (_, after) = reason.split_once("supplier ")?;
    after.split_whitespace().next()
}

/// In front of a device's own name stands its driver or bus.
pub fn device(who: &[u8]) -> &[u8] {
    who.rsplit(|&byte| byte == b' ').next().unwrap_or(who)
}
