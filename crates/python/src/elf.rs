//! ELF files for Python, as `firstlight_elf` reads them; a file that is none, or is damaged, is a `ValueError`.

use firstlight_elf::{ElfError, Headers, Segment};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;

fn wrong(error: ElfError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A part of an ELF file, and where it goes.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct ElfSegment {
    is_loaded: bool,
    is_note: bool,
    offset: u64,
    file_bytes: u64,
    address: u64,
    physical: u64,
    memory_bytes: u64,
}

impl From<Segment> for ElfSegment {
    fn from(segment: Segment) -> Self {
        Self {
            is_loaded: segment.is_loaded(),
            is_note: segment.is_note(),
            offset: segment.offset,
            file_bytes: segment.file_bytes,
            address: segment.address,
            physical: segment.physical,
            memory_bytes: segment.memory_bytes,
        }
    }
}

/// The headers of an ELF file.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct ElfHeaders {
    bits: u32,
    machine: u16,
    is_executable: bool,
    entry: u64,
    segments: Vec<Py<ElfSegment>>,
}

/// `firstlight_elf::headers`.
#[pyfunction]
pub fn elf_headers(py: Python<'_>, content: &[u8]) -> PyResult<ElfHeaders> {
    let Headers { bits, machine, is_executable, entry, segments } = firstlight_elf::headers(content).map_err(wrong)?;
    let segments =
        segments.into_iter().map(|segment| Py::new(py, ElfSegment::from(segment))).collect::<PyResult<_>>()?;
    Ok(ElfHeaders { bits, machine, is_executable, entry, segments })
}

/// `firstlight_elf::section`.
#[pyfunction]
pub fn elf_section<'d>(content: &'d [u8], name: &str) -> PyResult<Option<&'d [u8]>> {
    firstlight_elf::section(content, name).map_err(wrong)
}

/// `firstlight_elf::has_symbols`.
#[pyfunction]
pub fn elf_has_symbols(content: &[u8]) -> PyResult<bool> {
    firstlight_elf::has_symbols(content).map_err(wrong)
}

/// `firstlight_elf::needs`: the path of the loader, and the names of libraries.
#[pyfunction]
pub fn elf_needs(content: &[u8]) -> PyResult<(Option<String>, Vec<String>)> {
    firstlight_elf::needs(content).map(|needs| (needs.interpreter, needs.libraries)).map_err(wrong)
}

/// `firstlight_elf::labels`.
#[pyfunction]
pub fn elf_labels(content: &[u8]) -> PyResult<BTreeSet<String>> {
    firstlight_elf::labels(content).map_err(wrong)
}
