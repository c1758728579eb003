//! The kernel's text: which function each address belongs to, from `/proc/kallsyms`.
//!
//! Text that is not a function is recognised by its place: between the bounds of the sections of thunks and static calls, in the
//! padding in front of a function, in the section of entry code.

use crate::architecture::Architecture;
use crate::kind::Kind;
use rustc_hash::FxHashMap;
use std::ops::Range;

// What stands in the place of a module's name at code that the kernel generates: where it ends is not known.
const GENERATED: [&str; 3] = ["bpf", "__builtin__ftrace", "__builtin__kprobes"];

/// A row of the tables: all functions of one name.
pub type Row = u32;

/// A stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRange {
    /// Its first byte; of a function, its first instruction.
    pub address: u64,
    /// Where the padding in front of it begins: the address, when there is none.
    pub padding: u64,
    /// One past its last byte.
    pub end: u64,
    /// What it is.
    pub kind: Kind,
    /// Its row.
    pub row: Row,
}

/// A row's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    /// Of the function.
    pub function: String,
    /// Of its module.
    pub module: Option<String>,
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.module {
            Some(module) => write!(out, "{} [{module}]", self.function),
            None => out.write_str(&self.function),
        }
    }
}

/// The text of a kernel.
#[derive(Debug, Clone)]
pub struct Text {
    pieces: Vec<TextRange>,
    names: Vec<Name>,
    aliases: Vec<(String, Row)>,
    initcalls: Vec<Row>,
    image: Range<u64>,
    first: u64,
    /// The row of kernel code without a symbol.
    pub nameless: Row,
    /// The row that paths begin in.
    pub root: Row,
}

#[derive(Debug, Clone)]
struct Line<'t> {
    address: u64,
    name: &'t str,
    module: Option<&'t str>,
}

impl Text {
    /// Reads lines of `ADDRESS TYPE NAME [MODULE]`; lines of another form are passed over.
    ///
    /// Where several names share an address the shortest stands for all. Functions of one name share a row.
    pub fn parse(text: &str, architecture: &'static Architecture) -> Self {
        let mut bounds: FxHashMap<&str, u64> = FxHashMap::default();
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut initcalls = Vec::new();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            let module = words.next().map(|module| module.trim_matches(['[', ']']));
            if module.is_some_and(|module| GENERATED.contains(&module)) {
                continue;
            }
            if module.is_none() {
                bounds.entry(name).or_insert(address);
                initcalls.extend(initcall(name));
            }
            if matches!(kind, "T" | "t" | "W" | "w") {
                lines.push(Line { address, name, module });
            }
        }
        lines.sort_by(|a, b| (a.address, a.name.len(), a.name).cmp(&(b.address, b.name.len(), b.name)));
        Self::build(&lines, &bounds, &initcalls, architecture)
    }

    fn build(
        lines: &[Line<'_>],
        bounds: &FxHashMap<&str, u64>,
        initcalls: &[&str],
        architecture: &'static Architecture,
    ) -> Self {
        let range = |from: &str, to: &str| Some(*bounds.get(from)?..*bounds.get(to)?).filter(|range| !range.is_empty());
        // A list without data leaves `_text` and `_end` out.
        let text = if bounds.contains_key("_text") { "_text" } else { "_stext" };
        let sections: Vec<Range<u64>> =
            [range(text, "_etext"), range("_sinittext", "_einittext")].into_iter().flatten().collect();
        let image = ["_end", "_einittext", "_etext"].iter().find_map(|end| range(text, end)).unwrap_or(0..0);
        let (entry_start, entry_end) = architecture.entry_code;
        let places = Places {
            entry: range(entry_start, entry_end).unwrap_or(0..0),
            static_calls: range("__static_call_text_start", "__static_call_text_end").unwrap_or(0..0),
            thunks: thunks(lines, architecture),
            architecture,
        };
        let mut made = Self {
            pieces: Vec::new(),
            names: Vec::new(),
            aliases: Vec::new(),
            initcalls: Vec::new(),
            first: architecture
                .image_entry
                .iter()
                .find_map(|name| bounds.get(name))
                .map_or(image.start, |first| *first),
            image,
            nameless: 0,
            root: 0,
        };
        let mut rows: FxHashMap<Name, Row> = FxHashMap::default();
        made.root = made.row(&mut rows, "[boot]", None);
        made.nameless = made.row(&mut rows, "[kernel without symbol]", None);
        let mut padding = None;
        for (index, line) in lines.iter().enumerate() {
            let section = sections.iter().find(|section| section.contains(&line.address));
            if (section.is_none() && line.module.is_none()) || is_bound(line.name) {
                continue;
            }
            // Behind a module's last function there may be anything: its initialisation, other generated code.
            let limit = section.map_or((line.address | 0xfff) + 1, |section| section.end);
            let next = lines[index + 1..].iter().find(|next| next.address > line.address && !is_bound(next.name));
            let end = match next {
                Some(next) if line.module.is_some() && next.module == line.module => next.address,
                Some(next) => next.address.min(limit),
                None => limit,
            };
            if architecture.padding.iter().any(|start| line.name.starts_with(start)) {
                padding.get_or_insert(line.address);
                continue;
            }
            let kind = places.kind(line);
            if let Some(last) = made.pieces.last_mut().filter(|last| last.address == line.address) {
                // An alias that names an entry or a thunk says what the place is.
                if last.kind == Kind::Function && kind != Kind::Function {
                    last.kind = kind;
                }
                made.aliases.push((line.name.to_owned(), last.row));
                continue;
            }
            let row = made.row(&mut rows, line.name, line.module);
            let padding = padding.take().filter(|start| line.address - start <= 64).unwrap_or(line.address);
            made.pieces.push(TextRange { address: line.address, padding, end, kind, row });
        }
        for name in initcalls {
            made.initcalls.extend(rows.get(&Name { function: (*name).to_owned(), module: None }));
        }
        made.initcalls.sort_unstable();
        made.initcalls.dedup();
        made
    }

    fn row(&mut self, rows: &mut FxHashMap<Name, Row>, function: &str, module: Option<&str>) -> Row {
        let name = Name { function: function.to_owned(), module: module.map(str::to_owned) };
        *rows.entry(name.clone()).or_insert_with(|| {
            self.names.push(name);
            (self.names.len() - 1) as Row
        })
    }

    /// The piece that an address lies in; of padding, the function behind it.
    pub fn containing(&self, address: u64) -> Option<&TextRange> {
        let after = self.pieces.partition_point(|piece| piece.padding <= address);
        self.pieces.get(after.checked_sub(1)?).filter(|piece| address < piece.end)
    }

    /// Whether an address lies in the kernel's image.
    pub fn in_image(&self, address: u64) -> bool {
        self.image.contains(&address)
    }

    /// Where the image begins.
    pub fn image_start(&self) -> u64 {
        self.image.start
    }

    /// Where the image is entered, which need not be its beginning.
    pub fn entered_at(&self) -> u64 {
        self.first
    }

    /// The rows' names, by number.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Further names of rows: where several names share an address.
    pub fn aliases(&self) -> &[(String, Row)] {
        &self.aliases
    }

    /// The rows that an initcall is registered for.
    pub fn initcalls(&self) -> &[Row] {
        &self.initcalls
    }

    /// The row of a name.
    pub fn named(&self, function: &str) -> Option<Row> {
        self.pieces.iter().map(|piece| piece.row).find(|row| self.names[*row as usize].function == function)
    }
}

