//! The lines of a log, put in their boots: where one ends and the next begins, what stands there twice, what is missing.

mod duplicate_console;
mod host_names;
mod other_clocks;
mod printed_again;
mod problems;
mod processes;
mod reordering;
mod replay;

use super::messages::Interpreter;
use super::unstamped_lines::{sign, Sign};
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Grade, Instant, Mark, Name, Problem, ProblemKind, Span, SpanKind, Stamp};
use crate::firmware::bootstage::Report;
use crate::firmware::loader_line::loader_stamp;
use crate::firmware::loader_stages::Stages;
use crate::systemd::console_units::ConsoleUnits;
use crate::systemd::stated_stages::stated_stages;
use duplicate_console::Doubled;
use firstlight_schema::ReasonCode;
use host_names::HostNames;
use memchr::memmem;
use processes::Processes;
pub use reordering::is_first;
use reordering::{is_last, Held, Writer};
use replay::Replay;

/// A line that comes so much later than others do had waited.
const WAITED: i64 = 20_000_000;
/// `Linux version` is among the first lines, or the beginning is missing.
const FIRST_LINES: u64 = 8;

#[derive(Debug, Default)]
struct Jumps {
    count: u64,
    first: u64,
    from: i64,
    to: i64,
}

/// The boots of a record so far.
#[derive(Debug)]
pub struct Boots {
    done: Vec<Evidence>,
    now: Evidence,
    interpreter: Interpreter,
    units: ConsoleUnits,
    /// What U-Boot prints of its stages right before it hands over.
    bootstage: Report,
    /// What loaders before the kernel stamp themselves.
    loaders: Stages,
    /// What syslog calls the machine.
    hosts: HostNames,
    /// Lines of programs, whose stamps may be of another clock.
    processes: Processes,
    /// What the same record holds of a boot on another clock.
    parts: Vec<Evidence>,
    last: Option<i64>,
    /// When the host received the line of that time.
    last_host: Option<i64>,
    held: Held,
    /// The kernel has said that it restarts or ends the machine.
    ended: bool,
    doubled: Doubled,
    /// What the stamps are behind the boot's time, since its clock began anew.
    shift: i64,
    begun: bool,
    kernel_lines: u64,
    /// Which of the kernel's lines has its version, and when.
    version_at: Option<(u64, Option<i64>)>,
    /// The kernel's first line of arm, which comes before its version, is the first one there is.
    booting_at_first: bool,
    console_at: Option<u64>,
    backlog: Option<(Stamp, u64)>,
    replay: Option<Replay>,
    replayed: Option<(u64, u64)>,
    jumps: Jumps,
    replaced: Option<(u64, u64)>,
    first_kernel: Option<Stamp>,
    first_delay: Option<(i64, i64)>,
    later: Vec<Problem>,
    understood_before: u64,
    by_sequence: bool,
}

impl Boots {
    /// Of a format, a part of its record, and a clock.
    pub fn new(format: &'static About, part: &str, clock: Clock) -> Self {
        let mut now = Evidence::of(format, clock);
        part.clone_into(&mut now.part);
        now.first_line = 1;
        Self {
            done: Vec::new(),
            now,
            interpreter: Interpreter::new(),
            units: ConsoleUnits::default(),
            bootstage: Report::default(),
            loaders: Stages::default(),
            hosts: HostNames::default(),
            processes: Processes::default(),
            parts: Vec::new(),
            last: None,
            last_host: None,
            held: Held::default(),
            ended: false,
            doubled: Doubled::default(),
            shift: 0,
            begun: false,
            kernel_lines: 0,
            version_at: None,
            booting_at_first: false,
            console_at: None,
            backlog: None,
            replay: None,
            replayed: None,
            jumps: Jumps::default(),
            replaced: None,
            first_kernel: None,
            first_delay: None,
            later: Vec::new(),
            understood_before: 0,
            by_sequence: false,
        }
    }

    /// The records are numbered, which shows what is missing before them.
    pub fn by_sequence(&mut self) {
        self.by_sequence = true;
    }

