//! The headers and tables of an ELF file of 32 or 64 bits.

use object::elf::{FileHeader32, FileHeader64, DT_NEEDED, DT_STRTAB, ELFCLASS32, ELFCLASS64, ET_EXEC};
use object::elf::{PT_LOAD, PT_NOTE, SHT_SYMTAB, STT_FUNC, STT_NOTYPE};
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::read::StringTable;
use object::Endianness;
use std::collections::{BTreeMap, BTreeSet};

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It is something else.
    #[error("it is not an ELF file")]
    NotElf,
    /// It is cut short, or says what cannot be.
    #[error(transparent)]
    Damaged(#[from] object::Error),
    /// The strings of its dynamic section lie in no segment.
    #[error("it has no string table")]
    NoNames,
}

/// A part of the file, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    kind: u32,
    /// Where it begins in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub file_bytes: u64,
    /// The virtual address.
    pub address: u64,
    /// The physical address.
    pub physical: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
}

impl Segment {
    /// Whether it stands in memory when the file runs.
    pub fn is_loaded(&self) -> bool {
        self.kind == PT_LOAD
    }

    /// Whether it holds notes.
    pub fn is_note(&self) -> bool {
        self.kind == PT_NOTE
    }
}

/// What an ELF file says in its headers; its first bytes are enough for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    /// 32 or 64.
    pub bits: u32,
    /// The processor, `EM_X86_64` and its like.
    pub machine: u16,
    /// Whether it is a program that is linked to fixed addresses.
    pub is_executable: bool,
    /// The address of the first instruction.
    pub entry: u64,
    /// Its program headers.
    pub segments: Vec<Segment>,
}

/// What a program asks of its loader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The path of the loader.
    pub interpreter: Option<String>,
    /// Its `DT_NEEDED`, in their order.
    pub libraries: Vec<String>,
}

macro_rules! by_class {
    ($content:expr, $read:ident $(, $more:expr)*) => {
        match $content {
            [0x7f, b'E', b'L', b'F', ELFCLASS32, ..] => $read::<FileHeader32<Endianness>>($content $(, $more)*),
            [0x7f, b'E', b'L', b'F', ELFCLASS64, ..] => $read::<FileHeader64<Endianness>>($content $(, $more)*),
            _ => Err(ElfError::NotElf),
        }
    };
}

/// The headers of a file.
///
/// # Errors
///
/// [`ElfError`] for another file, or where the headers are cut off.
///
/// ```
/// let program = std::env::current_exe().and_then(std::fs::read)?;
/// assert!(!firstlight_elf::headers(&program).expect("a program").segments.is_empty());
/// assert!(firstlight_elf::headers(b"#!/bin/sh").is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn headers(content: &[u8]) -> Result<Headers, ElfError> {
    by_class!(content, read_headers)
}

/// The content of a section; nothing where the file has none of that name.
///
/// # Errors
///
/// [`ElfError`] for another file, or where its table of sections or the section is cut off.
pub fn section<'d>(content: &'d [u8], name: &str) -> Result<Option<&'d [u8]>, ElfError> {
    by_class!(content, read_section, name)
}

/// Whether a file has a table of symbols.
///
/// # Errors
///
/// [`ElfError`] for another file, or where its table of sections is cut off.
pub fn has_symbols(content: &[u8]) -> Result<bool, ElfError> {
    by_class!(content, read_has_symbols)
}

/// The loader and the libraries that a program or a library asks for.
///
/// # Errors
///
/// [`ElfError`] for another file, or where what names them is cut off.
pub fn needs(content: &[u8]) -> Result<Needs, ElfError> {
    by_class!(content, read_needs)
}

/// The names of symbols without a type that lie inside a function: labels of assembler. `/proc/kallsyms` lists them as it lists
/// functions; the file distinguishes them by their type (System V ABI, "Symbol Table").
///
/// # Errors
///
/// [`ElfError`] for another file, or where its symbols are cut off.
pub fn labels(content: &[u8]) -> Result<BTreeSet<String>, ElfError> {
    by_class!(content, read_labels)
}

