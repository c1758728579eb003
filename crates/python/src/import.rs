//! Boot records for Python: `firstlight_merge`.

use crate::errors::unmerged;
use firstlight_formats::evidence::Problem;
use firstlight_formats::registry::formats;
use firstlight_formats::FormatError;
use firstlight_merge::boot_selection::{boots, matching};
use firstlight_merge::machines::{self, machine_conflicts};
use firstlight_merge::record::{Read, Record};
use firstlight_merge::{merge_any, MergeSummary, SourceSummary, WantedMark};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Name and title of every format, in the order in which they are tried.
#[pyfunction]
pub fn record_formats() -> Vec<(&'static str, &'static str)> {
    formats().map(|format| (format.name(), format.title())).collect()
}

/// `firstlight_merge::machines::architecture_family`.
#[pyfunction]
pub fn architecture_family(name: &str) -> &str {
    machines::architecture_family(name)
}

/// `firstlight_merge::machines::is_same_model`.
#[pyfunction]
pub fn is_same_model(one: &str, other: &str) -> bool {
    machines::is_same_model(one, other)
}

/// The pattern of a mark: `firstlight_merge::WantedMark`.
#[pyclass(frozen, module = "firstlight._core")]
pub struct Pattern {
    wanted: WantedMark,
}

#[pymethods]
impl Pattern {
    #[new]
    fn new(pattern: &str) -> PyResult<Self> {
        Ok(Self { wanted: WantedMark::new("", pattern).map_err(PyValueError::new_err)? })
    }

    fn matches(&self, line: &str) -> bool {
        self.wanted.matches(line)
    }
}

/// `firstlight_merge::recorded::add_console`.
#[pyfunction]
pub fn add_console(
    py: Python<'_>,
    console: PathBuf,
    ring: Option<Vec<u8>>,
    bundle: PathBuf,
) -> PyResult<Vec<(String, String)>> {
    let bytes = std::fs::read(&console)?;
    py.detach(|| firstlight_merge::recorded::add_console(&bytes, ring.as_deref(), &bundle))
        .map_err(|error| unmerged(error, "the console cannot be read", &console.display()))
}

/// `firstlight_merge::shown::add_units`.
#[pyfunction]
pub fn add_units(py: Python<'_>, shown: Vec<u8>, clocks: String, bundle: PathBuf) -> PyResult<Vec<(String, String)>> {
    py.detach(|| firstlight_merge::shown::add_units(&shown, &clocks, &bundle))
        .map_err(|error| unmerged(error, "the states of systemd's units cannot be read", &bundle.display()))
}

/// Records that were read, until their tables are written.
#[pyclass(frozen, module = "firstlight._core")]
pub struct Records {
    reads: Vec<Read>,
}

#[pymethods]
impl Records {
    /// `firstlight_merge::record::Record::read`, for each `(path, file, name, forced)`.
    #[new]
    fn new(py: Python<'_>, records: Vec<(PathBuf, String, String, Option<String>)>) -> Self {
        let record = |(path, file, name, forced)| Record { path, file, name, forced };
        let read = || records.into_iter().map(record).map(|record| record.read()).collect();
        Self { reads: py.detach(read) }
    }

    /// What became of each record, and the boots that it holds.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for read in &self.reads {
            let outcome = PyDict::new(py);
            outcome.set_item("file", &read.file)?;
            outcome.set_item("error", read.outcome.as_ref().err().map(ToString::to_string))?;
            outcome.set_item("kind", read.outcome.as_ref().err().map(kind))?;
            let formats = read.outcome.iter().flatten().map(|evidence| evidence.format.name);
            outcome.set_item("format", formats.into_iter().next())?;
            let held = PyList::empty(py);
            for boot in boots(read) {
                let one = PyDict::new(py);
                one.set_item("number", boot.number)?;
                one.set_item("first_line", boot.first_line)?;
                one.set_item("release", boot.release)?;
                one.set_item("length_ns", boot.length_ns)?;
                one.set_item("parsed", boot.understood)?;
                held.append(one)?;
            }
            outcome.set_item("boots", held)?;
            all.append(outcome)?;
        }
        Ok(all)
    }

    /// `firstlight_merge::machines::machine_conflicts`, of what belongs to a boot of a record: fact, and two files with their values.
    fn machine_conflicts(&self, record: usize, boot: u32) -> Vec<(&'static str, String, String, String, String)> {
        let file = |read: usize| self.reads.get(read).map(|read| read.file.clone()).unwrap_or_default();
        machine_conflicts(&self.reads, &matching(&self.reads, record, boot))
            .into_iter()
            .map(|found| (found.fact, file(found.one.0), found.one.1, file(found.other.0), found.other.1))
            .collect()
    }

    /// `firstlight_merge::merge_any`, of what belongs to a boot of a record (both by their number).
    #[pyo3(signature = (record, boot, out_dir, mixed=false, marks=Vec::new()))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        record: usize,
        boot: u32,
        out_dir: PathBuf,
        mixed: bool,
        marks: Vec<(String, String)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        if record >= self.reads.len() {
            return Err(PyIndexError::new_err("there is no such record"));
        }
        let wanted: Vec<WantedMark> = marks
            .iter()
            .map(|(name, pattern)| WantedMark::new(name, pattern))
            .collect::<Result<_, _>>()
            .map_err(PyValueError::new_err)?;
        let write = || merge_any(&self.reads, &matching(&self.reads, record, boot), mixed, &wanted, &out_dir);
        let summary = py.detach(write);
        described(py, summary.map_err(|error| unmerged(error, "the bundle cannot be written", &out_dir.display()))?)
    }
}

