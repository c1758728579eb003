//! `systemd-analyze time`.

use super::analyses::{self, pasted_rows, Output};
use super::timespan::{by_step, leading, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Grade, Instant, Mark, Name, ProblemKind, Span, SpanKind, Stage};
use crate::format::{Format, Head, Input, Likelihood};
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads what `systemd-analyze time` prints.
pub struct SystemdTime;

/// How the line of the stages begins.
pub(super) const STARTUP: &str = "Startup finished in ";
/// How the line begins that a start is not over.
pub(super) const UNFINISHED: &str = "Bootup is not yet finished";

impl Format for SystemdTime {
    fn about(&self) -> &'static About {
        TIME
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..2048).unwrap_or(head.bytes));
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default();
        if startup_line(first).is_some() || first.starts_with(UNFINISHED) {
            return Likelihood::Certain;
        }
        match pasted_rows(head, |line| startup_line(line.trim()).is_some()) {
            0 => Likelihood::No,
            _ => Likelihood::Likely,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        const OWN: Output = Output {
            name: FormatName::SystemdTime,
            nothing: "no line `Startup finished in`",
            unknown: analyses::UNKNOWN,
        };
        analyses::read(self, &OWN, input)
    }
}

const TIME: &About = &About::of(FormatName::SystemdTime, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) });

/// The stages behind `Startup finished in `; none where a sentence begins so.
pub(super) fn startup_line(line: &str) -> Option<&str> {
    line.strip_prefix(STARTUP).filter(|stages| stages.is_empty() || leading(stages).is_some())
}

/// The lines of one boot.
#[derive(Default)]
pub(super) struct Stages {
    /// The line of the stages.
    pub startup: Option<String>,
    userspace: Option<i64>,
    evidence: Evidence,
}

impl Stages {
    /// Takes the line of the stages, which may be printed again.
    pub fn startup(&mut self, stages: &str, number: u64) {
        self.evidence.understood += 1;
        if self.startup.replace(stages.to_owned()).is_some() {
            return;
        }
        self.userspace = startup(stages, number, Zero::of(stages), &mut self.evidence);
    }

    /// Takes a line about the default target.
    pub fn target(&mut self, line: &str) -> bool {
        let known = |(name, _): &(Name, String)| name == "systemd.default_target";
        // It is printed again with the line of the stages.
        if self.evidence.facts.iter().any(known) {
            let again = target(line, None, &mut Evidence::default());
            self.evidence.understood += u64::from(again);
            return again;
        }
        let taken = target(line, self.userspace, &mut self.evidence);
        self.evidence.understood += u64::from(taken);
        taken
    }

    /// Notes that the start was not over.
    pub fn unfinished(&mut self, number: u64) {
        self.evidence.understood += 1;
        let detail = "the start had not finished when this was printed: it has no figures";
        self.evidence.problem(ProblemKind::Unfinished, Some(number), detail);
    }

    /// What they say.
    pub fn finish(self) -> Option<Evidence> {
        let contained = self.userspace.is_some() && self.startup.is_some_and(|stages| !stages.contains("(kernel)"));
        let clock = if contained { Clock::Userspace } else { Clock::Monotonic };
        let Evidence { marks, spans, facts, understood, problems, .. } = self.evidence;
        (understood > 0).then(|| Evidence { marks, spans, facts, understood, problems, ..Evidence::of(TIME, clock) })
    }
}

/// Where the stages lie on the clock of a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Zero {
    /// The stage `kernel` begins at 0, as the kernel's clock does; firmware and loader come before it.
    Kernel,
    /// The stage `userspace` begins at 0: without a record of the kernel's clock.
    Userspace,
    /// The last of them ends at this instant.
    BackFrom(i64),
}

impl Zero {
    /// Without a kernel (in a container, or after a soft reboot) the kernel's clock began long before.
    pub(super) fn of(stages: &str) -> Self {
        if stages.contains("(kernel)") {
            Self::Kernel
        } else {
            Self::Userspace
        }
    }
}

