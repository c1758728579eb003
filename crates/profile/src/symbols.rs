//! The kernel's functions, from a text in the form of `/proc/kallsyms`.

use crate::code::LISTS;
use crate::initcalls::initcall;
use rustc_hash::FxHashMap;

/// How control passes through a function, where that differs from an ordinary call and return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Called and left like any other.
    Plain,
    /// Entry code that interrupts whatever ran (`asm_common_interrupt`, `asm_sysvec_*`, `asm_exc_nmi`).
    Interrupt,
    /// Entry code of an exception (`asm_exc_*`, `early_idt_handler_common`).
    Exception,
    /// Entry code of a system call (`entry_SYSCALL_64`, ...).
    Syscall,
    /// Stubs that push a vector and jump to an entry (`irq_entries_start`, `early_idt_handler_array`).
    Stub,
    /// A label inside the entry code: belongs to the entry that ran into it.
    Label,
    /// A trampoline that passes a call on to its target (retpolines, static calls).
    Thunk,
    /// What a function jumps to instead of returning (`__x86_return_thunk`).
    ReturnThunk,
    /// `__switch_to_asm`: leaves one task's stack and continues on another's.
    Switch,
    /// A split-off part of a function (`.cold`), entered and left by jumps.
    Cold,
}

/// One function of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its first byte.
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

/// The functions of a kernel, by address.
#[derive(Debug, Clone, Default)]
pub struct SymbolTable {
    symbols: Vec<Symbol>,
    data: FxHashMap<String, u64>,
    starts: FxHashMap<u64, u32>,
}

impl SymbolTable {
    /// Reads lines of `ADDRESS TYPE NAME [MODULE]`; lines of another form are passed over.
    ///
    /// Functions are the text symbols between `_text` and `_etext` and between `_sinittext` and `_einittext`; where
    /// several share an address the shortest name stands for all. Modules' symbols are left out: they come and go.
    ///
    /// ```
    /// use firstlight_profile::SymbolTable;
    /// let table = SymbolTable::parse("ff00 T _text\nff00 T a\nff40 t b\nff80 T _etext\n");
    /// let (id, symbol) = table.containing(0xff44).expect("inside b");
    /// assert_eq!((id, symbol.name.as_str(), symbol.end), (1, "b", 0xff80));
    /// assert!(table.containing(0xff80).is_none());
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut data = FxHashMap::default();
        let mut functions: Vec<(u64, &str)> = Vec::new();
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
                functions.push((address, name));
            }
            // Section bounds and a few variables are asked for by name: all of them are global but the heads of some lists.
            if kind.starts_with(|letter: char| letter.is_ascii_uppercase()) || LISTS.contains(&name) {
                data.entry(name.to_owned()).or_insert(address);
            }
        }
        Self::build(functions, data, &levels)
    }

    fn build(
        mut functions: Vec<(u64, &str)>,
        data: FxHashMap<String, u64>,
        levels: &FxHashMap<&str, Vec<&'static str>>,
    ) -> Self {
        let bound = |name: &str| data.get(name).copied();
        let sections: Vec<(u64, u64)> = [("_text", "_etext"), ("_sinittext", "_einittext")]
            .iter()
            .filter_map(|(from, to)| Some((bound(from)?, bound(to)?)))
            .collect();
        let entry = bound("__entry_text_start").zip(bound("__entry_text_end"));
        let section_end =
            |address: u64| sections.iter().find(|(from, to)| (*from..*to).contains(&address)).map(|s| s.1);
        functions.retain(|(address, name)| section_end(*address).is_some() && !is_marker(name));
        functions.sort_by(|a, b| (a.0, a.1.len(), a.1).cmp(&(b.0, b.1.len(), b.1)));
        // An alias that names an entry must win over a shorter label at the same place.
        functions.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same && class(first.1, false) == Class::Plain && class(later.1, false) != Class::Plain {
                first.1 = later.1;
            }
            same
        });
        let mut symbols = Vec::with_capacity(functions.len());
        for (index, (address, name)) in functions.iter().enumerate() {
            let section = section_end(*address).unwrap_or(*address);
            let next = functions.get(index + 1).map_or(section, |next| next.0);
            let in_entry = entry.is_some_and(|(from, to)| (from..to).contains(address));
            symbols.push(Symbol {
                address: *address,
                end: next.min(section),
                name: (*name).to_owned(),
                class: class(name, in_entry),
                initcall: levels.get(name).cloned().unwrap_or_default(),
            });
        }
        let starts = symbols.iter().enumerate().map(|(id, symbol)| (symbol.address, id as u32)).collect();
        Self { symbols, data, starts }
    }

    /// The function that holds `address`, with its number.
    pub fn containing(&self, address: u64) -> Option<(u32, &Symbol)> {
        let index = self.symbols.partition_point(|symbol| symbol.address <= address).checked_sub(1)?;
        let symbol = &self.symbols[index];
        (address < symbol.end).then_some((index as u32, symbol))
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

    /// All functions, in order of address.
    pub fn functions(&self) -> &[Symbol] {
        &self.symbols
    }
}

