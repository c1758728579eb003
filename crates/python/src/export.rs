//! `firstlight_export` for Python.

use crate::errors::unexported;
use crate::frame::{counts, frame, integers, texts};
use firstlight_export::folded::write_folded;
use firstlight_export::lanes::{sweep, Interval, Step};
use firstlight_export::perfetto::write_perfetto;
use firstlight_export::stack::{Origin, Unit};
use firstlight_export::stacks::stacks;
use firstlight_export::timeline::{timeline, GROUPS};
use firstlight_export::ExportError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

fn unit_of(unit: &str) -> PyResult<Unit> {
    match unit {
        "time" => Ok(Unit::Time),
        "instructions" => Ok(Unit::Instructions),
        _ => Err(PyValueError::new_err(format!("no unit is called `{unit}`"))),
    }
}

/// The spans that no axis of time can hold.
#[pyclass(frozen, get_all, module = "firstlight._core")]
#[derive(Clone, Copy)]
pub struct LeftOut {
    no_start: u64,
    ends_before_start: u64,
}

impl From<firstlight_export::timeline::LeftOut> for LeftOut {
    fn from(left_out: firstlight_export::timeline::LeftOut) -> Self {
        Self { no_start: left_out.no_start, ends_before_start: left_out.ends_before_start }
    }
}

/// What a trace of Perfetto holds.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct Trace {
    spans: u64,
    lines: u64,
    lines_without_time: u64,
    shift_ns: u64,
    left_out: LeftOut,
}

/// `firstlight_export::perfetto::write_perfetto`.
#[pyfunction]
pub fn export_perfetto(
    py: Python<'_>,
    bundle: PathBuf,
    out: PathBuf,
    title: &str,
    description: &str,
) -> PyResult<Trace> {
    let written = py.detach(|| write_perfetto(&bundle, &out, title, description));
    let written = written.map_err(|error| unexported(&error, &bundle.display()))?;
    Ok(Trace {
        spans: written.spans,
        lines: written.lines,
        lines_without_time: written.lines_without_time,
        shift_ns: written.shift_ns,
        left_out: written.left_out.into(),
    })
}

/// A calling-context tree with weights, or the tree of spans.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct Stacks {
    /// `calls` or `spans`.
    origin: &'static str,
    /// Nodes without a known weight.
    unknown: u64,
    /// Nodes whose children last longer than they do.
    overlapped: u64,
    /// `parent`, `row`, `name` and `weight` of each node; none where they are in a file.
    nodes: Option<Py<PyRecordBatch>>,
}

impl Stacks {
    fn new(stacks: &firstlight_export::stack::Stacks, nodes: Option<Py<PyRecordBatch>>) -> Self {
        let origin = match stacks.origin {
            Origin::Calls => "calls",
            Origin::Spans => "spans",
        };
        Self { origin, unknown: stacks.unknown, overlapped: stacks.overlapped, nodes }
    }
}

/// `firstlight_export::folded::write_folded`.
#[pyfunction]
pub fn export_folded(py: Python<'_>, bundle: PathBuf, out: PathBuf, unit: &str) -> PyResult<Stacks> {
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
    Ok(Stacks::new(&written.map_err(|error| unexported(&error, &bundle.display()))?, None))
}

/// `firstlight_export::stacks::stacks`.
#[pyfunction]
pub fn weighted_stacks(py: Python<'_>, bundle: PathBuf, unit: &str) -> PyResult<Stacks> {
    let unit = unit_of(unit)?;
    let stacks = py.detach(|| stacks(&bundle, unit)).map_err(|error| unexported(&error, &bundle.display()))?;
    let place = |place: usize| i64::try_from(place).ok();
    let nodes = frame(vec![
        ("parent", integers(stacks.nodes.iter().map(|node| node.parent.and_then(place)))),
        ("row", integers(stacks.nodes.iter().map(|node| place(node.row)))),
        ("name", texts(stacks.nodes.iter().map(|node| Some(stacks.name(node))))),
        ("weight", counts(stacks.nodes.iter().map(|node| Some(node.weight)))),
    ])?;
    Ok(Stacks::new(&stacks, Some(Py::new(py, nodes)?)))
}

/// A part of a track in which spans only nest.
#[pyclass(frozen, get_all, module = "firstlight._core")]
#[derive(Clone)]
pub struct Lane {
    group: &'static str,
    track: String,
    number: usize,
    /// In order of time: a row of the spans where it begins, its complement (`~row`) where it ends.
    steps: Vec<i64>,
}

/// The spans of a boot that can be drawn.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct Lanes {
    lanes: Vec<Lane>,
    /// `start_ns` and `end_ns` of every row of the spans; null for what is not drawn, or has no end.
    times: Py<PyRecordBatch>,
    left_out: LeftOut,
}

/// `firstlight_export::timeline` in lanes.
#[pyfunction]
pub fn span_lanes(py: Python<'_>, bundle: PathBuf) -> PyResult<Lanes> {
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
            let lane = |(number, steps)| Lane { group, track: track.name.clone(), number, steps };
            lanes.extend(steps.into_iter().enumerate().map(lane));
        }
        Ok((lanes, start, end, timeline.left_out))
    });
    let (lanes, start, end, left_out) = worked.map_err(|error| unexported(&error, &bundle.display()))?;
    let times = frame(vec![("start_ns", integers(start)), ("end_ns", integers(end))])?;
    Ok(Lanes { lanes, times: Py::new(py, times)?, left_out: left_out.into() })
}
