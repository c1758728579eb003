//! `systemd-analyze plot --json=short|pretty`.

use super::plot_units;
use super::unit_times::{is_unit, UnitTimes};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use serde::Deserialize;
use std::io::Read;

/// Reads what `systemd-analyze plot --json=...` prints.
pub struct SystemdPlotJson;

/// More than any plot; the rest of a larger file is not read.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Deserialize)]
struct Row {
    name: Option<String>,
    activated: Option<u64>,
    activating: Option<u64>,
    time: Option<u64>,
    deactivated: Option<u64>,
    deactivating: Option<u64>,
}

impl Format for SystemdPlotJson {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemdPlotJson, Traits { units: 1, stages: 1, ..Traits::of(Origin::Systemd) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = head.bytes.trim_ascii_start();
        if !text.starts_with(b"[") {
            return Likelihood::No;
        }
        let holds = |key: &str| memchr::memmem::find(text, key.as_bytes()).is_some();
        Likelihood::of_signature(["\"name\"", "\"activating\"", "\"activated\"", "\"time\""].into_iter().all(holds))
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = Vec::new();
        input.bytes.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Monotonic) };
        let mut units = Vec::new();
        let mut rest = bytes.trim_ascii_start();
        rest = rest.strip_prefix(b"[").unwrap_or(rest);
        // Row by row, so that of a file that was cut the rows before the cut are kept.
        loop {
            rest = rest.trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
            if rest.is_empty() || rest.starts_with(b"]") {
                break;
            }
            let mut rows = serde_json::Deserializer::from_slice(rest).into_iter::<Row>();
            match rows.next() {
                Some(Ok(row)) => {
                    let read = rows.byte_offset();
                    match unit(row) {
                        Some(unit) => {
                            evidence.understood += 1;
                            units.push(unit);
                        }
                        // Its name is none of a unit.
                        None => evidence.not_understood += 1,
                    }
                    rest = rest.get(read..).unwrap_or_default();
                }
                _ => break,
            }
        }
        if !rest.starts_with(b"]") {
            let before = bytes.len().saturating_sub(rest.len());
            let line = bytes.iter().take(before).filter(|&&byte| byte == b'\n').count() as u64 + 1;
            let detail = "the rows end here: what follows is not a row, or was cut off";
            evidence.problem(ProblemKind::Cut, Some(line), detail);
        }
        if units.is_empty() {
            return Err(self.not_this("it has no row of a unit"));
        }
        // Every unit that was up when the boot ended has that end in its place; nothing is later.
        let latest = units.iter().filter_map(|unit| unit.deactivated).max();
        plot_units::report(units, latest, &mut evidence);
        Ok(vec![evidence])
    }
}

fn unit(row: Row) -> Option<UnitTimes> {
    let ns = |us: Option<u64>| us.filter(|us| *us > 0).and_then(|us| i64::try_from(us).ok()?.checked_mul(1000));
    Some(UnitTimes {
        name: row.name.filter(|name| is_unit(name))?,
        activating: ns(row.activating),
        activated: ns(row.activated),
        deactivating: ns(row.deactivating),
        deactivated: ns(row.deactivated),
        time: row.time.and_then(|us| i64::try_from(us).ok()?.checked_mul(1000)),
        clamp: None,
        step_ns: 1_000,
        slack_ns: 1_000,
        once: false,
    })
}
