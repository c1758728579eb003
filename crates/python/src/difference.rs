//! The difference of two trees for Python.

use crate::errors::unreadable;
use crate::frame::{frame, integers, texts};
use firstlight_model::difference::tree_difference as difference;
use firstlight_profile::difference::Merged;
use firstlight_schema::interned::NO_TEXT;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use std::path::PathBuf;

type Figure = fn(&Merged) -> i64;

fn own(node: &Merged, side: usize) -> firstlight_profile::difference::Figures {
    node.own[side].unwrap_or_default()
}

/// Nothing of these can leave its range: the engine has checked the sum of all.
const FIGURES: [(&str, Figure); 14] = [
    ("in_a", |node| i64::from(node.own[0].is_some())),
    ("in_b", |node| i64::from(node.own[1].is_some())),
    ("calls_a", |node| own(node, 0).calls),
    ("calls_b", |node| own(node, 1).calls),
    ("self_instructions_a", |node| own(node, 0).instructions),
    ("self_instructions_b", |node| own(node, 1).instructions),
    ("self_ns_a", |node| own(node, 0).ns),
    ("self_ns_b", |node| own(node, 1).ns),
    ("total_instructions_a", |node| node.total[0].instructions),
    ("total_instructions_b", |node| node.total[1].instructions),
    ("total_ns_a", |node| node.total[0].ns),
    ("total_ns_b", |node| node.total[1].ns),
    ("gross_ns", |node| node.gross_ns),
    ("parent", |node| i64::try_from(node.parent).unwrap_or(0)),
];

/// Two trees as one.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct TreeDifference {
    /// The nodes in which or below which anything differs, parents first; `in_a` and `in_b` are 0 or 1.
    nodes: Py<PyRecordBatch>,
    /// For each node of A, as its bundle numbers it, its `number` in the merged tree; and the same of B.
    places: (Py<PyRecordBatch>, Py<PyRecordBatch>),
    /// Of both trees.
    all_nodes: usize,
    /// Whether both trees count instructions.
    instructions: bool,
}

/// `firstlight_model::difference::tree_difference`.
#[pyfunction]
pub fn tree_difference(py: Python<'_>, a: PathBuf, b: PathBuf) -> PyResult<TreeDifference> {
    let both = format!("{}, {}", a.display(), b.display());
    let merged = py.detach(|| difference(&a, &b)).map_err(|error| unreadable(&error, &both))?;
    let nodes = &merged.nodes;
    let none = (NO_TEXT, NO_TEXT, NO_TEXT);
    let key =
        |node: &Merged| usize::try_from(node.key).ok().and_then(|key| merged.keys.get(key).copied()).unwrap_or(none);
    let named = |part: fn(&Merged, (u32, u32, u32)) -> u32| {
        texts(nodes.iter().map(|node| merged.texts.get(part(node, key(node)))))
    };
    let mut columns: Vec<_> =
        FIGURES.iter().map(|(name, figure)| (*name, integers(nodes.iter().map(figure)))).collect();
    let numbers = |all: &[usize]| integers(all.iter().map(|number| i64::try_from(*number).ok()));
    columns.push(("number", numbers(&merged.numbers)));
    let places = |side: usize| Py::new(py, frame(vec![("number", numbers(&merged.places[side]))])?);
    columns.push(("function", named(|node, key| node.label.unwrap_or(key.0))));
    columns.push(("module", named(|_, key| key.1)));
    columns.push(("kind", named(|_, key| key.2)));
    Ok(TreeDifference {
        nodes: Py::new(py, frame(columns)?)?,
        places: (places(0)?, places(1)?),
        all_nodes: merged.all_nodes,
        instructions: merged.instructions,
    })
}
