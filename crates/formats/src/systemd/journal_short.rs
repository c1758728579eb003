//! `journalctl` as lines of text: `short`, `short-monotonic`, `short-precise`, `short-iso`, `short-unix`, `short-full`, ...

use super::journal_boots::{sign, Beginning, Shown, Sign, Waiting, Year};
use super::short_line::{numbered_month, parse, ShortLine, Time};
use super::time::{startup, Zero, STARTUP};
use super::unit_jobs::{UnitJobs, READ_LATE, TWO_CLOCKS};
use super::unit_messages::unit;
use super::wall_clock::{Setting, WallClock};
use crate::about::{About, Stamps, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Grade, Log, ProblemKind, Span, Stamp, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::kernel_log::messages::Interpreter;
use crate::kernel_log::prefix::facility;
use crate::lines::Lines;
use crate::udev::queue::Queue;
use crate::FormatError;
use firstlight_schema::FormatName;

/// So `journalctl -x` begins the lines that explain a message, from systemd 246 on; before, with `-- `.
const EXPLAINS: char = '░';

/// Reads the journal as text.
pub struct JournalShort;

impl Format for JournalShort {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::JournalShort, Traits { stamps: Stamps::Received, ..Traits::JOURNAL }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes);
        let (mut all, mut good, mut hosts, mut manager, mut kernel, mut stamped) = (0, 0, Vec::new(), 0, 0, 0);
        for line in text.lines().filter(|line| !line.starts_with([' ', '-', EXPLAINS]) || numbered_month(line)) {
            if line.is_empty() {
                continue;
            }
            all += 1;
            let Some(line) = parse(line) else { continue };
            good += 1;
            if !hosts.contains(&line.host) {
                hosts.push(line.host);
            }
            manager += usize::from(line.name == "systemd" && line.pid == Some("1"));
            kernel += usize::from(line.name == "kernel" && line.pid.is_none());
            // A copy of the kernel's log by syslog has the kernel's stamp in the message, and its own reader; so has what
            // BusyBox's syslogd wrote, which names facility and level.
            let copied = line.name == "kernel" && line.message.trim_start().starts_with('[');
            stamped += usize::from(copied || facility(line.body.as_bytes()).is_some());
        }
        if good == 0 || good * 10 < all * 8 || hosts.len() > 1 || stamped * 2 > good {
            return Likelihood::No;
        }
        match (good, manager) {
            // The kernel's lines alone, as the beginning of a boot is full of them: the journal names the host, which dmesg does
            // not, and leaves out the kernel's stamp, which syslog does not.
            (3.., _) if kernel == good => Likelihood::Certain,
            _ if kernel == good => Likelihood::No,
            (3.., _) if manager + kernel > 0 => Likelihood::Certain,
            (_, 1..) => Likelihood::Likely,
            _ => Likelihood::Possible,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut boots: Vec<Boot> = Vec::new();
        let mut lines = Lines::new(input.bytes);
        let (mut unparsed, mut fresh) = (Unparsed::default(), false);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.is_empty() || text.starts_with("-- ") || text.starts_with(EXPLAINS) {
                fresh |= text.starts_with("-- Boot ") || text.starts_with("-- Reboot");
                continue;
            }
            if let Some(short) = parse(&text) {
                let separated = std::mem::take(&mut fresh);
                if separated || boots.is_empty() {
                    boots.push(Boot { first_line: line.number, separated, ..Boot::default() });
                }
                if let Some(boot) = boots.last_mut() {
                    if let Some(next) = boot.take(&short, &text, line.number) {
                        // What has no beginning is of a boot before the record.
                        if !boot.shown.begun() {
                            boots.pop();
                        }
                        boots.push(next);
                    }
                }
            } else if let Some(boot) = boots.last_mut().filter(|_| text.starts_with(' ')) {
                boot.take_more(&text, line.number);
            } else {
                unparsed.add(line.number);
            }
        }
        if boots.is_empty() {
            return Err(self.not_this("no line has its shape"));
        }
        let mut all: Vec<Evidence> =
            boots.into_iter().zip(0..).flat_map(|(boot, number)| boot.finish(self.about(), number)).collect();
        if let Some(first) = all.first_mut() {
            unparsed.report("line[|s] [has|have] another shape", first);
            first.problems.extend(lines.problems());
        }
        Ok(all)
    }
}

