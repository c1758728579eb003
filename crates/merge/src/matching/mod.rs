//! Spans of several records as rows of one table. Two spans of the same thing become one row.

mod aliases;
mod candidates;
mod merge_rows;

use self::candidates::partners;
use self::merge_rows::unite;
use crate::row::{merges, row_of, Row};
use crate::{AlignedRecord, Contradiction};
use firstlight_formats::evidence::SpanKind;
use rustc_hash::FxHashMap;

/// Returns the rows of all records, those of the first record first, and adds the contradictions between records.
pub fn rows<'a>(pieces: &[AlignedRecord<'a>], contradictions: &mut Vec<Contradiction>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(pieces.iter().map(|piece| piece.evidence.spans.len()).sum());
    let several = pieces.iter().filter(|piece| !piece.evidence.spans.is_empty()).count() > 1;
    let mut index: FxHashMap<(SpanKind, &str), Vec<usize>> = FxHashMap::default();
    for (number, piece) in pieces.iter().enumerate() {
        let first = rows.len();
        let mut moved: Vec<usize> = (first..first + piece.evidence.spans.len()).collect();
        let partners = if several { partners(piece, &rows, &index, pieces) } else { FxHashMap::default() };
        let mut next = first;
        let mut called: Vec<(SpanKind, &str, usize)> = Vec::new();
        for (place, span) in piece.evidence.spans.iter().enumerate() {
            let row = row_of(place, span, number, piece);
            match partners.get(&place).and_then(|partner| Some((*partner, rows.get_mut(*partner)?))) {
                Some((partner, known)) => {
                    // A row that has several names is found by each of them.
                    if known.name() != span.name {
                        called.extend([(span.kind, known.name(), partner), (span.kind, span.name, partner)]);
                    }
                    unite(known, row, pieces, contradictions);
                    put(&mut moved, place, partner);
                }
                None => {
                    put(&mut moved, place, next);
                    next += 1;
                    rows.push(row);
                }
            }
        }
        // Parents are places in the piece; they become rows. A row that was united keeps the parent that it had.
        for (place, span) in piece.evidence.spans.iter().enumerate() {
            let parent = span.parent.and_then(|parent| moved.get(parent).copied());
            let own = moved.get(place).copied();
            if let (Some(parent), Some(row)) = (parent, own.and_then(|own| rows.get_mut(own))) {
                if row.parent.is_none() && Some(parent) != own {
                    row.parent = Some(parent);
                }
            }
        }
        if several {
            for (number, row) in rows.iter().enumerate().skip(first).filter(|(_, row)| merges(row.kind)) {
                index.entry((row.kind, row.name())).or_default().push(number);
            }
            for (kind, name, number) in called.into_iter().filter(|(kind, ..)| merges(*kind)) {
                let there = index.entry((kind, name)).or_default();
                if !there.contains(&number) {
                    there.push(number);
                }
            }
        }
    }
    rows
}

fn put(moved: &mut [usize], place: usize, row: usize) {
    if let Some(slot) = moved.get_mut(place) {
        *slot = row;
    }
}
