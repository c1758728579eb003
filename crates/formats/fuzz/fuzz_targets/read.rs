//! Reads whatever the fuzzer makes up, by the reader that `FORMAT` names; without it by the one that recognises the bytes.
//!
//! The first line of an input is the record's file name, because some readers go by it.
#![no_main]

use firstlight_formats::evidence::Evidence;
use firstlight_formats::format::{Format, Head, Input, HEAD_BYTES};
use firstlight_formats::{registry::by_name, sniff::recognise};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FORMAT: LazyLock<Option<&'static dyn Format>> = LazyLock::new(|| {
    let name = std::env::var("FORMAT").ok().filter(|name| !name.is_empty())?;
    Some(by_name(&name).unwrap_or_else(|| panic!("no format is called `{name}`")))
});

fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|&byte| byte == b'\n');
    let (name, mut bytes) = cut.map_or((&b""[..], data), |cut| (&data[..cut], &data[cut + 1..]));
    let name = String::from_utf8_lossy(name);
    let head = Head { name: &name, bytes: &bytes[..bytes.len().min(HEAD_BYTES)] };
    let recognised = recognise(&head);
    let Some(format) = FORMAT.or_else(|| recognised.ok()) else { return };
    if let Ok(all) = format.read(Input { name: &name, bytes: &mut bytes }) {
        all.iter().for_each(check);
    }
});

// What every reader promises of its evidence.
fn check(evidence: &Evidence) {
    for (number, span) in evidence.spans.iter().enumerate() {
        assert!(span.parent.is_none_or(|parent| parent < evidence.spans.len() && parent != number), "{span:?}");
        if let (Some(start), Some(end)) = (span.start_ns, span.end_ns) {
            assert!(start <= end, "{span:?}");
        }
        assert!(span.duration_ns.is_none_or(|duration| duration >= 0), "{span:?}");
    }
    if let Some(calls) = &evidence.calls {
        for (number, node) in calls.nodes.iter().enumerate() {
            assert!(number == 0 || (node.parent as usize) < number, "node {number}");
            assert!((node.function as usize) < calls.functions.len(), "node {number}");
        }
    }
    assert_eq!(evidence.log.iter().count(), evidence.log.len());
}
