//! Code that comes and goes while a boot runs: modules, their initialisation, BPF programs, trampolines.
//!
//! The kernel's own symbols do not cover it, and by the end of a boot much of it is freed. So it is looked up in the
//! guest's memory when it is about to be executed for the first time, which is when QEMU translates it: at that moment the
//! kernel's own lists name it, and nothing of it has run. What is known is kept, and asked about again whenever more of
//! the range is translated: addresses are used again.

mod generated;
mod memory;
mod modules;
#[cfg(test)]
mod tests;

use crate::symbols::{SymbolTable, LIST_HEADS};
use firstlight_isa::Isa;
use generated::Generated;
pub use memory::Memory;
use memory::{is_member, members};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;

/// Functions that are given a module, which is in the list by then, before any of its code runs (kernel/module/strict_rwx.c, main.c);
/// the first that exists counts.
pub const GIVEN_MODULE: [&str; 4] = ["module_enable_x", "module_enable_text_rox", "module_enable_ro", "do_init_module"];

/// How code with a name is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A function: at its first instruction.
    Function,
    /// Code without functions of its own: anywhere.
    Row,
}

/// A piece of code that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Where it lies, with the padding in front of it.
    pub range: Range<u64>,
    /// Its first instruction behind that.
    pub entry: u64,
    /// What it is called; in brackets where it is a row for what has no symbol of its own.
    pub name: String,
    /// The module that it belongs to, as `/proc/kallsyms` has it.
    pub module: String,
    /// How it is entered.
    pub shape: Shape,
}

/// Code that holds as long as its member is in the kernel's list and its place says where it begins.
#[derive(Debug)]
struct Region {
    end: u64,
    node: u64,
    begins: Option<(u64, u64)>,
    /// Its functions, in order of address.
    functions: Vec<Code>,
    /// What lies in none of them.
    rest: Code,
}

impl Region {
    fn is_there(&self, memory: &impl Memory) -> bool {
        is_member(self.node, memory) && self.begins.is_none_or(|(place, address)| memory.word(place) == Some(address))
    }

    fn code(&self, address: u64) -> &Code {
        let index = self.functions.partition_point(|function| function.range.start <= address);
        let function = index.checked_sub(1).and_then(|index| self.functions.get(index));
        function.filter(|function| function.range.contains(&address)).unwrap_or(&self.rest)
    }
}

/// What the kernel's lists look like: other ends, other members.
type Ends = [(u64, u64); 4];

/// The names of the code that is loaded now, as far as it was asked for.
///
/// ```
/// use firstlight_profile::code::{LoadedCode, Memory};
/// use firstlight_profile::{isa::X86_64, SymbolTable};
/// struct Nothing;
/// impl Memory for Nothing {
///     type Isa = X86_64;
///     fn read(&self, _: u64, _: &mut [u8]) -> bool { false }
/// }
/// let mut code = LoadedCode::new(&SymbolTable::<X86_64>::parse("ffffffff81000000 D modules\n"));
/// assert!(code.at(0xffff_ffff_c000_0000, &Nothing).is_none());
/// ```
#[derive(Debug, Default)]
pub struct LoadedCode {
    heads: [Option<u64>; LIST_HEADS.len()],
    /// By the address at which they begin.
    regions: BTreeMap<u64, Region>,
    /// Ranges that only hold code of one kind, for what has no name of its own in them.
    packs: BTreeMap<u64, Region>,
    /// Modules that need not be read again: they have been, and their initialisation is over.
    read: FxHashMap<u64, String>,
    /// Pages for which the lists had no name, and what these looked like then.
    nameless: FxHashMap<u64, Ends>,
}

impl LoadedCode {
    /// Nothing yet, of a kernel with these symbols.
    pub fn new<I: Isa>(symbols: &SymbolTable<I>) -> Self {
        Self { heads: LIST_HEADS.map(|name| symbols.address(name).filter(|_| Self::reads::<I>())), ..Self::default() }
    }

    /// A function was given this module, which is in the kernel's list: where no symbol says where that list begins, its links do. Its
    /// head is the only one of them that lies in the kernel's image.
    pub fn given(&mut self, module: u64, image: &Range<u64>, memory: &impl Memory) {
        let [modules, ..] = &mut self.heads;
        if modules.is_none() {
            let first = module.wrapping_add(modules::LINKS);
            *modules = members(first, memory).into_iter().find(|node| image.contains(node));
        }
    }

    /// Whether the kernel's lists can be read: those of kernels with pointers of eight bytes.
    pub fn reads<I: Isa>() -> bool {
        I::WORD_BYTES == 8
    }

