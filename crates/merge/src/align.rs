//! Puts the clocks of all pieces of evidence onto one.
//!
//! The boot's clock is that of the best piece. Every other is fitted to what is placed already, the one that shares most
//! first: by lines that both hold word for word, by the same calls, by the same units; else by what the two clocks are
//! (`CLOCK_MONOTONIC` and printk's both begin with the kernel); else by marks. A piece that shares nothing is not
//! placed: its lengths stay, its instants do not.

use crate::events::{Events, Shared};
use crate::fit::{below, inverted, through, Fitted, Line};
use firstlight_formats::evidence::{Clock, Evidence};

/// A clock that a quartz drives is no further off than this.
const QUARTZ: f64 = 0.001;
/// Two stamps of one message, made by one kernel, lie no further apart than this.
const SAME_BOOT_NS: i64 = 5_000_000;
/// Two witnesses of one call or unit (the kernel's log and its tracer, systemd and its journal) lie no further apart.
const SAME_CALL_NS: i64 = 200_000_000;
/// Marks further apart than this do not mean the same.
const SAME_MARK_NS: i64 = 1_000_000_000;
/// Stamps of one clock that follow one another may be rounded the other way round.
const ROUNDING_NS: i64 = 2_000;
/// The tracer follows the quickest of the printed lines this soon.
const PROMPT_NS: i64 = 1_000_000;
/// The slowest console takes no longer than this for half of its lines.
const SLOW_CONSOLE_NS: i64 = 20_000_000;
/// So many shared events can convict a record of being another boot's.
const ENOUGH_TO_CONVICT: usize = 5;

/// So begins what a place rests on that no shared event bears out.
const ASSUMED: &str = "assumed";

/// How a piece's clock relates to the boot's.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// It is the boot's clock.
    Base,
    /// It follows it by a line.
    Fitted {
        /// The fit; of no shared event where the clocks are the same by what they are.
        fitted: Fitted,
        /// What it rests on.
        how: String,
    },
    /// It has no times.
    Untimed,
    /// It shares nothing with what is placed.
    Unaligned(String),
    /// What it shares shows that it is another boot's.
    Foreign(String),
}

impl Place {
    /// The way of its instants onto the boot's clock.
    pub fn line(&self) -> Option<Line> {
        match self {
            Self::Base => Some(Line::SAME),
            Self::Fitted { fitted, .. } => Some(fitted.line),
            Self::Untimed | Self::Unaligned(_) | Self::Foreign(_) => None,
        }
    }

    /// How far a placed instant may be off.
    pub fn uncertainty_ns(&self) -> i64 {
        match self {
            Self::Fitted { fitted, .. } => fitted.most_ns,
            _ => 0,
        }
    }
}

/// The clock in words.
pub fn clock_name(clock: &Clock) -> String {
    match clock {
        Clock::Untimed => "untimed".to_owned(),
        Clock::Printk => "printk".to_owned(),
        Clock::Monotonic => "monotonic".to_owned(),
        Clock::Boottime => "boottime".to_owned(),
        Clock::Userspace => "userspace".to_owned(),
        Clock::Realtime => "realtime".to_owned(),
        Clock::Trace(name) if name.is_empty() => "trace".to_owned(),
        Clock::Trace(name) => format!("trace {name}"),
        Clock::Host => "host".to_owned(),
        Clock::Firmware => "firmware".to_owned(),
        Clock::Kft => "kft".to_owned(),
    }
}

fn rank(clock: &Clock) -> u8 {
    match clock {
        Clock::Printk => 0,
        Clock::Monotonic => 1,
        Clock::Boottime => 2,
        Clock::Trace(_) => 3,
        Clock::Kft => 4,
        Clock::Host => 5,
        Clock::Realtime => 6,
        Clock::Userspace => 7,
        Clock::Firmware => 8,
        Clock::Untimed => 9,
    }
}

/// The piece whose clock is the boot's: the kernel's own before others, of equal ones that which tells most.
pub fn base(pieces: &[&Evidence]) -> Option<usize> {
    let weight = |piece: &Evidence| piece.marks.len() + piece.spans.len() + piece.log.len() + piece.counters.len();
    let best = |(index, piece): &(usize, &&Evidence)| (rank(&piece.clock), std::cmp::Reverse(weight(piece)), *index);
    let timed = pieces.iter().enumerate().filter(|(_, piece)| weight(piece) > 0 || piece.calls.is_some());
    timed.min_by_key(best).map(|(index, _)| index)
}

