//! By which record the others are judged, where what they share shows that they are not all of one boot.

use crate::align::{align_knowing, base, base_among, Place};
use firstlight_formats::evidence::{Clock, Evidence};
use std::collections::BTreeSet;

/// Where the clocks of all pieces lie, and on which.
#[derive(Debug)]
pub struct Membership {
    /// The piece whose clock is the boot's.
    pub base: Option<usize>,
    /// Where each lies on it.
    pub places: Vec<Place>,
}

impl Membership {
    /// The verdict on pieces of evidence, of which `reads` has the record and `ids` the number that the kernel gave the boot.
    ///
    /// The boot's clock is that of the best piece. Where records of another boot go with one another, and fewer with that
    /// piece, or where it lacks the number that one of them has, theirs is the boot.
    pub fn of(pieces: &[&Evidence], reads: &[usize], ids: &[Option<String>]) -> Self {
        let numbered = |piece: usize| ids.get(piece).is_some_and(Option::is_some);
        let mut base = base(pieces);
        let mut places = align_knowing(pieces, base, &[]);
        while let Some(other) = opponent(pieces, base, &places) {
            let others = align_knowing(pieces, Some(other), &[]);
            let told = numbered(other) && !base.is_some_and(numbered);
            let (now, then) = (records(&others, reads), records(&places, reads));
            if now > then || now == then && !told {
                break;
            }
            (base, places) = (Some(other), others);
        }
        Self { base, places: knowing_numbers(pieces, reads, ids, base, places) }
    }
}

/// The best of the pieces that are doubted, if it is as good a clock as the boot's.
fn opponent(pieces: &[&Evidence], base: Option<usize>, places: &[Place]) -> Option<usize> {
    let clock = |piece: usize| pieces.get(piece).map(|piece| &piece.clock);
    let other = base_among(pieces, |piece| places.get(piece).is_some_and(Place::is_foreign))?;
    (clock(base?) == clock(other)).then_some(other)
}

/// The numbers of the pieces that are doubted.
fn foreign(places: &[Place]) -> impl Iterator<Item = usize> + '_ {
    places.iter().enumerate().filter(|(_, place)| place.is_foreign()).map(|(piece, _)| piece)
}

/// How many records are doubted.
fn records(places: &[Place], reads: &[usize]) -> usize {
    foreign(places).filter_map(|piece| reads.get(piece)).collect::<BTreeSet<_>>().len()
}

/// Where every piece's clock lies, once it is known which of them are of one boot by its own number; `places`: before that.
fn knowing_numbers(
    pieces: &[&Evidence],
    reads: &[usize],
    ids: &[Option<String>],
    base: Option<usize>,
    mut places: Vec<Place>,
) -> Vec<Place> {
    let mut certain = vec![false; pieces.len()];
    loop {
        banish_with_their_kernel(pieces, reads, &mut places);
        let ours: BTreeSet<&String> =
            places.iter().zip(ids).filter(|(place, _)| !place.is_foreign()).filter_map(|(_, id)| id.as_ref()).collect();
        let wrong = |number: &usize| ids.get(*number).and_then(Option::as_ref).is_some_and(|id| ours.contains(id));
        let more: Vec<usize> = foreign(&places).filter(wrong).collect();
        if more.is_empty() {
            return places;
        }
        // Each pass adds records: a record that is certain is no longer unrelated.
        for number in more {
            if let Some(slot) = certain.get_mut(number) {
                *slot = true;
            }
        }
        places = align_knowing(pieces, base, &certain);
    }
}

/// The other lines of a journal are of the same boot as its kernel lines, unless events of their own confirm their place.
fn banish_with_their_kernel(pieces: &[&Evidence], reads: &[usize], places: &mut [Place]) {
    let of_the_kernel = |piece: &usize| pieces.get(*piece).is_some_and(|piece| piece.clock == Clock::Printk);
    let kernels: Vec<usize> = foreign(places).filter(of_the_kernel).collect();
    for kernel in kernels {
        let Some(why) = places.get(kernel).cloned() else { continue };
        for (piece, place) in places.iter_mut().enumerate() {
            let unproven = matches!(place, Place::Fitted { fitted, .. } if fitted.shared == 0);
            if reads.get(piece) == reads.get(kernel) && unproven {
                *place = why.clone();
            }
        }
    }
}
