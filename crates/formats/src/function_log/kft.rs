//! Logs of KFI and KFT: kernels that were instrumented by `-finstrument-functions`.

use super::intervals::{build, Call, INTERRUPT};
use super::kd::Kd;
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Problem, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::{Line, Lines};
use crate::tracing::symbols::Symbols;
use crate::FormatError;
use firstlight_schema::FormatName;
use memchr::{memchr, memmem};

/// Rows whose calls are kept for the tree; the table takes any number.
const MOST_CALLS: usize = 4 << 20;

/// The reader.
pub struct Kft;

const TITLE: &str = FormatName::Kft.text();

impl Format for Kft {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Kft, Traits::of(Origin::FunctionLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let mut lines = head.bytes.split(|&byte| byte == b'\n');
        let title = lines.find(|line| {
            let mut words = words(line);
            words.next() == Some(b"Entry") && words.next() == Some(b"Delta")
        });
        let Some(title) = title else {
            let signed = memmem::find(head.bytes, b"Kernel Instrumentation Run ID").is_some();
            return if signed { Likelihood::Likely } else { Likelihood::No };
        };
        let ruled = lines.next().is_some_and(|line| line.starts_with(b"--------"));
        if ruled && memmem::find(title, b"Function").is_some() {
            Likelihood::Certain
        } else {
            Likelihood::Likely
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let mut reader = Reader::new();
        lines.each(|line| reader.line(line))?;
        let problems = lines.problems();
        reader.finish(problems)
    }
}

struct Reader {
    evidence: Evidence,
    symbols: Symbols,
    kd: Kd,
    calls: Vec<Call>,
    rows: u64,
    inside: bool,
    torn: u64,
    first_torn: Option<(u64, String)>,
    stack_rows: u64,
    zero_rows: u64,
    unkept: u64,
    before_us: i64,
    wrapped_us: i64,
    wraps: u64,
    backward: u64,
    first_backward: u64,
    shortest_us: Option<i64>,
    filtered: Option<u64>,
    minimum_us: Option<i64>,
    not_found: u64,
    promised: Option<u64>,
    full: bool,
    started_us: Option<i64>,
    stopped_us: Option<i64>,
}

impl Reader {
    fn new() -> Self {
        Self {
            evidence: Evidence { first_line: 1, step_ns: 1000, ..Evidence::of(Kft.about(), Clock::Kft) },
            symbols: Symbols::new(),
            kd: Kd::default(),
            calls: Vec::new(),
            rows: 0,
            inside: false,
            torn: 0,
            first_torn: None,
            stack_rows: 0,
            zero_rows: 0,
            unkept: 0,
            before_us: 0,
            wrapped_us: 0,
            wraps: 0,
            backward: 0,
            first_backward: 0,
            shortest_us: None,
            filtered: None,
            minimum_us: None,
            not_found: 0,
            promised: None,
            full: false,
            started_us: None,
            stopped_us: None,
        }
    }

    fn line(&mut self, line: Line<'_>) {
        if line.bytes.starts_with(b"--------") {
            self.inside = true;
        } else if !self.inside {
            self.header(line);
        } else if self.row(line).is_none() && !line.bytes.trim_ascii().is_empty() {
            self.torn += 1;
            if self.first_torn.is_none() {
                let text = &line.bytes[..line.bytes.len().min(60)];
                self.first_torn = Some((line.number, String::from_utf8_lossy(text).into_owned()));
            }
        }
    }

