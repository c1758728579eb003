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
            let nodes = tree.in_part(&phases.take(phase)?, "phase_calls")?;
            Ok(tree.table(&nodes, wanted.as_deref(), per_caller))
        }
    }
}

/// The kd table of what the nodes of the bundle's tree did in a part of the boot, as [`bundle_kd`] gives it for the whole.
///
/// # Errors
///
/// As [`bundle_kd`]; [`ModelError::Inconsistent`] for a node that the tree does not have.
pub fn part_kd(
    bundle: &Path,
    rows: &[PartRow],
    under: Option<&str>,
    per_caller: bool,
    parts: Parts,
) -> Result<BundleKd, ModelError> {
    let tree = Tree::read(bundle, parts)?;
    let wanted = under.map(|name| tree.rows_called(name)).transpose()?;
    Ok(tree.table(&tree.in_part(rows, "slice_calls")?, wanted.as_deref(), per_caller))
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
        .map(|(phase, rows)| Ok((phase, tree.table(&tree.in_part(&rows, "phase_calls")?, None, false))))
        .collect()
}

/// What one row of the kd table did in one slice of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceFunction {
    /// The slice.
    pub slice: i64,
    /// The row, as an index into the names.
    pub row: usize,
    /// Entries.
    pub count: u64,
    /// Instructions of it and of all that it called; those of a recursion once.
    pub total_instructions: u64,
    /// Instructions of its own.
    pub self_instructions: u64,
}

/// Count, total and self of every function in every slice of time where one of them is not zero; the names of the rows first.
///
/// # Errors
///
/// As [`bundle_kd`]; [`ModelError::Inconsistent`] for a row whose node the tree does not have.
pub fn slice_functions(bundle: &Path, parts: Parts) -> Result<(Vec<RowName>, Vec<SliceFunction>), ModelError> {
    let tree = Tree::read(bundle, parts)?;
    let outermost = tree.outermost();
    let wrong = || ModelError::Inconsistent("slice_calls");
    let columns = read("slice_calls", bundle)?;
    let [Values::Int64(slices), Values::Int64(nodes), Values::Int64(calls), Values::Int64(own)] = columns.as_slice()
    else {
        return Err(wrong());
    };
    let empty =
        |slice: i64, row: usize| SliceFunction { slice, row, count: 0, total_instructions: 0, self_instructions: 0 };
    let mut all = Vec::new();
    // Of every row the place of its last sum, which may be of an earlier slice.
    let mut places = vec![usize::MAX; tree.rows.len()];
    for (((slice, number), calls), own) in slices.iter().zip(nodes).zip(calls).zip(own) {
        let slice = slice.ok_or_else(wrong)?;
        let mut place = number.and_then(|number| usize::try_from(number).ok()).ok_or_else(wrong)?;
        let (calls, own) = (count(*calls), count(*own));
        let mut node = tree.nodes.get(place).ok_or_else(wrong)?;
        let mut of = |row: usize, count: u64, total: u64, own: u64| {
            let Some(at) = places.get_mut(row) else { return };
            if all.get(*at).is_none_or(|known: &SliceFunction| known.slice != slice) {
                *at = all.len();
                all.push(empty(slice, row));
            }
            if let Some(sum) = all.get_mut(*at) {
                sum.count += count;
                sum.total_instructions += total;
                sum.self_instructions += own;
            }
        };
        let entries = if tree.parts.get(place) == Some(&true) { 0 } else { calls };
        of(node.row, entries, 0, own);
        if own == 0 {
            continue;
        }
        loop {
            if outermost.get(place) == Some(&true) {
                of(node.row, 0, own, 0);
            }
            if place == 0 {
                break;
            }
            place = node.parent;
            node = tree.nodes.get(place).ok_or_else(wrong)?;
        }
    }
    all.retain(|row| row.count > 0 || row.total_instructions > 0);
    Ok((tree.rows, all))
}

struct Tree {
    nodes: Vec<KdNode>,
    rows: Vec<RowName>,
    /// Which nodes are split-off parts: entering one is not a call.
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

    /// Which nodes are not below one of the same row.
    fn outermost(&self) -> Vec<bool> {
        let above = |place: usize| {
            let parent = |place: &usize| self.nodes.get(*place).map(|node| node.parent).filter(|_| *place > 0);
            std::iter::successors(parent(&place), parent)
        };
        let row = |place: usize| self.nodes.get(place).map(|node| node.row);
        (0..self.nodes.len()).map(|place| above(place).all(|parent| row(parent) != row(place))).collect()
    }

    /// The nodes with what they did in one part of the boot only, as this table has it.
    fn in_part(&self, rows: &[PartRow], table: &'static str) -> Result<Vec<KdNode>, ModelError> {
        // When an entry was doubtful is not recorded.
        let empty = |node: &KdNode| KdNode {
            calls: 0,
            self_instructions: 0,
            self_ns: node.self_ns.map(|_| 0),
            doubtful: None,
            ..*node
        };
        let mut nodes: Vec<KdNode> = self.nodes.iter().map(empty).collect();
        for row in rows {
            let wrong = || ModelError::Inconsistent(table);
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

/// What one node did by itself in a part of the boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartRow {
    /// Its number; nothing is not a node.
    pub node: Option<usize>,
    /// Entries.
    pub calls: u64,
    /// Instructions of its own.
    pub own: u64,
    /// Nanoseconds of its own, where they are known.
    pub own_ns: Option<i64>,
}

/// The table `phase_calls`, by phase.
struct PhaseCalls(BTreeMap<String, Vec<PartRow>>);

impl PhaseCalls {
    fn read(bundle: &Path) -> Result<Self, ModelError> {
        let columns = read("phase_calls", bundle)?;
        let [Values::Int64(numbers), Values::Text(phases), Values::Int64(calls), Values::Int64(own), Values::Int64(own_ns)] =
            columns.as_slice()
        else {
            return Err(ModelError::Inconsistent("phase_calls"));
        };
        let mut rows: BTreeMap<String, Vec<PartRow>> = BTreeMap::new();
        for ((((number, phase), calls), own), own_ns) in numbers.iter().zip(phases).zip(calls).zip(own).zip(own_ns) {
            let row = PartRow {
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

    fn take(&mut self, phase: &str) -> Result<Vec<PartRow>, ModelError> {
        self.0.remove(phase).ok_or_else(|| ModelError::NotFound { kind: "phase", name: phase.to_owned() })
    }
}

fn count(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}
