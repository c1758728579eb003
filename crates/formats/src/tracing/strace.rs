//! The log of strace: system calls and processes, as `strace -f` prints them.

use super::lives::Lives;
use super::strace_line::{arguments, decorated, parse, string, Stamp, StraceLine, What};
use super::strace_values::{list_of, status, value, Returned};
use super::text::Damage;
use super::traced_calls::{TracedCall, TracedCalls};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Grade, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_isa::system_calls::{path_argument, Call, Descriptors};
use firstlight_schema::{FormatName, ReasonCode};
use rustc_hash::FxHashMap;

/// The reader.
pub struct Strace;

/// Half a day: a time of day that is so much earlier is of the next day.
const HALF_DAY_NS: i64 = 43_200_000_000_000;
/// Calls without an end that are remembered.
const MOST_OPEN: usize = 100_000;
/// The number that stands for the one task of a log without numbers.
const UNNUMBERED: u32 = 0;

impl Format for Strace {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Strace, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut shaped, mut lines, mut own) = (0, 0, false);
        for line in head.bytes.split(|&byte| byte == b'\n').take(200).filter(|line| !line.is_empty()) {
            lines += 1;
            let Some(found) = parse(line) else { continue };
            shaped += 1;
            // So begins every program, and only strace writes it like this.
            own |= matches!(found.what, What::Call { name: b"execve", arguments, .. } if arguments.starts_with(b"\"/"));
            own |= matches!(found.what, What::Ended(_));
        }
        match shaped {
            2.. if own && shaped * 4 > lines * 3 => Likelihood::Certain,
            _ => Likelihood::of_shape(shaped, lines),
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        // `-ff` writes a file for each task, whose name ends in its number.
        let own = input.file_name().rsplit_once('.').and_then(|(_, number)| number.parse().ok());
        let mut reader = Reader::new(own);
        let mut lines = Lines::new(input.bytes);
        lines.each(|line| match parse(line.bytes) {
            Some(found) => reader.line(&found),
            None if line.bytes.is_empty() => {}
            None => reader.damage.torn(line.number, line.bytes, reader.understood),
        })?;
        self.of_lines(reader.finish(), &lines, "no system call in it")
    }
}

/// A call of which only the beginning was read.
struct Open {
    name: String,
    arguments: Vec<u8>,
    start_ns: Option<i64>,
}

struct Reader {
    own: Option<u32>,
    clock: Clock,
    step_ns: i64,
    first_ns: Option<i64>,
    now_ns: Option<i64>,
    midnights_ns: i64,
    lives: Lives,
    calls: TracedCalls,
    open: FxHashMap<u32, Open>,
    descriptors: FxHashMap<u32, Descriptors>,
    numbered: bool,
    understood: u64,
    damage: Damage,
}

impl Reader {
    fn new(own: Option<u32>) -> Self {
        Self {
            own,
            clock: Clock::Untimed,
            step_ns: 0,
            first_ns: None,
            now_ns: None,
            midnights_ns: 0,
            lives: Lives::default(),
            calls: TracedCalls::default(),
            open: FxHashMap::default(),
            descriptors: FxHashMap::default(),
            numbered: own.is_some(),
            understood: 0,
            damage: Damage::default(),
        }
    }

    fn line(&mut self, line: &StraceLine<'_>) {
        self.understood += 1;
        let now_ns = line.stamp.map(|stamp| self.instant(stamp));
        if line.task.is_some() {
            (self.numbered, self.own) = (true, None);
        }
        let task = line.task.or(self.own).unwrap_or(UNNUMBERED);
        match line.what {
            What::Other => {}
            What::Ended(how) => self.lives.ended(task, now_ns, status(how)),
            What::Unfinished { name, arguments } => {
                self.lives.seen(task, now_ns);
                let name = String::from_utf8_lossy(name).into_owned();
                if self.open.len() < MOST_OPEN {
                    self.open.insert(task, Open { name, arguments: arguments.to_vec(), start_ns: now_ns });
                }
            }
            What::Call { name, arguments, result, resumed } => {
                self.lives.seen(task, now_ns);
                let name = String::from_utf8_lossy(name).into_owned();
                let open = self.open.remove(&task).filter(|open| resumed && open.name == name);
                let start_ns = if resumed { open.as_ref().and_then(|open| open.start_ns) } else { now_ns };
                let ended_ns = start_ns.zip(line.took_ns).map(|(start, took)| start.saturating_add(took));
                let end_ns = ended_ns.or(now_ns.filter(|_| resumed));
                let arguments = [open.map(|open| open.arguments).unwrap_or_default().as_slice(), arguments].concat();
                self.call(task, name, &arguments, result, (start_ns, end_ns));
            }
        }
    }

