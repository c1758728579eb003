//! `systemd-analyze time`.

use super::timespan::{by_step, leading, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Grade, Instant, Mark, ProblemKind, Span, SpanKind, Stage};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;

/// Reads what `systemd-analyze time` prints.
pub struct SystemdTime;

/// How the line of the stages begins.
pub(super) const STARTUP: &str = "Startup finished in ";
const UNFINISHED: &str = "Bootup is not yet finished";

impl Format for SystemdTime {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemdTime, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..2048).unwrap_or(head.bytes));
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default();
        Likelihood::of_signature(
            (first.starts_with(STARTUP) && leading(&first[STARTUP.len()..]).is_some()) || first.starts_with(UNFINISHED),
        )
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: STEP_NS, ..Evidence::of(self.about(), Clock::Monotonic) };
        let mut lines = Lines::new(input.bytes);
        let mut userspace = None;
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if let Some(stages) = text.strip_prefix(STARTUP) {
                evidence.understood += 1;
                let zero = Zero::of(stages);
                userspace = startup(stages, line.number, zero, &mut evidence);
                if matches!(zero, Zero::Userspace) && userspace.is_some() {
                    evidence.clock = Clock::Userspace;
                }
            } else if target(text.trim(), userspace, &mut evidence) {
                evidence.understood += 1;
            } else if text.starts_with(UNFINISHED) {
                evidence.understood += 1;
                let detail = "the start had not finished when this was printed: it has no figures";
                evidence.problem(ProblemKind::Unfinished, Some(line.number), detail);
            }
        }
        self.of_lines(evidence, &lines, "no line `Startup finished in`")
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
