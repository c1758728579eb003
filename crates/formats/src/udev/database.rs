//! udev's database, as `udevadm info --export-db` prints it: when udevd first took up each device, and what it is.

use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Grade, Span, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads `udevadm info -e`.
pub struct UdevDatabase;

/// The properties that are kept, and their names as attributes.
const PROPERTIES: [(&str, &str); 6] = [
    ("SUBSYSTEM", "subsystem"),
    ("DEVTYPE", "devtype"),
    ("DRIVER", "driver"),
    ("DEVNAME", "devname"),
    ("SEQNUM", "seqnum"),
    ("SYSTEMD_WANTS", "systemd_wants"),
];

impl Format for UdevDatabase {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::UdevDatabase, Traits::of(Origin::Udev)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..4096).unwrap_or(head.bytes));
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        Likelihood::of_signature(
            lines.next().is_some_and(|line| line.starts_with("P: /"))
                && lines.any(|line| line.starts_with("E: DEVPATH=/")),
        )
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Monotonic) };
        let mut device = Device::default();
        let mut unparsed = Unparsed::default();
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            match text.split_once(": ") {
                None if text.trim().is_empty() => std::mem::take(&mut device).end(&mut evidence),
                Some(("P", path)) => {
                    std::mem::take(&mut device).end(&mut evidence);
                    device.path = path.to_owned();
                }
                Some(("E", property)) => device.property(property),
                // Node, links, priority, and what later versions add, all by one letter.
                Some((letter, _)) if letter.len() == 1 => {}
                _ if text.trim_end().len() == 2 && text.as_bytes().get(1) == Some(&b':') => {}
                _ => unparsed.add(line.number),
            }
        }
        device.end(&mut evidence);
        if evidence.understood == 0 {
            return Err(self.not_this("no block names a device"));
        }
        evidence.problems.extend(lines.problems());
        unparsed.report("line[|s] [is|are] none of the database's", &mut evidence);
        Ok(vec![evidence])
    }
}

#[derive(Default)]
struct Device {
    path: String,
    initialized_ns: Option<i64>,
    attributes: Vec<(&'static str, String)>,
}

impl Device {
    fn property(&mut self, property: &str) {
        let Some((key, value)) = property.split_once('=') else { return };
        if key == "USEC_INITIALIZED" {
            self.initialized_ns = value.parse::<i64>().ok().filter(|us| *us > 0).and_then(|us| us.checked_mul(1_000));
        } else if let Some((_, name)) = PROPERTIES.iter().find(|(known, _)| *known == key) {
            if self.attributes.len() < PROPERTIES.len() {
                self.attributes.push((name, value.to_owned()));
            }
        }
    }

    /// A device that udevd took up has a time; the others have none.
    fn end(self, evidence: &mut Evidence) {
        if self.path.is_empty() {
            return;
        }
        evidence.understood += 1;
        let Some(at) = self.initialized_ns else { return };
        let mut span = Span { start_ns: Some(at), ..Span::new(SpanKind::Uevent, self.path) };
        for (name, value) in self.attributes {
            span = span.with(name, value);
        }
        evidence.spans.push(span.graded(Grade::Unknown, ReasonCode::OnlyTakenUp));
    }
}