/// How control passes through a function of a module: entry code is the kernel's own.
///
/// ```
/// use firstlight_profile::symbols::{class_in_module, Class};
/// assert_eq!(class_in_module("nfit_init"), Class::Plain);
/// assert_eq!(class_in_module("acpi_nfit_init.cold"), Class::Cold);
/// ```
pub fn class_in_module(name: &str) -> Class {
    match class(name, false) {
        kept @ (Class::Cold | Class::Thunk | Class::ReturnThunk) => kept,
        _ => Class::Plain,
    }
}

// Bounds of sections and the padding in front of functions are no functions.
fn is_marker(name: &str) -> bool {
    matches!(name, "_text" | "_stext" | "_etext" | "_sinittext" | "_einittext")
        || name.starts_with("__pfx_")
        || name.starts_with("__cfi_")
        || (name.starts_with("__") && (name.ends_with("text_start") || name.ends_with("text_end")))
}

// The names are those of arch/x86/entry/*.S, arch/x86/kernel/head_64.S and arch/x86/lib/retpoline.S.
fn class(name: &str, in_entry: bool) -> Class {
    match name {
        "__switch_to_asm" => Class::Switch,
        "irq_entries_start" | "spurious_entries_start" | "early_idt_handler_array" => Class::Stub,
        "early_idt_handler_common" | "vc_no_ghcb" => Class::Exception,
        "asm_exc_nmi" | "asm_exc_nmi_noist" | "asm_common_interrupt" | "asm_spurious_interrupt" => Class::Interrupt,
        "asm_load_gs_index" | "asm_cpu_bringup_and_idle" => Class::Plain,
        "entry_SYSCALL_64" | "entry_SYSCALL_compat" | "entry_SYSENTER_compat" | "entry_INT80_compat" => Class::Syscall,
        "asm_int80_emulation" => Class::Syscall,
        "__x86_return_thunk"
        | "srso_return_thunk"
        | "srso_alias_return_thunk"
        | "retbleed_return_thunk"
        | "its_return_thunk"
        | "__ret" => Class::ReturnThunk,
        // Called, and return: functions in spite of where they stand.
        "error_entry" | "paranoid_entry" | "xen_error_entry" | "entry_ibpb" => Class::Plain,
        _ if name.starts_with("asm_sysvec_") => Class::Interrupt,
        _ if name.starts_with("asm_exc_") || name.starts_with("asm_xenpv_exc_") => Class::Exception,
        _ if name.starts_with("__x86_indirect_") || name.starts_with("__SCT__") => Class::Thunk,
        _ if name.starts_with("retpoline_") => Class::Thunk,
        _ if name.contains(".cold") => Class::Cold,
        _ if in_entry => Class::Label,
        _ => Class::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn sections_end_their_last_function() {
        let table = SymbolTable::parse(TEXT);
        assert!(table.containing(0xffff_ffff_8100_03bf).is_some());
        assert!(table.containing(0xffff_ffff_8100_03c0).is_none());
        assert!(table.containing(0xffff_ffff_c000_0000).is_none());
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
