//! The kd table: one row per function, with the columns of the tool `kd`.
//!
//! Count, Time (total), Local (self), Max-sub and Ms count follow `kd` (Tim Bird's `scripts/kd` of KFT): Max-sub is, of
//! the functions called from this one, the one with the largest total over the whole table, and Ms count is how often
//! it was called from here. One column differs on purpose: a recursive function's time is counted once, where `kd` adds
//! it up at each level.

use rustc_hash::FxHashMap;

/// One node of a calling-context tree, as the table needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KdNode {
    /// Number of its parent, smaller than its own; the root's is its own.
    pub parent: usize,
    /// Number of its row.
    pub row: usize,
    /// Entries.
    pub calls: u64,
    /// Instructions of its own.
    pub self_instructions: u64,
    /// Nanoseconds of its own, where they are known; negative where a record contradicts itself.
    pub self_ns: Option<i64>,
    /// Entries that were followed by inference, where the record has them.
    pub doubtful: Option<u64>,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KdRow {
    /// Entries.
    pub count: u64,
    /// Instructions of it and of all it called.
    pub total_instructions: u64,
    /// Nanoseconds of it and of all it called, as far as they are known; nothing where none is.
    pub total_ns: Option<i64>,
    /// Instructions of its own.
    pub self_instructions: u64,
    /// Nanoseconds of its own, where they are known; negative where a record contradicts itself.
    pub self_ns: Option<i64>,
    /// The row of the callee with the largest total.
    pub max_sub: Option<usize>,
    /// How often that one was called from here.
    pub max_sub_count: u64,
    /// Entries that were followed by inference, as far as they are known; nothing where none is.
    pub doubtful: Option<u64>,
}

/// The table of a tree with `rows` different rows; `under`, if given, limits it to what that row did.
///
/// ```
/// use firstlight_profile::kd::{kd_table, KdNode};
/// let node = |parent, row, calls, own: u32| KdNode {
///     parent, row, calls, self_instructions: own.into(), self_ns: Some(own.into()), doubtful: Some(1),
/// };
/// // main calls f, which calls itself and g.
/// let tree = [node(0, 0, 1, 1), node(0, 1, 2, 10), node(1, 1, 4, 20), node(2, 2, 4, 5)];
/// let table = kd_table(&tree, 3, None);
/// assert_eq!((table[1].count, table[1].total_ns, table[1].self_ns), (6, Some(35), Some(30)));
/// assert_eq!((table[1].max_sub, table[1].max_sub_count), (Some(1), 4));
/// assert_eq!(table[2].total_ns, Some(5));
/// assert_eq!(table[1].doubtful, Some(2));
/// ```
pub fn kd_table(nodes: &[KdNode], rows: usize, under: Option<usize>) -> Vec<KdRow> {
    let mut table = vec![KdRow::default(); rows];
    let mut totals: Vec<(u64, Option<i64>)> = nodes.iter().map(|node| (node.self_instructions, node.self_ns)).collect();
    for index in (1..nodes.len()).rev() {
        let (instructions, ns) = totals[index];
        let parent = &mut totals[nodes[index].parent];
        *parent = (parent.0.saturating_add(instructions), sum(parent.1, ns));
    }
    let counted = inside(nodes, under);
    let outermost = outermost(nodes, rows, &counted);
    let mut calls: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    for (index, node) in nodes.iter().enumerate().filter(|(index, _)| counted[*index]) {
        let row = &mut table[node.row];
        row.count = row.count.saturating_add(node.calls);
        row.self_instructions = row.self_instructions.saturating_add(node.self_instructions);
        row.self_ns = sum(row.self_ns, node.self_ns);
        if let Some(doubtful) = node.doubtful {
            row.doubtful = Some(row.doubtful.unwrap_or(0).saturating_add(doubtful));
        }
        if outermost[index] {
            row.total_instructions = row.total_instructions.saturating_add(totals[index].0);
            row.total_ns = sum(row.total_ns, totals[index].1);
        }
        // A callee that was entered in an earlier phase was not called in this one.
        if index > 0 && counted[node.parent] && node.calls > 0 {
            let edge = calls.entry((nodes[node.parent].row, node.row)).or_default();
            *edge = edge.saturating_add(node.calls);
        }
    }
    let mut edges: Vec<((usize, usize), u64)> = calls.into_iter().collect();
    edges.sort_unstable();
    let weighed = |callee: usize| table[callee].total_ns.is_some() || table[callee].total_instructions > 0;
    edges.retain(|((_, callee), _)| weighed(*callee));
    for ((caller, callee), count) in edges {
        let larger = |than: usize| {
            (table[callee].total_ns, table[callee].total_instructions)
                > (table[than].total_ns, table[than].total_instructions)
        };
        if table[caller].max_sub.is_none_or(larger) {
            table[caller].max_sub = Some(callee);
            table[caller].max_sub_count = count;
        }
    }
    table
}

