//! The kernel's description of its structures (BTF), looked at where it stands: nothing is copied out of it but what is asked for.
//!
//! A kernel describes more than a hundred thousand types, and a recording asks for the members of some ten structures. Form:
//! `Documentation/bpf/btf.rst` of the kernel.

use rustc_hash::FxHashMap;

/// A description's sign, version 1, no flags, and the length of its header. Where types and texts begin behind the header, and how long
/// they are, follows.
pub const HEADER: [u8; 8] = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0];
/// Bytes of the header.
pub const HEADER_BYTES: usize = 24;

const TYPE_BYTES: usize = 12;
const MEMBER_BYTES: usize = 12;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
/// Where a member has a size in bits, that stands above its offset.
const BIT_OFFSET: u32 = 0x00ff_ffff;

/// How many bytes a description with this header has; nothing for other bytes.
pub fn described_bytes(header: &[u8]) -> Option<usize> {
    let rest = header.strip_prefix(&HEADER)?;
    let (types, text, text_length) = (half(rest, 0)?, half(rest, 8)? as usize, half(rest, 12)? as usize);
    (types == 0 && text > 0 && text_length > 0).then_some(HEADER_BYTES + text + text_length)
}

/// The structures of a description.
pub struct Structures<'b> {
    types: &'b [u8],
    texts: &'b [u8],
    /// Where each type stands, the first being number 1.
    places: Vec<usize>,
    /// Where the first structure of each name stands.
    named: FxHashMap<&'b [u8], usize>,
}

impl<'b> Structures<'b> {
    /// Looks through a whole description; nothing where it is damaged.
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        described_bytes(bytes)?;
        let part = |at: usize| {
            let (start, length) = (half(bytes, at)? as usize, half(bytes, at + 4)? as usize);
            bytes.get(HEADER_BYTES + start..)?.get(..length)
        };
        let (types, texts) = (part(8)?, part(16)?);
        let mut read = Self { types, texts, places: Vec::new(), named: FxHashMap::default() };
        let mut at = 0;
        while at < types.len() {
            let info = half(types, at + 4)?;
            read.places.push(at);
            if kind(info) == STRUCT {
                let name = read.text(half(types, at)?)?;
                read.named.entry(name).or_insert(at);
            }
            at += TYPE_BYTES + behind(kind(info), count(info))?;
        }
        (at == types.len()).then_some(read)
    }

    /// Bytes of a structure.
    pub fn bytes(&self, structure: &str) -> Option<u64> {
        half(self.types, self.structure(structure)? + 8).map(u64::from)
    }

    /// Where a member stands in a structure, in bytes: by its name, and the names of members within it.
    pub fn offset(&self, structure: &str, path: &[&str]) -> Option<u64> {
        let mut at = self.structure(structure)?;
        let mut sum = 0;
        for name in path {
            let (offset, member) = self.member(at, name.as_bytes())?;
            sum += offset;
            at = member;
        }
        Some(sum)
    }

    fn structure(&self, name: &str) -> Option<usize> {
        self.named.get(name.as_bytes()).copied()
    }

    // A member by its name, also inside members without one: its offset, and where its type stands.
    fn member(&self, of: usize, wanted: &[u8]) -> Option<(u64, usize)> {
        let info = half(self.types, of + 4)?;
        if !matches!(kind(info), STRUCT | UNION) {
            return None;
        }
        let has_sizes = info >> 31 != 0;
        (0..count(info)).map(|number| of + TYPE_BYTES + number * MEMBER_BYTES).find_map(|at| {
            let inner = self.plain(half(self.types, at + 4)?)?;
            let bits = half(self.types, at + 8)?;
            let offset = u64::from(if has_sizes { bits & BIT_OFFSET } else { bits } / 8);
            match self.text(half(self.types, at)?)? {
                [] => self.member(inner, wanted).map(|(within, found)| (offset + within, found)),
                name => (name == wanted).then_some((offset, inner)),
            }
        })
    }

    // Where a type stands, behind its other names and qualifiers: typedef, volatile, const, restrict, type tag.
    fn plain(&self, number: u32) -> Option<usize> {
        let mut number = number;
        // A chain that is longer leads in a circle.
        for _ in 0..64 {
            let at = *self.places.get((number as usize).checked_sub(1)?)?;
            match kind(half(self.types, at + 4)?) {
                8..=11 | 18 => number = half(self.types, at + 8)?,
                _ => return Some(at),
            }
        }
        None
    }

    fn text(&self, at: u32) -> Option<&'b [u8]> {
        let rest = self.texts.get(at as usize..)?;
        rest.get(..memchr::memchr(0, rest)?)
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|half| u32::from_le_bytes(*half))
}