#[derive(Default)]
struct Boot {
    first_line: u64,
    /// What the lines call the machine; none: they differ.
    host: Option<String>,
    realtime: bool,
    step_ns: i64,
    log: Log,
    kernel: Log,
    /// So many of the kernel's lines, as far as is known, were in its buffer before the journal ran.
    buffered: usize,
    last: Option<(bool, Stamp)>,
    units: UnitJobs,
    early: UnitJobs,
    journal: bool,
    begun: bool,
    queue: Queue,
    startup: Option<(String, u64, i64)>,
    mixed: (u64, Option<u64>),
    /// With the wall clock, the lines wait until it is known where that was set; a further line of a message begins with a space.
    wall: WallClock,
    waiting: Vec<Waiting>,
    year: Year,
    /// By how much the clock has been set.
    set_ns: i64,
    /// A line of the journal parts it from the boot before it.
    separated: bool,
    shown: Shown,
    /// So many lines before it are left out, from which on.
    left_out: Option<(u64, u64)>,
    /// No line shows where it begins.
    by_sum: bool,
}

impl Boot {
    /// Takes a line; gives the next boot, if that begins with it or with one before it.
    fn take(&mut self, short: &ShortLine<'_>, text: &str, number: u64) -> Option<Self> {
        let sign = sign(short);
        if let Some(sign) = sign.filter(|_| !self.separated) {
            let mut year = self.year;
            let (Time::Monotonic(time_ns) | Time::Realtime(time_ns)) = year.of(short.time);
            if let Some(beginning) = self.shown.next(sign, time_ns, &self.waiting) {
                return Some(self.next(beginning, short, text, number));
            }
        }
        self.keep(short, sign, text, number);
        None
    }

    fn keep(&mut self, short: &ShortLine<'_>, sign: Option<Sign>, text: &str, number: u64) {
        let short = &ShortLine { time: self.year.of(short.time), ..*short };
        let (Time::Monotonic(time_ns) | Time::Realtime(time_ns)) = short.time;
        self.shown.note(sign, time_ns);
        if self.waiting.is_empty() && (self.last.is_some() || matches!(short.time, Time::Monotonic(_))) {
            self.add(short, number);
            return;
        }
        self.wall.see(short, number);
        let (text, time_ns, year_ns) = (text.trim_start().to_owned(), Some(time_ns), self.year.year_ns);
        self.waiting.push(Waiting { number, text, time_ns, sign, year_ns });
    }

    /// The boot that begins at a line, with the lines from there on.
    fn next(&mut self, beginning: Beginning, short: &ShortLine<'_>, text: &str, number: u64) -> Self {
        let own = self.waiting.split_off(beginning.place.min(self.waiting.len()));
        let first_line = own.first().map_or(number, |line| line.number);
        self.wall.forget_from(first_line);
        let mut next = Self { first_line, by_sum: beginning.by_sum, ..Self::default() };
        if !self.shown.begun() {
            next.left_out = Some((self.waiting.len() as u64, self.first_line));
        }
        for line in own {
            match parse(&line.text).filter(|_| line.time_ns.is_some()) {
                Some(short) => next.keep(&short, line.sign, &line.text, line.number),
                None => next.take_more(&line.text, line.number),
            }
        }
        next.keep(short, sign(short), text, number);
        next
    }

    fn take_more(&mut self, text: &str, number: u64) {
        if self.waiting.is_empty() {
            self.go_on(text.trim_start(), number);
        } else {
            let (text, year_ns) = (text.to_owned(), self.year.year_ns);
            self.waiting.push(Waiting { number, text, time_ns: None, sign: None, year_ns });
        }
    }