/// Where every piece's clock lies.
pub fn align(pieces: &[&Evidence]) -> Vec<Place> {
    align_knowing(pieces, &[])
}

/// Where every piece's clock lies; of those that are `certain` it is known that they are of this boot.
pub fn align_knowing(pieces: &[&Evidence], certain: &[bool]) -> Vec<Place> {
    let mut places: Vec<Option<Place>> =
        pieces.iter().map(|piece| (piece.clock == Clock::Untimed).then_some(Place::Untimed)).collect();
    let Some(base) = base(pieces).filter(|base| pieces.get(*base).is_some_and(|piece| piece.clock != Clock::Untimed))
    else {
        return places.into_iter().map(|_| Place::Untimed).collect();
    };
    set(&mut places, base, Place::Base);
    if places.iter().all(Option::is_some) {
        return places.into_iter().flatten().collect();
    }
    let mut shared: Vec<Option<Shared>> = pieces.iter().map(|piece| Some(Shared::of(piece))).collect();
    let mut placed = Placed {
        known: shared.get_mut(base).and_then(Option::take).unwrap_or_default(),
        clocks: Vec::new(),
        readings: Readings::of(pieces),
        step_ns: pieces.get(base).map_or(0, |piece| piece.step_ns),
    };
    placed.clocks.extend(pieces.get(base).map(|piece| (piece.clock.clone(), Line::SAME, None)));
    while let Some((index, place)) = next(pieces, certain, &places, &shared, &placed) {
        if let (Some(line), Some(events)) = (place.line(), shared.get_mut(index).and_then(Option::take)) {
            placed.known.absorb(events, |at| line.at(at));
            let assumed = match &place {
                Place::Fitted { how, .. } => Some(how.clone()).filter(|how| how.starts_with(ASSUMED)),
                _ => None,
            };
            placed.clocks.extend(pieces.get(index).map(|piece| (piece.clock.clone(), line, assumed)));
        }
        set(&mut places, index, place);
    }
    places.into_iter().map(|place| place.unwrap_or(Place::Untimed)).collect()
}

fn set(places: &mut [Option<Place>], index: usize, place: Place) {
    if let Some(slot) = places.get_mut(index) {
        *slot = Some(place);
    }
}

struct Placed {
    known: Shared,
    /// Each clock that is placed, its way onto the boot's, and what that rests on where it is only assumed.
    clocks: Vec<(Clock, Line, Option<String>)>,
    readings: Readings,
    /// The step of the boot's own clock.
    step_ns: i64,
}

/// How clocks stood to one another, where a collector read them at the same instant.
#[derive(Debug, Clone, Copy, Default)]
struct Readings {
    printk_ahead_of_monotonic_ns: Option<i64>,
    realtime_at_boot_ns: Option<i64>,
}

impl Readings {
    fn of(pieces: &[&Evidence]) -> Self {
        let reading = |name: &str| {
            let mut facts = pieces.iter().flat_map(|piece| &piece.facts);
            facts.find(|(fact, _)| fact == name).and_then(|(_, value)| value.parse().ok())
        };
        Self {
            printk_ahead_of_monotonic_ns: reading("clock.printk_ahead_of_monotonic_ns"),
            realtime_at_boot_ns: reading("clock.realtime_at_boot_ns"),
        }
    }
}