    fn instant(&mut self, stamp: Stamp) -> i64 {
        let time_ns = match stamp {
            Stamp::Epoch(time) => {
                self.clock = Clock::Realtime;
                time
            }
            Stamp::OfDay(time) => {
                self.clock = Clock::Trace("time of day".to_owned());
                let time = time + self.midnights_ns;
                if self.now_ns.is_some_and(|now| now - time > HALF_DAY_NS) {
                    self.midnights_ns += 2 * HALF_DAY_NS;
                    time + 2 * HALF_DAY_NS
                } else {
                    time
                }
            }
            Stamp::Since(time) => {
                self.clock = Clock::Trace("since the first call".to_owned());
                // The first line has no line before it.
                self.now_ns.map_or(0, |now| now.saturating_add(time))
            }
        };
        let step = if time_ns % 1_000_000_000 == 0 { 1_000_000_000 } else { 1_000 };
        self.step_ns = if self.step_ns == 0 { step } else { self.step_ns.min(step) };
        self.first_ns = self.first_ns.or(Some(time_ns));
        self.now_ns = Some(time_ns);
        time_ns
    }

    fn call(
        &mut self,
        task: u32,
        name: String,
        text: &[u8],
        result: &[u8],
        (start_ns, end_ns): (Option<i64>, Option<i64>),
    ) {
        let process = self.lives.process_of(task);
        let parts = arguments(text, 3);
        let returned = Returned::of(result);
        let path = path_argument(&name).and_then(|place| string(parts.get(place)?));
        if let Some(child) = returned.value.and_then(|child| u32::try_from(child).ok()).filter(|child| *child > 0) {
            if matches!(name.as_str(), "fork" | "vfork" | "clone" | "clone3") {
                let thread = memchr::memmem::find(text, b"CLONE_THREAD").is_some();
                self.lives.created(task, child, thread, start_ns, end_ns.or(start_ns));
                if !thread {
                    let inherited = self.descriptors.get(&process).cloned().unwrap_or_default();
                    self.descriptors.entry(child).or_insert(inherited);
                }
            }
        }
        let number = |place: usize| parts.get(place).map_or(u64::MAX, |argument| value(argument));
        let call =
            Call { name: &name, arguments: [number(0), number(1)], result: returned.value, path: path.as_deref() };
        let followed = self.descriptors.entry(process).or_default().follow(call);
        let shown = parts.first().and_then(|first| decorated(first)).filter(|_| path.is_none());
        if matches!(name.as_str(), "execve" | "execveat") && returned.value == Some(0) {
            let listed = parts.get(usize::from(name == "execveat") + 1).and_then(|list| list_of(list));
            self.lives.executed(task, followed.clone().or(path), listed);
        }
        let grade = match (start_ns, end_ns) {
            (Some(_), Some(_)) => (Grade::Coarse, ReasonCode::TracerStopsCall),
            (None, None) => (Grade::Unknown, ReasonCode::StampsNoTimes),
            _ => (Grade::Unknown, ReasonCode::EndMissingInLog),
        };
        let call = TracedCall {
            name,
            task: self.numbered.then_some(task),
            process: self.numbered.then_some(process),
            start_ns,
            end_ns,
            path: shown.or(followed),
            result: returned.value,
            error: returned.error,
        };
        self.calls.push(call, grade.0, grade.1);
    }

    fn finish(mut self) -> Evidence {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(task, open)| (open.start_ns, *task));
        for (task, Open { name, arguments: text, start_ns }) in open {
            let process = self.lives.process_of(task);
            let parts = arguments(&text, 3);
            let path = path_argument(&name).and_then(|place| string(parts.get(place)?));
            let numbered = self.numbered;
            let call = TracedCall {
                name,
                task: numbered.then_some(task),
                process: numbered.then_some(process),
                start_ns,
                path,
                ..TracedCall::default()
            };
            self.calls.push(call, Grade::Unknown, ReasonCode::NotEndedInLog);
        }
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(Strace.about(), self.clock) };
        evidence.step_ns = self.step_ns;
        evidence.extent_ns = self.first_ns.zip(self.now_ns);
        evidence.understood = self.understood;
        self.damage.report("a line of strace", &mut evidence);
        if evidence.clock == Clock::Untimed {
            let detail = "the lines have no times: record with `strace -f -ttt -T`";
            evidence.problem(ProblemKind::Untimed, None, detail);
        }
        self.lives.finish(self.numbered, self.own.is_some(), &mut evidence);
        self.calls.finish(&mut evidence);
        evidence
    }
}