    /// The evidence of the present boot.
    pub fn now(&mut self) -> &mut Evidence {
        &mut self.now
    }

    /// How many messages said something, in all boots.
    pub fn understood(&self) -> u64 {
        self.understood_before + self.interpreter.understood()
    }

    /// How many lines of the kernel there are, in all boots.
    pub fn lines(&self) -> u64 {
        self.kernel_lines + self.done.iter().map(|boot| boot.understood).sum::<u64>()
    }

    /// Whether what comes now is before the kernel's first line: the boot has none yet, or a loader has just printed its name.
    pub fn before_kernel(&self) -> bool {
        self.kernel_lines == 0 || self.held.is_candidate()
    }

    /// Whether the kernel of the present boot has started its first program, or is about to.
    pub fn runs_programs(&self) -> bool {
        self.now.marks.iter().any(|mark| matches!(mark.mark, Mark::UserStart | Mark::FreeInitMemory))
    }

    /// Sets the clock when the first line shows it.
    pub fn clock(&mut self, clock: Clock, step_ns: i64) {
        self.now.clock = clock;
        self.now.step_ns = step_ns;
    }

    /// The machine that syslog names before a line of the kernel.
    pub fn host(&mut self, name: &[u8]) {
        self.hosts.line(name);
    }

    /// A line of the kernel.
    #[inline]
    pub fn kernel(&mut self, stamp: Stamp, text: &[u8]) {
        if self.stands_twice(&stamp, text) {
            return;
        }
        if !self.held.is_empty() {
            self.printed_again_is_over(&stamp, text);
        }
        if !self.held.is_empty() || self.goes_back(&stamp, text) {
            self.hold(stamp, text);
        } else {
            self.take(stamp, text);
        }
    }

    /// A line of the kernel whose place is known.
    fn take(&mut self, mut stamp: Stamp, text: &[u8]) {
        if is_first(text) {
            self.first_of_a_kernel(&stamp, text);
        }
        stamp.time_ns = self.shifted(stamp.time_ns);
        if let Some(time) = stamp.time_ns {
            match self.last {
                Some(last) if time < last => {
                    if !self.backward(&stamp, time, last, text) {
                        return;
                    }
                }
                _ => {
                    if let Some(replay) = self.replay.take_if(|replay| time > replay.until) {
                        self.printed_again(&replay, &stamp, time);
                        self.replay_is_over(&replay);
                    }
                    if self.replay.is_some() && !self.kept_in_replay(&stamp, text) {
                        return;
                    }
                    self.last = Some(time);
                }
            }
            self.last_host = stamp.host_ns;
            if let Some(host) = stamp.host_ns {
                self.received(&stamp, time, host);
            }
            self.processes.kernel(time);
        }
        self.kernel_lines += 1;
        self.ended |= is_last(text);
        if self.first_kernel.is_none() {
            self.first_kernel = Some(stamp);
            self.booting_at_first = is_first(text);
        }
        match text.first() {
            Some(b'L') if text.starts_with(b"Linux version ") => {
                self.version_at.get_or_insert((self.kernel_lines, stamp.time_ns));
            }
            Some(b'c' | b'p') if console_enabled(text) => {
                self.console_at = Some(self.kernel_lines);
                self.backlog = Some((stamp, self.kernel_lines));
            }
            _ => {}
        }
        if text.first() == Some(&b's') {
            self.of_units(&stamp, text);
        }
        self.store(stamp, text);
        self.interpreter.line(&stamp, text, &mut self.now);
    }

    /// A line of something else on the same console or in the same file. A loader that prints its name while a kernel runs opens
    /// a candidate: firmware also prints on the console of a running kernel.
    pub fn other(&mut self, stamp: Stamp, text: &[u8]) {
        let sign = sign(text);
        let loader = matches!(sign, Some(Sign::Banner(_))) || loader_stamp(text).is_some();
        if loader && self.kernel_lines > 0 && self.is_loaders_own() {
            self.stamps_are_loaders();
        }
        if loader && self.kernel_lines > 0 && !self.held.is_candidate() {
            self.release();
            self.held.open(stamp.line, self.last);
        }
        if self.held.is_full() || (sign.is_some() && !self.held.is_candidate()) {
            self.release();
        }
        if self.held.is_empty() && !self.held.is_candidate() {
            self.take_other(stamp, text);
        } else {
            self.held.push(stamp, text, Writer::Other);
        }
    }

