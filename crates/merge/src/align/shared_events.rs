//! Where a clock lies by what its record shares with those that are placed.

use super::clocks::{by_start, firmware, identity, same_as_kernel};
use super::placed::{same, Place, Placed};
use super::stamps::{begin_together, excluded, reported_late, two_instants, SAME_MARK_NS};
use crate::doubt::Doubt;
use crate::events::Shared;
use crate::fit::{below, inverted, through, Fitted, Line};
use crate::text::seconds;
use firstlight_formats::evidence::{Clock, Evidence};

/// A clock that a quartz drives is no further off than this.
const QUARTZ: f64 = 0.001;
/// Two stamps of one message, made by one kernel, lie no further apart than this.
const SAME_BOOT_NS: i64 = 5_000_000;
/// Two origins of one call or unit (the kernel's log and its tracer, systemd and its journal) lie no further apart.
const SAME_CALL_NS: i64 = 200_000_000;
/// Stamps of one clock that follow one another may be rounded the other way round.
const ROUNDING_NS: i64 = 2_000;
/// The tracer follows the quickest of the printed lines this soon.
const PROMPT_NS: i64 = 1_000_000;
/// The slowest console takes no longer than this for half of its lines.
const SLOW_CONSOLE_NS: i64 = 20_000_000;
/// So many shared events can convict a record of being another boot's.
const ENOUGH_TO_CONVICT: usize = 5;

/// The place of a record that is not placed yet.
pub fn place(piece: &Evidence, ours: &Shared, placed: &Placed) -> Place {
    if let Some(place) = firmware(piece, placed) {
        return place;
    }
    let limit = match &piece.clock {
        // Counters of another unit, and clocks of boot loaders that were never calibrated.
        Clock::Trace(name) if !same_as_kernel(name) => f64::MAX,
        Clock::Firmware => 0.1,
        _ => QUARTZ,
    };
    let lines = Shared::pairs(&ours.lines, &placed.known.lines);
    if !lines.is_empty() {
        let same = placed.clocks.iter().find(|(clock, ..)| *clock == Clock::Printk && piece.clock == Clock::Printk);
        return by_lines(piece, lines, limit, placed.step_ns.max(piece.step_ns), same.map(|(_, line, _)| *line));
    }
    let known = identity(&piece.clock, placed).or_else(|| by_start(piece, placed));
    if let Some(why) = known.as_ref().and_then(|(line, _)| excluded(piece, ours, placed, *line)) {
        return Place::Foreign(why);
    }
    for (events, theirs, what) in
        [(&ours.calls, &placed.known.calls, "calls"), (&ours.units, &placed.known.units, "units and devices")]
    {
        let pairs = Shared::pairs(events, theirs);
        if pairs.len() < 2 {
            continue;
        }
        if let (Some((line, _)), true, "calls") = (&known, matches!(piece.clock, Clock::Trace(_)), what) {
            if let Some(place) = one_clock(*line, &pairs) {
                return place;
            }
        }
        let excused = known.as_ref().is_some_and(|(line, _)| {
            placed.certain && reported_late(piece, &pairs, *line) || begin_together(piece, ours, placed, *line)
        });
        let Some(fitted) = through(pairs, limit) else { continue };
        if fitted.most_ns <= SAME_CALL_NS {
            // What two origins report of a unit is apart by what happens between them: where the clocks are the same by
            // what they are, that stands.
            return match &known {
                Some((line, how)) if what != "calls" => same(*line, how.clone()),
                _ => Place::Fitted { fitted, how: format!("{what} that both records hold") },
            };
        }
        if fitted.shared >= ENOUGH_TO_CONVICT && !excused {
            return Place::Foreign(format!(
                "{} {what} that both records hold lie up to {} apart on any common clock",
                fitted.shared,
                seconds(fitted.max_ns)
            ));
        }
    }
    let marks = Shared::pairs(&ours.marks, &placed.known.marks);
    if let Some((line, how)) = known {
        let apart = marks.iter().map(|(mine, theirs)| theirs.saturating_sub(line.at(*mine)).saturating_abs()).max();
        return match apart {
            Some(apart) if apart > SAME_MARK_NS => Place::Foreign(two_instants(apart)),
            _ => same(line, how),
        };
    }
    match through(marks, 0.0) {
        Some(fitted) if fitted.max_ns <= SAME_MARK_NS => {
            Place::Fitted { fitted, how: "marks that both records hold".to_owned() }
        }
        Some(fitted) => Place::Unaligned(format!(
            "the marks that it shares with other records lie up to {} apart",
            seconds(fitted.max_ns)
        )),
        None if piece.clock == Clock::Userspace => {
            Place::Unaligned("it counts from the start of userspace, which no other record has".to_owned())
        }
        None => Place::Unaligned("it shares no event with the other records".to_owned()),
    }
}

