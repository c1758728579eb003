//! A piece of the buffer, looked through at once: where its lines end, and whether anything must be taken out of them.

use super::blanks::NO_BREAK;
use memchr::{memchr2, memchr_iter, memmem};

/// So much is looked through at a time: it stays in the first cache until its lines are read.
const BLOCK_BYTES: usize = 16 << 10;

/// The lines of a piece of the buffer that were not yet given.
#[derive(Debug, Default)]
pub(super) struct Block {
    ends: Vec<u32>,
    next: usize,
    /// Where the next line begins.
    start: u32,
    /// Whether there may be NUL bytes, escapes or no-break spaces in it; what lies beyond it may hold some too.
    pub soiled: bool,
}

impl Block {
    /// The length of the next line.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        let end = *self.ends.get(self.next)?;
        let length = end - self.start;
        self.next += 1;
        self.start = end + 1;
        Some(length as usize)
    }

    /// Whether every line of it was given.
    pub fn is_over(&self) -> bool {
        self.next >= self.ends.len()
    }

    /// All its lines that were not given, out of the buffer that was looked through.
    pub fn lines<'a>(&mut self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a, '_> {
        std::iter::from_fn(move || {
            let start = self.start as usize;
            let length = self.next()?;
            buffer.get(start..start + length)
        })
    }

    /// How many bytes the lines had that were given since it was looked through.
    pub fn given(&self) -> usize {
        self.start as usize
    }

    /// Goes on with what is in the buffer.
    pub fn look(&mut self, buffer: &[u8]) {
        let block = buffer.get(..BLOCK_BYTES).unwrap_or(buffer);
        self.ends.clear();
        self.ends.extend(memchr_iter(b'\n', block).filter_map(|end| u32::try_from(end).ok()));
        (self.next, self.start) = (0, 0);
        // A line that is not whole in the block is looked at by itself.
        self.soiled =
            self.ends.is_empty() || memchr2(0, 0x1b, block).is_some() || memmem::find(block, NO_BREAK).is_some();
    }
}