    /// A line of a program that was stamped: the kernel's clock, or one of its own.
    pub fn process(&mut self, stamp: Stamp, text: &[u8]) {
        if self.held.is_empty() && !self.held.is_candidate() {
            self.take_process(stamp, text);
        } else {
            self.held.push(stamp, text, Writer::Process);
        }
    }

    fn take_process(&mut self, mut stamp: Stamp, text: &[u8]) {
        stamp.time_ns = self.shifted(stamp.time_ns);
        if let (Some(time), Some(last)) = (stamp.time_ns, self.last) {
            self.processes.line(self.now.log.len(), time, last);
        }
        self.kernel_lines += 1;
        self.first_kernel.get_or_insert(stamp);
        self.interpreter.program(text, &mut self.now);
        self.store(stamp, text);
    }

    fn take_other(&mut self, mut stamp: Stamp, text: &[u8]) {
        stamp.time_ns = self.shifted(stamp.time_ns);
        if let Some(sign) = sign(text) {
            if let Sign::Banner(name) = sign {
                self.loader(name, stamp.line);
            }
            let mark = match sign {
                Sign::Banner(_) => Mark::FirmwareStart,
                Sign::HandOver => Mark::KernelEntry,
                Sign::Decompression => Mark::DecompressionStart,
                Sign::Login => Mark::LoginPrompt,
            };
            self.mark(mark, &stamp, text);
        } else if (text.starts_with(b"systemd[1]: ") || text.starts_with(b"firstlight: ready"))
            && !self.stages_of(&stamp, text)
        {
            self.interpreter.line(&stamp, text, &mut self.now);
        }
        if self.kernel_lines == 0 {
            self.bootstage.console_line(text, stamp.line);
            // What a host has stamped has a place on its clock.
            if stamp.host_ns.is_none() && stamp.time_ns.is_none() && self.loaders.line(text, stamp.line) {
                return;
            }
        } else {
            self.ended |= is_last(text);
            self.interpreter.program(text, &mut self.now);
        }
        self.of_units(&stamp, text);
        self.store(stamp, text);
    }

    /// Whether a line that the syslog daemon stamped, and not the kernel, sums up the start: then it states where the stages lie.
    fn stages_of(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let placed = stamp.time_ns.is_some() || self.now.clock != Clock::Printk || self.kernel_lines == 0;
        let message = text.strip_prefix(b"systemd[1]: ").filter(|_| !placed);
        let Some(message) = message.and_then(|message| std::str::from_utf8(message).ok()) else { return false };
        let Some(mut stages) = stated_stages(message, stamp.line, self.now.format) else { return false };
        stages.boot = self.now.boot;
        let known = self.parts.iter().any(|part| part.boot == stages.boot && part.part == stages.part);
        if !known && !self.now.marks.iter().any(|mark| mark.mark == Mark::StartupFinished) {
            self.parts.push(stages);
        }
        true
    }

    /// A loader that prints its name before the kernel.
    fn loader(&mut self, name: &'static str, line: u64) {
        self.loaders.banner(line);
        let known = self.now.facts.iter_mut().find(|(fact, _)| fact == "firmware.loaders");
        match known {
            Some((_, names)) if names.ends_with(name) => {}
            Some((_, names)) if names.len() < 200 => {
                names.push_str(", ");
                names.push_str(name);
            }
            Some(_) => {}
            None => self.now.facts.push((Name::Borrowed("firmware.loaders"), name.to_owned())),
        }
    }

    /// What the manager says of units, where the line has a time.
    fn of_units(&mut self, stamp: &Stamp, text: &[u8]) {
        if let (Some(time_ns), Ok(text)) = (stamp.time_ns, std::str::from_utf8(text)) {
            self.units.line(time_ns, text);
        }
    }

