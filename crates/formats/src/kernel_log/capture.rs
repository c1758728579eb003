//! What `firstlight capture` writes: the bytes of a console with the instant at which each chunk was read, and events.

use super::clock_lookahead::Ahead;
use super::text::Text;
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Instant, Mark, Name, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::io::{BufRead, Read};

const MAGIC: &[u8] = b"firstlight capture 1\n";
/// The line before the bytes of a record: its kind, time and length.
const LONGEST_HEAD: u64 = 64;
const LONGEST_RECORD: usize = 1 << 20;
const MOST_TEXT: usize = 256 << 20;
const MOST_FACTS: usize = 32;
/// So many carriage returns and no line feed end lines.
const FEWEST_RETURNS: usize = 3;

/// The reader.
pub struct Capture;

impl Format for Capture {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Capture, Traits::of(Origin::KernelLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        Likelihood::of_signature(head.bytes.starts_with(MAGIC))
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut console = Console::default();
        console.read(input.bytes, self.about().title)?;
        console.end_lines();
        let begins = console.begins();
        let mut text = Text::new(self.about(), "", true);
        let mut ahead = Ahead::of_any_step();
        let mut bytes: &[u8] = &console.text;
        let mut lines = Lines::new(&mut bytes);
        while let Some(line) = lines.next_line()? {
            let at = usize::try_from(line.number).ok().and_then(|number| begins.get(number.checked_sub(1)?));
            ahead.line(&mut text, line.number, at.map(|at| console.since_start(*at)), line.bytes);
        }
        ahead.finish(&mut text);
        let mut problems = lines.problems();
        // Where the record itself has no end, this is said once.
        if !console.ended {
            problems.retain(|problem| problem.kind != ProblemKind::Cut);
        }
        let mut boots = text.finish(self.about().title, problems).map_err(|error| match error {
            FormatError::NotThis { .. } => console.no_boot(),
            other => other,
        })?;
        let last = boots.iter().map(|boot| boot.boot).max();
        for boot in boots.iter_mut().filter(|boot| boot.clock != Clock::Firmware) {
            let first_line = usize::try_from(boot.first_line).ok().and_then(|number| number.checked_sub(1));
            let began_ns = first_line.and_then(|number| begins.get(number)).map_or(0, |at| console.since_start(*at));
            console.describe(boot, began_ns);
            if Some(boot.boot) == last {
                console.describe_end(boot);
            }
        }
        Ok(boots)
    }
}

#[derive(Debug, Default)]
struct Console {
    text: Vec<u8>,
    /// Where each chunk begins in the text, and when it was read.
    chunks: Vec<(usize, i64)>,
    power_on: Option<(i64, Option<i64>)>,
    before_power_on: usize,
    facts: Vec<(String, String)>,
    ended: bool,
    malformed: Option<u64>,
    left_out: usize,
}

impl Console {
    /// Reads records up to the end, or to the first one that is malformed or not complete.
    fn read(&mut self, bytes: &mut dyn BufRead, title: &'static str) -> Result<(), FormatError> {
        let mut head = Vec::new();
        bytes.take(MAGIC.len() as u64).read_to_end(&mut head)?;
        if head != MAGIC {
            let what = "it does not begin with `firstlight capture 1`".to_owned();
            return Err(FormatError::NotThis { format: title, what });
        }
        for number in 1.. {
            head.clear();
            bytes.take(LONGEST_HEAD).read_until(b'\n', &mut head)?;
            if head.is_empty() {
                break;
            }
            let Some((kind, time, length)) = parsed(&head) else {
                // What a killed capture had begun to write is not damage.
                self.malformed = head.ends_with(b"\n").then_some(number);
                break;
            };
            let mut content = Vec::new();
            bytes.take(length as u64).read_to_end(&mut content)?;
            let mut end = [0];
            if content.len() < length || bytes.read(&mut end)? == 0 {
                // The bytes of the last chunk that are there were read at its time.
                if kind == Kind::Data {
                    self.data(time, &content);
                }
                break;
            }
            if end != *b"\n" {
                self.malformed = Some(number);
                break;
            }
            match kind {
                Kind::Setup => self.setup(&content),
                Kind::Data => self.data(time, &content),
                Kind::Event => self.event(time, &content),
            }
        }
        Ok(())
    }

    fn setup(&mut self, content: &[u8]) {
        for line in String::from_utf8_lossy(content).lines() {
            let Some((name, value)) = line.split_once('=') else { continue };
            let plain = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            if plain && self.facts.len() < MOST_FACTS {
                let value = value.chars().filter(|letter| !letter.is_control()).take(200).collect();
                self.facts.push((format!("capture.{name}"), value));
            }
        }
    }

    fn data(&mut self, time: i64, content: &[u8]) {
        if self.text.len().saturating_add(content.len()) > MOST_TEXT {
            self.left_out = self.left_out.saturating_add(content.len());
            return;
        }
        if !content.is_empty() {
            self.chunks.push((self.text.len(), time));
            self.text.extend_from_slice(content);
        }
    }

