//! The kernel's functions, from a text in the form of `/proc/kallsyms`.

use crate::initcalls::initcall;
use firstlight_isa::{Class, Isa};
use rustc_hash::FxHashMap;
use std::marker::PhantomData;

/// The heads of the kernel's lists of code that it loads or generates. Some are local symbols.
pub const LIST_HEADS: [&str; 6] =
    ["modules", "bpf_kallsyms", "pack_list", "ftrace_ops_trampoline_list", "kprobe_insn_slots", "kprobe_optinsn_slots"];

/// One function of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The first byte of the padding in front of it, or of the function itself. Call depth tracking and FineIBT put
    /// code there that runs into the function.
    pub from: u64,
    /// The function's first byte.
    pub address: u64,
    /// One past its last byte: the next symbol, or the end of its section.
    pub end: u64,
    /// Its name as the kernel has it, compiler suffixes and all.
    pub name: String,
    /// How control passes through it.
    pub class: Class,
    /// The levels that initcalls of this name are registered for: static functions may share a name.
    pub initcall: Vec<&'static str>,
}

/// Where a function lies, and how control passes through it: what is asked of every block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The function's first byte; the padding in front of it belongs to the extent, too.
    pub address: u64,
    /// One past its last byte.
    pub end: u64,
    /// How control passes through it.
    pub class: Class,
}

/// The functions of a kernel for processors of the architecture `I`, by address.
#[derive(Debug, Clone, Default)]
pub struct SymbolTable<I> {
    symbols: Vec<Symbol>,
    /// Where each begins, padding in front of it and all: a search reads these alone.
    froms: Vec<u64>,
    /// How many of them lie before each page from the first one's on: a search reads those of one page.
    pages: Vec<usize>,
    data: FxHashMap<String, u64>,
    starts: FxHashMap<u64, u32>,
    /// Where the image begins, and where it ends, by the symbols that say so: asked for nearly every block.
    begins: Option<u64>,
    ends: Option<u64>,
    lacks_bounds: bool,
    isa: PhantomData<I>,
}

