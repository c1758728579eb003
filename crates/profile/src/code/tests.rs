//! Guests that are invented word by word: what is found in them, and what is not taken for anything.

use super::{Code, LoadedCode, Memory, Shape};
use firstlight_isa::X86_64;
use std::cell::RefCell;
use std::collections::BTreeMap;

type SymbolTable = crate::SymbolTable<X86_64>;

const HEADS: &str = "\
ffffffff82000000 D modules
ffffffff82000100 d bpf_kallsyms
ffffffff82000200 d pack_list
ffffffff82000300 d ftrace_ops_trampoline_list
ffffffff82000400 D kprobe_insn_slots
";
const MODULES: u64 = 0xffff_ffff_8200_0000;
const PROGRAMS: u64 = 0xffff_ffff_8200_0100;
const PACKS: u64 = 0xffff_ffff_8200_0200;
/// Of the kernel's image, to which the heads of lists belong.
const IMAGE: std::ops::Range<u64> = 0xffff_ffff_8000_0000..0xffff_ffff_9000_0000;
const TRAMPOLINES: u64 = 0xffff_ffff_8200_0300;
const SLOTS: u64 = 0xffff_ffff_8200_0400;
const TEXT: u64 = 0xffff_ffff_c000_0000;
const MODULE: u64 = 0xffff_ffff_c000_2040;
const TABLE: u64 = 0xffff_ffff_c000_3000;
const INIT: u64 = 0xffff_ffff_c001_0000;

/// Pages of a guest.
#[derive(Default)]
struct Guest(RefCell<BTreeMap<u64, Vec<u8>>>);

impl Memory for Guest {
    type Isa = X86_64;

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let pages = self.0.borrow();
        let mut at = address;
        let mut left = buffer;
        while !left.is_empty() {
            let Some(page) = pages.get(&(at & !0xfff)) else { return false };
            let held = page.get((at & 0xfff) as usize..).unwrap_or_default();
            let (now, later) = left.split_at_mut(held.len().min(left.len()));
            now.copy_from_slice(&held[..now.len()]);
            at = at.wrapping_add(now.len() as u64);
            left = later;
        }
        true
    }
}

impl Guest {
    fn with_lists() -> Self {
        let guest = Self::default();
        for head in [MODULES, PROGRAMS, PACKS, TRAMPOLINES] {
            guest.words(head, &[head, head]);
        }
        guest.words(SLOTS, &[1, 2, 3, SLOTS + 24, SLOTS + 24]);
        guest
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        let mut pages = self.0.borrow_mut();
        for (index, byte) in bytes.iter().enumerate() {
            let at = address + index as u64;
            pages.entry(at & !0xfff).or_insert_with(|| vec![0; 4096])[(at & 0xfff) as usize] = *byte;
        }
    }

    fn words(&self, address: u64, words: &[u64]) {
        words.iter().zip(0..).for_each(|(word, index)| self.write(address + 8 * index, &word.to_le_bytes()));
    }

    /// Makes `node` the first of the list, as `list_add` does.
    fn add(&self, head: u64, node: u64) {
        let next = self.word(head).unwrap_or(head);
        self.words(node, &[next, head]);
        self.words(next + 8, &[node]);
        self.words(head, &[node]);
    }

    /// Takes `node` off its list, as `list_del_rcu` does.
    fn remove(&self, node: u64) {
        let (next, previous) = (self.word(node).unwrap_or(0), self.word(node + 8).unwrap_or(0));
        self.words(previous, &[next]);
        self.words(next + 8, &[previous]);
        self.words(node + 8, &[0xdead_0000_0000_0122]);
    }

    /// A module that is being initialised, with these symbols; `layout` writes its ranges.
    fn load(&self, name: &str, symbols: &[(u64, u64, &str)], layout: impl Fn(&Self)) {
        self.words(MODULE, &[1]);
        self.write(MODULE + 24, name.as_bytes());
        self.write(MODULE + 24 + name.len() as u64, &[0]);
        layout(self);
        let (first, names) = (TABLE + 64, TABLE + 0x800);
        self.words(MODULE + 0x200, &[TABLE]);
        self.words(TABLE, &[first, symbols.len() as u64 + 1, names]);
        let mut text = vec![0_u8];
        for ((value, size, name), index) in symbols.iter().zip(1..) {
            self.words(first + 24 * index, &[0x12_0000_0000 | text.len() as u64, *value, *size]);
            text.extend(name.bytes().chain([0]));
        }
        self.write(names, &text);
        self.write(names + text.len() as u64 + 600, &[0]);
        self.add(MODULES, MODULE + 8);
    }
}

/// Linux 4.5 to 6.3.
fn two_layouts(guest: &Guest) {
    let sizes = |text: u64| (text << 32) | 0x4000;
    guest.words(MODULE + 0x100, &[TEXT, sizes(0x1000), 0x3000_0000_3000, MODULE]);
    guest.words(MODULE + 0x150, &[INIT, sizes(0x1000), 0x3000_0000_3000, MODULE]);
    // `mkobj.mod` points back, too.
    guest.words(MODULE + 0x90, &[MODULE]);
    guest.write(INIT, &[0]);
}

