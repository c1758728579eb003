//! Value change dumps (IEEE 1364, clause 18), as sigrok, PulseView and other logic analysers write them.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Counter, Evidence, Instant, Mark, Name, Problem, ProblemKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::HashMap;

/// The reader.
pub struct ValueChanges;

/// A signal that marks instants changes a few times; one that changes more often carries data.
const MOST_EDGES: usize = 1_000;
const MOST_SIGNALS: usize = 1_000;
const LONGEST_NAME: usize = 100;
/// The places after the point that are kept of an analogue value.
const MILLIONTHS: f64 = 1e6;

impl Format for ValueChanges {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Vcd, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let holds = |text: &str| memchr::memmem::find(head.bytes, text.as_bytes()).is_some();
        let begins = head.bytes.trim_ascii_start().starts_with(b"$");
        Likelihood::of_signature(begins && holds("$timescale") && holds("$var "))
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut dump = Dump::new(self.about());
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            for token in text.split_ascii_whitespace() {
                dump.token(token, line.number);
            }
        }
        if dump.unit_ps == 0 || dump.signals.is_empty() {
            return Err(self.not_this("it declares no time scale and no signals"));
        }
        let mut evidence = dump.finish();
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

/// What a signal was last.
#[derive(Debug, Default)]
struct Signal {
    name: String,
    high: Option<bool>,
    edges: usize,
    first: Option<(i64, String)>,
}

/// A declaration of the head, between its keyword and `$end`.
#[derive(Debug)]
struct Declaration {
    keyword: String,
    words: Vec<String>,
}

struct Dump {
    evidence: Evidence,
    declaration: Option<Declaration>,
    /// A vector's or an analogue value, whose signal is the next word.
    value: Option<String>,
    unit_ps: i64,
    /// By the code that stands for a signal; several signals may share one.
    codes: HashMap<String, usize>,
    signals: Vec<Signal>,
    left_out: usize,
    time_ns: Option<i64>,
    before: i64,
    lost_time: Option<u64>,
    malformed: u64,
    first_malformed: Option<u64>,
}

impl Dump {
    fn new(about: &'static About) -> Self {
        Self {
            evidence: Evidence { first_line: 1, ..Evidence::of(about, Clock::Host) },
            declaration: None,
            value: None,
            unit_ps: 0,
            codes: HashMap::new(),
            signals: Vec::new(),
            left_out: 0,
            time_ns: None,
            before: 0,
            lost_time: None,
            malformed: 0,
            first_malformed: None,
        }
    }

    fn token(&mut self, token: &str, line: u64) {
        if let Some(mut declaration) = self.declaration.take() {
            if token == "$end" {
                self.declared(&declaration);
            } else {
                // More words than any declaration that is read has belong to a comment.
                if declaration.words.len() < 8 {
                    declaration.words.push(token.chars().take(LONGEST_NAME).collect());
                }
                self.declaration = Some(declaration);
            }
            return;
        }
        if let Some(value) = self.value.take() {
            self.number(&value, token, line);
            return;
        }
        match token.as_bytes() {
            // What they enclose are values.
            b"$dumpvars" | b"$dumpall" | b"$dumpon" | b"$dumpoff" | b"$end" => {}
            [b'$', ..] => {
                self.declaration = Some(Declaration { keyword: token.to_owned(), words: Vec::new() });
            }
            [b'#', ..] => self.time(token.get(1..).unwrap_or_default(), line),
            [b'b' | b'B' | b'r' | b'R', _, ..] => self.value = Some(token.to_owned()),
            [b'0' | b'1', _, ..] => self.bit(token.starts_with('1'), token.get(1..).unwrap_or_default(), line),
            // Neither high nor low: the signal was not driven, or it is not known.
            [b'x' | b'X' | b'z' | b'Z', _, ..] => self.unknown(token.get(1..).unwrap_or_default(), line),
            _ => self.torn(line),
        }
    }

    fn declared(&mut self, declaration: &Declaration) {
        let words: Vec<&str> = declaration.words.iter().map(String::as_str).collect();
        match (declaration.keyword.as_str(), &words[..]) {
            ("$timescale", parts) => self.unit_ps = picoseconds(&parts.concat()).unwrap_or(0),
            ("$var", [_kind, _size, code, name, ..]) => {
                if self.signals.len() == MOST_SIGNALS {
                    self.left_out += 1;
                    return;
                }
                self.codes.insert((*code).to_owned(), self.signals.len());
                self.signals.push(Signal { name: one_line(name, "<unknown>"), ..Signal::default() });
            }
            ("$version", parts) if !parts.is_empty() => {
                self.evidence.facts.push((Name::Borrowed("analyser.program"), one_line(&parts.join(" "), "-")));
            }
            _ => {}
        }
    }

    fn time(&mut self, text: &str, line: u64) {
        let time_ns = text.parse::<i64>().ok().and_then(|units| nanoseconds(units, self.unit_ps));
        match time_ns {
            Some(time_ns) if time_ns >= self.before => {
                self.before = time_ns;
                self.time_ns = Some(time_ns);
                self.evidence.understood += 1;
                self.evidence.extent_ns = self.evidence.extent_ns.map(|(first, _)| (first, time_ns));
            }
            // What follows has no time until the next one that is sound.
            _ => {
                self.time_ns = None;
                self.lost_time.get_or_insert(line);
            }
        }
    }

