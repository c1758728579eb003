//! How far figures can be believed when several records tell of one thing.

use firstlight_formats::evidence::{Clock, Evidence, Mark, SpanKind};
use firstlight_formats::format::Format;
use firstlight_formats::{firmware, function_log, kernel_log, sampling, systemd, tracing, udev};

/// The step of a clock that a record does not show: stamps of a boot are microseconds.
const USUAL_STEP_NS: i64 = 1_000;

/// Records no further than this from who knows a unit have its stamps, not messages about it.
pub const STAMPED: u8 = 2;

/// The marks that systemd itself sets, and so has told to whoever tells.
pub const SYSTEMD_MARKS: [Mark; 3] = [Mark::InitrdStart, Mark::UserspaceStart, Mark::StartupFinished];

/// Stamps of one begin in two records, rounded as charts do it, lie no further apart.
pub const STAMPS_APART_NS: i64 = 10_000_000;

/// What two figures for one length say about one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Independent, and the same within their steps.
    Agree,
    /// The same figure from one witness, or as close as two ways of measuring come.
    Compatible,
    /// They exclude one another.
    Contradict,
    /// One is missing, or is no length.
    Unknown,
}

/// Compares two lengths, each with the step of its clock.
///
/// Two ways of measuring one call differ by what measuring takes (a line to a slow console lies inside one and not the
/// other): up to a tenth of the longer, and a tenth of a millisecond, that is no contradiction, and no agreement. Messages
/// about units come late by what their senders and the journal have to do: up to a hundredth, and ten milliseconds.
///
/// ```
/// use firstlight_formats::evidence::SpanKind;
/// use firstlight_merge::trust::{compare, Verdict};
/// let of = |kind, two, independent| compare(kind, (3_098_000_000, 1_000), (two, 1_000), independent);
/// assert_eq!(of(SpanKind::Initcall, 3_098_001_000, true), Verdict::Agree);
/// assert_eq!(of(SpanKind::Initcall, 3_098_001_000, false), Verdict::Compatible);
/// assert_eq!(of(SpanKind::Initcall, 3_298_000_000, true), Verdict::Compatible);
/// assert_eq!(of(SpanKind::Initcall, 9_000_000_000, true), Verdict::Contradict);
/// assert_eq!(of(SpanKind::Unit, 3_298_000_000, false), Verdict::Contradict);
/// assert_eq!(of(SpanKind::Unit, 3_118_000_000, false), Verdict::Compatible);
/// ```
pub fn compare(kind: SpanKind, one: (i64, i64), two: (i64, i64), independent: bool) -> Verdict {
    let step = |step: i64| if step > 0 { step } else { USUAL_STEP_NS };
    let apart = one.0.saturating_sub(two.0).saturating_abs();
    let steps = step(one.1).saturating_add(step(two.1));
    if apart <= steps {
        return if independent { Verdict::Agree } else { Verdict::Compatible };
    }
    let longer = one.0.max(two.0);
    let measuring = match kind {
        SpanKind::Unit | SpanKind::UnitActive | SpanKind::Stage => (longer / 100).max(10_000_000),
        _ => (longer / 10).max(100_000),
    };
    if apart <= steps.saturating_add(measuring) {
        Verdict::Compatible
    } else {
        Verdict::Contradict
    }
}

/// So far from systemd's stamps are records that do not pass them on.
pub const OTHERS: u8 = 5;

/// How far a record is from who knows a thing of its kind: a unit's own stamps in systemd are its truth, charts of them are
/// rounded or cut, and messages about them wait in line to be written.
///
/// ```
/// use firstlight_formats::evidence::{Clock, Evidence, SpanKind};
/// use firstlight_merge::trust::remove;
/// let of = |format| remove(SpanKind::Unit, &Evidence::of(format, Clock::Monotonic));
/// assert!(of("systemd-show") < of("systemd-plot-svg") && of("systemd-blame") < of("journal-json") && of("journal-json") < of("kmsg"));
/// ```
pub fn remove(kind: SpanKind, evidence: &Evidence) -> u8 {
    if !matches!(kind, SpanKind::Unit | SpanKind::UnitActive | SpanKind::Stage) {
        return 0;
    }
    match evidence.format {
        "systemd-show" => 0,
        "systemd-plot-json" => 1,
        "systemd-plot-svg" => 2,
        "systemd-blame" | "systemd-critical-chain" | "systemd-time" => 3,
        // What `Startup finished` says are systemd's own figures, wherever they are written.
        _ if is_journal(evidence) && evidence.part.is_empty() && kind == SpanKind::Stage => 3,
        _ if is_journal(evidence) && evidence.part.is_empty() => 4,
        _ => OTHERS,
    }
}

/// Whether a record is a journal, in whichever form.
pub fn is_journal(evidence: &Evidence) -> bool {
    evidence.format.starts_with("journal-")
}

/// Whether a record is of one of these formats.
pub fn is_among(formats: &[&dyn Format], evidence: &Evidence) -> bool {
    formats.iter().any(|one| one.name() == evidence.format)
}

/// Who stands behind what a record says of a kind of thing; two records of one witness are no two figures.
pub fn witness(kind: SpanKind, evidence: &Evidence) -> &'static str {
    let among = |formats| is_among(formats, evidence);
    if among(tracing::FORMATS) || matches!(evidence.clock, Clock::Trace(_)) {
        return "the tracer";
    }
    if among(function_log::FORMATS) {
        return "the function log";
    }
    match kind {
        // Journals, charts and collections only pass on what the kernel printed.
        SpanKind::Initcall | SpanKind::Probe | SpanKind::Async | SpanKind::AsyncWait => "the kernel's log",
        SpanKind::Unit | SpanKind::UnitActive | SpanKind::Stage | SpanKind::Mount => "systemd",
        SpanKind::Uevent | SpanKind::UeventQueued | SpanKind::UeventBlocked | SpanKind::UeventService => "udev",
        _ if among(firmware::FORMATS) => "the firmware",
        _ if among(sampling::FORMATS) => "a sampler",
        _ if among(systemd::FORMATS) => "systemd",
        _ if among(udev::FORMATS) => "udev",
        _ if among(kernel_log::FORMATS) => "the kernel's log",
        _ => "other",
    }
}