/// The piece to place next: that which shares most of the most telling kind; when none shares anything, the first.
fn next(
    pieces: &[&Evidence],
    certain: &[bool],
    places: &[Option<Place>],
    shared: &[Option<Shared>],
    placed: &Placed,
) -> Option<(usize, Place)> {
    let open = || (0..pieces.len()).filter(|index| places.get(*index).is_some_and(Option::is_none));
    let strength = |index: usize| {
        let ours = shared.get(index).and_then(Option::as_ref);
        let count = |of: fn(&Shared) -> &Events| {
            ours.map_or(0, |ours| {
                let (ours, theirs) = (of(ours), of(&placed.known));
                ours.keys().filter(|key| theirs.contains_key(*key)).count()
            })
        };
        (count(|all| &all.lines), count(|all| &all.calls), count(|all| &all.units))
    };
    // What counts from user space waits for a record that tells when that began.
    let waits = |index: usize| pieces.get(index).is_some_and(|piece| piece.clock == Clock::Userspace);
    let index = open().max_by_key(|index| (strength(*index), !waits(*index), std::cmp::Reverse(*index)))?;
    let (piece, ours) = (pieces.get(index)?, shared.get(index)?.as_ref()?);
    let place = place(piece, ours, placed);
    if let (Place::Foreign(why), Some(true)) = (&place, certain.get(index)) {
        // Whatever it tells otherwise, it is of this boot.
        let place = match identity(&piece.clock, placed) {
            Some((line, how)) => same(line, format!("{how}; but {why}")),
            None => Place::Unaligned(why.clone()),
        };
        return Some((index, place));
    }
    Some((index, place))
}

fn place(piece: &Evidence, ours: &Shared, placed: &Placed) -> Place {
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
        return by_lines(piece, lines, limit, placed.step_ns.max(piece.step_ns));
    }
    let known = identity(&piece.clock, placed).or_else(|| by_start(piece, placed));
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
        let Some(fitted) = through(pairs, limit) else { continue };
        if fitted.most_ns <= SAME_CALL_NS {
            // What two witnesses see of a unit is apart by what happens between them: where the clocks are the same by
            // what they are, that stands.
            return match &known {
                Some((line, how)) if what != "calls" => same(*line, how.clone()),
                _ => Place::Fitted { fitted, how: format!("{what} that both records hold") },
            };
        }
        if fitted.shared >= ENOUGH_TO_CONVICT {
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
            Some(apart) if apart > SAME_MARK_NS => {
                Place::Foreign(format!("the same mark lies {} apart on what is one clock", seconds(apart)))
            }
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
            Place::Unaligned("it counts from the start of user space, which no other record tells".to_owned())
        }
        None => Place::Unaligned("it shares no event with the other records".to_owned()),
    }
}

/// `step_ns`: by so much the coarser of the two clocks rounds.
fn by_lines(piece: &Evidence, lines: Vec<(i64, i64)>, limit: f64, step_ns: i64) -> Place {
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
        Some(fitted) => Place::Fitted { fitted, how: "lines that both records hold".to_owned() },
        None => Place::Unaligned("it shares no event with the other records".to_owned()),
    }
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
    let fitted = Fitted { line, shared: late.len(), median_ns: median.max(0), most_ns: 0, max_ns: largest.max(0) };
    let how = "calls that both records hold: one clock; the residual is the printing of the log's lines";
    Some(Place::Fitted { fitted, how: how.to_owned() })
}

fn same(line: Line, how: String) -> Place {
    Place::Fitted { fitted: Fitted { line, shared: 0, median_ns: 0, most_ns: 0, max_ns: 0 }, how }
}

fn same_as_kernel(trace_clock: &str) -> bool {
    matches!(trace_clock, "" | "local" | "global" | "mono" | "mono_raw" | "boot" | "tai")
}

/// The firmware's own times: where it handed over, the kernel's clock begins, as systemd takes it, too.
fn firmware(piece: &Evidence, placed: &Placed) -> Option<Place> {
    let at = |name: &str| piece.marks.iter().find(|mark| mark.name == name).map(|mark| mark.time_ns);
    let assumed = |at: i64, how: &str| {
        let of = |wanted: &str| {
            placed.clocks.iter().find(|(other, ..)| family(other) == Some(wanted)).map(|(_, line, _)| *line)
        };
        let zero = of("monotonic").or_else(|| of("printk"))?.at(0);
        let line = Line::SAME.shifted(zero.saturating_sub(at));
        Some(same(line, format!("assumed{how}")))
    };
    match piece.format {
        "fpdt" => assumed(
            at("exit_boot_services_end")?,
            ", as systemd does: the kernel's clock began when ExitBootServices returned",
        ),
        "efi-loader-times" => {
            assumed(at("loader_end")?, ", as systemd does: the kernel's clock began when the boot loader handed over")
        }
        _ if piece.clock != Clock::Firmware => None,
        _ => match at("kernel_entry") {
            // A console that a host stamped has seen the loader hand over.
            Some(entry) => placed.known.mark("kernel_entry").map_or_else(
                || assumed(entry, ": the kernel's clock began when the boot loader handed over"),
                |seen| {
                    let line = Line::SAME.shifted(seen.saturating_sub(entry));
                    Some(same(line, "both records tell when the boot loader handed over".to_owned()))
                },
            ),
            None => {
                let how =
                    ": the kernel's clock began when coreboot jumped to its payload; how long that took is not known";
                assumed(at("payload_start")?, how)
            }
        },
    }
}