    fn torn(&mut self, line: u64) {
        self.malformed += 1;
        self.first_malformed.get_or_insert(line);
    }

    fn signal(&mut self, code: &str, line: u64) -> Option<&mut Signal> {
        let Some(index) = self.codes.get(code).copied() else {
            self.torn(line);
            return None;
        };
        self.signals.get_mut(index)
    }

    fn unknown(&mut self, code: &str, line: u64) {
        if let Some(signal) = self.signal(code, line) {
            signal.high = None;
        }
    }

    fn bit(&mut self, high: bool, code: &str, line: u64) {
        let time_ns = self.time_ns;
        let Some(signal) = self.signal(code, line) else { return };
        let before = signal.high.replace(high);
        let stamp = Stamp { line, ..Stamp::default() };
        match before {
            // The state that the analyser met is not an event, and has no time.
            None => {
                let text = format!("{} is {}", signal.name, if high { "high" } else { "low" });
                self.evidence.log.push(stamp, text.as_bytes());
            }
            Some(before) if before == high => {}
            Some(_) => {
                let Some(time_ns) = time_ns else { return };
                signal.edges += 1;
                let text = format!("{} {}", signal.name, if high { "rises" } else { "falls" });
                signal.first.get_or_insert_with(|| (time_ns, text.clone()));
                let is_kept = signal.edges <= MOST_EDGES;
                // The boot begins with the first edge, not when the analyser was started.
                self.evidence.extent_ns.get_or_insert((time_ns, time_ns));
                if is_kept {
                    self.evidence.log.push(Stamp { time_ns: Some(time_ns), ..stamp }, text.as_bytes());
                }
            }
        }
    }

    /// A vector's value, or an analogue one.
    fn number(&mut self, value: &str, code: &str, line: u64) {
        let time_ns = self.time_ns;
        let (kind, digits) = value.split_at(1);
        let analogue = kind.eq_ignore_ascii_case("r");
        let parsed = if analogue {
            let scaled = digits.parse::<f64>().ok().map(|value| (value * MILLIONTHS).round());
            // A value beyond this is not a voltage and no current.
            scaled.filter(|value| value.abs() < 9e18).map(|value| value as i64)
        } else {
            i64::from_str_radix(digits, 2).ok()
        };
        let Some(signal) = self.signal(code, line) else { return };
        let unit = if analogue { "_millionths" } else { "" };
        let name = format!("signal.{}{unit}", signal.name);
        if let (Some(value), Some(time_ns)) = (parsed, time_ns) {
            self.evidence.counters.push(Counter { name: Name::Owned(name), time_ns, value });
        }
    }

    fn finish(mut self) -> Evidence {
        let step_ns = nanoseconds(1, self.unit_ps).unwrap_or(0).max(1);
        self.evidence.step_ns = step_ns;
        for signal in &self.signals {
            let Some(mark) = Mark::parse(&signal.name) else { continue };
            match &signal.first {
                Some((time_ns, edge)) => {
                    let detail = format!("{edge}, to {step_ns} ns");
                    self.evidence.marks.push(Instant { mark, time_ns: *time_ns, detail });
                }
                None => {
                    let detail = format!("the signal {} has no edge: the mark is not known", signal.name);
                    self.evidence.problem(ProblemKind::Unrecognised, None, detail);
                }
            }
        }
        self.evidence.marks.sort_by_key(|mark| mark.time_ns);
        for signal in self.signals.iter().filter(|signal| signal.edges > MOST_EDGES) {
            let detail = format!(
                "the signal {} has {} edges: only the first {MOST_EDGES} are lines of the log",
                signal.name, signal.edges
            );
            self.evidence.problem(ProblemKind::Overlong, None, detail);
        }
        if self.left_out > 0 {
            let detail = counted(self.left_out, &format!("# signal[|s] beyond {MOST_SIGNALS} [is|are] left out"));
            self.evidence.problem(ProblemKind::Overlong, None, detail);
        }
        if let Some(line) = self.lost_time {
            let detail = "a time goes back or is not a number: the changes up to the next one are left out";
            self.evidence.problem(ProblemKind::ClockJump, Some(line), detail);
        }
        if self.malformed > 0 {
            self.evidence.not_understood = self.malformed;
            let detail = counted(self.malformed, "# word[ is not a change|s are not changes] of a declared signal");
            self.evidence.problems.push(Problem {
                kind: ProblemKind::Torn,
                detail,
                line: self.first_malformed,
                lost: Some(self.malformed),
            });
        }
        self.evidence
    }
}

/// The unit of the times: `1us`, `10 ns`.
fn picoseconds(text: &str) -> Option<i64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: i64 = number.parse().ok().filter(|number| matches!(number, 1 | 10 | 100))?;
    let unit = match unit {
        "s" => 1_000_000_000_000,
        "ms" => 1_000_000_000,
        "us" => 1_000_000,
        "ns" => 1_000,
        "ps" => 1,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Units of so many picoseconds as nanoseconds.
fn nanoseconds(units: i64, unit_ps: i64) -> Option<i64> {
    if units < 0 || unit_ps <= 0 {
        return None;
    }
    i64::try_from(i128::from(units) * i128::from(unit_ps) / 1_000).ok()
}