    /// Adds the lines that waited, by a clock that was not set.
    fn settle(&mut self) -> Vec<Setting> {
        let settings = std::mem::take(&mut self.wall).settings();
        let mut next = settings.iter().peekable();
        for Waiting { number, text, year_ns, .. } in std::mem::take(&mut self.waiting) {
            while let Some(setting) = next.next_if(|setting| setting.line <= number) {
                self.set_ns = self.set_ns.saturating_add(setting.by_ns);
                self.units.clock_set();
                self.early.clock_set();
            }
            match parse(&text).filter(|_| !text.starts_with(' ')) {
                Some(short) => self.add(&short.later(year_ns), number),
                None => self.go_on(text.trim_start(), number),
            }
        }
        settings
    }

    fn add(&mut self, line: &ShortLine<'_>, number: u64) {
        let (realtime, time_ns) = match line.time {
            Time::Monotonic(time) => (false, time),
            Time::Realtime(time) => (true, time.saturating_sub(self.set_ns)),
        };
        if self.last.is_none() {
            self.host = Some(line.host.to_owned());
            self.realtime = realtime;
            self.step_ns = line.step_ns;
        }
        self.host = self.host.take().filter(|host| host == line.host);
        let time_ns = (self.realtime == realtime).then_some(time_ns);
        if time_ns.is_none() {
            self.mixed = (self.mixed.0 + 1, self.mixed.1.or(Some(number)));
        }
        let stamp = Stamp { line: number, time_ns, ..Stamp::default() };
        let kernel = line.name == "kernel" && line.pid.is_none();
        self.last = Some((kernel, stamp));
        if kernel {
            // With the first of them the boot began; that of the journal may never come (`journalctl -k`).
            self.begun |= line.message.starts_with("Linux version ");
            self.kernel.push(stamp, line.message.as_bytes());
            if self.begun && !self.journal {
                self.buffered = self.kernel.len();
            }
            return;
        }
        self.log.push(stamp, line.body.as_bytes());
        // What the manager said before the journal ran came through the kernel's buffer, and has the kernel's stamps; on the
        // wall clock, where only its first message, that of the buffer being read, shows that it had not run before.
        let journal =
            line.name == "systemd-journald" && (!self.realtime || line.message.starts_with("Journal started"));
        if journal && !std::mem::replace(&mut self.journal, true) {
            self.buffered = self.kernel.len();
            self.units.take_over(&mut self.early, if self.realtime { READ_LATE } else { TWO_CLOCKS });
        }
        let Some(time_ns) = time_ns else { return };
        if (line.name == "systemd" || line.name == "init.scope") && line.pid == Some("1") {
            if let Some(stages) = line.message.strip_prefix(STARTUP) {
                self.startup = Some((stages.to_owned(), number, time_ns));
            } else if self.journal {
                unit(line.message, time_ns, &mut self.units);
            } else {
                unit(line.message, time_ns, &mut self.early);
            }
        } else if line.name.contains("udev") {
            self.queue.line(Some(time_ns), line.pid, line.message, number);
        }
    }

    /// A further line of a message.
    fn go_on(&mut self, text: &str, number: u64) {
        let Some((kernel, stamp)) = self.last else { return };
        let stamp = Stamp { line: number, ..stamp };
        let log = if kernel { &mut self.kernel } else { &mut self.log };
        log.push(stamp, text.as_bytes());
    }

