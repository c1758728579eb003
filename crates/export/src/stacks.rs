//! Where weighted stacks come from: the calling-context tree, or where there is none the spans with their parents.

use crate::shared_time::{shared_time, COLUMNS};
use crate::stack::{Node, Origin, Stacks, Unit};
use crate::ExportError;
use firstlight_model::folding::{self, Parts, Tree};
use firstlight_model::ModelError;
use firstlight_schema::interned::{read, Interned, NO_TEXT};
use firstlight_schema::SpanKind;
use std::collections::HashMap;
use std::path::Path;

/// Reads the stacks of the bundle at *bundle*.
///
/// # Errors
///
/// [`ExportError::Nothing`] when there are none or none has this unit, else what reading the tables says.
pub fn stacks(bundle: &Path, unit: Unit) -> Result<Stacks, ExportError> {
    let stacks = match calls(bundle, unit)? {
        Some(stacks) => stacks,
        None => spans(bundle, unit)?,
    };
    match (stacks.nodes.is_empty(), stacks.nodes.iter().any(|node| node.weight > 0), unit) {
        (true, _, _) => Err(ExportError::Nothing("the boot has neither a profile nor spans")),
        (_, false, Unit::Instructions) => Err(ExportError::Nothing("the boot counts no instructions")),
        (_, false, Unit::Time) => Err(ExportError::Nothing("nothing in the boot has a duration")),
        _ => Ok(stacks),
    }
}

fn calls(bundle: &Path, unit: Unit) -> Result<Option<Stacks>, ExportError> {
    let column = match unit {
        Unit::Time => "self_ns",
        Unit::Instructions => "self_instructions",
    };
    let mut table = read("calls", &[folding::COLUMNS.as_slice(), &["node", column]].concat(), bundle)?;
    if table.rows() == 0 {
        return Ok(None);
    }
    let mut stacks = Stacks::new(Origin::Calls);
    let tree = Tree::of(&mut table, Parts::Folded)?;
    let folded = tree.folded();
    for (row, (context, name)) in tree.contexts.iter().zip(&tree.functions).enumerate() {
        let value = |column: &str| table.integers(column).get(row).copied().flatten();
        if value("node").and_then(|node| usize::try_from(node).ok()) != Some(row) {
            return Err(ModelError::Inconsistent("calls").into());
        }
        let own = value(column);
        let weight = own.and_then(|value| u64::try_from(value).ok());
        stacks.unknown += u64::from(own.is_none());
        stacks.overlapped += u64::from(own.is_some() && weight.is_none());
        let places = folded.as_ref().map(|folded| folded.places.as_slice());
        let place = |row: usize| places.map_or(row, |places| places.get(row).copied().unwrap_or(row));
        match stacks.nodes.get_mut(place(row)) {
            Some(known) => known.weight = known.weight.saturating_add(weight.unwrap_or(0)),
            None => {
                let parent = (row > 0).then(|| place(context.parent));
                stacks.nodes.push(Node { parent, row, name: *name, weight: weight.unwrap_or(0) });
            }
        }
    }
    stacks.texts = table.texts;
    Ok(Some(stacks))
}

fn spans(bundle: &Path, unit: Unit) -> Result<Stacks, ExportError> {
    let mut wanted = COLUMNS.to_vec();
    wanted.push("instructions");
    let table = read("spans", &wanted, bundle)?;
    let parents = parents(&table);
    if unit == Unit::Instructions {
        return Ok(beyond(table, &parents, unit));
    }
    Ok(shared_time(table, &parents).unwrap_or_else(|table| beyond(table, &parents, unit)))
}

/// The rows in which rows lie.
fn parents(table: &Interned) -> Vec<Option<usize>> {
    let value = |column: &str, row: usize| table.integers(column).get(row).copied().flatten();
    let rows: HashMap<i64, usize> = (0..table.rows()).filter_map(|row| Some((value("span", row)?, row))).collect();
    (0..table.rows()).map(|row| value("parent", row).and_then(|parent| rows.get(&parent).copied())).collect()
}

/// What a span has beyond the spans in it.
fn beyond(table: Interned, parents: &[Option<usize>], unit: Unit) -> Stacks {
    let value = |column: &str, row: usize| table.integers(column).get(row).copied().flatten();
    let kind =
        |row: usize| table.numbers("kind").get(row).and_then(|number| SpanKind::parse(table.texts.get(*number)?));
    // Nobody knows in which initcall such a probe lies, if in one: the time may be that of the initcall already.
    let initcalls =
        (0..table.rows()).any(|row| kind(row) == Some(SpanKind::Initcall) && value("duration_ns", row).is_some());
    let somewhere =
        |row: usize| initcalls && kind(row) == Some(SpanKind::Probe) && parents.get(row).copied().flatten().is_none();
    let whole: Vec<Option<u64>> = (0..table.rows())
        .map(|row| {
            if somewhere(row) {
                return None;
            }
            let between = || value("end_ns", row)?.checked_sub(value("start_ns", row)?);
            let weight = match unit {
                Unit::Time => value("duration_ns", row).or_else(between),
                Unit::Instructions => value("instructions", row),
            };
            weight.and_then(|weight| u64::try_from(weight).ok())
        })
        .collect();
    let mut inner: Vec<u64> = vec![0; table.rows()];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); table.rows()];
    for (row, parent) in parents.iter().enumerate() {
        let Some(parent) = parent else { continue };
        if let (Some(inner), Some(children)) = (inner.get_mut(*parent), children.get_mut(*parent)) {
            *inner = inner.saturating_add(whole.get(row).copied().flatten().unwrap_or(0));
            children.push(row);
        }
    }
    let mut stacks = Stacks::new(Origin::Spans);
    let mut met = vec![false; table.rows()];
    let roots = (0..table.rows()).filter(|row| parents.get(*row).copied().flatten().is_none());
    // Parents that go in a circle have no root: such a circle begins with its first row.
    for root in roots.chain(0..table.rows()) {
        let mut waiting = vec![(root, None)];
        while let Some((row, parent)) = waiting.pop() {
            match met.get_mut(row) {
                Some(met) if !*met => *met = true,
                _ => continue,
            }
            let all = whole.get(row).copied().flatten();
            let below = inner.get(row).copied().unwrap_or(0);
            stacks.unknown += u64::from(all.is_none());
            stacks.overlapped += u64::from(all.is_some_and(|all| all < below));
            let name = table.numbers("name").get(row).copied().unwrap_or(NO_TEXT);
            let place = stacks.nodes.len();
            stacks.nodes.push(Node { parent, row, name, weight: all.unwrap_or(0).saturating_sub(below) });
            let below = children.get(row).map_or(&[][..], |children| children);
            waiting.extend(below.iter().rev().map(|child| (*child, Some(place))));
        }
    }
    stacks.texts = table.texts;
    stacks
}