    fn mark(&mut self, mark: Mark, stamp: &Stamp, text: &[u8]) {
        if self.now.host_marks.iter().chain(&self.now.marks).any(|known| known.mark == mark) {
            return;
        }
        let detail = String::from_utf8_lossy(&text.trim_ascii()[..text.trim_ascii().len().min(120)]).into_owned();
        if let Some(time_ns) = stamp.time_ns {
            self.now.marks.push(Instant { mark, time_ns, detail });
        } else if let Some(time_ns) = stamp.host_ns {
            self.now.host_marks.push(Instant { mark, time_ns, detail });
        }
    }

    fn store(&mut self, stamp: Stamp, text: &[u8]) {
        if self.now.log.push(stamp, text) {
            self.replaced.get_or_insert((0, stamp.line)).0 += 1;
        }
    }

    /// The first line of a kernel begins a second boot, too, where its clock does not go back: it goes on through all
    /// boots, there is none, or the boot before ended before it ran. A console that was enabled late repeats the first.
    fn first_of_a_kernel(&mut self, stamp: &Stamp, text: &[u8]) {
        let version = text.first() == Some(&b'L');
        let again = self.version_at.is_some() || (self.begun && !version);
        let goes_on = matches!(self.now.clock, Clock::Realtime | Clock::Host);
        let stands = goes_on || stamp.time_ns.is_none() || self.shifted(stamp.time_ns) == self.last;
        if again && stands && !self.just_enabled() {
            self.next_boot(stamp.line);
        }
        self.begun = true;
    }

    /// Follows what the host's clock says of the kernel's lines.
    fn received(&mut self, stamp: &Stamp, time: i64, host: i64) {
        let delay = host.saturating_sub(time);
        let (first_host, first_delay) = *self.first_delay.get_or_insert((host, delay));
        let Some((enabled, lines)) = self.backlog.take_if(|(enabled, _)| enabled.line < stamp.line) else { return };
        let (Some(from), Some(host_then)) = (enabled.time_ns, enabled.host_ns) else { return };
        // The first line had waited for the console, and while it and all others were printed, the kernel stood still.
        let (waited, flushed) = (first_delay.saturating_sub(delay), host_then.saturating_sub(first_host));
        let stood = time.saturating_sub(from);
        if waited >= WAITED && flushed > 0 && stood >= flushed {
            let mut span =
                Span::new(SpanKind::Console, "lines that had piled up").between(from, from.saturating_add(flushed));
            span.grade = Grade::Bounded;
            span.reason = ReasonCode::HostReceived.into();
            span.attributes.push((Name::Borrowed("lines"), lines.to_string()));
            self.now.spans.push(span);
        }
    }

    /// Ends this boot and begins the next.
    pub fn next_boot(&mut self, line: u64) {
        self.release();
        let mut next = Evidence::of(self.now.format, self.now.clock.clone());
        next.part.clone_from(&self.now.part);
        next.boot = self.now.boot + 1;
        next.first_line = line;
        next.step_ns = if self.now.clock == Clock::Realtime { self.now.step_ns } else { 0 };
        self.close(next);
    }

