//! How reliable figures are when several records describe the same thing.

use firstlight_formats::about::Origin;
use firstlight_formats::evidence::{Clock, Evidence, Mark, SpanKind};

/// The step of a clock that a record does not show: stamps of a boot are microseconds.
const USUAL_STEP_NS: i64 = 1_000;

/// Records no further than this from who knows a unit have its stamps, not messages about it.
pub const STAMPED: u8 = 2;

/// The marks that systemd itself sets. Every record of them has them from systemd.
pub const SYSTEMD_MARKS: [Mark; 3] = [Mark::InitramfsStart, Mark::UserspaceStart, Mark::StartupFinished];

/// Stamps of one begin in two records, rounded as charts do it, lie no further apart.
pub const STAMPS_APART_NS: i64 = 10_000_000;

/// What two figures for one length say about one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Independent, and the same within their steps.
    Agree,
    /// The same figure from one origin, or as close as two ways of measuring come.
    Compatible,
    /// They exclude one another.
    Contradict,
    /// One is missing, or is not a length.
    Unknown,
}

/// Compares two lengths, each with the step of its clock.
///
/// Two ways of measuring one call differ by what measuring takes (a line to a slow console lies inside one and not the
/// other): up to a tenth of the longer, and a tenth of a millisecond, that is not a contradiction, and no agreement. Messages
/// about units come late by what their senders and the journal have to do: up to a hundredth, and ten milliseconds.
///
/// ```
/// use firstlight_formats::evidence::SpanKind;
/// use firstlight_merge::grades::{compare, Agreement};
/// let of = |kind, two, independent| compare(kind, (3_098_000_000, 1_000), (two, 1_000), independent);
/// assert_eq!(of(SpanKind::Initcall, 3_098_001_000, true), Agreement::Agree);
/// assert_eq!(of(SpanKind::Initcall, 3_098_001_000, false), Agreement::Compatible);
/// assert_eq!(of(SpanKind::Initcall, 3_298_000_000, true), Agreement::Compatible);
/// assert_eq!(of(SpanKind::Initcall, 9_000_000_000, true), Agreement::Contradict);
/// assert_eq!(of(SpanKind::Unit, 3_298_000_000, false), Agreement::Contradict);
/// assert_eq!(of(SpanKind::Unit, 3_118_000_000, false), Agreement::Compatible);
/// ```
pub fn compare(kind: SpanKind, one: (i64, i64), two: (i64, i64), independent: bool) -> Agreement {
    let step = |step: i64| if step > 0 { step } else { USUAL_STEP_NS };
    let apart = one.0.saturating_sub(two.0).saturating_abs();
    let steps = step(one.1).saturating_add(step(two.1));
    if apart <= steps {
        return if independent { Agreement::Agree } else { Agreement::Compatible };
    }
    let longer = one.0.max(two.0);
    let measuring = match kind {
        SpanKind::Unit | SpanKind::UnitActive | SpanKind::Stage => (longer / 100).max(10_000_000),
        _ => (longer / 10).max(100_000),
    };
    if apart <= steps.saturating_add(measuring) {
        Agreement::Compatible
    } else {
        Agreement::Contradict
    }
}

/// How far a record is from who knows a thing of its kind: a unit's own stamps in systemd are its truth, charts of them are
/// rounded or cut, and messages about them wait in line to be written.
///
/// ```
/// use firstlight_formats::evidence::{Clock, Evidence, SpanKind};
/// use firstlight_formats::registry::by_name;
/// use firstlight_merge::grades::distance;
/// let of = |name| by_name(name).map(|format| distance(SpanKind::Unit, &Evidence::of(format.about(), Clock::Monotonic)));
/// assert!(of("systemd-show") < of("systemd-plot-svg") && of("systemd-blame") < of("journal-json") && of("journal-json") < of("kmsg"));
/// ```
pub fn distance(kind: SpanKind, evidence: &Evidence) -> u8 {
    match kind {
        SpanKind::Unit | SpanKind::UnitActive => evidence.traits.units,
        SpanKind::Stage => evidence.traits.stages,
        _ => 0,
    }
}

/// Returns who stamped what a record says of a kind of thing. Two records of one origin are not independent.
pub fn origin(kind: SpanKind, evidence: &Evidence) -> Origin {
    match (evidence.traits.origin, kind) {
        (Origin::Ftrace, _) => Origin::Ftrace,
        _ if matches!(evidence.clock, Clock::Trace(_)) => Origin::Ftrace,
        (Origin::FunctionLog, _) => Origin::FunctionLog,
        // Journals, charts and collections only pass on what the kernel printed.
        (_, SpanKind::Initcall | SpanKind::Probe | SpanKind::Async | SpanKind::AsyncWait) => Origin::KernelLog,
        (_, SpanKind::Unit | SpanKind::UnitActive | SpanKind::Stage | SpanKind::Mount) => Origin::Systemd,
        (_, SpanKind::Uevent | SpanKind::UeventQueued | SpanKind::UeventBlocked | SpanKind::UeventService) => {
            Origin::Udev
        }
        (origin, _) => origin,
    }
}
