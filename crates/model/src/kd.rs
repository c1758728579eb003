//! The kd table of a bundle, whole or limited to a phase or to what one function did.

use crate::table::{read, Values};
use crate::ModelError;
use firstlight_profile::kd::{kd_table, KdNode, KdRow};
use rustc_hash::FxHashMap;
use std::path::Path;

/// What a row of the table stands for: function, module and kind.
pub type RowName = (String, Option<String>, String);

/// The rows of the kd table of the bundle in this directory, those that did anything.
///
/// # Errors
///
/// [`ModelError::NotFound`] for a phase or function that the bundle does not have, [`ModelError::Inconsistent`] when
/// its tables contradict one another, and what [`read`] says.
pub fn bundle_kd(
    bundle: &Path,
    phase: Option<&str>,
    under: Option<&str>,
) -> Result<Vec<(RowName, KdRow, Option<String>)>, ModelError> {
    let tree = Tree::read(bundle)?;
    let nodes = match phase {
        Some(phase) => tree.in_phase(bundle, phase)?,
        None => tree.nodes.clone(),
    };
    let wanted = under.map(|name| tree.rows_called(name)).transpose()?;
    // Functions of one name are told apart by their module and kind; under a name stands for all of them.
    let mut table = vec![KdRow::default(); tree.rows.len()];
    match wanted {
        None => table = kd_table(&nodes, tree.rows.len(), None),
        Some(wanted) => {
            let merged: Vec<KdNode> = nodes
                .iter()
                .map(|node| KdNode { row: if wanted.contains(&node.row) { wanted[0] } else { node.row }, ..*node })
                .collect();
            for (row, figures) in kd_table(&merged, tree.rows.len(), Some(wanted[0])).into_iter().enumerate() {
                table[row] = figures;
            }
        }
    }
    let named = |row: usize| tree.rows.get(row).map(|name| name.0.clone());
    let seen = |row: &KdRow| row.count > 0 || row.total_instructions > 0 || row.total_ns > 0;
    Ok(tree
        .rows
        .iter()
        .cloned()
        .zip(table)
        .filter(|(_, row)| seen(row))
        .map(|(name, row)| (name, row, row.max_sub.and_then(named)))
        .collect())
}

struct Tree {
    nodes: Vec<KdNode>,
    rows: Vec<RowName>,
}

impl Tree {
    fn read(bundle: &Path) -> Result<Self, ModelError> {
        let columns = read("calls", bundle)?;
        let [_, Values::Int64(parents), Values::Text(functions), Values::Text(modules), Values::Text(kinds), Values::Int64(calls), Values::Int64(own), _, Values::Int64(own_ns), _] =
            columns.as_slice()
        else {
            return Err(ModelError::Inconsistent("calls"));
        };
        let mut numbers: FxHashMap<RowName, usize> = FxHashMap::default();
        let mut rows = Vec::new();
        let mut nodes = Vec::with_capacity(parents.len());
        for index in 0..parents.len() {
            let text = |values: &[Option<String>]| values[index].clone().unwrap_or_default();
            let name = (text(functions), modules[index].clone(), text(kinds));
            let row = *numbers.entry(name).or_insert_with_key(|name| {
                rows.push(name.clone());
                rows.len() - 1
            });
            let parent = parents[index].and_then(|parent| usize::try_from(parent).ok()).unwrap_or(0);
            if index > 0 && parent >= index {
                return Err(ModelError::Inconsistent("calls"));
            }
            nodes.push(KdNode {
                parent,
                row,
                calls: count(calls[index]),
                self_instructions: count(own[index]),
                self_ns: count(own_ns[index]),
            });
        }
        Ok(Self { nodes, rows })
    }

    fn in_phase(&self, bundle: &Path, wanted: &str) -> Result<Vec<KdNode>, ModelError> {
        let columns = read("phase_calls", bundle)?;
        let [Values::Int64(numbers), Values::Text(phases), Values::Int64(calls), Values::Int64(own), Values::Int64(own_ns)] =
            columns.as_slice()
        else {
            return Err(ModelError::Inconsistent("phase_calls"));
        };
        let empty = |node: &KdNode| KdNode { calls: 0, self_instructions: 0, self_ns: 0, ..*node };
        let mut nodes: Vec<KdNode> = self.nodes.iter().map(empty).collect();
        let mut found = false;
        for index in (0..numbers.len()).filter(|index| phases[*index].as_deref() == Some(wanted)) {
            found = true;
            let number = numbers[index].and_then(|number| usize::try_from(number).ok());
            let node =
                number.and_then(|number| nodes.get_mut(number)).ok_or(ModelError::Inconsistent("phase_calls"))?;
            node.calls += count(calls[index]);
            node.self_instructions += count(own[index]);
            node.self_ns += count(own_ns[index]);
        }
        if found {
            Ok(nodes)
        } else {
            Err(ModelError::NotFound { kind: "phase", name: wanted.to_owned() })
        }
    }

    fn rows_called(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        let rows: Vec<usize> = (0..self.rows.len()).filter(|row| self.rows[*row].0 == name).collect();
        if rows.is_empty() {
            return Err(ModelError::NotFound { kind: "function", name: name.to_owned() });
        }
        Ok(rows)
    }
}

fn count(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}
