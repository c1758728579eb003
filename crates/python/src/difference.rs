//! The difference of two trees for Python: columns of numbers as bytes, because a boot has a third of a million nodes.

use crate::raised;
use firstlight_model::difference::tree_difference as difference;
use firstlight_profile::difference::Merged;
use firstlight_schema::interned::NO_TEXT;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
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

/// `firstlight_model::difference::tree_difference`: each column of numbers is the bytes of int64, little-endian; `function`,
/// `module` and `kind` are numbers of `texts`, -1 for none.
#[pyfunction]
pub fn tree_difference(py: Python<'_>, a: PathBuf, b: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let (merged, columns) = py
        .detach(|| -> Result<_, firstlight_model::ModelError> {
            let merged = difference(&a, &b)?;
            let mut columns: Vec<(&str, Vec<u8>)> = Vec::with_capacity(FIGURES.len() + 3);
            for (name, figure) in FIGURES {
                columns.push((name, merged.nodes.iter().flat_map(|node| figure(node).to_le_bytes()).collect()));
            }
            let none = (NO_TEXT, NO_TEXT, NO_TEXT);
            let key = |node: &Merged| {
                usize::try_from(node.key).ok().and_then(|key| merged.keys.get(key).copied()).unwrap_or(none)
            };
            let mut names = [Vec::new(), Vec::new(), Vec::new()];
            for node in &merged.nodes {
                let (function, module, kind) = key(node);
                for (column, text) in names.iter_mut().zip([node.label.unwrap_or(function), module, kind]) {
                    let number = if text == NO_TEXT { -1 } else { i64::from(text) };
                    column.extend_from_slice(&number.to_le_bytes());
                }
            }
            columns.extend(["function", "module", "kind"].into_iter().zip(names));
            Ok((merged, columns))
        })
        .map_err(raised)?;
    let numbers = PyDict::new(py);
    for (name, bytes) in columns {
        numbers.set_item(name, PyBytes::new(py, &bytes))?;
    }
    let said = PyDict::new(py);
    said.set_item("columns", numbers)?;
    said.set_item("texts", merged.texts.iter().collect::<Vec<_>>())?;
    said.set_item("all_nodes", merged.all_nodes)?;
    said.set_item("instructions", merged.instructions)?;
    Ok(said)
}