/// `step_ns`: by so much the coarser of the two clocks rounds; `same`: the way of its clock, where another record has it.
fn by_lines(piece: &Evidence, lines: Vec<(i64, i64)>, limit: f64, step_ns: i64, same: Option<Line>) -> Place {
    if piece.clock == Clock::Host {
        // Its stamps are late by what the console took: host time lies above a line of the kernel's.
        let host_by_kernel = lines.into_iter().map(|(host, kernel)| (kernel, host)).collect();
        let Some(fitted) = below(host_by_kernel, limit).map(inverted) else {
            return Place::Unaligned("it shares no event with the other records".to_owned());
        };
        let how = "lines that both records hold; the residual is what the console delayed them".to_owned();
        return Place::Fitted { fitted, how };
    }
    match through(lines, limit) {
        Some(fitted) if fitted.shared >= ENOUGH_TO_CONVICT && fitted.most_ns > SAME_BOOT_NS.saturating_add(step_ns) => {
            Place::Foreign(format!(
                "{} lines that both records hold lie up to {} apart on any common clock",
                fitted.shared,
                seconds(fitted.max_ns)
            ))
        }
        Some(fitted) => {
            let doubt = fitted.doubt.or_else(|| by_one_kernel(&fitted, step_ns, same));
            Place::Fitted { fitted: Fitted { doubt, ..fitted }, how: "lines that both records hold".to_owned() }
        }
        None => Place::Unaligned("it shares no event with the other records".to_owned()),
    }
}

/// What cannot be of stamps that one kernel gave its lines: they lie apart, or have moved as a whole.
fn by_one_kernel(fitted: &Fitted, step_ns: i64, same: Option<Line>) -> Option<Doubt> {
    let most = SAME_BOOT_NS.saturating_add(step_ns);
    if fitted.most_ns > most {
        return Some(Doubt::Apart { most_ns: fitted.max_ns });
    }
    let by_ns = fitted.line.at(0).saturating_sub(same?.at(0));
    (by_ns.saturating_abs() > most).then_some(Doubt::Shifted { by_ns })
}

/// The tracer's clock and printk's as one, if the calls that both hold bear it out: the tracer stamps each begin and end
/// just after the kernel has printed it, so that it is late by the printing, and never early. A fit would take the
/// printing for a difference of the clocks.
fn one_clock(line: Line, calls: &[(i64, i64)]) -> Option<Place> {
    let mut late: Vec<i64> = calls.iter().map(|(traced, printed)| line.at(*traced).saturating_sub(*printed)).collect();
    late.sort_unstable();
    let of_a_hundred = |part: usize| late.get((late.len().saturating_sub(1)) * part / 100).copied();
    let (earliest, median, largest) = (of_a_hundred(5)?, of_a_hundred(50)?, *late.last()?);
    if !(-ROUNDING_NS..=PROMPT_NS).contains(&earliest) || median > SLOW_CONSOLE_NS {
        return None;
    }
    let (median_ns, max_ns) = (median.max(0), largest.max(0));
    let fitted = Fitted { line, shared: late.len(), median_ns, most_ns: 0, max_ns, doubt: None };
    let how = "calls that both records hold: one clock; the residual is the printing of the log's lines";
    Some(Place::Fitted { fitted, how: how.to_owned() })
}
