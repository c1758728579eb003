//! Puts the clocks of all pieces of evidence onto one.
//!
//! The boot's clock is that of the best piece. Every other is fitted to what is placed already, the one that shares most
//! first: by lines that both hold word for word, by the same calls, by the same units; else by what the two clocks are
//! (`CLOCK_MONOTONIC` and printk's both begin with the kernel); else by marks. A piece that shares nothing is not
//! placed: its lengths stay, its instants do not.

mod clocks;
mod placed;
mod shared_events;
mod stamps;

use crate::events::{Events, Shared};
use crate::fit::Line;
use clocks::{identity, rank};
use firstlight_formats::evidence::{Clock, Evidence};
pub use placed::Place;
use placed::{same, Placed, Readings};

/// So begins what a place rests on that no shared event bears out.
const ASSUMED: &str = "assumed";

/// The record whose clock is the boot's: the kernel's own clock first; of equal records the one with the most events.
pub fn base(pieces: &[&Evidence]) -> Option<usize> {
    base_among(pieces, |_| true)
}

/// The same, of the pieces with these numbers only.
pub fn base_among(pieces: &[&Evidence], wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let weight = |piece: &Evidence| piece.marks.len() + piece.spans.len() + piece.log.len() + piece.counters.len();
    let best = |(index, piece): &(usize, &&Evidence)| (rank(&piece.clock), std::cmp::Reverse(weight(piece)), *index);
    let timed = pieces
        .iter()
        .enumerate()
        .filter(|(index, piece)| wanted(*index) && (weight(piece) > 0 || piece.calls.is_some()));
    timed.min_by_key(best).map(|(index, _)| index)
}

/// Where every piece's clock lies.
pub fn align(pieces: &[&Evidence]) -> Vec<Place> {
    align_knowing(pieces, base(pieces), &[])
}

/// Where every piece's clock lies on that of the piece `base`; of those that are `certain` it is known that they are of this boot.
pub fn align_knowing(pieces: &[&Evidence], base: Option<usize>, certain: &[bool]) -> Vec<Place> {
    let mut places: Vec<Option<Place>> =
        pieces.iter().map(|piece| (piece.clock == Clock::Untimed).then_some(Place::Untimed)).collect();
    let Some(base) = base.filter(|base| pieces.get(*base).is_some_and(|piece| piece.clock != Clock::Untimed)) else {
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
        certain: certain.contains(&true),
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

/// The piece to place next: that which is known to be of this boot where its clock has a place by what it is, else that which
/// shares most events of the most reliable kind; when none shares anything, the first.
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
    // A clock that counts from the start of userspace waits for a record that has this instant.
    let waits = |index: usize| pieces.get(index).is_some_and(|piece| piece.clock == Clock::Userspace);
    // What no record can convict is what the others are judged by.
    let judges = |index: usize| {
        let clock = pieces.get(index).map(|piece| &piece.clock);
        certain.get(index) == Some(&true) && clock.is_some_and(|clock| identity(clock, placed).is_some())
    };
    let key = |index: &usize| (judges(*index), strength(*index), !waits(*index), std::cmp::Reverse(*index));
    let index = open().max_by_key(key)?;
    let (piece, ours) = (pieces.get(index)?, shared.get(index)?.as_ref()?);
    let place = shared_events::place(piece, ours, placed);
    if let (Place::Foreign(why), Some(true)) = (&place, certain.get(index)) {
        // Whatever else the record holds, it is of this boot.
        let place = match identity(&piece.clock, placed) {
            Some((line, how)) => same(line, format!("{how}; but {why}")),
            None => Place::Unaligned(why.clone()),
        };
        return Some((index, place));
    }
    Some((index, place))
}