/// The stages of `1.2s (firmware) + ... = 3s`; gives when userspace began.
///
/// A stage that `zero` needs may be missing: then the stages are lengths without a place.
pub(super) fn startup(text: &str, line: u64, zero: Zero, evidence: &mut Evidence) -> Option<i64> {
    let mut stages: Vec<(String, i64)> = Vec::new();
    let mut total = None;
    let mut rest = text;
    while let Some((length, after)) = leading(rest) {
        let after = after.trim_start();
        let Some((name, tail)) = after.strip_prefix('(').and_then(|after| after.split_once(')')) else {
            total = total.or(Some(length));
            break;
        };
        stages.push((name.replace(' ', "-"), length));
        let tail = tail.trim_start();
        rest = tail.strip_prefix('+').unwrap_or(tail);
        if let Some(sum) = tail.strip_prefix('=') {
            total = leading(sum).map(|(total, _)| total);
            break;
        }
    }
    if stages.last().is_none_or(|(name, _)| name != Stage::Userspace.name()) {
        evidence.problem(ProblemKind::Cut, Some(line), "the line ends before the stage `userspace`");
    }
    let sum = stages.iter().fold(0_i64, |sum, (_, length)| sum.saturating_add(*length));
    let slack = STEP_NS.saturating_mul(stages.len() as i64 + 1);
    if let Some(total) = total.filter(|total| total.saturating_sub(sum).saturating_abs() > slack) {
        let detail =
            format!("the stages make {} ms together, the total says {} ms", sum / 1_000_000, total / 1_000_000);
        evidence.problem(ProblemKind::Contradiction, Some(line), detail);
    }
    let before = |stage: Stage| {
        let place = stages.iter().position(|(name, _)| name == stage.name())?;
        Some(stages.iter().take(place).fold(0_i64, |sum, (_, length)| sum.saturating_add(*length)))
    };
    let mut at = match zero {
        Zero::Kernel => before(Stage::Kernel).map(i64::saturating_neg),
        Zero::Userspace => before(Stage::Userspace).map(i64::saturating_neg),
        // Of a line that was cut the last stages are missing.
        Zero::BackFrom(finished) => before(Stage::Userspace).map(|_| finished.saturating_sub(sum)),
    };
    let detail = match zero {
        Zero::BackFrom(_) => "sum of the stages of `Startup finished`, back from its line",
        _ => "sum of the stages of `Startup finished`",
    };
    let mut userspace = None;
    for (name, length) in stages {
        let mut span = Span::new(SpanKind::Stage, one_line(&name, "<unknown>"));
        span.duration_ns = Some(length);
        if let Some(start) = at {
            if let Some(mark) = Stage::parse(&name).map(Stage::mark) {
                evidence.marks.push(Instant { mark, time_ns: start, detail: detail.to_owned() });
            }
            let end = start.saturating_add(length);
            if name == Stage::Userspace.name() {
                userspace = Some(start);
                let detail = "end of the stage userspace".to_owned();
                evidence.marks.push(Instant { mark: Mark::StartupFinished, time_ns: end, detail });
            }
            span = span.between(start, end);
            at = Some(end);
        }
        evidence.spans.push(by_step(span, STEP_NS));
    }
    userspace
}

/// `graphical.target reached after 1.2s in userspace.` and its kin.
pub(super) fn target(text: &str, userspace: Option<i64>, evidence: &mut Evidence) -> bool {
    let Some(name) = text.split_ascii_whitespace().next().filter(|name| is_unit(name)) else { return false };
    if let Some(rest) = text.get(name.len()..).and_then(|rest| rest.strip_prefix(" reached after ")) {
        let Some((after, _)) = leading(rest) else { return false };
        evidence.facts.push(("systemd.default_target".into(), name.to_owned()));
        let reached = userspace.map(|start| start.saturating_add(after));
        if let Some(time_ns) = reached {
            evidence.marks.push(Instant { mark: Mark::DefaultTarget, time_ns, detail: text.to_owned() });
        }
        let span = Span { end_ns: reached, track: "systemd".into(), ..Span::new(SpanKind::Unit, name) };
        let span = span.with("since_userspace_ns", after.to_string());
        evidence.spans.push(span.graded(Grade::Unknown, ReasonCode::OnlyReached));
        return true;
    }
    if text.ends_with(" was never reached.") || text.ends_with(" was never reached") {
        evidence.facts.push(("systemd.default_target".into(), name.to_owned()));
        evidence.problem(ProblemKind::Unfinished, None, text.to_owned());
        return true;
    }
    false
}