    fn close(&mut self, next: Evidence) {
        self.ended = false;
        if let Some(replay) = self.replay.take() {
            self.replay_is_over(&replay);
        }
        let interpreter = std::mem::take(&mut self.interpreter);
        self.understood_before += interpreter.understood();
        let mut boot = std::mem::replace(&mut self.now, next);
        if boot.clock == Clock::Host {
            let heard = std::mem::take(&mut boot.host_marks);
            boot.marks.extend(heard);
        }
        self.problems(&mut boot);
        std::mem::take(&mut self.processes).finish(&mut boot);
        interpreter.finish(&mut boot);
        std::mem::take(&mut self.units).finish(&mut boot);
        std::mem::take(&mut self.hosts).finish(&mut boot);
        boot.marks.sort_by_key(|mark| mark.time_ns);
        boot.understood = boot.understood.max(self.kernel_lines);
        if let Some(mut stages) = std::mem::take(&mut self.bootstage).evidence(boot.format) {
            "bootstage".clone_into(&mut stages.part);
            stages.boot = boot.boot;
            self.parts.push(stages);
        }
        if let Some(mut stages) = std::mem::take(&mut self.loaders).evidence(boot.format) {
            "loaders".clone_into(&mut stages.part);
            stages.boot = boot.boot;
            // U-Boot's own report is of the same time.
            if self.parts.iter().any(|part| part.boot == boot.boot && part.part == "bootstage") {
                stages.marks.clear();
            }
            self.parts.push(stages);
        }
        self.done.push(boot);
        (self.last, self.last_host) = (None, None);
        self.shift = 0;
        self.begun = false;
        self.kernel_lines = 0;
        self.version_at = None;
        self.booting_at_first = false;
        self.console_at = None;
        self.backlog = None;
        self.replayed = None;
        self.doubled = Doubled::default();
        self.jumps = Jumps::default();
        self.replaced = None;
        self.first_kernel = None;
        self.first_delay = None;
    }

    /// Notes a problem of whichever boot has this line.
    pub fn note(&mut self, kind: ProblemKind, line: u64, detail: impl Into<String>) {
        self.later.push(Problem { kind, detail: detail.into(), line: Some(line), lost: None });
    }

    /// Every boot, with the problems of the lines given to that in which they lie.
    pub fn finish(mut self, problems: Vec<Problem>) -> Vec<Evidence> {
        self.release();
        self.close(Evidence::default());
        // A capture that ends at a prompt ends where nothing more came: nothing was cut off.
        let last = self.done.last().and_then(|boot| boot.log.get(boot.log.len().checked_sub(1)?));
        let prompt = last.is_some_and(|(_, text)| is_prompt(text));
        let problems = problems.into_iter().filter(|problem| !prompt || problem.kind != ProblemKind::Cut);
        for problem in self.later.drain(..).chain(problems) {
            let line = problem.line.unwrap_or(u64::MAX);
            let of = self.done.iter().rposition(|boot| boot.first_line <= line).unwrap_or(0);
            if let Some(boot) = self.done.get_mut(of) {
                boot.problems.push(problem);
            }
        }
        self.leave_out_remnant();
        self.done.append(&mut self.parts);
        self.done.sort_by_key(|boot| boot.boot);
        self.done
    }
}

impl Boots {
    /// One line of a kernel that was about to end is no boot of its own where another one follows.
    fn leave_out_remnant(&mut self) {
        let [first, _, ..] = self.done.as_slice() else { return };
        let says =
            first.understood > 1 || !first.marks.is_empty() || !first.spans.is_empty() || !first.facts.is_empty();
        if says || first.boot > 0 || self.parts.iter().any(|part| part.boot == 0) {
            return;
        }
        let remnant = self.done.remove(0);
        self.done.iter_mut().chain(&mut self.parts).for_each(|boot| boot.boot = boot.boot.saturating_sub(1));
        let Some(next) = self.done.first_mut() else { return };
        let what = "# line[|s] before the boot [is|are] left out: one line of a kernel is all that is left of another boot there";
        let detail = counted(remnant.log.len() as u64, what);
        next.problem(ProblemKind::Unrecognised, Some(remnant.first_line), detail);
        // What is wrong with lines of the file holds for it still; that a boot lacks its beginning does not.
        next.problems.extend(remnant.problems.into_iter().filter(|problem| problem.kind != ProblemKind::LostHead));
    }
}

/// `box login: `, or a shell that waits.
fn is_prompt(text: &str) -> bool {
    let text = text.trim_end();
    ["login:", "Password:", "#", "$"].into_iter().any(|end| text.ends_with(end))
}

/// `console [ttyS0] enabled`, `printk: legacy bootconsole [earlycon0] enabled`.
fn console_enabled(text: &[u8]) -> bool {
    let may = text.last().is_some_and(|last| *last == b'd' || last.is_ascii_whitespace());
    may && text.trim_ascii_end().ends_with(b" enabled") && memmem::find(text, b"console [").is_some()
}