fn read_headers<H: FileHeader<Endian = Endianness>>(content: &[u8]) -> Result<Headers, ElfError> {
    let header = H::parse(content)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, content)?.iter().map(|segment| Segment {
        kind: segment.p_type(endian),
        offset: segment.p_offset(endian).into(),
        file_bytes: segment.p_filesz(endian).into(),
        address: segment.p_vaddr(endian).into(),
        physical: segment.p_paddr(endian).into(),
        memory_bytes: segment.p_memsz(endian).into(),
    });
    Ok(Headers {
        bits: if header.is_class_64() { 64 } else { 32 },
        machine: header.e_machine(endian),
        is_executable: header.e_type(endian) == ET_EXEC,
        entry: header.e_entry(endian).into(),
        segments: segments.collect(),
    })
}

fn read_section<'d, H: FileHeader<Endian = Endianness>>(
    content: &'d [u8],
    name: &str,
) -> Result<Option<&'d [u8]>, ElfError> {
    let header = H::parse(content)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, content)?;
    let found = sections.section_by_name(endian, name.as_bytes());
    Ok(found.map(|(_, section)| section.data(endian, content)).transpose()?)
}

fn read_has_symbols<H: FileHeader<Endian = Endianness>>(content: &[u8]) -> Result<bool, ElfError> {
    let header = H::parse(content)?;
    let endian = header.endian()?;
    Ok(header.section_headers(endian, content)?.iter().any(|section| section.sh_type(endian) == SHT_SYMTAB))
}

fn read_needs<H: FileHeader<Endian = Endianness>>(content: &[u8]) -> Result<Needs, ElfError> {
    let header = H::parse(content)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, content)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut needs = Needs::default();
    for segment in segments {
        if needs.interpreter.is_none() {
            needs.interpreter = segment.interpreter(endian, content)?.map(text);
        }
        let Some(entries) = segment.dynamic(endian, content)? else { continue };
        let value = |wanted: u32| entries.iter().find(|entry| entry.tag32(endian) == Some(wanted));
        let Some(strings) = value(DT_STRTAB).map(|entry| entry.d_val(endian).into()) else { continue };
        let names = segments.iter().filter(|each| each.p_type(endian) == PT_LOAD).find_map(|each| {
            let within = strings.checked_sub(each.p_vaddr(endian).into())?;
            let bytes: u64 = each.p_filesz(endian).into();
            let offset: u64 = each.p_offset(endian).into();
            (within < bytes)
                .then(|| StringTable::new(content, offset.saturating_add(within), offset.saturating_add(bytes)))
        });
        let names = names.ok_or(ElfError::NoNames)?;
        for entry in entries.iter().filter(|entry| entry.tag32(endian) == Some(DT_NEEDED)) {
            needs.libraries.push(text(entry.string(endian, names)?));
        }
    }
    Ok(needs)
}

fn read_labels<H: FileHeader<Endian = Endianness>>(content: &[u8]) -> Result<BTreeSet<String>, ElfError> {
    let header = H::parse(content)?;
    let endian = header.endian()?;
    let table = header.sections(endian, content)?.symbols(endian, content, SHT_SYMTAB)?;
    let mut functions: BTreeMap<u16, Vec<(u64, u64)>> = BTreeMap::new();
    let mut named = BTreeSet::new();
    for symbol in table.iter().filter(|symbol| symbol.st_type() == STT_FUNC) {
        let start: u64 = symbol.st_value(endian).into();
        let end = start.saturating_add(symbol.st_size(endian).into());
        functions.entry(symbol.st_shndx(endian)).or_default().push((start, end));
        named.insert(symbol.name(endian, table.strings())?);
    }
    let mut labels = BTreeSet::new();
    for symbol in table.iter().filter(|symbol| symbol.st_type() == STT_NOTYPE) {
        let at: u64 = symbol.st_value(endian).into();
        let around = functions.get(&symbol.st_shndx(endian)).map_or(&[][..], Vec::as_slice);
        if around.iter().any(|(start, end)| *start < at && at < *end) {
            let name = symbol.name(endian, table.strings())?;
            if !name.is_empty() && !named.contains(name) {
                labels.insert(String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    Ok(labels)
}