fn names(code: Option<Code>) -> Option<(String, String, Shape)> {
    code.map(|code| (code.name, code.module, code.shape))
}

fn function(name: &str, module: &str) -> Option<(String, String, Shape)> {
    Some((name.to_owned(), module.to_owned(), Shape::Function))
}

fn row(name: &str, module: &str) -> Option<(String, String, Shape)> {
    Some((name.to_owned(), module.to_owned(), Shape::Row))
}

const NFIT: [(u64, u64, &str); 6] = [
    (TEXT + 0x10, 0x20, "nfit_probe"),
    (TEXT + 0x40, 0x10, "nfit_probe.cold"),
    (TEXT, 0x10, "__pfx_nfit_probe"),
    (INIT, 0x80, "init_module"),
    (INIT, 0x80, "nfit_init"),
    (0xffff_ffff_8100_0000, 0x10, "printk"),
];

fn table() -> LoadedCode {
    LoadedCode::new(&SymbolTable::parse(HEADS))
}

#[test]
fn labels_inside_a_function_of_assembler_are_no_functions() {
    let guest = Guest::with_lists();
    let symbols = [
        (TEXT + 0x100, 0x200, "sha256_transform"),
        (TEXT + 0x140, 0, "loop1"),
        (TEXT + 0x400, 0, "helper_without_type"),
        (INIT, 0x80, "sha256_init"),
    ];
    guest.load("sha256_ssse3", &symbols, two_layouts);
    for label in [2, 3] {
        guest.write(TABLE + 64 + 24 * label + 4, &[0x10]); // STB_GLOBAL, STT_NOTYPE
    }
    let mut code = table();
    assert_eq!(names(code.at(TEXT + 0x150, &guest)), function("sha256_transform", "sha256_ssse3"));
    assert_eq!(names(code.at(TEXT + 0x410, &guest)), function("helper_without_type", "sha256_ssse3"));
}

#[test]
fn functions_of_a_module_are_named_before_they_run() {
    let guest = Guest::with_lists();
    guest.load("nfit", &NFIT, two_layouts);
    let mut code = table();
    assert_eq!(names(code.at(INIT, &guest)), function("nfit_init", "nfit"));
    let probe = code.at(TEXT + 0x18, &guest);
    let bounds = probe.as_ref().map(|code| (code.range.clone(), code.entry));
    assert_eq!(bounds, Some((TEXT..TEXT + 0x30, TEXT + 0x10)), "with its padding");
    assert_eq!(names(probe), function("nfit_probe", "nfit"));
    assert_eq!(names(code.at(TEXT + 0x40, &guest)), function("nfit_probe.cold", "nfit"));
}

#[test]
fn without_a_symbol_the_list_of_modules_is_found_from_any_module_in_it() {
    let guest = Guest::with_lists();
    guest.load("nfit", &NFIT, two_layouts);
    let mut code = LoadedCode::new(&SymbolTable::default());
    assert!(code.lacks_modules());
    code.given(0xffff_ffff_c00f_0000, &IMAGE, &guest);
    assert!(code.lacks_modules(), "an invalid module is ignored");
    code.given(MODULE, &IMAGE, &guest);
    assert!(!code.lacks_modules());
    assert_eq!(names(code.at(INIT, &guest)), function("nfit_init", "nfit"));
}

#[test]
fn code_of_a_module_in_no_symbol_is_a_row_by_module() {
    let guest = Guest::with_lists();
    guest.load("nfit", &[(TEXT, 0x10, "init_module")], two_layouts);
    let mut code = table();
    assert_eq!(names(code.at(TEXT + 0x80, &guest)), row("[nfit]", "nfit"));
    assert_eq!(names(code.at(TEXT, &guest)), function("init_module", "nfit"));
}

#[test]
fn a_module_of_newer_kernels_is_read_as_well() {
    // Linux 6.4: base, size, back; 6.13: base, copy, flag and size, back; 6.15: base, flag and size, back.
    let kinds = |guest: &Guest, apart: u64, words: &dyn Fn(u64, u64) -> Vec<u64>| {
        for kind in 0..7 {
            let (base, size) = match kind {
                0 => (TEXT, 0x1000),
                1 => (TEXT + 0x2000, 0x1000),
                4 => (INIT, 0x1000),
                _ => (0, 0),
            };
            guest.words(MODULE + 0x100 + kind * apart, &words(base, size));
        }
        guest.words(MODULE + 0x90, &[MODULE]);
        guest.write(INIT, &[0]);
    };
    let shapes: [&dyn Fn(u64, u64) -> Vec<u64>; 3] =
        [&|base, size| vec![base, size, MODULE], &|base, size| vec![base, 0, size << 32, MODULE], &|base, size| {
            vec![base, size << 32, MODULE]
        }];
    for words in shapes {
        let guest = Guest::with_lists();
        guest.load("nfit", &[], |guest| kinds(guest, 32, words));
        guest.words(MODULE + 0x200, &[0]);
        let mut code = table();
        assert_eq!(names(code.at(TEXT + 0xff0, &guest)), row("[nfit]", "nfit"));
        assert_eq!(names(code.at(INIT + 0xff0, &guest)), row("[nfit]", "nfit"));
        assert_eq!(names(code.at(TEXT + 0x2000, &guest)), None, "data is not code");
    }
}

