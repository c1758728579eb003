//! Writes the records that the pages show of one format into a folder, as seeds for the fuzzer.
//!
//! `seeds FORMAT FOLDER`; each seed is the record's file name, a line end, and its bytes.
#![expect(clippy::unwrap_used, reason = "a tool for developers stops where it is surprised")]

#[path = "../tests/literate/page.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod page;

use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (format, folder) = (arguments.next().unwrap(), arguments.next().unwrap());
    let mut number = 0;
    for path in page::pages() {
        for record in page::Page::open(&path).records() {
            if record.expected.lines().any(|line| line.starts_with(&format!("format {format},"))) {
                let seed = [record.name.as_bytes(), b"\n", &record.bytes].concat();
                std::fs::write(Path::new(&folder).join(format!("page-{number}")), seed).unwrap();
                number += 1;
            }
        }
    }
}