impl<I: Isa> SymbolTable<I> {
    /// Reads lines of `ADDRESS TYPE NAME [MODULE]`; lines of another form are passed over.
    ///
    /// Functions are the text symbols between `_text` and `_etext` and between `_sinittext` and `_einittext`. A kernel whose
    /// list leaves `_text` out has `_stext`, where its code begins. Where
    /// several share an address the shortest name stands for all. Modules' symbols are left out: they come and go.
    ///
    /// ```
    /// use firstlight_profile::{isa::X86_64, SymbolTable};
    /// let table = SymbolTable::<X86_64>::parse("ff00 T _text\nff00 T a\nff40 t b\nff80 T _etext\n");
    /// let (id, symbol) = table.containing(0xff44).expect("inside b");
    /// assert_eq!((id, symbol.name.as_str(), symbol.end), (1, "b", 0xff80));
    /// assert!(table.containing(0xff80).is_none());
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut data = FxHashMap::default();
        let mut functions: Vec<(u64, &str)> = Vec::new();
        let mut padding: Vec<u64> = Vec::new();
        let mut levels: FxHashMap<&str, Vec<&'static str>> = FxHashMap::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if let Some((function, level)) = initcall(name) {
                levels.entry(function).or_default().push(level);
            }
            if matches!(kind, "T" | "t" | "W" | "w") {
                if I::PADDING.iter().any(|prefix| name.starts_with(prefix)) {
                    padding.push(address);
                } else {
                    functions.push((address, name));
                }
            }
            // Section bounds and a few variables are asked for by name: all of them are global but the heads of some lists.
            if kind.starts_with(|letter: char| letter.is_ascii_uppercase()) || LIST_HEADS.contains(&name) {
                data.entry(name.to_owned()).or_insert(address);
            }
        }
        padding.sort_unstable();
        Self::build(functions, &padding, data, &levels)
    }

    fn build(
        mut functions: Vec<(u64, &str)>,
        padding: &[u64],
        data: FxHashMap<String, u64>,
        levels: &FxHashMap<&str, Vec<&'static str>>,
    ) -> Self {
        let bound = |name: &str| data.get(name).copied();
        let text = bound("_text").or_else(|| bound("_stext")).zip(bound("_etext"));
        let sections: Vec<(u64, u64)> = text.into_iter().chain(bound("_sinittext").zip(bound("_einittext"))).collect();
        let lacks_bounds = text.is_none() && !functions.is_empty();
        let sorts = Sorts::new::<I>(&functions, &bound);
        let section_end =
            |address: u64| sections.iter().find(|(from, to)| (*from..*to).contains(&address)).map(|s| s.1);
        functions.retain(|(address, name)| section_end(*address).is_some() && !is_marker::<I>(name));
        functions.sort_by(|a, b| (a.0, a.1.len(), a.1).cmp(&(b.0, b.1.len(), b.1)));
        // An alias that names an entry must win over a shorter label at the same place.
        functions.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same && named_class::<I>(first.1).is_none() && named_class::<I>(later.1).is_some() {
                first.1 = later.1;
            }
            same
        });
        let mut symbols: Vec<Symbol> = Vec::with_capacity(functions.len());
        for (index, (address, name)) in functions.iter().enumerate() {
            let section = section_end(*address).unwrap_or(*address);
            let next = functions.get(index + 1).map_or(section, |next| next.0);
            // The first padding behind the function before: there may be two names for it.
            let before = symbols.last().map_or(0, |before| before.address + 1);
            let first = padding.partition_point(|at| *at < before);
            let from = padding.get(first).copied().filter(|from| from < address && address - from <= I::PADDING_BYTES);
            if let (Some(from), Some(before)) = (from, symbols.last_mut()) {
                before.end = before.end.min(from);
            }
            symbols.push(Symbol {
                from: from.unwrap_or(*address),
                address: *address,
                end: next.min(section),
                name: (*name).to_owned(),
                class: sorts.class::<I>(name, *address),
                initcall: levels.get(name).cloned().unwrap_or_default(),
            });
        }
        let fixed = if symbols.is_empty() { &[] } else { I::FIXED };
        symbols.extend(fixed.iter().map(|code| Symbol {
            from: code.start,
            address: code.start,
            end: code.end,
            name: code.name.to_owned(),
            class: code.class,
            initcall: Vec::new(),
        }));
        let starts = symbols.iter().enumerate().map(|(id, symbol)| (symbol.address, id as u32)).collect();
        let froms: Vec<u64> = symbols.iter().map(|symbol| symbol.from).collect();
        let pages = by_page(&froms);
        let first = |names: [&str; 2]| names.into_iter().find_map(|name| data.get(name).copied());
        let (begins, ends) = (first(["_text", "_stext"]), first(["_end", "_einittext"]));
        Self { symbols, froms, pages, data, starts, begins, ends, lacks_bounds, isa: PhantomData }
    }

    /// The function that holds `address`, with its number. The padding in front of a function belongs to it.
    pub fn containing(&self, address: u64) -> Option<(u32, &Symbol)> {
        let page = (address.checked_sub(*self.froms.first()?)? / PAGE_BYTES) as usize;
        let before = self.pages.get(page).copied().unwrap_or(0);
        let until = self.pages.get(page + 1).copied().unwrap_or(self.froms.len());
        let of_page = self.froms.get(before..until)?;
        let index = (before + of_page.partition_point(|from| *from <= address)).checked_sub(1)?;
        let symbol = &self.symbols[index];
        (address < symbol.end).then_some((index as u32, symbol))
    }

    /// The extent of the function whose padding or code holds `address`, and the function's number.
    pub fn extent(&self, address: u64) -> Option<(u32, Extent)> {
        let (id, symbol) = self.containing(address)?;
        Some((id, Extent { address: symbol.address, end: symbol.end, class: symbol.class }))
    }

    /// The function that begins at `address`.
    pub fn starting(&self, address: u64) -> Option<u32> {
        self.starts.get(&address).copied()
    }

    /// The number of the function of this name.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.symbols.iter().position(|symbol| symbol.name == name).map(|index| index as u32)
    }

    /// The address of a symbol of any kind, section bounds among them.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.data.get(name).copied()
    }

    /// Whether there are symbols of code, and none of them says where the kernel's code begins and ends: then none of them is
    /// known to be the kernel's own function.
    ///
    /// ```
    /// use firstlight_profile::{isa::Aarch64, SymbolTable};
    /// assert!(SymbolTable::<Aarch64>::parse("ff00 T vfs_read\n").lacks_bounds());
    /// assert!(!SymbolTable::<Aarch64>::parse("ff00 T _stext\nff00 T vfs_read\nff80 D _etext\n").lacks_bounds());
    /// ```
    pub fn lacks_bounds(&self) -> bool {
        self.lacks_bounds
    }

    /// Whether the address lies in the kernel's image. Where the list has no end of it, what counts is the code.
    pub fn in_image(&self, address: u64) -> bool {
        self.begins.zip(self.ends).is_some_and(|(start, end)| (start..end).contains(&address))
    }

    /// Where the kernel's image begins, or where the list has no symbol of that, its code.
    pub fn begins(&self) -> Option<u64> {
        self.begins
    }

    /// Where the kernel's image ends, or where the list has no symbol of that, the code of its initialisation.
    pub fn ends(&self) -> Option<u64> {
        self.ends
    }

    /// All functions, in order of address.
    pub fn functions(&self) -> &[Symbol] {
        &self.symbols
    }
}

