//! Names as numbers: a name is looked up once for nearly every line of a trace.

use std::hash::{BuildHasher, RandomState};

/// A name's number, in the order in which the names were met.
pub(crate) type Symbol = u32;

/// A longer name is cut: no kernel has one.
pub(crate) const NAME_BYTES: usize = 512;

/// What all names together may take; further ones are one name.
const ALL_BYTES: usize = 64 << 20;

const FREE: u32 = u32::MAX;

/// All names of a record. Memory is bounded whatever the record holds.
#[derive(Debug)]
pub(crate) struct Symbols {
    text: Vec<u8>,
    ends: Vec<u32>,
    // Slots of (hash, symbol), a power of two of them, at most half full.
    slots: Vec<(u32, u32)>,
    seed: u64,
    full: bool,
}

impl Symbols {
    pub(crate) fn new() -> Self {
        // A seed of the process: an input cannot contain names that all fall on one slot.
        let seed = RandomState::new().hash_one(0_u8) | 1;
        Self { text: Vec::new(), ends: Vec::new(), slots: vec![(0, FREE); 1 << 14], seed, full: false }
    }

    /// The number of a name.
    #[inline]
    pub(crate) fn number(&mut self, name: &[u8]) -> Symbol {
        let name = name.get(..NAME_BYTES).unwrap_or(name);
        let hash = self.hash(name);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (known, symbol) = self.slots[slot];
            if symbol == FREE {
                return self.add(name, hash, slot);
            }
            if known == hash && self.bytes(symbol) == name {
                return symbol;
            }
            slot = (slot + 1) & mask;
        }
    }

    #[inline]
    fn hash(&self, name: &[u8]) -> u32 {
        let mut hash = self.seed ^ name.len() as u64;
        let mut mix = |part: u64| {
            let product = u128::from(hash ^ part) * 0x9e37_79b9_7f4a_7c15_u128;
            hash = (product >> 64) as u64 ^ product as u64;
        };
        let mut chunks = name.chunks_exact(8);
        for chunk in &mut chunks {
            mix(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        mix(u64::from_le_bytes(last));
        (hash >> 32) as u32 ^ hash as u32
    }

    #[cold]
    fn add(&mut self, name: &[u8], hash: u32, slot: usize) -> Symbol {
        let next = self.ends.len() as u32;
        if self.text.len() + name.len() > ALL_BYTES || next >= 1 << 21 {
            if !self.full {
                self.full = true;
                self.text.extend_from_slice(b"[other functions]");
                self.ends.push(self.text.len() as u32);
            }
            return self.ends.len() as u32 - 1;
        }
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len() as u32);
        self.slots[slot] = (hash, next);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        next
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, FREE); self.slots.len() * 4];
        let mask = slots.len() - 1;
        for &(hash, symbol) in self.slots.iter().filter(|(_, symbol)| *symbol != FREE) {
            let mut slot = hash as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (hash, symbol);
        }
        self.slots = slots;
    }

    /// The bytes of a name.
    pub(crate) fn bytes(&self, symbol: Symbol) -> &[u8] {
        let symbol = symbol as usize;
        let start = symbol.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        let end = self.ends.get(symbol).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The name and, of a module's function (`name [module]`), its module.
    pub(crate) fn name(&self, symbol: Symbol) -> (String, Option<String>) {
        split_module(&String::from_utf8_lossy(self.bytes(symbol)))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether names had to be put together.
    pub(crate) fn overflowed(&self) -> bool {
        self.full
    }
}

/// `name [module]` as its two parts.
pub(crate) fn split_module(text: &str) -> (String, Option<String>) {
    match text.split_once(" [").and_then(|(name, rest)| Some((name, rest.strip_suffix(']')?))) {
        Some((name, module)) if !name.is_empty() => (name.to_owned(), Some(module.to_owned())),
        _ => (text.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut symbols = Symbols::new();
        let names: Vec<String> = (0..50_000).map(|number| format!("function_{number}")).collect();
        for (number, name) in names.iter().enumerate() {
            assert_eq!(symbols.number(name.as_bytes()), number as u32);
        }
        for (number, name) in names.iter().enumerate() {
            assert_eq!(symbols.number(name.as_bytes()), number as u32);
            assert_eq!(symbols.name(number as u32), (name.clone(), None));
        }
    }

    #[test]
    fn names_are_bounded() {
        let mut symbols = Symbols::new();
        let long = vec![b'x'; NAME_BYTES + 9];
        let number = symbols.number(&long);
        assert_eq!(symbols.bytes(number).len(), NAME_BYTES);
        for number in 0..200_000_u32 {
            let mut name = number.to_le_bytes().to_vec();
            name.resize(NAME_BYTES, b'y');
            symbols.number(&name);
        }
        assert!(symbols.overflowed());
        let last = symbols.number(b"one more");
        assert_eq!(symbols.name(last).0, "[other functions]");
    }

    #[test]
    fn a_module_is_no_part_of_the_name() {
        assert_eq!(split_module("gizmo_init [gizmo]"), ("gizmo_init".to_owned(), Some("gizmo".to_owned())));
        assert_eq!(split_module("[task gizmo]"), ("[task gizmo]".to_owned(), None));
    }
}
