//! The kd table of a bundle, whole or limited to a phase or to what one function did.

use crate::folding::{Parts, Tree as Contexts, COLUMNS};
use crate::ModelError;
use firstlight_profile::folding::plain_name;
use firstlight_profile::kd::{kd_table, largest_callees, KdNode, KdRow};
use firstlight_schema::interned::{read as read_columns, TextNumber, NO_TEXT};
use firstlight_schema::table::{read, Values};
use firstlight_schema::CallKind;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;

/// What a row of the table stands for: function, module and kind.
pub type RowName = (String, Option<String>, String);

/// A row: its name, its figures, and the name of its largest callee.
pub type KdLine = (RowName, KdRow, Option<String>);

/// The kd table of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleKd {
    /// Its rows.
    pub rows: Vec<KdLine>,
    /// Whether the bundle counts instructions; else their figures mean nothing.
    pub instructions: bool,
}

/// The rows of the kd table of the bundle in this directory, those that did anything. With `per_caller` Max-sub is the
/// callee that took the most time under its caller, else as kd has it the one that took the most anywhere. `parts` says
/// whether split-off parts of functions are rows of their own.
///
/// # Errors
///
/// [`ModelError::NotFound`] for a phase or function that the bundle does not have, [`ModelError::Inconsistent`] when
/// its tables contradict one another, and what [`read`] says.
pub fn bundle_kd(
    bundle: &Path,
    phase: Option<&str>,
    under: Option<&str>,
    per_caller: bool,
    parts: Parts,
) -> Result<BundleKd, ModelError> {
    let tree = Tree::read(bundle, parts)?;
    let wanted = under.map(|name| tree.rows_called(name)).transpose()?;
    match phase {
        None => Ok(tree.table(&tree.nodes, wanted.as_deref(), per_caller)),
        Some(phase) => {
            let mut phases = PhaseCalls::read(bundle)?;
            let nodes = tree.in_phase(&phases.take(phase)?)?;
            Ok(tree.table(&nodes, wanted.as_deref(), per_caller))
        }
    }
}

/// The kd tables of every phase that the bundle's tables know, in the order of their names, reading them once.
///
/// # Errors
///
/// As [`bundle_kd`].
pub fn phase_kds(bundle: &Path, parts: Parts) -> Result<Vec<(String, BundleKd)>, ModelError> {
    let tree = Tree::read(bundle, parts)?;
    PhaseCalls::read(bundle)?
        .0
        .into_iter()
        .map(|(phase, rows)| Ok((phase, tree.table(&tree.in_phase(&rows)?, None, false))))
        .collect()
}

struct Tree {
    nodes: Vec<KdNode>,
    rows: Vec<RowName>,
    /// Which nodes are split-off parts: entering one is no call.
    parts: Vec<bool>,
    instructions: bool,
}

/// Kinds of contexts that are functions: one function may be entered in several of these ways, and is one row.
const ENTERED: [CallKind; 5] =
    [CallKind::Function, CallKind::Task, CallKind::Interrupt, CallKind::Exception, CallKind::Syscall];

impl Tree {
    fn read(bundle: &Path, parts: Parts) -> Result<Self, ModelError> {
        let figures = ["calls", "self_instructions", "self_ns", "doubtful_calls"];
        let mut table = read_columns("calls", &[COLUMNS.as_slice(), &figures].concat(), bundle)?;
        let contexts = Contexts::of(&mut table, parts)?;
        let folded = contexts.folded();
        let [calls, own, own_ns, doubtful] = figures.map(|column| table.integers(column));
        let text = |number: TextNumber| table.texts.get(number).unwrap_or_default();
        let mut numbers: FxHashMap<(TextNumber, TextNumber, TextNumber), usize> = FxHashMap::default();
        let mut rows: Vec<RowName> = Vec::new();
        let mut nodes = Vec::with_capacity(contexts.contexts.len());
        for (index, context) in contexts.contexts.iter().enumerate() {
            // A part is in the row of the function that it is folded into, also where others share that one's name.
            let named = folded.as_ref().and_then(|folded| folded.first(index)).unwrap_or(index);
            let of = |column: &str| table.numbers(column).get(named).copied().unwrap_or(NO_TEXT);
            let (module, kind) = (of("module"), of("kind"));
            let function = contexts.functions.get(named).copied().unwrap_or(NO_TEXT);
            let entered = CallKind::parse(text(kind)).is_some_and(|kind| ENTERED.contains(&kind));
            let row = *numbers.entry((function, module, if entered { NO_TEXT } else { kind })).or_insert_with(|| {
                let module = table.texts.get(module).map(str::to_owned);
                rows.push((text(function).to_owned(), module, text(kind).to_owned()));
                rows.len() - 1
            });
            if let Some(name) = rows.get_mut(row).filter(|name| name.2 != text(kind)) {
                ENTERED[0].name().clone_into(&mut name.2);
            }
            let figure = |column: &[Option<i64>]| column.get(index).copied().flatten();
            nodes.push(KdNode {
                parent: context.parent,
                row,
                calls: if context.part { 0 } else { count(figure(calls)) },
                self_instructions: count(figure(own)),
                self_ns: figure(own_ns),
                doubtful: figure(doubtful).map(|doubtful| count(Some(doubtful))),
            });
        }
        let parts = contexts.contexts.iter().map(|context| context.part).collect();
        Ok(Self { nodes, rows, parts, instructions: own.iter().any(Option::is_some) })
    }

