//! Text that is only appended to, in pieces that never move.

use memmap2::MmapMut;

/// What a piece holds, at first.
pub(super) const PIECE_BYTES: usize = 64 << 10;
/// After so many pieces they are large ones, of huge pages where the system has them: a third of the time that reading a
/// log of a hundred megabytes took was the kernel's, which gave its memory in pages of four kibibytes.
const SMALL_PIECES: usize = 16;
const LARGE_BYTES: usize = 8 << 20;

/// Where a text begins, or the one before ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    piece: u32,
    at: u32,
}

/// Texts one after the other; each lies whole in a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextArena {
    full: Vec<Piece>,
    last: Piece,
}

#[derive(Debug)]
enum Piece {
    Heap(Vec<u8>),
    Mapped { map: MmapMut, used: usize },
}

impl Default for Piece {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl Clone for Piece {
    fn clone(&self) -> Self {
        Self::Heap(self.bytes().to_vec())
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Piece {}

impl Piece {
    fn new(bytes: usize, large: bool) -> Self {
        if large && bytes <= LARGE_BYTES {
            if let Ok(map) = MmapMut::map_anon(LARGE_BYTES) {
                // A system without huge pages has small ones.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                return Self::Mapped { map, used: 0 };
            }
        }
        Self::Heap(Vec::with_capacity(PIECE_BYTES.max(bytes)))
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped { map, used } => map.get(..*used).unwrap_or_default(),
        }
    }

    /// Appends a text, when there is room for it.
    #[inline]
    fn push(&mut self, text: &[u8]) -> bool {
        match self {
            Self::Heap(bytes) => {
                let room = bytes.len() + text.len() <= bytes.capacity();
                if room {
                    bytes.extend_from_slice(text);
                }
                room
            }
            Self::Mapped { map, used } => {
                let Some(free) = map.get_mut(*used..*used + text.len()) else { return false };
                free.copy_from_slice(text);
                *used += text.len();
                true
            }
        }
    }
}

impl TextArena {
    /// Where the last text ends.
    #[inline]
    pub(super) fn end(&self) -> Place {
        Place { piece: number(self.full.len()), at: number(self.last.bytes().len()) }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        if !self.last.push(text) {
            self.room(text.len());
            self.last.push(text);
        }
    }

    /// Makes room for so much more: a small log grows, and a piece that is full is put to the others.
    #[cold]
    fn room(&mut self, bytes: usize) {
        if let Piece::Heap(last) = &mut self.last {
            let needed = last.len() + bytes;
            if needed <= PIECE_BYTES || last.is_empty() {
                let grown = needed.max(2 * last.capacity()).min(PIECE_BYTES.max(needed));
                return last.reserve_exact(grown - last.len());
            }
        }
        let next = Piece::new(bytes, self.full.len() >= SMALL_PIECES);
        self.full.push(std::mem::replace(&mut self.last, next));
    }

    fn piece(&self, place: Place) -> &[u8] {
        self.full.get(place.piece as usize).unwrap_or(&self.last).bytes()
    }

    /// Where the text of a length begins and ends that follows what ends at a place: it lies in the next piece when it is
    /// not whole in this one.
    #[inline]
    pub(super) fn after(&self, before: Place, length: u32) -> (Place, Place) {
        let whole = before.piece as usize >= self.full.len()
            || before.at as usize + length as usize <= self.piece(before).len();
        let begin = if whole { before } else { Place { piece: before.piece + 1, at: 0 } };
        (begin, Place { at: begin.at.saturating_add(length), ..begin })
    }

    /// The text between two places of one piece.
    #[inline]
    pub(super) fn text(&self, (begin, end): (Place, Place)) -> Option<&str> {
        std::str::from_utf8(self.piece(begin).get(begin.at as usize..end.at as usize)?).ok()
    }
}

/// A length or place as it is kept; what does not fit is the largest.
pub(super) fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_small_pieces_and_large_ones() {
        let text = |number: usize| "µ".repeat(number * 7919 % 40_000);
        let mut pieces = TextArena::default();
        let mut begins = Vec::new();
        for number in 0..600 {
            begins.push(pieces.end());
            pieces.push(text(number).as_bytes());
        }
        assert!(pieces.full.iter().any(|piece| matches!(piece, Piece::Heap(_))));
        assert!(pieces.full.iter().filter(|piece| matches!(piece, Piece::Mapped { .. })).count() > 1);
        for pieces in [&pieces, &pieces.clone()] {
            for (index, &begin) in begins.iter().enumerate() {
                let lies = pieces.after(begin, number(text(index).len()));
                assert_eq!(pieces.text(lies), Some(text(index).as_str()), "text {index}");
            }
        }
    }

    #[test]
    fn a_text_longer_than_a_piece_has_one_of_its_own() {
        let mut pieces = TextArena::default();
        (0..SMALL_PIECES + 1).for_each(|_| pieces.push(&[b'a'; PIECE_BYTES]));
        let before = pieces.end();
        let long = "b".repeat(LARGE_BYTES + 1);
        pieces.push(long.as_bytes());
        assert_eq!(pieces.text(pieces.after(before, number(long.len()))), Some(long.as_str()));
    }
}
