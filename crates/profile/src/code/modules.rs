//! What a loaded module is made of, read from its `struct module`.
//!
//! The structure differs between kernels and their configurations, so its members are found by what they must hold and by
//! nothing else: the list's links and the name stand at the beginning, where they have always been; each range of the
//! module's memory is followed by a pointer back to the module (`mtn.mod`, `include/linux/module.h`); and the pointer to
//! the symbols leads to a table whose first entry is empty, as in every ELF file. What does not hold is not taken.

use super::memory::{half_at, is_kernel, is_page, text_in, word_at, Memory};
use firstlight_isa::Isa;
use std::collections::BTreeSet;
use std::ops::Range;

/// `struct module` begins with its state and, eight bytes behind, the links of the list.
pub(super) const LINKS: u64 = 8;
const STATE_COMING: u32 = 1;
const STATE_UNFORMED: u32 = 3;
const NAME: usize = 24;
const NAME_BYTES: usize = 56;
/// The larger part of these structures has 0x340 to 0x580 bytes; a debugging kernel's locks make them larger.
const STRUCTURE_BYTES: [usize; 4] = [4096, 2048, 1024, 768];
const SYMBOL_BYTES: usize = 24;
const MOST_SYMBOLS: u32 = 1 << 20;
const LONGEST_NAME: usize = 512;
const LARGEST_MODULE: u64 = 1 << 30;
/// Kinds of memory that a module has from Linux 6.4 on: `enum mod_mem_type`.
const KINDS: usize = 7;
const TEXT: usize = 0;
const INIT_TEXT: usize = 4;

/// The head of a module: what never moved in its structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub name: String,
    pub coming: bool,
}

/// One range of a module's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub range: Range<u64>,
    /// Where the structure says where the range begins: another value means that it is gone.
    pub place: u64,
    pub base: u64,
}

/// A symbol: its range, with the padding in front of it, its first instruction and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModuleSymbol {
    pub range: Range<u64>,
    pub entry: u64,
    pub name: String,
}

/// Name and state of the module at `module`; none while it is being formed.
pub(super) fn head(module: u64, memory: &impl Memory) -> Option<Head> {
    let bytes = memory.bytes(module, NAME + NAME_BYTES)?;
    let state = half_at(&bytes, 0);
    let name = text_in(bytes.get(NAME..)?)?.to_owned();
    (state < STATE_UNFORMED).then_some(Head { name, coming: state == STATE_COMING })
}

/// The ranges of a module's code: that which stays, and that of its initialisation while it is there.
pub(super) fn texts<M: Memory>(module: u64, memory: &M) -> Vec<Text> {
    let Some(bytes) = structure(module, memory) else { return Vec::new() };
    let backs: Vec<usize> = (NAME + NAME_BYTES..bytes.len().saturating_sub(8))
        .step_by(8)
        .filter(|offset| word_at(&bytes, *offset) == module)
        .collect();
    let found = by_kind::<M>(&bytes, &backs).or_else(|| by_layout::<M>(&bytes, &backs, module)).unwrap_or_default();
    let text = |(offset, length): (usize, u64)| {
        let base = word_at(&bytes, offset);
        Text { range: base..base.saturating_add(length), place: module.wrapping_add(offset as u64), base }
    };
    found.into_iter().map(text).filter(|text| !text.range.is_empty() && is_page::<M>(text.base)).collect()
}

/// Linux 6.4 and later: one `struct module_memory` for each kind, evenly spaced.
fn by_kind<M: Memory>(bytes: &[u8], backs: &[usize]) -> Option<Vec<(usize, u64)>> {
    let evenly = |first: &usize| {
        backs.iter().filter(|second| *second > first).find_map(|second| {
            let apart = second - first;
            let every = (0..KINDS).map(|kind| first + kind * apart);
            (apart <= 256 && every.clone().all(|offset| backs.contains(&offset))).then(|| every.collect::<Vec<_>>())
        })
    };
    let places = backs.iter().find_map(evenly)?;
    // `base` comes first; 6.13 has `rw_copy` behind it, and the size moved behind a flag.
    let shape = |(back_to_base, back_to_size): (usize, usize)| {
        let of = |kind: usize| {
            let offset = places.get(kind)?.checked_sub(back_to_base)?;
            Some((offset, u64::from(half_at(bytes, places.get(kind)? - back_to_size))))
        };
        let fits = |(offset, size): (usize, u64)| match word_at(bytes, offset) {
            0 => size == 0,
            base => is_page::<M>(base) && size > 1 && size <= LARGEST_MODULE,
        };
        let all: Option<Vec<_>> = (0..KINDS).map(of).collect();
        let all = all.filter(|all| all.iter().all(|each| fits(*each)) && all.iter().any(|(_, size)| *size > 0))?;
        Some(vec![*all.get(TEXT)?, *all.get(INIT_TEXT)?])
    };
    [(24, 4), (16, 8), (16, 4)].into_iter().find_map(shape)
}