    /// The nodes with what they did in one phase only.
    fn in_phase(&self, rows: &[PhaseRow]) -> Result<Vec<KdNode>, ModelError> {
        // In which phase an entry was doubtful is not recorded.
        let empty = |node: &KdNode| KdNode {
            calls: 0,
            self_instructions: 0,
            self_ns: node.self_ns.map(|_| 0),
            doubtful: None,
            ..*node
        };
        let mut nodes: Vec<KdNode> = self.nodes.iter().map(empty).collect();
        for row in rows {
            let wrong = || ModelError::Inconsistent("phase_calls");
            let number = row.node.ok_or_else(wrong)?;
            let node = nodes.get_mut(number).ok_or_else(wrong)?;
            if self.parts.get(number) == Some(&false) {
                node.calls = node.calls.saturating_add(row.calls);
            }
            node.self_instructions = node.self_instructions.saturating_add(row.own);
            if let Some(own_ns) = row.own_ns {
                node.self_ns = Some(node.self_ns.unwrap_or(0).saturating_add(own_ns));
            }
        }
        Ok(nodes)
    }

    /// The rows that did anything, of all functions or of what the wanted rows did.
    fn table(&self, nodes: &[KdNode], wanted: Option<&[usize]>, per_caller: bool) -> BundleKd {
        // Functions of one name are distinguished by their module and kind; under a name stands for all of them.
        let (under, merged) = match wanted.and_then(|rows| Some((*rows.first()?, rows))) {
            None => (None, nodes.to_vec()),
            Some((first, wanted)) => {
                let row = |node: &KdNode| if wanted.contains(&node.row) { first } else { node.row };
                (Some(first), nodes.iter().map(|node| KdNode { row: row(node), ..*node }).collect())
            }
        };
        let mut table = kd_table(&merged, self.rows.len(), under);
        if per_caller {
            for (row, largest) in table.iter_mut().zip(largest_callees(&merged, self.rows.len(), under)) {
                row.max_sub = largest.map(|(callee, _)| callee);
                row.max_sub_count = largest.map_or(0, |(_, calls)| calls);
            }
        }
        let named = |row: usize| self.rows.get(row).map(|name| name.0.clone());
        let seen = |row: &KdRow| row.count > 0 || row.total_instructions > 0 || row.total_ns.is_some_and(|ns| ns != 0);
        let rows = self
            .rows
            .iter()
            .cloned()
            .zip(table)
            .filter(|(_, row)| seen(row))
            .map(|(name, row)| (name, row, row.max_sub.and_then(named)))
            .collect();
        BundleKd { rows, instructions: self.instructions }
    }

    fn rows_called(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        let called = |row: &RowName| row.0 == name || plain_name(&row.0) == name;
        let rows: Vec<usize> = (0..self.rows.len()).filter(|row| called(&self.rows[*row])).collect();
        if rows.is_empty() {
            return Err(ModelError::NotFound { kind: "function", name: name.to_owned() });
        }
        Ok(rows)
    }
}

/// What one node did by itself in one phase.
struct PhaseRow {
    node: Option<usize>,
    calls: u64,
    own: u64,
    own_ns: Option<i64>,
}

/// The table `phase_calls`, by phase.
struct PhaseCalls(BTreeMap<String, Vec<PhaseRow>>);

impl PhaseCalls {
    fn read(bundle: &Path) -> Result<Self, ModelError> {
        let columns = read("phase_calls", bundle)?;
        let [Values::Int64(numbers), Values::Text(phases), Values::Int64(calls), Values::Int64(own), Values::Int64(own_ns)] =
            columns.as_slice()
        else {
            return Err(ModelError::Inconsistent("phase_calls"));
        };
        let mut rows: BTreeMap<String, Vec<PhaseRow>> = BTreeMap::new();
        for ((((number, phase), calls), own), own_ns) in numbers.iter().zip(phases).zip(calls).zip(own).zip(own_ns) {
            let row = PhaseRow {
                node: number.and_then(|number| usize::try_from(number).ok()),
                calls: count(*calls),
                own: count(*own),
                own_ns: *own_ns,
            };
            let phase = phase.as_deref().unwrap_or_default();
            if let Some(known) = rows.get_mut(phase) {
                known.push(row);
            } else {
                rows.insert(phase.to_owned(), vec![row]);
            }
        }
        Ok(Self(rows))
    }

    fn take(&mut self, phase: &str) -> Result<Vec<PhaseRow>, ModelError> {
        self.0.remove(phase).ok_or_else(|| ModelError::NotFound { kind: "phase", name: phase.to_owned() })
    }
}

fn count(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}