/// The way of a clock onto the boot's by what it is and what is placed already, and why.
fn identity(clock: &Clock, placed: &Placed) -> Option<(Line, String)> {
    // Those of firmware, capturing machines and function logs begin anew with each record.
    let lasting = !matches!(clock, Clock::Firmware | Clock::Host | Clock::Kft);
    if let Some((_, line, assumed)) = placed.clocks.iter().find(|(other, ..)| lasting && other == clock) {
        // What is assumed of a clock is assumed of every record that has it.
        let how = assumed.clone().unwrap_or_else(|| "another record has the same clock".to_owned());
        return Some((*line, how));
    }
    let of =
        |wanted: &str| placed.clocks.iter().find(|(other, ..)| family(other) == Some(wanted)).map(|(_, line, _)| *line);
    if *clock == Clock::Realtime {
        let began = placed.readings.realtime_at_boot_ns?;
        let line = of("monotonic").or_else(|| of("printk"))?;
        return Some((line.shifted(began.saturating_neg()), "by readings of both clocks at one instant".to_owned()));
    }
    let ours = family(clock)?;
    if let Some(line) = of(ours) {
        let how = match ours {
            "printk" => "assumed: the tracer's clock and printk's are the scheduler's",
            _ => "assumed: without suspend these clocks are one",
        };
        return Some((line, how.to_owned()));
    }
    let line = of(if ours == "printk" { "monotonic" } else { "printk" })?;
    match placed.readings.printk_ahead_of_monotonic_ns {
        Some(ahead) => {
            let ahead = if ours == "printk" { ahead.saturating_neg() } else { ahead };
            Some((line.shifted(ahead), "by readings of both clocks at one instant".to_owned()))
        }
        None => {
            let how = "assumed: both count from the kernel's start; they may lie some ten milliseconds apart";
            Some((line, how.to_owned()))
        }
    }
}

/// The way of a clock onto the boot's by where the start-up lies on it.
fn by_start(piece: &Evidence, placed: &Placed) -> Option<(Line, String)> {
    let mark = |name: &str| piece.marks.iter().find(|mark| mark.name == name).map(|mark| mark.time_ns);
    match piece.clock {
        Clock::Userspace => {
            let line = Line::SAME.shifted(placed.known.mark("userspace_start")?);
            Some((line, "it counts from the start of user space, which another record tells".to_owned()))
        }
        Clock::Realtime => {
            let of = |wanted| {
                placed.clocks.iter().find(|(clock, ..)| family(clock) == Some(wanted)).map(|(_, line, _)| *line)
            };
            let line = of("monotonic").or_else(|| of("printk"))?;
            let line = line.shifted(mark("kernel_clock_start")?.saturating_neg());
            Some((
                line,
                "by its line `Startup finished`, which tells how long before it the kernel's clock began".to_owned(),
            ))
        }
        _ => None,
    }
}

/// What counts from the kernel's start, in two families that may lie some ten milliseconds apart.
fn family(clock: &Clock) -> Option<&'static str> {
    match clock {
        Clock::Printk => Some("printk"),
        Clock::Trace(name) if matches!(name.as_str(), "" | "local" | "global") => Some("printk"),
        Clock::Monotonic | Clock::Boottime => Some("monotonic"),
        Clock::Trace(name) if matches!(name.as_str(), "mono" | "mono_raw" | "boot") => Some("monotonic"),
        _ => None,
    }
}

/// Seconds for a message.
pub fn seconds(ns: i64) -> String {
    format!("{:.6} s", ns as f64 / 1e9)
}