    /// Lines may end with carriage returns alone, or have them behind their ends.
    fn end_lines(&mut self) {
        if self.text.ends_with(b"\n\r") {
            self.text.pop();
        }
        let returns = self.text.iter().filter(|&&byte| byte == b'\r').take(FEWEST_RETURNS).count();
        if returns == FEWEST_RETURNS && memchr::memchr(b'\n', &self.text).is_none() {
            self.text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
    }

    /// When the first byte of each line was read. A carriage return behind the end of a line belongs to that end.
    fn begins(&self) -> Vec<i64> {
        let mut chunks = self.chunks.iter().copied().peekable();
        let (mut at, mut time_ns) = (0, 0);
        let lines = self.text.split_inclusive(|&byte| byte == b'\n').map(|line| {
            let first = at + usize::from(line.starts_with(b"\r") && line.len() > 1);
            at += line.len();
            while let Some((_, time)) = chunks.next_if(|(begin, _)| *begin <= first) {
                time_ns = time;
            }
            time_ns
        });
        lines.collect()
    }

    fn event(&mut self, time: i64, content: &[u8]) {
        match content {
            // What was printed before belongs to another start of the board.
            b"power_on_begin" => {
                self.before_power_on = self.before_power_on.saturating_add(self.text.len());
                self.text.clear();
                self.chunks.clear();
                self.power_on = Some((time, None));
            }
            b"power_on_end" => {
                if let Some((_, end @ None)) = &mut self.power_on {
                    *end = Some(time);
                }
            }
            _ if content.starts_with(b"end") => self.ended = true,
            _ => {}
        }
    }

    /// Why it has no boot.
    fn no_boot(&self) -> FormatError {
        if self.text.is_empty() && self.before_power_on == 0 {
            return FormatError::NoBoot {
                what: "the capture ended before the board printed a byte",
                remedy: "check the cable and the power, and capture again",
            };
        }
        FormatError::NoBoot {
            what: "the board printed no line that is known from boots of Linux",
            remedy: "it hung before the kernel, or the baud rate is wrong; the file contains all bytes as received",
        }
    }

    /// Nanoseconds from power-on, or from the first byte where the capture did not switch the power.
    fn since_start(&self, at: i64) -> i64 {
        let start =
            self.power_on.map(|(start, _)| start).or_else(|| self.chunks.first().map(|(_, time)| *time)).unwrap_or(at);
        at.saturating_sub(start).max(0)
    }

    /// What every start has, and what its begin shows. The power-on began the first one.
    fn describe(&self, boot: &mut Evidence, began_ns: i64) {
        boot.facts.extend(self.facts.iter().map(|(name, value)| (Name::Owned(name.clone()), value.clone())));
        if boot.boot > 0 {
            let since = if self.power_on.is_some() { "power-on" } else { "the capture's first byte" };
            let seconds = began_ns as f64 / 1e9;
            let detail = format!(
                "the board started again {seconds:.3} s after {since}: the times of this start count from its own first line"
            );
            boot.problem(ProblemKind::Embedded, None, detail);
            return;
        }
        if let Some((begin, end)) = self.power_on {
            let took = end.map(|end| end.saturating_sub(begin).max(0) as f64 / 1e6);
            let detail = took.map_or("the power command did not end".to_owned(), |took| {
                format!("the power command ran for {took:.3} ms from here: the power came within this time")
            });
            let mark = Instant { mark: Mark::PowerOn, time_ns: 0, detail };
            if boot.clock == Clock::Host {
                boot.marks.insert(0, mark);
            } else {
                boot.host_marks.insert(0, mark);
            }
        }
        if self.before_power_on > 0 {
            let detail = counted(
                self.before_power_on,
                "# byte[|s] that the board printed before power-on belong[s|] to another start and [is|are] left out",
            );
            boot.problem(ProblemKind::Embedded, None, detail);
        }
    }

    /// What is missing behind the last start.
    fn describe_end(&self, boot: &mut Evidence) {
        if let Some(number) = self.malformed {
            boot.problem(
                ProblemKind::Torn,
                None,
                format!("record {number} is malformed: what follows it was not read"),
            );
        } else if !self.ended {
            boot.problem(ProblemKind::LostTail, None, "the capture was ended before it was complete".to_owned());
        }
        if self.left_out > 0 {
            boot.problem(
                ProblemKind::Overlong,
                None,
                counted(self.left_out, &format!("# byte[|s] beyond {MOST_TEXT} [is|are] left out")),
            );
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Setup,
    Data,
    Event,
}

/// `data 1234 17`: kind, nanoseconds, bytes.
fn parsed(head: &[u8]) -> Option<(Kind, i64, usize)> {
    let text = std::str::from_utf8(head.strip_suffix(b"\n")?).ok()?;
    let mut fields = text.split(' ');
    let kind = match fields.next()? {
        "setup" => Kind::Setup,
        "data" => Kind::Data,
        "event" => Kind::Event,
        _ => return None,
    };
    let time = fields.next()?.parse().ok().filter(|time| *time >= 0)?;
    let length = fields.next()?.parse().ok().filter(|length| *length <= LONGEST_RECORD)?;
    fields.next().is_none().then_some((kind, time, length))
}
