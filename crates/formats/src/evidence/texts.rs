//! Texts by number: each is kept once, however many rows of a record say it.

use std::hash::{BuildHasher, RandomState};

/// What stands for a slot without a text.
const FREE: u32 = u32::MAX;

/// Where texts are found by what they say: slots of hash and number, a power of two of them, at most half full.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    slots: Vec<(u32, u32)>,
    taken: usize,
    seed: u64,
}

/// Where a text that is not there yet would stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vacant {
    hash: u32,
    slot: usize,
}

impl Slots {
    /// With room for half as many texts before they grow; `room` is a power of two.
    pub(crate) fn new(room: usize) -> Self {
        // A seed of the process: an input cannot contain texts that all fall on one slot.
        let seed = RandomState::new().hash_one(0_u8) | 1;
        Self { slots: vec![(0, FREE); room.next_power_of_two()], taken: 0, seed }
    }

    /// The number of a text, where `is` says whether a number is its.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], is: impl Fn(u32) -> bool) -> Result<u32, Vacant> {
        let hash = self.hash(text);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (known, number) = self.slots[slot];
            if number == FREE {
                return Err(Vacant { hash, slot });
            }
            if known == hash && is(number) {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Takes a number into the slot that was found for it.
    pub(crate) fn take(&mut self, vacant: Vacant, number: u32) {
        self.slots[vacant.slot] = (vacant.hash, number);
        self.taken += 1;
        if self.taken * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, FREE); self.slots.len() * 4];
        let mask = slots.len() - 1;
        for &(hash, number) in self.slots.iter().filter(|(_, number)| *number != FREE) {
            let mut slot = hash as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (hash, number);
        }
        self.slots = slots;
    }

    #[inline]
    fn hash(&self, text: &[u8]) -> u32 {
        let mut hash = self.seed ^ text.len() as u64;
        let mut mix = |part: u64| {
            let product = u128::from(hash ^ part) * 0x9e37_79b9_7f4a_7c15_u128;
            hash = (product >> 64) as u64 ^ product as u64;
        };
        let eights = text.chunks_exact(8);
        let rest = eights.remainder();
        for eight in eights {
            mix(u64::from_le_bytes(eight.try_into().unwrap_or_default()));
        }
        // The last bytes, some of them twice where there are eight.
        match text.last_chunk::<8>() {
            Some(last) if !rest.is_empty() => mix(u64::from_le_bytes(*last)),
            Some(_) => {}
            None => mix(rest.iter().fold(0, |all, &byte| all << 8 | u64::from(byte))),
        }
        (hash >> 32) as u32 ^ hash as u32
    }
}

/// The number of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Text(u32);

impl Text {
    /// The text of no bytes, which is always there.
    pub(crate) const EMPTY: Self = Self(0);

    /// Its place among the texts.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }
}

/// All texts of a piece of evidence.
#[derive(Debug, Clone)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
    slots: Slots,
}

impl Default for Texts {
    fn default() -> Self {
        // Most pieces of evidence have few spans.
        Self { text: String::new(), ends: vec![0], slots: Slots::new(32) }
    }
}

impl Texts {
    /// The number of a text; what is not UTF-8 in it is replaced.
    #[inline]
    pub(crate) fn number(&mut self, text: &[u8]) -> Text {
        if text.is_empty() {
            return Text::EMPTY;
        }
        match self.slots.find(text, |number| self.get(Text(number)).as_bytes() == text) {
            Ok(number) => Text(number),
            Err(vacant) => self.add(text, vacant),
        }
    }

    #[cold]
    fn add(&mut self, text: &[u8], vacant: Vacant) -> Text {
        let Ok(valid) = std::str::from_utf8(text) else {
            return self.number(String::from_utf8_lossy(text).as_bytes());
        };
        // Four thousand million texts do not fit the memory of what they are of.
        let number = u32::try_from(self.ends.len()).unwrap_or(FREE - 1);
        self.text.push_str(valid);
        self.ends.push(self.text.len());
        self.slots.take(vacant, number);
        Text(number)
    }

    /// The text of a number.
    #[inline]
    pub(crate) fn get(&self, number: Text) -> &str {
        let number = number.0 as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(number).and_then(|&end| self.text.get(start..end)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_number() {
        let mut texts = Texts::default();
        let all: Vec<String> = (0..50_000).map(|number| format!("{number} gizmos")).collect();
        let numbers: Vec<Text> = all.iter().map(|text| texts.number(text.as_bytes())).collect();
        for (text, number) in all.iter().zip(numbers) {
            assert_eq!((texts.number(text.as_bytes()), texts.get(number)), (number, text.as_str()));
        }
        assert_eq!(texts.number(b""), Text::EMPTY);
        assert_eq!(texts.get(Text::EMPTY), "");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        let mut texts = Texts::default();
        let number = texts.number(b"giz\xffmo");
        assert_eq!(texts.get(number), "giz\u{fffd}mo");
        assert_eq!(texts.number(b"giz\xffmo"), number);
        assert_eq!(texts.number("giz\u{fffd}mo".as_bytes()), number);
    }
}