    /// Whether it is not known where the kernel's list of modules begins.
    pub fn lacks_modules(&self) -> bool {
        let [modules, ..] = self.heads;
        modules.is_none()
    }

    /// What the code at `address` is called, if the kernel knows. To be asked when the code is about to be executed, in
    /// the kernel's address space, because names are only valid at their time.
    pub fn at(&mut self, address: u64, memory: &impl Memory) -> Option<Code> {
        if let Some(code) = known(&mut self.regions, address, memory) {
            return Some(code);
        }
        let page = address & !(PAGE_BYTES - 1);
        let ends = self.ends(memory);
        if self.nameless.get(&page) != Some(&ends) {
            self.read_lists(memory);
            if let Some(code) = known(&mut self.regions, address, memory) {
                return Some(code);
            }
            self.nameless.insert(page, ends);
        }
        known(&mut self.packs, address, memory)
    }

    fn ends(&self, memory: &impl Memory) -> Ends {
        let [modules, programs, packs, trampolines, ..] = self.heads;
        [modules, programs, packs, trampolines]
            .map(|head| head.map(|head| generated::ends(head, memory)).unwrap_or_default())
    }

    fn read_lists(&mut self, memory: &impl Memory) {
        let [modules, programs, packs, trampolines, slots, more_slots] = self.heads;
        if let Some(head) = modules {
            self.read_modules(head, memory);
        }
        let programs = programs.map(|head| generated::programs(head, memory)).unwrap_or_default();
        let trampolines = trampolines.map(|head| generated::trampolines(head, memory)).unwrap_or_default();
        let slots = [slots, more_slots].into_iter().flatten().flat_map(|cache| generated::slots(cache, memory));
        for each in programs.into_iter().chain(trampolines).chain(slots) {
            insert(&mut self.regions, each.range.start, region_of(each));
        }
        for each in packs.map(|head| generated::packs(head, memory)).unwrap_or_default() {
            insert(&mut self.packs, each.range.start, region_of(each));
        }
    }

    fn read_modules(&mut self, list: u64, memory: &impl Memory) {
        let nodes = members(list, memory);
        let there: FxHashSet<u64> = nodes.iter().copied().collect();
        self.read.retain(|node, _| there.contains(node));
        for node in nodes {
            let module = node.wrapping_sub(modules::LINKS);
            let Some(head) = modules::head(module, memory) else { continue };
            if self.read.get(&node) == Some(&head.name) {
                continue;
            }
            let texts = modules::texts(module, memory);
            let symbols = modules::symbols(module, &texts, memory);
            for text in &texts {
                let code = |range: Range<u64>, entry: u64, name: String, shape| Code {
                    range,
                    entry,
                    name,
                    module: head.name.clone(),
                    shape,
                };
                let inside = symbols.iter().filter(|symbol| text.range.contains(&symbol.entry));
                let functions =
                    inside.map(|symbol| code(symbol.range.clone(), symbol.entry, symbol.name.clone(), Shape::Function));
                let region = Region {
                    end: text.range.end,
                    node,
                    begins: Some((text.place, text.base)),
                    functions: functions.collect(),
                    rest: code(text.range.clone(), text.base, format!("[{}]", head.name), Shape::Row),
                };
                insert(&mut self.regions, text.range.start, region);
            }
            // While a module is coming its initialisation may be yet to come, and its symbols with it.
            if !head.coming {
                self.read.insert(node, head.name);
            }
        }
    }
}

fn region_of(generated: Generated) -> Region {
    let Generated { range, name, module, node } = generated;
    let (entry, end) = (range.start, range.end);
    let rest = Code { range, entry, name, module: module.to_owned(), shape: Shape::Row };
    Region { end, node, begins: None, functions: Vec::new(), rest }
}

/// Adds a region in place of whatever it overlaps: that is gone.
fn insert(regions: &mut BTreeMap<u64, Region>, start: u64, region: Region) {
    let overlapped: Vec<u64> =
        regions.range(..region.end).rev().take_while(|(_, known)| known.end > start).map(|(from, _)| *from).collect();
    for from in overlapped {
        regions.remove(&from);
    }
    regions.insert(start, region);
}

/// The name of what a region holds at an address; a region that is not there any more is forgotten.
fn known(regions: &mut BTreeMap<u64, Region>, address: u64, memory: &impl Memory) -> Option<Code> {
    let (start, region) = regions.range(..=address).next_back().filter(|(_, region)| address < region.end)?;
    if region.is_there(memory) {
        return Some(region.code(address).clone());
    }
    let start = *start;
    regions.remove(&start);
    None
}
