//! A vector that never moves: what was pushed stays where it is, however much follows.

/// So many entries lie together; a power of two.
const TOGETHER: usize = 1 << 14;

/// Values in their order, in chunks of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunks<T> {
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { full: Vec::new(), last: Vec::new() }
    }
}

impl<T> Chunks<T> {
    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if self.last.len() == TOGETHER {
            self.begin();
        }
        self.last.push(value);
    }

    #[cold]
    fn begin(&mut self) {
        self.full.push(std::mem::replace(&mut self.last, Vec::with_capacity(TOGETHER)));
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.full.len() * TOGETHER + self.last.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.full.get(place / TOGETHER).unwrap_or(&self.last).get(self.within(place))
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let within = self.within(place);
        self.full.get_mut(place / TOGETHER).unwrap_or(&mut self.last).get_mut(within)
    }

    /// The place within its chunk; beyond all of them, beyond the last one's end.
    #[inline]
    fn within(&self, place: usize) -> usize {
        if place / TOGETHER <= self.full.len() {
            place % TOGETHER
        } else {
            usize::MAX
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.full.iter().chain(std::iter::once(&self.last)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_like_a_vector() {
        for length in [0, 1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER + 5] {
            let mut chunks = Chunks::default();
            (0..length).for_each(|value| chunks.push(value));
            assert_eq!((chunks.len(), chunks.is_empty()), (length, length == 0));
            assert!(chunks.iter().copied().eq(0..length));
            for place in [0, 1, TOGETHER - 1, TOGETHER, length, length + TOGETHER, 9 * TOGETHER + 1] {
                assert_eq!(chunks.get(place).copied(), (place < length).then_some(place));
                assert_eq!(chunks.get_mut(place).copied(), (place < length).then_some(place));
            }
        }
    }
}
