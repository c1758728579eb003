//! The functions of a boot loader whose program file with symbols is given.
//!
//! A boot loader moves itself while it runs: from flash into memory, then to the end of memory. Where its code lies now is found by
//! comparing that with the program file, and every block is compared again before it is charged to a function.

use firstlight_elf::Code;
use std::collections::HashMap;
use std::fmt::{Debug, Formatter};

/// Length of the byte sequence to find in the program file. A shorter one may occur twice.
pub const SOUGHT_BYTES: usize = 64;

/// The program file of a boot loader, and where its code was found to lie.
pub struct LoaderCode {
    bytes: Vec<u8>,
    code: Code,
    /// Distances of addresses in memory from those in the program file, in the order in which they were found.
    distances: Vec<u64>,
    /// Numbers of functions in the recording, by their addresses in the program file.
    pub known: HashMap<u64, u32>,
}

impl Debug for LoaderCode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LoaderCode").field("distances", &self.distances).finish_non_exhaustive()
    }
}

/// A function of a boot loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoaderFunction {
    /// Its address in the program file.
    pub address: u64,
    pub name: String,
    /// Whether the address that was asked for is its first.
    pub begins: bool,
}

impl LoaderCode {
    /// Reads a program file; nothing for what is none of 64 bits.
    pub fn read(bytes: Vec<u8>) -> Option<Self> {
        let code = Code::read(&bytes, None)?;
        Some(Self { bytes, code, distances: Vec::new(), known: HashMap::new() })
    }

    /// The function that a block lies in.
    ///
    /// `block` has the bytes of the block, `around` reads as many bytes from its address on as there are, up to
    /// [`SOUGHT_BYTES`].
    pub fn function(
        &mut self,
        address: u64,
        block: &[u8],
        around: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<LoaderFunction> {
        let linked = self.linked(address, block).or_else(|| {
            let distance = self.find(address, &around()?)?;
            self.distances.push(distance);
            self.linked(address, block)
        })?;
        let function = self.code.function(linked)?;
        let name = function.name.clone().unwrap_or_else(|| format!("[{:#x}]", function.start));
        Some(LoaderFunction { address: function.start, name, begins: function.start == linked })
    }

    // The address of this block in the program file, by the distances that are known.
    fn linked(&self, address: u64, block: &[u8]) -> Option<u64> {
        let candidates = self.distances.iter().rev().map(|distance| address.wrapping_sub(*distance));
        candidates.into_iter().find(|linked| {
            let at = self.code.offset(*linked).and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| self.bytes.get(at..at.checked_add(block.len())?)) == Some(block)
        })
    }

    // The offset between this address and the only occurrence of these bytes in the program file.
    fn find(&self, address: u64, sought: &[u8]) -> Option<u64> {
        let first = sought.first().filter(|_| sought.len() >= SOUGHT_BYTES)?;
        let mut places = memchr::memchr_iter(*first, &self.bytes).filter(|at| self.bytes[*at..].starts_with(sought));
        match (places.next(), places.next()) {
            (Some(at), None) => Some(address.wrapping_sub(self.code.address(at as u64)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program file for 0x1000 with two functions of 64 different bytes each, as `firstlight-elf` reads it.
    fn program() -> Vec<u8> {
        let text: Vec<u8> = (0..128).collect();
        let names = b"\0init\0relocate\0\0";
        let mut symbols = vec![0; 24];
        for (name, start) in [(1_u32, 0x1000_u64), (6, 0x1040)] {
            symbols.extend(name.to_le_bytes());
            symbols.extend([0x12, 0, 1, 0]);
            symbols.extend(start.to_le_bytes());
            symbols.extend(64_u64.to_le_bytes());
        }
        let header = 64 + 56;
        let at = [header, header + 128, header + 128 + names.len(), header + 128 + names.len() + symbols.len()];
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([2, 0, 0xb7, 0, 1, 0, 0, 0]);
        for value in [0x1000, 64, at[3] as u64] {
            file.extend(u64::to_le_bytes(value));
        }
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 4, 0, 3, 0]);
        for value in [1_u32, 5] {
            file.extend(value.to_le_bytes());
        }
        for value in [header as u64, 0x1000, 0x1000, 128, 128, 16] {
            file.extend(value.to_le_bytes());
        }
        file.extend(&text);
        file.extend(names);
        file.extend(&symbols);
        let section = |kind: u32, flags: u64, address: u64, at: usize, size: usize, link: u32, entry: u64| {
            let mut bytes = 0_u32.to_le_bytes().to_vec();
            bytes.extend(kind.to_le_bytes());
            for value in [flags, address, at as u64, size as u64] {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend(link.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            bytes.extend(1_u64.to_le_bytes());
            bytes.extend(entry.to_le_bytes());
            bytes
        };
        file.extend(section(0, 0, 0, 0, 0, 0, 0));
        file.extend(section(1, 6, 0x1000, at[0], 128, 0, 0));
        file.extend(section(2, 0, 0, at[2], symbols.len(), 3, 24));
        file.extend(section(3, 0, 0, at[1], names.len(), 0, 0));
        file
    }

    #[test]
    fn code_that_moved_is_found_by_its_bytes() {
        let mut code = LoaderCode::read(program()).expect("a program file");
        let text: Vec<u8> = (0..128).collect();
        let mut ask = |address: u64, at: usize, length: usize| {
            code.function(address, &text[at..at + length], || text.get(at..at + SOUGHT_BYTES).map(<[u8]>::to_vec))
        };
        let init = |begins| Some(LoaderFunction { address: 0x1000, name: "init".to_owned(), begins });
        assert_eq!(ask(0x4000_0000, 0, 8), init(true));
        assert_eq!(ask(0x4000_0008, 8, 8), init(false));
        // Behind the move, by the distance that is known: too few bytes follow to look for them.
        let relocate = LoaderFunction { address: 0x1040, name: "relocate".to_owned(), begins: false };
        assert_eq!(ask(0x4000_0078, 0x78, 8), Some(relocate.clone()));
        assert_eq!(ask(0x5f00_0044, 0x44, 4), None);
        assert_eq!(ask(0x5f00_0010, 0x10, 4), init(false));
        assert_eq!(ask(0x5f00_0044, 0x44, 4), Some(relocate));
    }

    #[test]
    fn other_code_at_its_place_is_not_the_loaders() {
        let mut code = LoaderCode::read(program()).expect("a program file");
        let text: Vec<u8> = (0..64).collect();
        assert!(code.function(0x4000_0000, &text[..8], || Some(text.clone())).is_some());
        assert_eq!(code.function(0x4000_0000, &[1; 8], || Some(vec![1; SOUGHT_BYTES])), None);
        assert!(LoaderCode::read(b"no program".to_vec()).is_none());
    }
}
