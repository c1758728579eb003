//! `dmesg --json`: `{"dmesg": [{"pri": 6, "time": 0.412345, "caller": "T1", "msg": "..."}]}`; with `-x` also `"fac"`, and
//! names instead of numbers.

use super::boots::Boots;
use super::bytes::{number, seconds, unpadded};
use super::json::{JsonFragment, JsonFragments};
use super::prefix::{caller_word, LEVELS};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use memchr::memmem;

/// The reader.
pub struct DmesgJson;

#[derive(Default)]
struct Record {
    stamp: Stamp,
    facility: Option<bool>,
    text: Vec<u8>,
    any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Priority,
    Facility,
    Time,
    Caller,
    Message,
    Other,
}

impl Record {
    fn take(&mut self, key: Key, value: &[u8]) {
        match key {
            Key::Priority => match number(value) {
                Some((priority, _)) => {
                    self.stamp.level = Some((priority & 7) as u8);
                    self.facility = self.facility.or(Some(priority >> 3 == 0));
                }
                None => {
                    let level = LEVELS.iter().position(|name| name.as_bytes() == value);
                    self.stamp.level = level.map(|level| level as u8);
                }
            },
            Key::Facility => self.facility = Some(value == b"kern"),
            Key::Time => self.stamp.time_ns = seconds(unpadded(value)).map(|(time, _)| time),
            Key::Caller => self.stamp.caller = caller_word(unpadded(value)),
            Key::Message => {
                self.text = value.to_vec();
                self.any = true;
            }
            Key::Other => {}
        }
    }
}

impl Format for DmesgJson {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::DmesgJson, Traits::of(Origin::KernelLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = head.bytes.trim_ascii_start();
        let inside = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        match inside {
            Some(inside) if inside.starts_with(b"\"dmesg\"") => Likelihood::Certain,
            // Its beginning may be missing.
            _ if has_records(text) => Likelihood::Certain,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut boots = Boots::new(self.about(), "", Clock::Printk);
        let mut pieces = JsonFragments::new(input.bytes);
        let (mut depth, mut key, mut record) = (0_u64, None, Record::default());
        let (mut any, mut timed, mut begun, mut headless) = (false, false, false, false);
        while let Some(piece) = pieces.piece()? {
            match piece {
                JsonFragment::Mark(b'{' | b'[') => {
                    begun = true;
                    depth += 1;
                    record = Record::default();
                    record.stamp.line = pieces.line();
                    key = None;
                }
                JsonFragment::Mark(b'}' | b']') => {
                    headless |= !begun;
                    begun = true;
                    depth = depth.saturating_sub(1);
                    let whole = std::mem::take(&mut record);
                    if whole.any {
                        any = true;
                        timed |= whole.stamp.time_ns.is_some();
                        give(&mut boots, &whole);
                    }
                }
                JsonFragment::Mark(b',') => key = None,
                JsonFragment::Mark(_) => {}
                JsonFragment::Text | JsonFragment::Word => match key {
                    Some(key) if !pieces.cut() => record.take(key, pieces.value()),
                    Some(_) => {}
                    None => {
                        key = Some(match pieces.value() {
                            b"pri" => Key::Priority,
                            b"fac" => Key::Facility,
                            b"time" => Key::Time,
                            b"caller" => Key::Caller,
                            b"msg" => Key::Message,
                            _ => Key::Other,
                        });
                    }
                },
            }
        }
        if record.any {
            (any, timed) = (true, timed || record.stamp.time_ns.is_some());
            give(&mut boots, &record);
        }
        if !any {
            let what = "it holds no message `\"msg\": ...`".to_owned();
            return Err(FormatError::NotThis { format: self.title(), what });
        }
        if headless {
            boots.now().problem(ProblemKind::Cut, Some(1), "the text begins within its list: its beginning is missing");
        }
        if depth > 0 {
            let line = pieces.line();
            boots.now().problem(ProblemKind::Cut, Some(line), "the text ends before its last bracket: it was cut off");
        }
        let mut boots = boots.finish(Vec::new());
        if !timed {
            for boot in &mut boots {
                boot.clock = Clock::Untimed;
                boot.problem(ProblemKind::Untimed, None, "no record has a time: only their order is known");
            }
        }
        Ok(boots)
    }
}

/// Whether the text has the fields of a record, in their order.
fn has_records(text: &[u8]) -> bool {
    if !text.starts_with(b"}") && !text.starts_with(b"{") && !text.starts_with(b"\"") {
        return false;
    }
    let mut rest = &text[..text.len().min(4096)];
    [&b"\"pri\":"[..], b"\"time\":", b"\"msg\":"].iter().all(|field| {
        let at = memmem::find(rest, field);
        rest = at.map_or(rest, |at| &rest[at..]);
        at.is_some()
    })
}

fn give(boots: &mut Boots, record: &Record) {
    // A message of several lines is one record.
    for text in record.text.split(|&byte| byte == b'\n') {
        match record.facility {
            Some(false) => boots.other(record.stamp, text),
            _ => boots.kernel(record.stamp, text),
        }
    }
}