    fn row(&mut self, line: Line<'_>) -> Option<()> {
        let mut words = words(line.bytes);
        let entry_us = number(words.next()?)?;
        let second = words.next()?;
        let delta_us = if second == b"no" {
            words.next().filter(|word| *word == b"exit")?;
            None
        } else {
            Some(number(second)?)
        };
        let task = words.next()?;
        let function = words.next()?;
        let site = words.next()?;
        let caller = &site[..memchr(b'+', site).unwrap_or(site.len())];
        let task = task_number(task)?;
        let (function, caller) = (self.symbols.number(function), self.symbols.number(caller));
        // As kd: `no exit` counts as 0.
        self.kd.row(function, caller, delta_us.unwrap_or(0));
        self.rows += 1;
        match delta_us {
            Some(-2) => {
                self.stack_rows += 1;
                return Some(());
            }
            Some(0) => self.zero_rows += 1,
            Some(delta_us @ 1..) => {
                self.shortest_us = Some(self.shortest_us.map_or(delta_us, |known| known.min(delta_us)));
            }
            _ => {}
        }
        let start_us = self.unwrapped(entry_us, line.number);
        if self.calls.len() >= MOST_CALLS {
            self.unkept += 1;
            return Some(());
        }
        let length_us = delta_us.filter(|delta_us| *delta_us >= 0);
        self.calls.push(Call { function, caller, task, start_us, length_us });
        Some(())
    }

    // The clock counts microseconds in 32 bits.
    fn unwrapped(&mut self, entry_us: i64, line: u64) -> i64 {
        const WRAP: i64 = 1 << 32;
        if entry_us < self.before_us {
            if self.before_us < WRAP && self.before_us - entry_us > WRAP / 2 {
                self.wraps += 1;
                self.wrapped_us = self.wrapped_us.saturating_add(WRAP);
            } else {
                self.backward += 1;
                if self.backward == 1 {
                    self.first_backward = line;
                }
            }
        }
        self.before_us = entry_us;
        entry_us.saturating_add(self.wrapped_us)
    }

    fn header(&mut self, line: Line<'_>) {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        let fact = |reader: &mut Self, name: &'static str, value: &str| {
            reader.evidence.facts.push((name.into(), value.trim().to_owned()));
        };
        if let Some(id) = text.strip_prefix("Kernel Instrumentation Run ID") {
            fact(self, "kft.run", id);
        } else if let Some((time, reason)) = text.strip_prefix("Logging started at ").and_then(parted) {
            self.started_us = number(time.trim().as_bytes());
            fact(self, "kft.started_us", time);
            fact(self, "kft.started_by", reason);
        } else if let Some((time, reason)) = text.strip_prefix("Logging stopped at ").and_then(parted) {
            self.stopped_us = number(time.trim().as_bytes());
            fact(self, "kft.stopped_us", time);
            fact(self, "kft.stopped_by", reason);
            self.full = reason.trim() == "log full";
        } else if let Some(limit) = text.strip_suffix(" usecs minimum execution time") {
            self.minimum_us = number(limit.trim().as_bytes());
            fact(self, "kft.minimum_us", limit);
        } else if let Some(limit) = text.strip_suffix(" usecs maximum execution time") {
            fact(self, "kft.maximum_us", limit);
        } else if text.starts_with("no functions ") {
            fact(self, "kft.filter", text);
        } else if let Some((name, value)) = text.split_once(" = ") {
            let value = value.trim();
            let counted = value.parse().ok();
            let lower = name.to_ascii_lowercase();
            match lower.as_str() {
                "entries not found" => self.not_found = counted.unwrap_or(0),
                "number of entries after filters" => self.promised = counted,
                "execution time filter count" | "total entries filtered" => {
                    self.filtered = self.filtered.max(counted);
                }
                _ => {}
            }
            if counted.is_some() && lower.len() < 60 {
                self.evidence.facts.push((format!("kft.{}", lower.replace(' ', "_")).into(), value.to_owned()));
            }
        } else if let Some(trigger) = text.strip_prefix("filter mintime ") {
            self.minimum_us = number(trigger.trim().as_bytes());
            fact(self, "kft.minimum_us", trigger);
        }
    }

    fn finish(mut self, of_lines: Vec<Problem>) -> Result<Vec<Evidence>, FormatError> {
        if self.rows == 0 {
            let what = if self.inside { "no row under its header" } else { "no line of dashes above its rows" };
            return Err(FormatError::NotThis { format: TITLE, what: what.to_owned() });
        }
        self.evidence.understood = self.rows;
        self.problems();
        self.evidence.problems.extend(of_lines);
        self.evidence.kd = std::mem::take(&mut self.kd).table(&self.symbols);
        // Entries count from the start of the logging.
        let logged_us = self.started_us.zip(self.stopped_us).map(|(started, stopped)| stopped.saturating_sub(started));
        self.evidence.extent_ns = logged_us.filter(|us| *us > 0).map(|us| (0, us.saturating_mul(1000)));
        build(&self.calls, logged_us, &mut self.symbols, &mut self.evidence);
        Ok(vec![self.evidence])
    }