const PAGE_BYTES: u64 = 4096;
/// Images are smaller. What claims to be larger is searched as a whole.
const MOST_PAGES: u64 = 1 << 18;

// Of addresses in order, how many lie before each page; pages begin at the first address.
fn by_page(addresses: &[u64]) -> Vec<usize> {
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else { return Vec::new() };
    let pages = (last - first) / PAGE_BYTES + 1;
    if pages > MOST_PAGES {
        return Vec::new();
    }
    (0..pages).map(|page| addresses.partition_point(|address| (address - first) / PAGE_BYTES < page)).collect()
}

/// How control passes through a function of a module: entry code is the kernel's own.
///
/// ```
/// use firstlight_profile::{isa::X86_64, symbols::class_in_module, Class};
/// assert_eq!(class_in_module::<X86_64>("nfit_init"), Class::Plain);
/// assert_eq!(class_in_module::<X86_64>("acpi_nfit_init.cold"), Class::Cold);
/// ```
pub fn class_in_module<I: Isa>(name: &str) -> Class {
    match named_class::<I>(name) {
        Some(kept @ (Class::Cold | Class::Thunk)) => kept,
        _ => Class::Plain,
    }
}

// Bounds of sections are not functions, and neither are symbols within functions.
fn is_marker<I: Isa>(name: &str) -> bool {
    matches!(name, "_text" | "_stext" | "_etext" | "_sinittext" | "_einittext")
        || I::INSIDE.contains(&name)
        || I::THUNKS.iter().any(|section| [section.bounds.0, section.bounds.1].contains(&name))
        || (name.starts_with("__") && (name.ends_with("text_start") || name.ends_with("text_end")))
}

// What the compiler split off has a name of its own on every processor.
fn named_class<I: Isa>(name: &str) -> Option<Class> {
    I::class(name).or_else(|| name.contains(".cold").then_some(Class::Cold))
}

/// The sections whose code is of a sort of its own.
struct Sorts {
    entry: Option<(u64, u64)>,
    thunks: Vec<(u64, u64)>,
}

impl Sorts {
    fn new<I: Isa>(functions: &[(u64, &str)], bound: &impl Fn(&str) -> Option<u64>) -> Self {
        let of = |(from, to): (&str, &str)| bound(from).zip(bound(to));
        let address = |name: &str| functions.iter().find(|(_, known)| *known == name).map(|(address, _)| *address);
        let between = |(one, other): (&str, &str)| {
            let (one, other) = address(one).zip(address(other))?;
            Some((one.min(other), one.max(other) + 1))
        };
        let thunks = I::THUNKS.iter().filter_map(|section| of(section.bounds).or_else(|| between(section.ends?)));
        Self { entry: of(I::ENTRY_BOUNDS), thunks: thunks.collect() }
    }

