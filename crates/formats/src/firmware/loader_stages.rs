//! What boot loaders stamp on a console: NVIDIA's TegraBoot, MB1, MB2 and cboot, Qualcomm's PBL and SBL, Little Kernel, Slim
//! Bootloader's table.
//!
//! A stage begins where the loader's stamps fall back, or another grammar begins: it has its own clock, the stages are joined in
//! their order, and the time between two of them is unknown. A stage also begins where a loader greets with another name: it
//! goes on with the clock of the one before.

use super::loader_line::{loader_line, Grammar, LoaderLine};
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Instant, Log, Mark, Problem, ProblemKind, Span, SpanKind, Stamp};
use crate::format::{Format, Head, Input, Likelihood};
use crate::kernel_log::boots::is_first;
use crate::kernel_log::prefix::{self, inner_stamp};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader of a file that holds the lines of loaders only.
pub struct LoaderStages;

/// More steps than this are counted, not kept.
const MOST_STEPS: usize = 10_000;

impl Format for LoaderStages {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::LoaderStages, Traits::of(Origin::Firmware)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let lines = || head.bytes.split(|&byte| byte == b'\n').take(400);
        // `[0000.125]`: no other program pads seconds with zeros.
        let little_kernel = memchr::memmem::find(head.bytes, b"] welcome to lk").is_some();
        let certain = |line: &&[u8]| {
            loader_line(line.trim_ascii_end()).is_some_and(|found| {
                let of_little_kernel = found.grammar == Grammar::LittleKernel && little_kernel;
                found.is_certain() || of_little_kernel || line.starts_with(b"[00") && found.grammar == Grammar::Millis
            })
        };
        let named = lines().filter(certain).count();
        // A capture that goes on into a kernel is read as a console.
        let kernel = memchr::memmem::find(head.bytes, b"Linux version ").is_some();
        match named {
            0..3 => Likelihood::No,
            _ if kernel => Likelihood::Possible,
            _ => Likelihood::Likely,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let mut stages = Stages::default();
        let mut kernel = KernelLines::default();
        lines.each(|line| {
            stages.line(line.bytes, line.number);
            kernel.line(line.bytes, line.number);
        })?;
        if let Some(line) = kernel.begin() {
            return Err(self.not_this(&format!("a kernel's lines begin at line {line}: it is a capture of a console")));
        }
        let what = "no line has a time of a boot loader".to_owned();
        let found = stages.evidence(self.about());
        let mut evidence = found.ok_or(FormatError::NotThis { format: self.title(), what })?;
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

/// So many lines with a kernel's stamp are a kernel's, without its first line.
const KERNEL_STAMPS: u64 = 3;

/// The lines of a kernel among those of loaders: what a loader has printed may be longer than what recognition sees.
#[derive(Debug, Default)]
struct KernelLines {
    /// The number of its first line.
    first: Option<u64>,
    /// How many lines have a kernel's stamp, and which is the first of them.
    stamped: Option<(u64, u64)>,
}

impl KernelLines {
    fn line(&mut self, bytes: &[u8], number: u64) {
        if self.first.is_some() {
            return;
        }
        let found = prefix::parse(bytes);
        if is_first(found.text) {
            self.first = Some(self.stamped.map_or(number, |(_, first)| first));
        } else if inner_stamp(bytes, 0).is_some() {
            self.stamped.get_or_insert((0, number)).0 += 1;
        }
    }

    /// Where the kernel's lines begin, if there are any.
    fn begin(&self) -> Option<u64> {
        self.first.or(self.stamped.filter(|(lines, _)| *lines >= KERNEL_STAMPS).map(|(_, first)| first))
    }
}

/// Whether a text holds lines of a kernel.
pub fn holds_kernel(bytes: &[u8]) -> bool {
    let mut kernel = KernelLines::default();
    bytes
        .split(|&byte| byte == b'\n')
        .zip(1_u64..)
        .for_each(|(line, number)| kernel.line(line.trim_ascii_end(), number));
    kernel.begin().is_some()
}

/// One stage, on the clock that all of them are joined to.
#[derive(Debug)]
struct Stage {
    grammar: Grammar,
    name: String,
    /// What is added to the loader's own times.
    offset_ns: i64,
    /// It goes on with the clock of the stage before.
    joined: bool,
    first_ns: i64,
    last_ns: i64,
    lines: u64,
}

/// The stages of the loaders so far.
#[derive(Debug, Default)]
pub struct Stages {
    stages: Vec<Stage>,
    log: Log,
    spans: Vec<Span>,
    /// What began and may end by name.
    open: Vec<(String, i64)>,
    first_line: u64,
    last_line: u64,
    left_out: u64,
    unstamped: Option<u64>,
}

impl Stages {
    /// Reads a line of a console; returns whether it is one of these loaders, and kept here.
    pub fn line(&mut self, bytes: &[u8], number: u64) -> bool {
        let Some(at) = self.read(bytes, number) else {
            // What comes between their lines stays between them.
            return !self.stages.is_empty() && self.keep(None, bytes, number);
        };
        self.keep(at, bytes, number)
    }

    fn keep(&mut self, time_ns: Option<i64>, bytes: &[u8], number: u64) -> bool {
        self.log.push(Stamp { line: number, time_ns, ..Stamp::default() }, bytes);
        true
    }

    /// Reads a line that has a loader's time, or a length; returns its time on the clock of all stages, if it has one.
    fn read(&mut self, bytes: &[u8], number: u64) -> Option<Option<i64>> {
        let line = loader_line(bytes)?;
        self.add(&line, number).then(|| line.at_ns.and(self.stages.last()).map(|stage| stage.last_ns))
    }

    /// A line of a loader that stamps as the kernel does.
    pub fn stamped(&mut self, at_ns: i64, text: &str, number: u64) {
        self.add(&LoaderLine::stamped(at_ns, text), number);
    }

    /// A loader that prints its name without a time.
    pub fn banner(&mut self, number: u64) {
        if !self.stages.is_empty() {
            self.unstamped.get_or_insert(number);
        }
    }

    fn add(&mut self, line: &LoaderLine<'_>, number: u64) -> bool {
        let current = self.stages.last().filter(|stage| stage.grammar == line.grammar);
        let goes_on = current.is_some_and(|stage| line.at_ns.is_none_or(|at| at + stage.offset_ns >= stage.last_ns));
        // Without its greeting, a number in brackets is no time.
        if current.is_none() && line.grammar == Grammar::LittleKernel && !line.greets {
            return false;
        }
        let named = line.stage.filter(|_| line.greets);
        let renamed = current
            .is_some_and(|stage| stage.name != stage.grammar.loader() && named.is_some_and(|name| name != stage.name));
        if !goes_on || renamed {
            let Some(at) = line.at_ns else { return false };
            let joined = goes_on;
            let before = |stage: &Stage| if joined { stage.offset_ns } else { stage.last_ns };
            let offset_ns = self.stages.last().map_or(0, before);
            let name = line.stage.unwrap_or(line.grammar.loader()).to_owned();
            let first = offset_ns.saturating_add(at);
            if let Some(before) = self.stages.last_mut().filter(|_| joined) {
                before.last_ns = first;
            }
            if self.stages.is_empty() {
                self.first_line = number;
            }
            let (grammar, first_ns, last_ns) = (line.grammar, first, first);
            self.stages.push(Stage { grammar, name, offset_ns, joined, first_ns, last_ns, lines: 0 });
            if !joined {
                self.open.clear();
            }
        }
        self.last_line = number;
        self.unstamped = None;
        let Some(stage) = self.stages.last_mut() else { return false };
        stage.lines += 1;
        if let (Some(name), true) = (line.stage, stage.name == stage.grammar.loader()) {
            name.clone_into(&mut stage.name);
        }
        if let Some(at) = line.at_ns {
            stage.last_ns = stage.offset_ns.saturating_add(at);
        }
        let now = stage.last_ns;
        if self.spans.len() >= MOST_STEPS {
            self.left_out += 1;
            return true;
        }
        let name = one_line(line.name, "<unknown>");
        if let Some(taken) = line.took_ns.filter(|taken| *taken >= 0) {
            let begun = self.open.iter().rposition(|(open, _)| *open == name).map(|at| self.open.remove(at).1);
            let mut span = Span::new(SpanKind::Firmware, name);
            match (begun, line.at_ns) {
                (Some(start), _) => span = span.between(start, start.saturating_add(taken)),
                (None, Some(_)) => span = span.between(now.saturating_sub(taken), now),
                (None, None) => span.duration_ns = Some(taken),
            }
            self.spans.push(span);
        } else if line.begins {
            if self.open.len() < 64 {
                self.open.push((name, now));
            }
        } else if line.ends {
            if let Some(at) = self.open.iter().rposition(|(open, _)| *open == name) {
                let (name, start) = self.open.remove(at);
                self.spans.push(Span::new(SpanKind::Firmware, name).between(start, now.max(start)));
            }
        }
        true
    }

    /// What they say, on one clock; none when no line had a time.
    pub fn evidence(self, format: &'static About) -> Option<Evidence> {
        let (first, last) = (self.stages.first()?, self.stages.last()?);
        let mut evidence =
            Evidence { first_line: self.first_line, step_ns: 1_000, ..Evidence::of(format, Clock::Firmware) };
        evidence.understood = self.stages.iter().map(|stage| stage.lines).sum();
        let begun = Instant {
            mark: Mark::FirmwareStart,
            time_ns: 0,
            detail: format!("the zero of the clock of {}", first.name),
        };
        let over = Instant::inferred(Mark::KernelEntry, last.last_ns, "the last line with a loader's time");
        evidence.marks = vec![begun, over];
        let mut clocks: Vec<String> = Vec::new();
        for stage in &self.stages {
            match clocks.last_mut().filter(|_| stage.joined) {
                Some(names) => {
                    names.push_str(" and ");
                    names.push_str(&stage.name);
                }
                None => clocks.push(stage.name.clone()),
            }
        }
        if let [_, _, ..] = clocks.as_slice() {
            let detail = format!(
                "{} stages, each with a clock of its own, are joined in their order ({}): how long it took from one to \
                 the next is unknown, and counted as nothing",
                clocks.len(),
                clocks.join(", ")
            );
            let line = Some(self.first_line);
            evidence.problems.push(Problem { kind: ProblemKind::ClockStep, detail, line, lost: Some(0) });
        }
        if let Some(line) = self.unstamped {
            let detail =
                "a loader after the last stamped one has no times: how long it took is unknown, and counted as nothing";
            evidence.problems.push(Problem {
                kind: ProblemKind::ClockStep,
                detail: detail.to_owned(),
                line: Some(line),
                lost: Some(0),
            });
        }
        if self.left_out > 0 {
            let detail = format!(
                "{}{MOST_STEPS}",
                counted(self.left_out, "# step[|s] of loaders [is|are] left out: there are more than ")
            );
            let (kind, line) = (ProblemKind::Lost, Some(self.last_line));
            evidence.problems.push(Problem { kind, detail, line, lost: Some(self.left_out) });
        }
        for stage in self.stages {
            let span = Span::new(SpanKind::Firmware, stage.name).between(stage.first_ns, stage.last_ns);
            evidence.spans.push(span.with("stage", "yes"));
        }
        evidence.spans.extend(self.spans);
        evidence.log = self.log;
        Some(evidence)
    }
}
