//! What the fuzzer has found worth keeping (`fuzz/corpus/FORMAT`): every reader reads all of it without a panic, keeps its
//! promises, and says no more than there is to be said of so many bytes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it is surprised")]

#[path = "literate/promises.rs"]
mod promises;

use firstlight_formats::evidence::Evidence;
use firstlight_formats::format::{Format, Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{by_name, formats, recognise, READERS};
use std::path::Path;

/// So long an input gets when it is repeated.
const LONG_BYTES: usize = 128 << 10;

struct Kept {
    of: &'static dyn Format,
    path: String,
    /// The first line of a file is the record's name.
    name: String,
    bytes: Vec<u8>,
}

fn kept() -> Vec<Kept> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut all = Vec::new();
    for folder in std::fs::read_dir(&corpus).into_iter().flatten().map(Result::unwrap) {
        let format = folder.file_name().into_string().unwrap();
        let of = by_name(&format).unwrap_or_else(|| panic!("{format} is no format, but has a corpus"));
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let data = std::fs::read(&path).unwrap();
            let cut = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
            let bytes = data.get(cut + 1..).unwrap_or_default().to_vec();
            let name = String::from_utf8_lossy(&data[..cut]).into_owned();
            all.push(Kept { of, path: path.display().to_string(), name, bytes });
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

fn read(format: &dyn Format, name: &str, mut bytes: &[u8]) -> Vec<Evidence> {
    let all = format.read(Input { name, bytes: &mut bytes, nested: &READERS }).unwrap_or_default();
    all.iter().for_each(promises::check);
    all
}

fn statements(evidence: &Evidence) -> usize {
    let tree = evidence.calls.as_ref().map_or(0, |calls| calls.nodes.len());
    evidence.marks.len()
        + evidence.spans.len()
        + evidence.log.len()
        + evidence.facts.len()
        + evidence.counters.len()
        + evidence.links.len()
        + evidence.kd.len()
        + evidence.problems.len()
        + tree
}

#[test]
fn the_corpus_is_small_and_of_formats_that_there_are() {
    let all = kept();
    assert!(!all.is_empty());
    let bytes: usize = all.iter().map(|one| one.bytes.len() + one.name.len()).sum();
    assert!(bytes < 256 << 10, "{bytes} bytes are not a small corpus");
}

#[test]
fn every_reader_bears_every_find() {
    for one in kept() {
        let head = Head { name: &one.name, bytes: &one.bytes[..one.bytes.len().min(HEAD_BYTES)] };
        let _ = recognise(&head);
        for format in formats() {
            read(format, &one.name, &one.bytes);
        }
    }
}

#[test]
fn what_is_said_of_a_find_over_and_over_is_no_more_than_its_bytes() {
    for one in kept() {
        let long = one.bytes.repeat(LONG_BYTES / one.bytes.len().max(1) + 1);
        for bytes in [&one.bytes, &long] {
            let said: usize = read(one.of, &one.name, bytes).iter().map(statements).sum();
            assert!(said <= bytes.len() + 64, "{}: {said} statements of {} bytes", one.path, bytes.len());
        }
    }
}