/// For every row the callee that took the most time under it, where [`kd_table`] takes the one that took the most anywhere,
/// and how often it was called from there. A recursion's time counts once.
///
/// ```
/// use firstlight_profile::kd::{largest_callees, KdNode};
/// let node = |parent, row, calls, own: u32| KdNode {
///     parent, row, calls, self_instructions: own.into(), self_ns: Some(own.into()), doubtful: None,
/// };
/// // main calls a and b; a calls delay briefly and work at length; b calls delay at length.
/// let tree = [node(0, 0, 1, 0), node(0, 1, 1, 0), node(0, 2, 1, 0), node(1, 3, 7, 5), node(1, 4, 1, 20), node(2, 3, 1, 90)];
/// assert_eq!(largest_callees(&tree, 5, None)[1], Some((4, 1)));
/// ```
pub fn largest_callees(nodes: &[KdNode], rows: usize, under: Option<usize>) -> Vec<Option<(usize, u64)>> {
    let mut totals: Vec<(Option<i64>, u64)> = nodes.iter().map(|node| (node.self_ns, node.self_instructions)).collect();
    for index in (1..nodes.len()).rev() {
        let (ns, instructions) = totals[index];
        let parent = &mut totals[nodes[index].parent];
        *parent = (sum(parent.0, ns), parent.1.saturating_add(instructions));
    }
    let counted = inside(nodes, under);
    let mut edges: FxHashMap<(usize, usize), (Option<i64>, u64, u64)> = FxHashMap::default();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for index in (1..nodes.len()).filter(|index| counted[*index]) {
        children[nodes[index].parent].push(index);
    }
    let mut within: FxHashMap<(usize, usize), u32> = FxHashMap::default();
    let mut stack: Vec<(usize, bool)> = (1..nodes.len())
        .rev()
        .filter(|index| counted[*index] && !counted[nodes[*index].parent])
        .map(|index| (index, false))
        .collect();
    if counted.first() == Some(&true) {
        stack.push((0, false));
    }
    while let Some((index, leaving)) = stack.pop() {
        let node = nodes[index];
        let edge = (nodes[node.parent].row, node.row);
        let called = index > 0 && counted[node.parent];
        if leaving {
            within.entry(edge).and_modify(|depth| *depth -= 1);
            continue;
        }
        if called {
            let figures = edges.entry(edge).or_default();
            let depth = within.entry(edge).or_default();
            if *depth == 0 {
                *figures = (sum(figures.0, totals[index].0), figures.1.saturating_add(totals[index].1), figures.2);
            }
            figures.2 = figures.2.saturating_add(node.calls);
            *depth += 1;
            stack.push((index, true));
        }
        stack.extend(children[index].iter().map(|child| (*child, false)));
    }
    let mut edges: Vec<_> = edges
        .into_iter()
        .filter(|(_, (ns, instructions, calls))| *calls > 0 && (ns.is_some() || *instructions > 0))
        .collect();
    edges.sort_unstable();
    let mut largest: Vec<Option<(usize, u64)>> = vec![None; rows];
    let mut best = vec![(None, 0); rows];
    for ((caller, callee), (ns, instructions, calls)) in edges {
        if largest[caller].is_none() || (ns, instructions) > best[caller] {
            (largest[caller], best[caller]) = (Some((callee, calls)), (ns, instructions));
        }
    }
    largest
}

/// Adds what is known.
fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.zip(other).map(|(one, other)| one.saturating_add(other)).or(one).or(other)
}

// Which nodes stand at or below the row asked for; parents come first, so one pass is enough.
fn inside(nodes: &[KdNode], under: Option<usize>) -> Vec<bool> {
    let mut counted = vec![under.is_none(); nodes.len()];
    if let Some(under) = under {
        for (index, node) in nodes.iter().enumerate() {
            counted[index] = node.row == under || (index > 0 && counted[node.parent]);
        }
    }
    counted
}

// Which nodes have no ancestor of the same row: only those add to the row's total.
fn outermost(nodes: &[KdNode], rows: usize, counted: &[bool]) -> Vec<bool> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate().skip(1) {
        children[node.parent].push(index);
    }
    let mut depth = vec![0_u32; rows];
    let mut outermost = vec![false; nodes.len()];
    let mut stack = vec![(0_usize, false)];
    while let Some((index, leaving)) = stack.pop() {
        let Some(node) = nodes.get(index) else { continue };
        if leaving {
            depth[node.row] -= 1;
            continue;
        }
        if counted[index] {
            outermost[index] = depth[node.row] == 0;
            depth[node.row] += 1;
            stack.push((index, true));
        }
        stack.extend(children[index].iter().map(|child| (*child, false)));
    }
    outermost
}
