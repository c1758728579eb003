//! `probe of DEVICE returned N after N usecs`, and probes that were put off.

use super::drivers::Drivers;
use super::figure::Figure;
use super::pairs::end;
use super::rows::{task, track};
use super::suppliers::{device, waits_for};
use super::Interpreter;
use crate::evidence::spans::Row;
use crate::evidence::texts::Text;
use crate::evidence::{Evidence, Name, SpanKind, Stamp};
use crate::kernel_log::bytes::{self, split, text};
use std::collections::BTreeMap;

/// `EPROBE_DEFER`; some versions of the kernel print it without its sign.
const DEFER: i64 = 517;

/// What is known of devices that had to wait.
#[derive(Debug, Default)]
pub struct Probes {
    pub(super) drivers: Drivers,
    /// Tries so far, of devices that were put off at least once.
    tries: BTreeMap<String, u32>,
    /// Devices that still waited at the end, with the reason.
    pending: BTreeMap<String, String>,
}

/// Reads a `probe of ` line; no, if it is torn.
pub fn returned(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let rest = &line[b"probe of ".len()..];
    let Some((device, value, us)) = bytes::returned(rest).filter(|(device, ..)| !device.is_empty()) else {
        return false;
    };
    let length = us.saturating_mul(1000);
    let task = task(stamp);
    let spans = &mut evidence.spans;
    let mut row = Row::new(SpanKind::Probe, spans.texts.number(device));
    row.track = task.map_or(Text::EMPTY, |task| track(task, spans));
    all.probes.drivers.name(&mut row, spans);
    if value != 0 {
        spans.attach(&mut row, "returned", value.to_string().as_bytes());
    }
    let deferred = value.abs() == DEFER;
    if deferred && !all.probes.tries.contains_key(spans.texts.get(row.name)) {
        all.probes.tries.insert(spans.texts.get(row.name).to_owned(), 0);
    }
    if let Some(tries) = all.probes.tries.get_mut(spans.texts.get(row.name)) {
        *tries = tries.saturating_add(1);
        spans.attach(&mut row, "try", tries.to_string().as_bytes());
    }
    match task {
        Some(task) => row.set_parent(all.pairs.innermost(task)),
        None => {
            // Nobody says which task it was: the one call that is open, if the probe lies within it.
            let start = stamp.time_ns.map(|end| end.saturating_sub(length));
            let begun = |call: usize| spans.row(call).and_then(Row::start_ns);
            let around = all.pairs.only().filter(|&call| begun(call) <= start && start.is_some());
            if around.is_some() {
                row.set_parent(around);
                spans.attach(&mut row, "parent_by", b"containment");
            }
        }
    }
    let number = end(None, |_| row, (stamp.time_ns, length, Figure::Micros), &mut all.trust, spans);
    all.trust.end_only(number);
    true
}

/// `platform 30a20000.i2c: deferred probe pending: REASON`, `... deferred probe timeout, ignoring dependency`.
pub fn pending(all: &mut Interpreter, _stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let Some((who, what)) = split(line, b": deferred probe ") else { return false };
    let device = text(device(who));
    let reason = match what.strip_prefix(b"pending") {
        Some(rest) => rest.strip_prefix(b": ").unwrap_or(b"reason unknown"),
        None if what.starts_with(b"timeout") => what,
        None => return false,
    };
    let reason = text(reason.trim_ascii_end()).trim_matches(['(', ')']).to_owned();
    waits_for(&device, &reason, evidence);
    all.probes.pending.insert(device, reason);
    true
}

/// Writes what waited to the end.
pub fn finish(all: &mut Interpreter, evidence: &mut Evidence) {
    let pending = std::mem::take(&mut all.probes.pending);
    if pending.is_empty() {
        return;
    }
    let names: Vec<&str> = pending.keys().map(String::as_str).collect();
    evidence.facts.push((Name::Borrowed("kernel.deferred_probes"), names.join(" ")));
    for (device, reason) in &pending {
        evidence.facts.push((Name::Owned(format!("kernel.deferred_probe.{device}")), reason.clone()));
    }
}
