//! ELF files: their headers and what they ask of a loader ([`headers`], [`needs`]), and their functions ([`Code`]): where each
//! begins and ends, and how it is called.
//!
//! Names of functions come from symbol tables, bounds of functions without a name from the table of call frames that unwinders use (`.eh_frame`),
//! which stripped files keep. It reads bytes and does no I/O of its own.

mod file;
mod frames;
mod symbols;

pub use file::{has_symbols, headers, labels, needs, section, ElfError, Headers, Needs, Segment};

use firstlight_schema::FunctionSource;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Object as _, ObjectSection as _, SectionFlags};

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Address of its first instruction, as the file was linked.
    pub start: u64,
    /// Address behind its last one.
    pub end: u64,
    /// Its name; nothing where only its bounds are known.
    pub name: Option<String>,
    /// What says so.
    pub source: FunctionSource,
}

/// What an ELF file says of its code.
///
/// ```
/// use firstlight_elf::Code;
/// let program = std::env::current_exe().and_then(std::fs::read)?;
/// let code = Code::read(&program, None).expect("a program");
/// assert!(Code::read(b"#!/bin/sh", None).is_none());
/// assert!(code.function(u64::MAX).is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Code {
    build_id: Option<String>,
    segments: Vec<Segment>,
    // Each in order of addresses; the first table that holds an address counts.
    tables: Vec<Vec<Function>>,
}

impl Code {
    /// Reads a file, and a separate one with its symbols, which has to have the same build id. Nothing for what is not an ELF file of 64
    /// bits.
    pub fn read(bytes: &[u8], debug: Option<&[u8]>) -> Option<Self> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let build_id = build_id_of(&file);
        let mut segments = headers(bytes).ok()?.segments;
        segments.retain(Segment::is_loaded);
        let own_debug = debug
            .and_then(|bytes| ElfFile64::<object::Endianness>::parse(bytes).ok())
            .filter(|debug| build_id.is_some() && build_id_of(debug) == build_id);
        let frames = frames::functions(&file);
        let named = |functions: Vec<Function>| symbols::with_ends(functions, &frames);
        let mut tables = vec![named(symbols::functions(file.symbols(), FunctionSource::SymbolTable))];
        if let Some(debug) = own_debug {
            tables.push(named(symbols::functions(debug.symbols(), FunctionSource::DebugFile)));
        }
        tables.push(named(symbols::functions(file.dynamic_symbols(), FunctionSource::DynamicSymbols)));
        tables.push(linkage_tables(&file));
        tables.push(frames);
        tables.retain(|table| !table.is_empty());
        debug_assert!(file.elf_header().is_supported());
        Some(Self { build_id, segments, tables })
    }

    /// The build id, in hexadecimal digits.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// The address of what stands at an offset in the file.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let holds =
            |segment: &&Segment| offset.checked_sub(segment.offset).is_some_and(|within| within < segment.file_bytes);
        self.segments.iter().find(holds).map(|segment| offset - segment.offset + segment.address)
    }

    /// The offset in the file of what stands at an address.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let holds =
            |segment: &&Segment| address.checked_sub(segment.address).is_some_and(|within| within < segment.file_bytes);
        self.segments.iter().find(holds).map(|segment| address - segment.address + segment.offset)
    }

    /// The function that an address lies in.
    pub fn function(&self, address: u64) -> Option<&Function> {
        self.tables.iter().find_map(|table| containing(table, address))
    }
}

/// The build id of a file, in hexadecimal digits; nothing where it has none or is not a 64-bit ELF file.
pub fn build_id(bytes: &[u8]) -> Option<String> {
    build_id_of(&ElfFile64::<object::Endianness>::parse(bytes).ok()?)
}

fn build_id_of(file: &ElfFile64<'_, object::Endianness>) -> Option<String> {
    let id = file.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

// The functions may lie in one another: the innermost counts.
fn containing(table: &[Function], address: u64) -> Option<&Function> {
    const DEEPEST: usize = 16;
    let behind = table.partition_point(|function| function.start <= address);
    table[..behind].iter().rev().take(DEEPEST).find(|function| address < function.end)
}

fn linkage_tables(file: &ElfFile64<'_, object::Endianness>) -> Vec<Function> {
    let mut found: Vec<Function> = file
        .sections()
        .filter(|section| match section.flags() {
            SectionFlags::Elf { sh_flags } => sh_flags & u64::from(object::elf::SHF_EXECINSTR) != 0,
            _ => false,
        })
        .filter_map(|section| {
            let name = section.name().ok().filter(|name| name.starts_with(".plt") || *name == ".iplt")?;
            Some(Function {
                start: section.address(),
                end: section.address().saturating_add(section.size()),
                name: Some(name.to_owned()),
                source: FunctionSource::LinkageTable,
            })
        })
        .collect();
    found.sort_by_key(|function| function.start);
    found
}