/// Linux 4.5 to 6.3: `struct module_layout`, one for what stays and one for the initialisation.
fn by_layout<M: Memory>(bytes: &[u8], backs: &[usize], module: u64) -> Option<Vec<(usize, u64)>> {
    let layout = |back: &usize| {
        let offset = back.checked_sub(24)?;
        let base = word_at(bytes, offset);
        let sizes = [8, 12, 16, 20].map(|at| u64::from(half_at(bytes, offset + at)));
        let [size, text, read_only, _] = sizes;
        (is_page::<M>(base) && size <= LARGEST_MODULE && text <= read_only && read_only <= size)
            .then_some((offset, size, text))
    };
    let layouts: Vec<_> = backs.iter().filter_map(layout).collect();
    let holds = |(offset, size, _): &(usize, u64, u64)| {
        let base = word_at(bytes, *offset);
        (base..base + size).contains(&module)
    };
    let core = layouts.iter().position(holds)?;
    let init = layouts.get(core + 1).filter(|layout| !holds(layout));
    let text = |(offset, _, text): &(usize, u64, u64)| (*offset, *text);
    Some(layouts.get(core).into_iter().chain(init).map(text).collect())
}

/// The symbols of a module's code; empty when it was stripped of them, or when they cannot be found.
pub(super) fn symbols<M: Memory>(module: u64, texts: &[Text], memory: &M) -> Vec<ModuleSymbol> {
    let Some(bytes) = structure(module, memory) else { return Vec::new() };
    let pointers = (NAME + NAME_BYTES..bytes.len().saturating_sub(8)).step_by(8).map(|offset| word_at(&bytes, offset));
    let tables = pointers.filter(|pointer| is_kernel::<M>(*pointer) && pointer % 8 == 0);
    let table = tables.filter_map(|pointer| Table::at(pointer, memory)).max_by_key(|table| table.count);
    let mut found = table.and_then(|table| table.symbols(texts, memory)).unwrap_or_default();
    tell_apart(&mut found, texts);
    found
}

/// `STT_NOTYPE`: a label of assembler, where functions have `STT_FUNC`.
const WITHOUT_TYPE: u8 = 0;

/// `struct mod_kallsyms`: the symbols' table, how many they are, and their names.
#[derive(Clone, Copy)]
struct Table {
    symbols: u64,
    count: u32,
    names: u64,
}

impl Table {
    fn at<M: Memory>(pointer: u64, memory: &M) -> Option<Self> {
        let bytes = memory.bytes(pointer, 24)?;
        let table = Self { symbols: word_at(&bytes, 0), count: half_at(&bytes, 8), names: word_at(&bytes, 16) };
        let plausible =
            is_kernel::<M>(table.symbols) && is_kernel::<M>(table.names) && (2..MOST_SYMBOLS).contains(&table.count);
        let first = plausible.then(|| memory.bytes(table.symbols, SYMBOL_BYTES)).flatten()?;
        let name = memory.bytes(table.names, 2)?;
        (first.iter().all(|byte| *byte == 0) && name.first() == Some(&0)).then_some(table)
    }

    fn symbols<M: Memory>(self, texts: &[Text], memory: &M) -> Option<Vec<ModuleSymbol>> {
        let bytes = memory.bytes(self.symbols, self.count as usize * SYMBOL_BYTES)?;
        let mut found: Vec<(u64, u64, String)> = Vec::new();
        let mut labels: BTreeSet<u64> = BTreeSet::new();
        let mut padding = BTreeSet::new();
        for symbol in bytes.chunks_exact(SYMBOL_BYTES) {
            // `Elf64_Sym`: name, info, other, section, value, size.
            let (value, size) = (word_at(symbol, 8), word_at(symbol, 16));
            if !texts.iter().any(|text| text.range.contains(&value)) {
                continue;
            }
            let Some(name) = name_at(self.names.wrapping_add(u64::from(half_at(symbol, 0))), memory) else { continue };
            if M::Isa::PADDING.iter().any(|prefix| name.starts_with(prefix)) {
                padding.insert(value);
            } else if !is_marker(&name) {
                // The low half of the info is the type; before 5.2 the kernel writes a letter over it, which is never 0.
                if symbol.get(4).is_some_and(|info| info & 0xf == WITHOUT_TYPE) {
                    labels.insert(value);
                }
                found.push((value, size, name));
            }
        }
        let functions: Vec<(u64, u64)> = found
            .iter()
            .filter(|(value, ..)| !labels.contains(value))
            .map(|(value, size, _)| (*value, *size))
            .collect();
        let is_inside = |label: u64| functions.iter().any(|(from, size)| label > *from && label - from < *size);
        found.retain(|(value, ..)| !labels.contains(value) || !is_inside(*value));
        Some(ranges::<M>(found, &padding, texts))
    }
}