    fn class<I: Isa>(&self, name: &str, address: u64) -> Class {
        let within = |(from, to): &(u64, u64)| (*from..*to).contains(&address);
        if self.thunks.iter().any(within) {
            return Class::Thunk;
        }
        match named_class::<I>(name) {
            Some(class) => class,
            None if self.entry.as_ref().is_some_and(within) => I::entry_class(name).unwrap_or(Class::Label),
            None => Class::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstlight_isa::X86_64;

    type SymbolTable = super::SymbolTable<X86_64>;

    const TEXT: &str = "\
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000100 t __pfx_memcpy
ffffffff81000110 W memcpy
ffffffff81000110 T __memcpy
ffffffff81000200 t foo.cold
ffffffff81000300 T __entry_text_start
ffffffff81000300 T entry_SYSCALL_64
ffffffff81000340 t entry_SYSCALL_64_safe_stack
ffffffff81000380 T asm_exc_page_fault
ffffffff810003c0 T __entry_text_end
ffffffff810003c0 T _etext
ffffffff81000500 D init_task
ffffffff82000000 T _sinittext
ffffffff82000000 t net_dev_init
ffffffff82000080 T _einittext
ffffffff82000100 d __initcall__kmod_dev__7_11_net_dev_init4
ffffffffc0000000 t probe\t[nd_pmem]
not a line at all
";

    #[test]
    fn aliases_become_one_function_and_bounds_none() {
        let table = SymbolTable::parse(TEXT);
        let names: Vec<&str> = table.functions().iter().map(|symbol| symbol.name.as_str()).collect();
        let expected = [
            "startup_64",
            "memcpy",
            "foo.cold",
            "entry_SYSCALL_64",
            "entry_SYSCALL_64_safe_stack",
            "asm_exc_page_fault",
            "net_dev_init",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn classes_come_from_names_and_from_the_entry_section() {
        let table = SymbolTable::parse(TEXT);
        let of = |name: &str| table.function(name).map(|id| table.functions()[id as usize].class);
        assert_eq!(of("memcpy"), Some(Class::Plain));
        assert_eq!(of("foo.cold"), Some(Class::Cold));
        assert_eq!(of("entry_SYSCALL_64"), Some(Class::Syscall));
        assert_eq!(of("entry_SYSCALL_64_safe_stack"), Some(Class::Label));
        assert_eq!(of("asm_exc_page_fault"), Some(Class::Exception));
    }

    #[test]
    fn code_at_an_address_of_its_own_has_a_name() {
        let kernel = "c0300000 T _stext\nc0300000 T vector_swi\nc0300010 D _etext\n";
        let table = super::SymbolTable::<firstlight_isa::Arm>::parse(kernel);
        let named = |address| table.containing(address).map(|(_, symbol)| (symbol.name.as_str(), symbol.class));
        assert_eq!(named(0xffff_0018), Some(("vectors", Class::Stub)));
        assert_eq!(named(0xffff_1120), Some(("vector_stubs", Class::Stub)));
        assert_eq!(named(0xffff_0fe0), None);
        assert!(!table.in_image(0xffff_0018));
        assert!(super::SymbolTable::<firstlight_isa::Arm>::parse("").functions().is_empty());
    }

    #[test]
    fn entries_of_kernels_before_5_8_are_known() {
        let table = SymbolTable::parse(
            "10 T _text\n10 t debug\n20 T __entry_text_start\n20 T entry_SYSCALL_64_stage2\n30 T interrupt_entry\n\
             40 T common_interrupt\n50 T ret_from_intr\n60 T page_fault\n70 T debug\n80 T nmi\n90 T __entry_text_end\n\
             90 T __irqentry_text_start\n90 T apic_timer_interrupt\na0 T do_IRQ\nb0 T _etext\n",
        );
        let classes: Vec<(&str, Class)> =
            table.functions().iter().map(|function| (function.name.as_str(), function.class)).collect();
        let expected = [
            ("debug", Class::Plain),
            ("entry_SYSCALL_64_stage2", Class::Syscall),
            ("interrupt_entry", Class::Plain),
            ("common_interrupt", Class::Interrupt),
            ("ret_from_intr", Class::Label),
            ("page_fault", Class::Exception),
            ("debug", Class::Exception),
            ("nmi", Class::Interrupt),
            ("apic_timer_interrupt", Class::Interrupt),
            ("do_IRQ", Class::Plain),
        ];
        assert_eq!(classes, expected);
    }

    #[test]
    fn padding_belongs_to_the_function_behind_it() {
        let table = SymbolTable::parse(TEXT);
        let (_, memcpy) = table.containing(0xffff_ffff_8100_0104).expect("in the padding");
        assert_eq!(
            (memcpy.name.as_str(), memcpy.from, memcpy.address),
            ("memcpy", 0xffff_ffff_8100_0100, 0xffff_ffff_8100_0110)
        );
        let (_, before) = table.containing(0xffff_ffff_8100_00ff).expect("in the function before");
        assert_eq!((before.name.as_str(), before.end), ("startup_64", 0xffff_ffff_8100_0100));
        assert_eq!(table.starting(0xffff_ffff_8100_0100), None);
    }

    fn thunks(text: &str) -> Vec<String> {
        let table = SymbolTable::parse(text);
        table.functions().iter().filter(|each| each.class == Class::Thunk).map(|each| each.name.clone()).collect()
    }

    #[test]
    fn whatever_stands_in_the_section_of_thunks_is_one() {
        let bounds = "10 T _text\n20 T work\n30 T __indirect_thunk_start\n30 T __x86_indirect_thunk_rax\n\
                      40 T frob_new_mitigation\n50 T __x86_return_thunk\n60 T __indirect_thunk_end\n60 T rest\n70 T _etext\n";
        assert_eq!(thunks(bounds), ["__x86_indirect_thunk_rax", "frob_new_mitigation", "__x86_return_thunk"]);
        let newer = "10 T _text\n20 T work\n30 T __x86_indirect_thunk_rax\n40 T frob_new_mitigation\n\
                     50 T __x86_return_thunk\n60 T rest\n70 T _etext\n";
        assert_eq!(thunks(newer), ["__x86_indirect_thunk_rax", "frob_new_mitigation", "__x86_return_thunk"]);
    }

    #[test]
    fn thunks_that_stand_alone_are_known_by_name() {
        let alone = "10 T _text\n10 T srso_alias_untrain_ret\n20 T srso_alias_safe_ret\n30 T its_return_thunk\n\
                     40 T preempt_schedule_thunk\n50 T set_return_thunk\n60 T retpoline_module_ok\n70 T _etext\n";
        assert_eq!(thunks(alone), ["srso_alias_untrain_ret", "srso_alias_safe_ret", "its_return_thunk"]);
    }

    #[test]
    fn every_address_is_found_however_far_symbols_are_apart() {
        for distance in [0x10_u64, 0xff8, 0x1000, 0x5_1238, 0x4000_0000_0000] {
            let at = |number: u64| 0x1_0000 + number * distance;
            let mut text = format!("{:x} T _text\n{:x} T _etext\n", at(0), at(9));
            (0..9).for_each(|number| text += &format!("{:x} t f{number}\n", at(number)));
            let table = SymbolTable::parse(&text);
            for number in 0..9 {
                for address in [at(number), at(number) + 1, at(number + 1) - 1] {
                    assert_eq!(table.containing(address).map(|(id, _)| u64::from(id)), Some(number), "{address:x}");
                }
            }
            assert!(table.containing(at(0) - 1).is_none() && table.containing(at(9)).is_none());
        }
    }

    #[test]
    fn sections_end_their_last_function() {
        let table = SymbolTable::parse(TEXT);
        assert!(table.containing(0xffff_ffff_8100_03bf).is_some());
        assert!(table.containing(0xffff_ffff_8100_03c0).is_none());
        assert!(table.containing(0xffff_ffff_c000_0000).is_none());
    }

    #[test]
    fn symbols_within_a_function_belong_to_it() {
        let text = "c000000000000000 T _text\nc000000000000100 T enter_rtas\nc000000000000140 t __enter_rtas\n\
                    c000000000000180 t rtas_restore_regs\nc0000000000001c0 t lock_rtas\nc000000000000200 D _etext\n";
        let table = super::SymbolTable::<firstlight_isa::Ppc64le>::parse(text);
        let names: Vec<_> = table.functions().iter().map(|symbol| (symbol.name.as_str(), symbol.end)).collect();
        assert_eq!(names, [("enter_rtas", 0xc000_0000_0000_01c0), ("lock_rtas", 0xc000_0000_0000_0200)]);
    }

    #[test]
    fn initcalls_know_their_level() {
        let table = SymbolTable::parse(TEXT);
        let id = table.function("net_dev_init").expect("listed");
        assert_eq!(table.functions()[id as usize].initcall, ["subsys"]);
    }

    #[test]
    fn variables_are_found_by_name() {
        assert_eq!(SymbolTable::parse(TEXT).address("init_task"), Some(0xffff_ffff_8100_0500));
    }
}