#[test]
fn different_functions_of_one_name_are_told_apart_by_where_they_stand_in_the_module() {
    let guest = Guest::with_lists();
    guest.load("nfit", &[(TEXT + 0x10, 8, "show"), (TEXT + 0x20, 8, "show"), (TEXT, 8, "store")], two_layouts);
    let mut code = table();
    assert_eq!(names(code.at(TEXT + 0x10, &guest)), function("show@10", "nfit"));
    assert_eq!(names(code.at(TEXT + 0x20, &guest)), function("show@20", "nfit"));
    assert_eq!(names(code.at(TEXT, &guest)), function("store", "nfit"));
}

#[test]
fn a_name_is_valid_at_its_time_only() {
    let guest = Guest::with_lists();
    guest.load("nfit", &NFIT, two_layouts);
    let mut code = table();
    assert_eq!(names(code.at(INIT, &guest)), function("nfit_init", "nfit"));
    // The initialisation is over: its memory is freed.
    guest.words(MODULE, &[0]);
    guest.words(MODULE + 0x150, &[0, 0]);
    assert_eq!(code.at(INIT, &guest), None);
    assert_eq!(names(code.at(TEXT + 0x10, &guest)), function("nfit_probe", "nfit"));
    // A program of BPF comes into its place, and the module goes.
    let node = 0xffff_8880_0000_1000 + 16 + 128;
    guest.words(node - 144, &[INIT, INIT + 0x40]);
    guest.write(node - 128, b"bpf_prog_6deef7357e7b4530_sd_devices\0");
    guest.add(PROGRAMS, node);
    guest.remove(MODULE + 8);
    assert_eq!(names(code.at(INIT + 0x10, &guest)), row("bpf_prog_6deef7357e7b4530_sd_devices", "bpf"));
    assert_eq!(code.at(TEXT + 0x10, &guest), None);
}

#[test]
fn generated_code_without_a_symbol_is_a_row_by_kind() {
    let guest = Guest::with_lists();
    let (pack, ops, slots) = (0xffff_8880_0000_2000, 0xffff_8880_0000_3010, 0xffff_8880_0000_4000);
    guest.words(pack + 16, &[TEXT + 0x10_0000]);
    guest.add(PACKS, pack);
    guest.words(ops - 16, &[TEXT, 0x80]);
    guest.add(TRAMPOLINES, ops);
    guest.words(slots + 16, &[TEXT + 0x1000, SLOTS]);
    guest.add(SLOTS + 24, slots);
    let mut code = table();
    assert_eq!(names(code.at(TEXT + 0x10_0040, &guest)), row("[bpf program]", "bpf"));
    assert_eq!(names(code.at(TEXT + 0x7f, &guest)), row("[ftrace trampoline]", "ftrace"));
    assert_eq!(names(code.at(TEXT + 0x1004, &guest)), row("[kprobe slot]", "kprobes"));
    assert_eq!(code.at(TEXT + 0x80, &guest), None);
}

#[test]
fn a_program_that_comes_into_a_pack_later_has_its_own_name() {
    let guest = Guest::with_lists();
    let (pack, node) = (0xffff_8880_0000_2000, 0xffff_8880_0000_5000 + 16 + 512);
    guest.words(pack + 16, &[TEXT]);
    guest.add(PACKS, pack);
    let mut code = table();
    assert_eq!(names(code.at(TEXT + 0x40, &guest)), row("[bpf program]", "bpf"));
    guest.words(node - 528, &[TEXT + 0x40, TEXT + 0x80]);
    guest.write(node - 512, b"bpf_trampoline_6442453466\0");
    guest.add(PROGRAMS, node);
    assert_eq!(names(code.at(TEXT + 0x40, &guest)), row("bpf_trampoline_6442453466", "bpf"));
    assert_eq!(names(code.at(TEXT + 0x90, &guest)), row("[bpf program]", "bpf"));
}

#[test]
fn lists_that_are_none_name_nothing_and_end() {
    let guest = Guest::default();
    for head in [MODULES, PROGRAMS, PACKS, TRAMPOLINES, SLOTS] {
        // Each leads into the next, and the last into itself.
        guest.words(head, &[head + 0x100, 7, u64::MAX, head]);
    }
    guest.words(SLOTS + 0x100, &[SLOTS + 0x100, 0, 0xffff_ffff_c000_0000, SLOTS]);
    assert_eq!(table().at(TEXT, &guest), None);
    assert_eq!(LoadedCode::new(&SymbolTable::default()).at(TEXT, &guest), None);
}
