//! By which record the others are judged, where what they share shows that they are not all of one boot.

use crate::align::{align_knowing, base, base_among, Place};
use firstlight_formats::evidence::{Clock, Evidence};
use std::collections::BTreeSet;

/// Where the clocks of all pieces lie, and on which.
#[derive(Debug)]
pub struct Verdict {
    /// The piece whose clock is the boot's.
    pub base: Option<usize>,
    /// Where each lies on it.
    pub places: Vec<Place>,
}

impl Verdict {
    /// The verdict on pieces of evidence, of which `reads` has the record and `ids` the number that the kernel gave the boot.
    ///
    /// The boot's clock is that of the best piece. Where records of another boot go with one another, and fewer with that
    /// piece, or where it lacks the number that one of them has, theirs is the boot.
    pub fn of(pieces: &[&Evidence], reads: &[usize], ids: &[Option<String>]) -> Self {
        let mut base = base(pieces);
        let mut doubted = foreign(&align_knowing(pieces, base, &[]));
        while let Some(other) = opponent(pieces, base, &doubted) {
            let others = foreign(&align_knowing(pieces, Some(other), &[]));
            let number = |piece: Option<usize>| piece.and_then(|piece| ids.get(piece)).and_then(Option::as_ref);
            let told = number(Some(other)).is_some() && number(base).is_none();
            let (now, then) = (records(&others, reads).len(), records(&doubted, reads).len());
            if now > then || now == then && !told {
                break;
            }
            (base, doubted) = (Some(other), others);
        }
        Self { base, places: placed(pieces, reads, ids, base) }
    }
}

/// The best of the pieces that are doubted, if it is as good a clock as the boot's.
fn opponent(pieces: &[&Evidence], base: Option<usize>, doubted: &BTreeSet<usize>) -> Option<usize> {
    let clock = |piece: usize| pieces.get(piece).map(|piece| &piece.clock);
    let other = base_among(pieces, |piece| doubted.contains(&piece))?;
    (clock(base?) == clock(other)).then_some(other)
}

fn foreign(places: &[Place]) -> BTreeSet<usize> {
    places.iter().enumerate().filter(|(_, place)| matches!(place, Place::Foreign(_))).map(|(piece, _)| piece).collect()
}

fn records(pieces: &BTreeSet<usize>, reads: &[usize]) -> BTreeSet<usize> {
    pieces.iter().filter_map(|piece| reads.get(*piece).copied()).collect()
}

/// Where every piece's clock lies, once it is known which of them are of one boot by its own number.
fn placed(pieces: &[&Evidence], reads: &[usize], ids: &[Option<String>], base: Option<usize>) -> Vec<Place> {
    let mut certain = vec![false; pieces.len()];
    loop {
        let mut places = align_knowing(pieces, base, &certain);
        banish_with_their_kernel(pieces, reads, base, &mut places);
        let ours: BTreeSet<&String> = places
            .iter()
            .zip(ids)
            .enumerate()
            .filter(|(number, (place, _))| Some(*number) == base || !matches!(place, Place::Foreign(_)))
            .filter_map(|(_, (_, id))| id.as_ref())
            .collect();
        let doubted = foreign(&places);
        let wrong = |number: &&usize| ids.get(**number).and_then(Option::as_ref).is_some_and(|id| ours.contains(id));
        let more: Vec<usize> = doubted.iter().filter(wrong).copied().collect();
        if more.is_empty() {
            return places;
        }
        // Each time round there are more of them: whoever is certain is not foreign any more.
        for number in more {
            if let Some(slot) = certain.get_mut(number) {
                *slot = true;
            }
        }
    }
}

/// What a journal tells beside the kernel's lines is of the boot that those are of, unless events of its own bear out its place.
fn banish_with_their_kernel(pieces: &[&Evidence], reads: &[usize], base: Option<usize>, places: &mut [Place]) {
    let of_the_kernel = |piece: &usize| pieces.get(*piece).is_some_and(|piece| piece.clock == Clock::Printk);
    for kernel in foreign(places).into_iter().filter(of_the_kernel) {
        let Some(why) = places.get(kernel).cloned() else { continue };
        for (piece, place) in places.iter_mut().enumerate() {
            let unproven = matches!(place, Place::Fitted { fitted, .. } if fitted.shared == 0);
            if reads.get(piece) == reads.get(kernel) && Some(piece) != base && unproven {
                *place = why.clone();
            }
        }
    }
}