/// Orders symbols; of several at one address the one that says most stands for all.
fn ranges<M: Memory>(mut found: Vec<(u64, u64, String)>, padding: &BTreeSet<u64>, texts: &[Text]) -> Vec<ModuleSymbol> {
    let alias = |name: &str| matches!(name, "init_module" | "cleanup_module");
    found.sort_by(|a, b| (a.0, alias(&a.2), a.2.len(), &a.2).cmp(&(b.0, alias(&b.2), b.2.len(), &b.2)));
    found.dedup_by(|later, first| {
        first.1 = if later.0 == first.0 { first.1.max(later.1) } else { first.1 };
        later.0 == first.0
    });
    let starts: Vec<u64> = found.iter().map(|symbol| symbol.0).collect();
    let end = |index: usize, value: u64, size: u64| {
        let text = texts.iter().find(|text| text.range.contains(&value)).map_or(value, |text| text.range.end);
        let next = starts.get(index + 1).copied().unwrap_or(text).min(text);
        // Symbols written in assembler may have no size.
        if size == 0 {
            next
        } else {
            value.saturating_add(size).min(next)
        }
    };
    // Padding lies between the function that it is in front of and the one before that.
    let from = |index: usize, value: u64| {
        let before = index.checked_sub(1).and_then(|before| starts.get(before)).copied().unwrap_or(0);
        let lowest = (before + 1).max(value.saturating_sub(M::Isa::PADDING_BYTES)).min(value);
        padding.range(lowest..value).next().copied().unwrap_or(value)
    };
    let mut symbols: Vec<ModuleSymbol> = Vec::with_capacity(starts.len());
    for (index, (value, size, name)) in found.into_iter().enumerate() {
        let range = from(index, value)..end(index, value, size);
        if let Some(before) = symbols.last_mut() {
            before.range.end = before.range.end.min(range.start);
        }
        symbols.push(ModuleSymbol { range, entry: value, name });
    }
    symbols
}

/// Different static functions of a module may share a name: where in the module they stand tells them apart, whatever
/// address it was loaded to.
fn tell_apart(symbols: &mut [ModuleSymbol], texts: &[Text]) {
    let mut times: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for symbol in symbols.iter() {
        *times.entry(symbol.name.clone()).or_default() += 1;
    }
    for symbol in symbols.iter_mut().filter(|symbol| times.get(&symbol.name).is_some_and(|times| *times > 1)) {
        let text = texts.iter().find(|text| text.range.contains(&symbol.entry));
        let offset = text.map_or(0, |text| symbol.entry - text.base);
        symbol.name = format!("{}@{offset:x}", symbol.name);
    }
}

fn name_at(address: u64, memory: &impl Memory) -> Option<String> {
    let mut bytes = Vec::new();
    // Names lie behind one another up to the end of what is mapped: a long piece may not be there.
    for length in [64, LONGEST_NAME] {
        bytes = memory.bytes(address, length).or_else(|| up_to_the_page(address, length, memory))?;
        if bytes.contains(&0) {
            break;
        }
    }
    bytes.contains(&0).then(|| text_in(&bytes).map(str::to_owned)).flatten()
}

fn up_to_the_page(address: u64, length: usize, memory: &impl Memory) -> Option<Vec<u8>> {
    let left = (4096 - address % 4096) as usize;
    memory.bytes(address, left.min(length))
}

// Local labels and the symbols that name sections.
fn is_marker(name: &str) -> bool {
    name.starts_with(".L") || name.starts_with('$') || name.starts_with('.')
}

fn structure(module: u64, memory: &impl Memory) -> Option<Vec<u8>> {
    STRUCTURE_BYTES.iter().find_map(|count| memory.bytes(module, *count))
}
