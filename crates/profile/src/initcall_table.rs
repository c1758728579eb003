//! Which level each initcall belongs to, read from the kernel's own tables in the guest's memory.
//!
//! A kernel without symbols of variables (CONFIG_KALLSYMS_ALL) does not name its initcalls. Their table is a run of distances
//! from each entry to a function, or on some architectures of the functions' addresses (CONFIG_HAVE_ARCH_PREL32_RELOCATIONS), `early` and the
//! levels one after another, with those of consoles behind (`include/linux/init.h`, `INIT_CALLS` of `include/asm-generic/vmlinux.lds.h`). Where each level begins stands in
//! `initcall_levels` (`init/main.c`): eight pointers to the table and one to its end. All of it lies behind the code of the
//! initialisation.

use crate::code::Memory;
use crate::symbols::SymbolTable;
use crate::tree::FunctionId;
use firstlight_isa::Isa;

/// So much is searched behind the code of the initialisation.
const SEARCHED_BYTES: usize = 8 << 20;
const PIECE_BYTES: usize = 1 << 16;
/// Every kernel has more initcalls than that; no other table of distances to functions is as long.
const FEWEST: usize = 32;
/// The levels of `initcall_levels`.
const LEVELS: [&str; 8] = ["pure", "core", "postcore", "arch", "subsys", "fs", "device", "late"];
const FS: usize = 5;
/// What begins the part of the level `fs` that is called `rootfs`: `init` is linked first.
const FIRST_OF_ROOTFS: [&str; 2] = ["populate_rootfs", "default_rootfs"];

/// The initcalls of a kernel with their levels; nothing where the tables are not found. To be asked when the first initcall
/// is about to be called: later the kernel frees them.
pub fn initcalls<I: Isa>(symbols: &SymbolTable<I>, memory: &impl Memory) -> Vec<(FunctionId, &'static str)> {
    let Some(start) = symbols.address("_einittext") else { return Vec::new() };
    let start = start.next_multiple_of(I::WORD_BYTES as u64);
    let bytes = readable(memory, start);
    let found = [Form::Distance, Form::Address].into_iter().find_map(|form| {
        let table = longest_run(symbols, &bytes, start, form);
        let (first, _) = *table.first().filter(|_| table.len() >= FEWEST)?;
        let levels = find_levels::<I>(&bytes, first, table.len(), form)?;
        Some((table, levels))
    });
    let Some((table, levels)) = found else { return Vec::new() };
    let mut is_rootfs = false;
    let level = |(address, function): (u64, FunctionId)| {
        let begun = levels.iter().filter(|begins| **begins <= address).count();
        let level = match begun.checked_sub(1) {
            None => "early",
            Some(place) if place == FS => {
                let name = symbols.functions().get(function as usize).map_or("", |symbol| &symbol.name);
                is_rootfs |= FIRST_OF_ROOTFS.contains(&name);
                if is_rootfs {
                    "rootfs"
                } else {
                    LEVELS[FS]
                }
            }
            Some(place) => LEVELS.get(place).copied().unwrap_or("console"),
        };
        (function, level)
    };
    table.into_iter().map(level).collect()
}

fn readable(memory: &impl Memory, start: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < SEARCHED_BYTES {
        let length = bytes.len();
        bytes.resize(length + PIECE_BYTES, 0);
        if !bytes.get_mut(length..).is_some_and(|piece| memory.read(start + length as u64, piece)) {
            bytes.truncate(length);
            break;
        }
    }
    bytes
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The distance from itself to the function.
    Distance,
    /// The function's address.
    Address,
}

impl Form {
    fn bytes<I: Isa>(self) -> usize {
        match self {
            Self::Distance => 4,
            Self::Address => I::WORD_BYTES,
        }
    }
}