    fn problems(&mut self) {
        let evidence = &mut self.evidence;
        if let Some((line, text)) = self.first_torn.take() {
            let detail = format!(
                "{}{text}",
                counted(self.torn, "# line[|s] below the header [is not a row|are not rows], the first: ")
            );
            evidence.problem(ProblemKind::Torn, Some(line), detail);
            evidence.not_understood = self.torn;
        }
        if self.filtered.is_some_and(|filtered| filtered > 0) || self.minimum_us.is_some_and(|minimum| minimum > 0) {
            let limit = match (self.minimum_us, self.shortest_us) {
                (Some(limit), _) => format!("calls shorter than {limit} us were left out"),
                (None, Some(shortest)) => format!("calls were left out; the shortest that is there took {shortest} us"),
                (None, None) => "calls were left out".to_owned(),
            };
            let detail = format!("{limit}: their time stands in their callers' Local");
            let lost = self.filtered;
            evidence.problems.push(Problem { kind: ProblemKind::Censored, detail, line: None, lost });
        }
        if self.full {
            let detail = "logging stopped because the log was full: what came after is missing";
            evidence.problem(ProblemKind::LostTail, None, detail);
        }
        if let Some(promised) = self.promised.filter(|promised| *promised > self.rows) {
            evidence.problems.push(Problem {
                kind: ProblemKind::Cut,
                detail: format!("the header speaks of {promised} entries, {} are there", self.rows),
                line: None,
                lost: Some(promised - self.rows),
            });
        }
        if self.not_found > 0 {
            let detail = counted(self.not_found, "# return[|s] had no entry in the log");
            evidence.problem(ProblemKind::Unpaired, None, detail);
        }
        if self.zero_rows > 0 {
            let detail = counted(
                self.zero_rows,
                "# row[|s] [has|have] Delta 0: shorter than a microsecond, or in old logs without an end",
            );
            evidence.problem(ProblemKind::Quantised, None, detail);
        }
        if self.stack_rows > 0 {
            let detail =
                counted(self.stack_rows, "# row[|s] [is|are] of the stack watch: in kd's table, not in the tree");
            evidence.problem(ProblemKind::Unrecognised, None, detail);
        }
        if self.wraps > 0 {
            let detail = counted(self.wraps, "the clock of 32 bits wrapped [once|# times]: later entries were moved");
            evidence.problem(ProblemKind::ClockWrap, None, detail);
        }
        if self.backward > 0 {
            let detail = counted(self.backward, "# entr[y|ies] [is|are] before the one above [it|them]");
            evidence.problem(ProblemKind::ClockJump, Some(self.first_backward), detail);
        }
        if self.unkept > 0 {
            let detail =
                counted(self.unkept, &format!("# row[|s] beyond the first {MOST_CALLS} [is|are] in the table only"));
            evidence.problem(ProblemKind::Overlong, None, detail);
        }
    }
}

/// `NUMBER usec by REASON`.
fn parted(text: &str) -> Option<(&str, &str)> {
    text.split_once(" usec by ")
}

/// The task of `12`, `12.3` (processor 3), `-1`, `-1i`, `-1.0`; all interrupts are one.
fn task_number(word: &[u8]) -> Option<u32> {
    let word = word.strip_suffix(b"i").unwrap_or(word);
    let word = &word[..memchr(b'.', word).unwrap_or(word.len())];
    match number(word)? {
        -1 => Some(INTERRUPT),
        number => u32::try_from(number).ok().filter(|number| *number != INTERRUPT),
    }
}

/// A decimal number with its sign.
pub(super) fn number(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0_i64, |value, byte| {
        byte.is_ascii_digit().then(|| value.checked_mul(10)?.checked_add(i64::from(byte - b'0')))?
    })?;
    Some(if negative { -value } else { value })
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}