    fn finish(mut self, format: &'static About, number: u32) -> Vec<Evidence> {
        let settings = self.settle();
        let clock = |own: Clock| if self.realtime { Clock::Realtime } else { own };
        let of = |part: &str, clock, log: Log| Evidence {
            part: part.to_owned(),
            boot: number,
            first_line: self.first_line,
            step_ns: self.step_ns,
            understood: log.len() as u64,
            log,
            ..Evidence::of(format, clock)
        };
        let mut system = of("", clock(Clock::Monotonic), self.log);
        if let Some((stages, line, time_ns)) = self.startup {
            // On the wall clock, or without a stage of the kernel, the line itself shows where they lie: it is written when the
            // last one ends.
            let zero = match Zero::of(&stages) {
                Zero::Kernel if !self.realtime => Zero::Kernel,
                _ => Zero::BackFrom(time_ns),
            };
            startup(&stages, line, zero, &mut system);
        }
        let mut early = Evidence { step_ns: self.step_ns, ..Evidence::default() };
        self.early.finish(&mut early);
        if self.realtime && self.journal {
            for place in 0..early.spans.len() {
                early.spans.change(place, |span| {
                    Span { start_ns: None, end_ns: None, duration_ns: None, ..span }.graded(Grade::Unknown, READ_LATE)
                });
            }
        }
        self.units.finish(&mut system);
        self.queue.finish(&mut system);
        if self.mixed.0 > 0 {
            let detail = counted(self.mixed.0, "# line[|s] [has|have] times of another clock than the first");
            system.problem(ProblemKind::Untimed, self.mixed.1, detail);
        }
        if self.kernel.is_empty() {
            // Without any line of the kernel's there is no part of its clock.
            system.spans.append(&early.spans);
            system.facts.append(&mut early.facts);
        }
        let alone = system.log.is_empty() && !self.kernel.is_empty();
        let of_host = |evidence: &mut Evidence, host: Option<String>| {
            if let Some(host) = host.filter(|_| evidence.facts.iter().all(|(name, _)| name != "system.hostname")) {
                evidence.facts.push(("system.hostname".into(), host));
            }
        };
        if !alone {
            of_host(&mut system, self.host.take());
        }
        if !alone {
            settings.iter().for_each(|setting| setting.report(&mut system));
        }
        let mut all = if alone { Vec::new() } else { vec![system] };
        if !self.kernel.is_empty() {
            let buffered = if self.realtime { self.buffered } else { 0 };
            let mut kernel = of("kernel", clock(Clock::Printk), untimed(self.kernel, buffered));
            kernel.traits = kernel.traits.of_kernel_lines();
            interpret(&mut kernel);
            if buffered > 0 {
                let detail = counted(buffered, "# line[|s] of the kernel [has|have] the time at which the journal read its buffer, not [its|their] own: [it has|they have] none here, and no phase begins or ends with [it|them]; `journalctl -b -o short-monotonic` has [its own|theirs]");
                kernel.problem(ProblemKind::Untimed, Some(self.first_line), detail);
            }
            if alone {
                settings.iter().for_each(|setting| setting.report(&mut kernel));
            }
            kernel.spans.append(&early.spans);
            kernel.facts.append(&mut early.facts);
            of_host(&mut kernel, self.host.take());
            all.push(kernel);
        }
        if let Some(first) = all.first_mut() {
            if let Some((lines, line)) = self.left_out {
                let detail = counted(lines, "# line[|s] [is|are] of an earlier boot, whose beginning the record does not hold: [it is|they are] left out");
                first.problem(ProblemKind::Embedded, Some(line), detail);
            }
            if self.by_sum {
                let detail = "no line shows that this boot began: by the stages of its `Startup finished` it began no later than this \
                              line, the first one within them";
                first.problem(ProblemKind::LostHead, Some(self.first_line), detail);
            }
        }
        all
    }
}

/// The log with so many of its first lines without a time.
fn untimed(log: Log, first: usize) -> Log {
    if first == 0 {
        return log;
    }
    let mut without = Log::default();
    for (place, (stamp, text)) in log.iter().enumerate() {
        let time_ns = stamp.time_ns.filter(|_| place >= first);
        without.push(Stamp { time_ns, ..stamp }, text.as_bytes());
    }
    without
}

/// Reads the kernel's messages in the evidence's log.
pub(super) fn interpret(kernel: &mut Evidence) {
    let log = std::mem::take(&mut kernel.log);
    let mut interpreter = Interpreter::new();
    for (stamp, text) in log.iter() {
        interpreter.line(&stamp, text.as_bytes(), kernel);
    }
    interpreter.finish(kernel);
    kernel.log = log;
}
