//! The tables of the console and of the idle processor.

use super::instants::Clock;
use firstlight_profile::recording::Recording;
use firstlight_schema::table::{integers, texts, write, Values};
use firstlight_schema::TableError;
use rustc_hash::FxHashMap;
use std::path::Path;

/// Writes `log`.
pub fn write_log(recording: &Recording, clock: Clock, console: &[u8], bundle: &Path) -> Result<(), TableError> {
    let stamps: FxHashMap<u64, u64> = recording.lines.iter().map(|line| (line.offset, clock.at(line.at))).collect();
    let mut offset = 0_u64;
    let mut rows: Vec<(Option<i64>, String)> = Vec::new();
    for line in console.split_inclusive(|byte| *byte == b'\n') {
        let time = stamps.get(&offset).and_then(|time| i64::try_from(*time).ok());
        let text = String::from_utf8_lossy(line);
        rows.push((time, text.trim_end_matches(['\r', '\n']).to_owned()));
        offset += line.len() as u64;
    }
    write(
        "log",
        vec![
            ("line", integers(1..=rows.len() as u64)),
            ("time_ns", Values::Int64(rows.iter().map(|row| row.0).collect())),
            ("source", texts(rows.iter().map(|_| "console"))),
            ("text", texts(rows.iter().map(|row| row.1.as_str()))),
            ("host_ns", Values::Int64(rows.iter().map(|_| None).collect())),
            ("level", Values::Int64(rows.iter().map(|_| None).collect())),
            ("caller", Values::Text(rows.iter().map(|_| None).collect())),
            ("channel", Values::Text(rows.iter().map(|_| None).collect())),
        ],
        bundle,
    )
}

/// Writes `counters`.
pub fn write_counters(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let idles = &recording.idles;
    write(
        "counters",
        vec![
            ("counter", texts(idles.iter().map(|_| "idle_ns"))),
            ("time_ns", integers(idles.iter().map(|idle| clock.at(*idle)))),
            ("value", integers(idles.iter().map(|idle| idle.idle_ns))),
        ],
        bundle,
    )
}