fn number(word: &[u8]) -> u64 {
    word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

// Each entry's address and function. Nothing is kept of the other words: they are millions.
fn longest_run<I: Isa>(symbols: &SymbolTable<I>, bytes: &[u8], start: u64, form: Form) -> Vec<(u64, FunctionId)> {
    // Few words of other data lead into the kernel's code: only those are looked up.
    let (Some(first), Some(last)) = (symbols.functions().first(), symbols.functions().last()) else {
        return Vec::new();
    };
    let code = first.address..=last.address;
    let function = |index: usize, entry: &[u8]| {
        let address = start + (index * entry.len()) as u64;
        let target = match form {
            Form::Distance => address.wrapping_add_signed(i64::from(number(entry) as i32)),
            Form::Address => number(entry),
        };
        let target = Some(target).filter(|target| code.contains(target))?;
        Some((address, symbols.starting(target)?))
    };
    let (mut longest, mut run) = (Vec::new(), Vec::new());
    let entries = bytes.chunks_exact(form.bytes::<I>()).enumerate().map(|(at, entry)| function(at, entry));
    for entry in entries.chain([None]) {
        match entry {
            Some(entry) => run.push(entry),
            None if run.len() >= longest.len() => {
                std::mem::swap(&mut longest, &mut run);
                run.clear();
            }
            None => run.clear(),
        }
    }
    longest
}

// Nine pointers, none before the one in front of it, from the table's start to its end: consoles may follow.
fn find_levels<I: Isa>(bytes: &[u8], first: u64, entries: usize, form: Form) -> Option<Vec<u64>> {
    let entry_bytes = form.bytes::<I>();
    let end = first + (entries * entry_bytes) as u64;
    let inside = |word: &u64| (first..=end).contains(word) && (word - first) % entry_bytes as u64 == 0;
    let windows = bytes.windows((LEVELS.len() + 1) * I::WORD_BYTES).step_by(I::WORD_BYTES);
    // Almost every window ends at its first word.
    let mut begun = windows.filter(|window| window.get(..I::WORD_BYTES).is_some_and(|word| inside(&number(word))));
    begun.find_map(|window| {
        let words: Vec<u64> = window.chunks_exact(I::WORD_BYTES).map(number).collect();
        let is_it = words.iter().all(inside) && words.is_sorted() && words.first() < words.last();
        is_it.then_some(words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstlight_isa::{Aarch64, Arm};
    use std::fmt::Write as _;

    const TEXT: u64 = 0xffff_8000_0801_0000;
    const INIT: u64 = 0xffff_8000_0900_0000;
    const DATA: u64 = INIT + 0x1000;

    struct Image(Vec<u8>);

    impl Memory for Image {
        type Isa = Aarch64;

        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let at = (address - DATA) as usize;
            let found = self.0.get(at..at + buffer.len());
            found.inspect(|bytes| buffer.copy_from_slice(bytes)).is_some()
        }
    }

    fn symbols() -> SymbolTable<Aarch64> {
        let mut text =
            format!("{TEXT:x} T _stext\n{:x} D _etext\n{INIT:x} T _sinittext\n{DATA:x} T _einittext\n", TEXT + 16);
        for number in 0..64 {
            let name = if number == 40 { "populate_rootfs".to_owned() } else { format!("init_{number}") };
            let _ = writeln!(text, "{:x} t {name}", INIT + 16 * number);
        }
        SymbolTable::parse(&text)
    }

    // Functions 0 to 49 in the table, the levels every five entries from the fifth on, and four consoles.
    fn image() -> Vec<u8> {
        let mut bytes = vec![0x5a; PIECE_BYTES];
        for entry in 0..50_u64 {
            let at = 0x100 + 4 * entry;
            let distance = (INIT + 16 * entry).wrapping_sub(DATA + at) as i64 as i32;
            bytes[at as usize..at as usize + 4].copy_from_slice(&distance.to_le_bytes());
        }
        for level in 0..9_u64 {
            let begins = DATA + 0x100 + 4 * (5 + if level < 8 { 5 * level } else { 41 });
            let at = 0x800 + 8 * level as usize;
            bytes[at..at + 8].copy_from_slice(&begins.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn every_level_is_read_from_the_tables() {
        let symbols = symbols();
        let found = initcalls(&symbols, &Image(image()));
        let named: Vec<_> =
            found.iter().map(|(id, level)| (symbols.functions()[*id as usize].name.as_str(), *level)).collect();
        assert_eq!(named.len(), 50);
        for (at, expected) in [
            (0, ("init_0", "early")),
            (5, ("init_5", "pure")),
            (29, ("init_29", "subsys")),
            (30, ("init_30", "fs")),
            (35, ("init_35", "device")),
            (40, ("populate_rootfs", "late")),
            (45, ("init_45", "late")),
            (46, ("init_46", "console")),
        ] {
            assert_eq!(named[at], expected);
        }
    }

    struct SmallImage(Vec<u8>);

    impl Memory for SmallImage {
        type Isa = Arm;

        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let at = (address - 0xc120_1000) as usize;
            let found = self.0.get(at..at + buffer.len());
            found.inspect(|bytes| buffer.copy_from_slice(bytes)).is_some()
        }
    }

    #[test]
    fn addresses_of_four_bytes_are_entries_too() {
        let mut text =
            String::from("c0300000 T _stext\nc0300010 D _etext\nc1200000 T _sinittext\nc1201000 T _einittext\n");
        let mut bytes = vec![0x5a; PIECE_BYTES];
        for entry in 0..40_u32 {
            let function = 0xc120_0000 + 16 * entry;
            let _ = writeln!(text, "{function:x} t init_{entry}");
            let at = 0x100 + 4 * entry as usize;
            bytes[at..at + 4].copy_from_slice(&function.to_le_bytes());
        }
        for level in 0..9_u32 {
            let begins = 0xc120_1100 + 4 * (4 + 4 * level);
            let at = 0x804 + 4 * level as usize;
            bytes[at..at + 4].copy_from_slice(&begins.to_le_bytes());
        }
        let symbols = SymbolTable::<Arm>::parse(&text);
        let found = initcalls(&symbols, &SmallImage(bytes));
        let levels: Vec<_> = [0, 4, 8, 35, 36].map(|at| found[at].1).into();
        assert_eq!(levels, ["early", "pure", "core", "late", "console"]);
    }

    #[test]
    fn addresses_of_eight_bytes_are_entries_too() {
        let symbols = symbols();
        let mut bytes = vec![0x5a; PIECE_BYTES];
        for entry in 0..40_u64 {
            let at = 0x100 + 8 * entry as usize;
            bytes[at..at + 8].copy_from_slice(&(INIT + 16 * entry).to_le_bytes());
        }
        for level in 0..9_u64 {
            let at = 0x804 + 8 * level as usize + 4;
            bytes[at..at + 8].copy_from_slice(&(DATA + 0x100 + 8 * (4 + 4 * level)).to_le_bytes());
        }
        let found = initcalls(&symbols, &Image(bytes));
        let levels: Vec<_> = [0, 4, 8, 35, 36].map(|at| found[at].1).into();
        assert_eq!(levels, ["early", "pure", "core", "late", "console"]);
    }

    #[test]
    fn rootfs_begins_with_its_first_initcall() {
        let mut bytes = image();
        // The levels behind `fs` begin later.
        for level in 6..8_u64 {
            let at = 0x800 + 8 * level as usize;
            bytes[at..at + 8].copy_from_slice(&(DATA + 0x100 + 4 * 42).to_le_bytes());
        }
        let found = initcalls(&symbols(), &Image(bytes));
        let levels: Vec<_> = [39, 40, 41, 42].map(|at| found[at].1).into();
        assert_eq!(levels, ["fs", "rootfs", "rootfs", "late"]);
    }

    #[test]
    fn memory_without_the_tables_has_none() {
        assert!(initcalls(&symbols(), &Image(Vec::new())).is_empty());
        assert!(initcalls(&symbols(), &Image(vec![0; PIECE_BYTES])).is_empty());
        let mut bytes = image();
        bytes[0x800..0x848].fill(0);
        assert!(initcalls(&symbols(), &Image(bytes)).is_empty());
    }
}
