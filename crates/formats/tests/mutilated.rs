//! Records that were cut, torn or soiled on their way: the evidence is partial, its promises hold, and nothing panics.
//!
//! The records are those of the pages, so that every format that is documented is also maltreated.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

#[path = "literate/page.rs"]
#[allow(dead_code, reason = "the pages' own test uses more of it")]
mod page;
#[path = "literate/promises.rs"]
mod promises;

use firstlight_formats::evidence::Evidence;
use firstlight_formats::format::{Head, Input, HEAD_BYTES};
use firstlight_formats::lines::LINE_BYTES;
use firstlight_formats::registry::{by_name, formats, recognise, READERS};
use page::{pages, Page};

struct Shown {
    name: String,
    format: &'static str,
    bytes: Vec<u8>,
}

fn shown() -> Vec<Shown> {
    let mut all = Vec::new();
    for path in pages() {
        for record in Page::open(&path).records() {
            let format = record.expected.strip_prefix("format ").and_then(|rest| by_name(rest.split(',').next()?));
            if let Some(format) = format {
                all.push(Shown { name: record.name, format: format.name(), bytes: record.bytes });
            }
        }
    }
    all
}

/// Reads by the record's own format; an error is a result as well.
fn read(record: &Shown, mut bytes: &[u8]) -> Option<Vec<Evidence>> {
    let head = Head { name: &record.name, bytes: &bytes[..bytes.len().min(HEAD_BYTES)] };
    for format in formats() {
        let _ = format.likelihood(&head);
    }
    let _ = recognise(&head);
    let format = by_name(record.format).unwrap();
    let evidence = format.read(Input { name: &record.name, bytes: &mut bytes, nested: &READERS }).ok()?;
    evidence.iter().for_each(promises::check);
    Some(evidence)
}

// xorshift64: the same mutilations on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn inserted(bytes: &[u8], at: usize, what: &[u8]) -> Vec<u8> {
    [&bytes[..at], what, &bytes[at..]].concat()
}

#[test]
fn cut_anywhere() {
    for record in shown() {
        let step = record.bytes.len() / 2000 + 1;
        for end in (0..record.bytes.len()).step_by(step) {
            read(&record, &record.bytes[..end]);
        }
        for start in (1..record.bytes.len()).step_by(step) {
            read(&record, &record.bytes[start..]);
        }
    }
}

#[test]
fn soiled_anywhere() {
    let dirt: [&[u8]; 8] =
        [b"\0", b"\x1b[31m", b"\xff\xfe", b"\r", b"\n", b"99999999999999999999", b"-", b"[    0.000000] "];
    let mut dice = Dice(0x5eed);
    for record in shown() {
        for round in 0..200 {
            let mut bytes = record.bytes.clone();
            for _ in 0..=round % 4 {
                bytes = inserted(&bytes, dice.below(record.bytes.len() + 1), dirt[dice.below(dirt.len())]);
            }
            read(&record, &bytes);
        }
    }
}

#[test]
fn lines_torn_swapped_and_doubled() {
    let mut dice = Dice(0x7ea2);
    for record in shown() {
        let lines: Vec<&[u8]> = record.bytes.split_inclusive(|&byte| byte == b'\n').collect();
        for _ in 0..100 {
            let mut order = lines.clone();
            let (one, other) = (dice.below(order.len()), dice.below(order.len()));
            order.swap(one, other);
            order.insert(other, lines[dice.below(lines.len())]);
            let torn = dice.below(order.len());
            order[torn] = &order[torn][..dice.below(order[torn].len() + 1)];
            read(&record, &order.concat());
        }
    }
}

#[test]
fn bytes_changed_anywhere() {
    let mut dice = Dice(0xb17e);
    for record in shown().into_iter().filter(|record| !record.bytes.is_empty()) {
        for _ in 0..300 {
            let mut bytes = record.bytes.clone();
            for _ in 0..3 {
                let at = dice.below(bytes.len());
                bytes[at] = dice.below(256) as u8;
            }
            read(&record, &bytes);
        }
    }
}

#[test]
fn line_ends_of_another_system_change_nothing() {
    for record in shown() {
        let text = std::str::from_utf8(&record.bytes).is_ok_and(|text| !text.contains(['\0', '\r', '\x1b']));
        if !text {
            continue;
        }
        let other = String::from_utf8(record.bytes.clone()).unwrap().replace('\n', "\r\n");
        let (expected, found) = (read(&record, &record.bytes), read(&record, other.as_bytes()));
        assert_eq!(found, expected, "{} {}", record.format, record.name);
    }
}

#[test]
fn a_huge_line_in_between() {
    let huge = vec![b'x'; LINE_BYTES + 100];
    for record in shown() {
        let middle = record.bytes.iter().take(record.bytes.len() / 2).rposition(|&byte| byte == b'\n');
        read(&record, &inserted(&record.bytes, middle.map_or(0, |end| end + 1), &huge));
    }
}
