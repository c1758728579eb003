//! `firstlight_export` for Python.

use crate::raised;
use firstlight_export::folded::write_folded;
use firstlight_export::lanes::{sweep, Interval, Step};
use firstlight_export::perfetto::write_perfetto;
use firstlight_export::stack::{Origin, Stacks, Unit};
use firstlight_export::stacks::stacks;
use firstlight_export::timeline::{timeline, LeftOut, GROUPS};
use firstlight_export::ExportError;
use pyo3::exceptions::{PyLookupError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

fn failed(error: ExportError) -> PyErr {
    match error {
        ExportError::Model(error) => raised(error),
        ExportError::Table(error) => raised(error.into()),
        ExportError::Write { .. } => PyOSError::new_err(error.to_string()),
        ExportError::Nothing(what) => PyLookupError::new_err(what),
    }
}

fn unit_of(unit: &str) -> PyResult<Unit> {
    match unit {
        "time" => Ok(Unit::Time),
        "instructions" => Ok(Unit::Instructions),
        _ => Err(PyValueError::new_err(format!("no unit is called `{unit}`"))),
    }
}

fn set_left_out(said: &Bound<'_, PyDict>, left_out: LeftOut) -> PyResult<()> {
    said.set_item("no_start", left_out.no_start)?;
    said.set_item("ends_before_start", left_out.ends_before_start)
}

/// `firstlight_export::perfetto::write_perfetto`.
#[pyfunction]
pub fn export_perfetto<'py>(
    py: Python<'py>,
    bundle: PathBuf,
    out: PathBuf,
    title: &str,
    said: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let written = py.detach(|| write_perfetto(&bundle, &out, title, said)).map_err(failed)?;
    let about = PyDict::new(py);
    about.set_item("spans", written.spans)?;
    set_left_out(&about, written.left_out)?;
    about.set_item("lines", written.lines)?;
    about.set_item("lines_without_time", written.lines_without_time)?;
    about.set_item("shift_ns", written.shift_ns)?;
    Ok(about)
}

fn origin_name(stacks: &Stacks) -> &'static str {
    match stacks.origin {
        Origin::Calls => "calls",
        Origin::Spans => "spans",
    }
}

fn set_stacks(about: &Bound<'_, PyDict>, stacks: &Stacks) -> PyResult<()> {
    about.set_item("origin", origin_name(stacks))?;
    about.set_item("unknown", stacks.unknown)?;
    about.set_item("overlapped", stacks.overlapped)
}

/// `firstlight_export::folded::write_folded`.
#[pyfunction]
pub fn export_folded<'py>(py: Python<'py>, bundle: PathBuf, out: PathBuf, unit: &str) -> PyResult<Bound<'py, PyDict>> {
    let unit = unit_of(unit)?;
    let written = py.detach(|| {
        let stacks = stacks(&bundle, unit)?;
        let write = || {
            let mut file = BufWriter::new(File::create(&out)?);
            write_folded(&stacks, &mut file)?;
            file.flush()
        };
        write().map_err(|error| ExportError::Write { path: out.clone(), error })?;
        Ok(stacks)
    });
    let about = PyDict::new(py);
    set_stacks(&about, &written.map_err(failed)?)?;
    Ok(about)
}

/// `firstlight_export::stacks::stacks`, as columns.
#[pyfunction]
pub fn weighted_stacks<'py>(py: Python<'py>, bundle: PathBuf, unit: &str) -> PyResult<Bound<'py, PyDict>> {
    let unit = unit_of(unit)?;
    let stacks = py.detach(|| stacks(&bundle, unit)).map_err(failed)?;
    let about = PyDict::new(py);
    set_stacks(&about, &stacks)?;
    about.set_item("parent", stacks.nodes.iter().map(|node| node.parent).collect::<Vec<_>>())?;
    about.set_item("row", stacks.nodes.iter().map(|node| node.row).collect::<Vec<_>>())?;
    about.set_item("name", stacks.nodes.iter().map(|node| stacks.name(node)).collect::<Vec<_>>())?;
    about.set_item("weight", stacks.nodes.iter().map(|node| node.weight).collect::<Vec<_>>())?;
    Ok(about)
}

type Lane = (&'static str, String, usize, Vec<i64>);

/// `firstlight_export::timeline` in lanes: group, track, lane, and its steps in order: a row of the spans where it
/// begins, the row's complement (`~row`) where it ends. `start` and `end` are of every row.
#[pyfunction]
pub fn span_lanes(py: Python<'_>, bundle: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let worked = py.detach(|| {
        let wanted = ["kind", "track", "start_ns", "end_ns", "duration_ns"];
        let timeline = timeline(&bundle, &wanted)?;
        let mut start: Vec<Option<i64>> = vec![None; timeline.spans.rows()];
        let mut end = start.clone();
        let mut lanes: Vec<Lane> = Vec::new();
        for track in &timeline.tracks {
            let intervals: Vec<Interval> = track.spans.iter().map(|span| span.interval).collect();
            let mut steps: Vec<Vec<i64>> = Vec::new();
            sweep(&intervals, |step, lane| {
                let (Step::Begin(number) | Step::End(number)) = step;
                let row = track.spans.get(number).and_then(|span| i64::try_from(span.row).ok()).unwrap_or(0);
                if lane == steps.len() {
                    steps.push(Vec::new());
                }
                if let Some(steps) = steps.get_mut(lane) {
                    steps.push(if matches!(step, Step::Begin(_)) { row } else { !row });
                }
            });
            for span in &track.spans {
                if let (Some(start), Some(end)) = (start.get_mut(span.row), end.get_mut(span.row)) {
                    (*start, *end) = (Some(span.interval.start), span.interval.end);
                }
            }
            let group = GROUPS.get(track.group).map_or("", |(name, _)| name);
            lanes.extend(steps.into_iter().enumerate().map(|(lane, steps)| (group, track.name.clone(), lane, steps)));
        }
        Ok((lanes, start, end, timeline.left_out))
    });
    let (lanes, start, end, left_out) = worked.map_err(failed)?;
    let about = PyDict::new(py);
    about.set_item("lanes", lanes)?;
    about.set_item("start", start)?;
    about.set_item("end", end)?;
    set_left_out(&about, left_out)?;
    Ok(about)
}