struct Places {
    entry: Range<u64>,
    static_calls: Range<u64>,
    thunks: Range<u64>,
    architecture: &'static Architecture,
}

impl Places {
    fn kind(&self, line: &Line<'_>) -> Kind {
        let name = line.name;
        let Architecture { stub_or_entry, entry, is_thunk, .. } = self.architecture;
        if let Some(kind) = stub_or_entry(name) {
            return kind;
        }
        if self.thunks.contains(&line.address) || self.static_calls.contains(&line.address) || is_thunk(name) {
            return Kind::Part;
        }
        // `name.cold`, `name.cold.12`, `name.isra.0.cold`: what the compiler moved out of a function's way.
        if name.split('.').skip(1).any(|suffix| suffix == "cold") {
            return Kind::Part;
        }
        if let Some(kind) = entry(name) {
            return kind;
        }
        if self.entry.contains(&line.address) {
            return Kind::Label;
        }
        Kind::Function
    }
}

// From the first to the last of the symbols that every kernel has there.
fn thunks(lines: &[Line<'_>], architecture: &Architecture) -> Range<u64> {
    let own = |line: &&Line<'_>| architecture.thunks.iter().any(|start| line.name.starts_with(start));
    let first = lines.iter().find(own).map_or(0, |line| line.address);
    let last = lines.iter().rev().find(own).map_or(0, |line| line.address + 1);
    if last.saturating_sub(first) < 1 << 16 {
        first..last
    } else {
        0..0
    }
}

fn is_bound(name: &str) -> bool {
    matches!(name, "_text" | "_stext" | "_etext" | "_sinittext" | "_einittext" | "__pi__text")
        || (name.starts_with("__") && (name.ends_with("text_start") || name.ends_with("text_end")))
        || matches!(name, "__indirect_thunk_start" | "__indirect_thunk_end")
}

// `__initcall__kmod_MODULE__COUNTER_LINE_FUNCTIONID` (`include/linux/init.h`): the function's name.
fn initcall(symbol: &str) -> Option<&str> {
    let rest = symbol.strip_prefix("__initcall__kmod_")?;
    let function = rest.match_indices("__").find_map(|(at, _)| {
        let mut words = rest[at + 2..].splitn(3, '_');
        let mut number =
            || words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty());
        number().and(number())?;
        words.next()
    })?;
    let levels = ["early", "rootfs", "con", "0s", "1s", "2s", "3s", "4s", "5s", "6s", "7s"];
    let known = levels.iter().find_map(|level| function.strip_suffix(level));
    known.or_else(|| function.strip_suffix(|last: char| last.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architectures::by_target;

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
ffffffff81000400 T __x86_indirect_thunk_rax
ffffffff81000420 T new_sort_of_thunk
ffffffff81000440 T __x86_return_thunk
ffffffff81000480 T _etext
ffffffff82000000 T _sinittext
ffffffff82000000 t net_dev_init
ffffffff82000080 T _einittext
ffffffff82000100 d __initcall__kmod_dev__7_11_net_dev_init4
ffffffff83000000 B _end
ffffffffc0000000 t probe\t[nd_pmem]
ffffffffc0002000 t bpf_prog_6deef7357e7b4530\t[bpf]
not a line at all
";

    fn at(address: u64) -> Option<(Kind, String)> {
        let text = Text::parse(TEXT, by_target("x86_64").expect("known"));
        let piece = text.containing(address)?;
        Some((piece.kind, text.names()[piece.row as usize].function.clone()))
    }

    #[test]
    fn padding_belongs_to_the_function_behind_it() {
        assert_eq!(at(0xffff_ffff_8100_0104), Some((Kind::Function, "memcpy".to_owned())));
        assert_eq!(at(0xffff_ffff_8100_0110), Some((Kind::Function, "memcpy".to_owned())));
    }

    #[test]
    fn thunks_are_known_by_their_section_whatever_they_are_called() {
        assert_eq!(at(0xffff_ffff_8100_0424), Some((Kind::Part, "new_sort_of_thunk".to_owned())));
    }

    #[test]
    fn entries_labels_and_split_off_parts_are_told_apart() {
        assert_eq!(at(0xffff_ffff_8100_0200).map(|found| found.0), Some(Kind::Part));
        assert_eq!(at(0xffff_ffff_8100_0300).map(|found| found.0), Some(Kind::Syscall));
        assert_eq!(at(0xffff_ffff_8100_0344).map(|found| found.0), Some(Kind::Label));
        assert_eq!(at(0xffff_ffff_8100_0380).map(|found| found.0), Some(Kind::Exception));
    }

    #[test]
    fn aliases_and_initcalls_name_their_row() {
        let text = Text::parse(TEXT, by_target("x86_64").expect("known"));
        let memcpy = text.named("memcpy").expect("listed");
        assert!(text.aliases().contains(&("__memcpy".to_owned(), memcpy)));
        assert_eq!(text.initcalls(), [text.named("net_dev_init").expect("listed")]);
    }

    #[test]
    fn modules_have_rows_of_their_own() {
        let text = Text::parse(TEXT, by_target("x86_64").expect("known"));
        let probe = text.containing(0xffff_ffff_c000_0010).expect("listed");
        assert_eq!(text.names()[probe.row as usize].module.as_deref(), Some("nd_pmem"));
        assert!(text.containing(0xffff_ffff_c000_1000).is_none());
        assert!(text.containing(0xffff_ffff_c000_2000).is_none());
    }

    // arm64's list has no data: neither `_text` nor `_end`.
    const WITHOUT_DATA: &str = "\
ffff800008010000 T _stext
ffff800008010000 t gic_handle_irq
ffff8000080101f8 T __entry_text_start
ffff800008010800 T vectors
ffff800008011000 t __bad_stack
ffff80000801121c t el1h_64_sync
ffff8000080113bc t el0t_64_sync
ffff80000801204c t ret_to_kernel
ffff800008014340 T __entry_text_end
ffff800008016640 T cpu_switch_to
ffff800008be0000 D _etext
ffff800009390000 T _sinittext
ffff800009398d1c T primary_entry
ffff8000093f4c0c T _einittext
";

    #[test]
    fn a_list_without_data_has_a_text_and_an_image() {
        let text = Text::parse(WITHOUT_DATA, by_target("aarch64").expect("known"));
        let kind = |address: u64| text.containing(address).map(|piece| piece.kind);
        assert_eq!(kind(0xffff_8000_0801_0880), Some(Kind::Stub));
        assert_eq!(kind(0xffff_8000_0801_1220), Some(Kind::Exception));
        assert_eq!(kind(0xffff_8000_0801_13bc), Some(Kind::Syscall));
        assert_eq!(kind(0xffff_8000_0801_2050), Some(Kind::Label));
        assert_eq!(kind(0xffff_8000_0801_6640), Some(Kind::Switch));
        assert_eq!(text.entered_at(), 0xffff_8000_0939_8d1c);
        assert!(text.in_image(0xffff_8000_0930_0000));
    }
}
