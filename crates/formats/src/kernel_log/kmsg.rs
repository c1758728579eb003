//! Records of `/dev/kmsg`: `PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,KEY=VALUE];MESSAGE`, and lines ` KEY=VALUE` below.

use super::boots::Boots;
use super::bytes::number;
use super::prefix::caller_word;
use super::text::unescape_all;
use crate::about::{About, Origin, Role, Traits};
use crate::counts::counted;
use crate::evidence::{Caller, Clock, Evidence, Problem, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use memchr::memchr;

/// The reader.
pub struct Kmsg;

struct Record<'a> {
    priority: i64,
    sequence: u64,
    time_ns: i64,
    caller: Option<Caller>,
    text: &'a [u8],
}

fn field(line: &[u8]) -> Option<(i64, &[u8])> {
    let (value, rest) = number(line)?;
    Some((value, rest.strip_prefix(b",")?))
}

fn record(line: &[u8]) -> Option<Record<'_>> {
    let (priority, rest) = field(line)?;
    let (sequence, rest) = field(rest)?;
    let (us, rest) = field(rest)?;
    let end = memchr(b';', rest)?;
    let mut keys = rest[..end].split(|&byte| byte == b',');
    let flags = keys.next()?;
    if flags.len() != 1 {
        return None;
    }
    let caller = keys.find_map(|key| key.strip_prefix(b"caller=")).and_then(caller_word);
    let time_ns = us.checked_mul(1000)?;
    Some(Record { priority, sequence: sequence.unsigned_abs(), time_ns, caller, text: &rest[end + 1..] })
}

impl Format for Kmsg {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Kmsg, Traits { role: Some(Role::KernelRing), ..Traits::of(Origin::KernelLog) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let lines = head.bytes.split(|&byte| byte == b'\n').take(40);
        let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty() && line[0] != b' ').collect();
        match lines.iter().filter(|line| record(line).is_some()).count() {
            0 => Likelihood::No,
            found if found * 2 < lines.len() => Likelihood::Possible,
            1 => Likelihood::Likely,
            _ => Likelihood::Certain,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut boots = Boots::new(self.about(), "", Clock::Printk);
        boots.by_sequence();
        let mut lines = Lines::new(input.bytes);
        let (mut last, mut torn): (Option<u64>, Option<(u64, u64)>) = (None, None);
        let mut gap: Option<(u64, u64)> = None;
        let mut unescaped = Vec::new();
        let mut any = false;
        while let Some(line) = lines.next_line()? {
            let number = line.number;
            if line.bytes.is_empty() || line.bytes.first() == Some(&b' ') {
                continue;
            }
            let Some(found) = record(line.bytes) else {
                torn.get_or_insert((0, number)).0 += 1;
                continue;
            };
            any = true;
            let expected = last.map(|last| last.saturating_add(1));
            match expected {
                Some(expected) if found.sequence < expected => {
                    note(&mut boots, &mut gap);
                    boots.next_boot(number);
                    head_of(&mut boots, found.sequence, number);
                }
                Some(expected) => {
                    if found.sequence > expected {
                        gap.get_or_insert((0, number)).0 += found.sequence - expected;
                    }
                }
                None => head_of(&mut boots, found.sequence, number),
            }
            last = Some(found.sequence);
            let level = (found.priority & 7) as u8;
            let stamp = Stamp {
                line: number,
                time_ns: Some(found.time_ns),
                host_ns: None,
                level: Some(level),
                caller: found.caller,
            };
            // The upper bits are the facility: what processes write into the log is not the kernel's.
            if found.priority >> 3 == 0 {
                boots.kernel(stamp, unescape_all(found.text, &mut unescaped));
            } else {
                boots.other(stamp, unescape_all(found.text, &mut unescaped));
            }
        }
        if !any {
            return Err(self.not_this("no line is a record `PRIORITY,SEQUENCE,TIME,FLAGS;MESSAGE`"));
        }
        note(&mut boots, &mut gap);
        if let Some((count, line)) = torn {
            boots.note(ProblemKind::Torn, line, counted(count, "# line[|s] [is not a record|are not records]"));
        }
        let problems = lines.problems();
        let mut boots = boots.finish(problems);
        if let (Some(boot), Some((count, _))) = (boots.first_mut(), torn) {
            boot.not_understood = count;
        }
        Ok(boots)
    }
}

fn note(boots: &mut Boots, gap: &mut Option<(u64, u64)>) {
    if let Some((lost, line)) = gap.take() {
        let detail = counted(lost, "# record[|s] [is|are] missing: [its number is|their numbers are] left out");
        let problem = Problem { kind: ProblemKind::Lost, detail, line: Some(line), lost: Some(lost) };
        boots.now().problems.push(problem);
    }
}

fn head_of(boots: &mut Boots, sequence: u64, line: u64) {
    if sequence > 0 {
        let detail =
            format!("it begins with record {sequence}: what came before was overwritten, and is unknown, not zero");
        let problem = Problem { kind: ProblemKind::LostHead, detail, line: Some(line), lost: Some(sequence) };
        boots.now().problems.push(problem);
    }
}
