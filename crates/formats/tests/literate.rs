//! The pages of `docs/reference/formats/records` are the tests: each holds excerpts of records and the evidence they give.
//!
//! A block ```` ```record NAME ```` is a record with that file name (`as=FORMAT` after it forces a reader); the next block
//! ```` ```evidence ```` is what it says. With `BLESS=1` in the environment the evidence is written anew, to be looked at.
//! In a record `\xNN` stands for that byte, `\t` for a tab, and a last line of a single `\` for a missing line end.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

#[path = "literate/dump.rs"]
mod dump;
#[path = "literate/page.rs"]
mod page;

use firstlight_formats::format::{Format, Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{by_name, recognise, READERS};
use page::{pages, Page, Record};

fn evidence(record: &Record) -> String {
    let head = Head { name: &record.name, bytes: &record.bytes[..record.bytes.len().min(HEAD_BYTES)] };
    let format: Result<&dyn Format, String> = match &record.forced {
        Some(name) => by_name(name).ok_or_else(|| format!("no format is called `{name}`")),
        None => recognise(&head).map_err(|error| error.to_string()),
    };
    let read = format.and_then(|format| {
        let mut bytes: &[u8] = &record.bytes;
        format
            .read(Input { name: &record.name, bytes: &mut bytes, nested: &READERS })
            .map_err(|error| error.to_string())
    });
    match read {
        Ok(read) => read.iter().map(dump::evidence).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
fn every_page_says_what_its_records_give() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in pages() {
        let mut page = Page::open(&path);
        for record in page.records() {
            let found = evidence(&record);
            if found != record.expected {
                wrong.push(format!(
                    "{}, `{}`:\n--- expected\n{}+++ found\n{found}",
                    path.display(),
                    record.name,
                    record.expected
                ));
                page.replace(&record, &found);
            }
        }
        if bless {
            page.save();
        }
    }
    assert!(bless || wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_format_has_a_record_on_a_page() {
    let mut shown = std::collections::BTreeSet::new();
    for path in pages() {
        for record in Page::open(&path).records() {
            shown.extend(
                record
                    .expected
                    .lines()
                    .filter_map(|line| line.strip_prefix("format "))
                    .map(|rest| rest.split([' ', ',']).next().unwrap_or_default().to_owned()),
            );
        }
    }
    let missing: Vec<&str> = firstlight_formats::registry::formats()
        .map(|format| format.name())
        .filter(|name| !shown.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no page shows {missing:?}");
}