fn kind(error: &FormatError) -> &'static str {
    match error {
        FormatError::Read(_) => "read",
        FormatError::NotThis { .. } => "not_this",
        FormatError::NoBoot { .. } => "no_boot",
        FormatError::Version { .. } => "version",
        FormatError::UnknownFormat(_) => "unknown_format",
        FormatError::Unrecognised(_) => "unrecognised",
    }
}

fn described(py: Python<'_>, summary: MergeSummary) -> PyResult<Bound<'_, PyDict>> {
    let said = PyDict::new(py);
    said.set_item("origin", summary.origin)?;
    said.set_item("length_ns", summary.length_ns)?;
    let sources = PyList::empty(py);
    for one in summary.sources {
        sources.append(source(py, one)?)?;
    }
    said.set_item("sources", sources)?;
    let contradictions = PyList::empty(py);
    for one in summary.contradictions {
        let told = PyDict::new(py);
        told.set_item("subject", one.what)?;
        let statement = |(source, value): (String, String)| {
            let statement = PyDict::new(py);
            statement.set_item("source", source)?;
            statement.set_item("value", value)?;
            Ok(statement)
        };
        told.set_item("statements", one.statements.into_iter().map(statement).collect::<PyResult<Vec<_>>>()?)?;
        contradictions.append(told)?;
    }
    said.set_item("contradictions", contradictions)?;
    let all = summary.completeness;
    said.set_item("missing", all.missing)?;
    said.set_item("unmatched_ready", summary.unmatched_ready)?;
    said.set_item("parsed", all.understood)?;
    said.set_item("lost", all.lost)?;
    let whole = all.understood.saturating_add(all.lost);
    let share = (all.countable && whole > 0).then(|| all.understood as f64 / whole as f64);
    said.set_item("share", share)?;
    said.set_item("warnings", summary.warnings)?;
    let grades: Vec<(&str, &str, u64)> =
        summary.grades.into_iter().map(|((kind, grade), number)| (kind, grade, number)).collect();
    said.set_item("grades", grades)?;
    said.set_item("lines", summary.lines)?;
    said.set_item("copies", summary.copies)?;
    said.set_item("nodes", summary.nodes)?;
    said.set_item("kd_rows", summary.kd_rows)?;
    said.set_item("facts", summary.facts)?;
    said.set_item("marks", summary.marks)?;
    Ok(said)
}

fn source(py: Python<'_>, source: SourceSummary) -> PyResult<Bound<'_, PyDict>> {
    let said = PyDict::new(py);
    said.set_item("file", source.file)?;
    said.set_item("format", source.format)?;
    said.set_item("part", source.part)?;
    said.set_item("clock", source.clock)?;
    said.set_item("parsed", source.understood)?;
    said.set_item("unparsed", source.not_understood)?;
    let fit = source.fit.map(|fit| {
        let told = PyDict::new(py);
        told.set_item("reference", "bundle")?;
        told.set_item("offset_ns", fit.line.offset_ns)?;
        told.set_item("rate", fit.line.rate)?;
        told.set_item("shared_events", fit.shared)?;
        told.set_item("residual_median_ns", fit.residual_median_ns)?;
        told.set_item("residual_max_ns", fit.residual_max_ns)?;
        told.set_item("basis", fit.how)?;
        PyResult::Ok(told)
    });
    said.set_item("fit", fit.transpose()?)?;
    let problem = |problem: Problem| {
        let told = PyDict::new(py);
        told.set_item("kind", problem.kind.name())?;
        told.set_item("detail", problem.detail)?;
        told.set_item("line", problem.line)?;
        told.set_item("lost", problem.lost)?;
        Ok(told)
    };
    said.set_item("problems", source.problems.into_iter().map(problem).collect::<PyResult<Vec<_>>>()?)?;
    Ok(said)
}