fn kind(info: u32) -> u32 {
    info >> 24 & 0x1f
}

fn count(info: u32) -> usize {
    (info & 0xffff) as usize
}

// Bytes that follow a type of this kind.
fn behind(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        // int, variable, declaration tag.
        1 | 14 | 17 => 4,
        // pointer, forward declaration, typedef, volatile, const, restrict, function, float, type tag.
        2 | 7..=12 | 16 | 18 => 0,
        // array.
        3 => 12,
        // structure, union; section of data; enumeration of 64 bits.
        STRUCT | UNION | 15 | 19 => count * 12,
        // enumeration; prototype of a function.
        6 | 13 => count * 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // `struct outer { const inner_t a; union { int b; int c; }; int bits : 3; }`, `struct inner { int x; int y; }`.
    fn description() -> Vec<u8> {
        let texts = b"\0int\0inner\0x\0y\0inner_t\0outer\0a\0b\0c\0bits\0";
        let name = |wanted: &str| {
            let wanted = [b"\0", wanted.as_bytes(), b"\0"].concat();
            texts.windows(wanted.len()).position(|text| text == wanted).map_or(0, |at| at as u32 + 1)
        };
        let kind = |kind: u32, count: u32| kind << 24 | count;
        let words: Vec<u32> = [
            vec![name("int"), kind(1, 0), 4, 32],
            vec![name("inner"), kind(4, 2), 8, name("x"), 1, 0, name("y"), 1, 32],
            vec![name("inner_t"), kind(8, 0), 2],
            vec![0, kind(10, 0), 3],
            vec![0, kind(5, 2), 4, name("b"), 1, 0, name("c"), 1, 0],
            vec![name("outer"), 1 << 31 | kind(4, 3), 24, name("a"), 4, 64, 0, 5, 128, name("bits"), 1, 3 << 24 | 160],
        ]
        .concat();
        let types: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let lengths = [0, types.len() as u32, types.len() as u32, texts.len() as u32];
        let header = lengths.iter().flat_map(|length| length.to_le_bytes());
        HEADER.into_iter().chain(header).chain(types).chain(*texts).collect()
    }

    #[test]
    fn members_are_found_behind_names_and_inside_members_without_one() {
        let bytes = description();
        let read = Structures::read(&bytes).expect("whole");
        assert_eq!(read.bytes("outer"), Some(24));
        assert_eq!(read.offset("inner", &["y"]), Some(4));
        assert_eq!(read.offset("outer", &["a", "y"]), Some(12));
        assert_eq!(read.offset("outer", &["c"]), Some(16));
        assert_eq!(read.offset("outer", &["bits"]), Some(20));
        assert_eq!(read.offset("outer", &["missing"]), None);
        assert_eq!(read.offset("outer", &["bits", "x"]), None);
        assert_eq!(read.bytes("inner_t"), None);
    }

    #[test]
    fn a_damaged_description_is_none() {
        let bytes = description();
        assert_eq!(described_bytes(&bytes), Some(bytes.len()));
        assert!(Structures::read(&bytes[..bytes.len() - 1]).is_none());
        assert!(Structures::read(&bytes[4..]).is_none());
        let mut unknown = bytes.clone();
        unknown[HEADER_BYTES + 7] = 0x1f;
        assert!(Structures::read(&unknown).is_none());
    }

    #[test]
    fn a_circle_of_names_ends() {
        let mut bytes = description();
        // The typedef names itself.
        let typedef = HEADER_BYTES + 16 + 36;
        bytes[typedef + 8..typedef + 12].copy_from_slice(&3_u32.to_le_bytes());
        assert_eq!(Structures::read(&bytes).expect("whole").offset("outer", &["a"]), None);
    }
}
