//! Trees in which some functions have no rows: what they did belongs to their callers.

use crate::recording::{How, Recording};
use crate::tree::{CallTree, FunctionId, Kind, Node, ROOT};
use rustc_hash::{FxHashMap, FxHashSet};

// A thunk is passed through by every function of a kernel; what was entered less often than this says nothing.
const ENTRIES: u64 = 1_000;
const JUMPED_FROM: usize = 100;
const INSTRUCTIONS_EACH: u64 = 8;

/// A function that behaves as a thunk although neither its section nor its name says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownThunk {
    /// The function.
    pub function: FunctionId,
    /// How often control passed through it.
    pub transfers: u64,
}

/// Finds the functions that a mitigation put between others, by what they do.
///
/// Two kinds: one that is called, drops its own return address and returns by its caller's (`srso_safe_ret`); and one that
/// is only ever jumped to, from the ends of many functions, executes a handful of instructions and returns
/// (`srso_return_thunk`). No function of C does the first, and none that is worth a row does the second.
pub fn unknown_thunks(recording: &Recording) -> Vec<UnknownThunk> {
    let mut calls: FxHashMap<FunctionId, u64> = FxHashMap::default();
    let mut own: FxHashMap<FunctionId, u64> = FxHashMap::default();
    let mut from: FxHashMap<FunctionId, FxHashSet<FunctionId>> = FxHashMap::default();
    let mut called: FxHashMap<(FunctionId, FunctionId), u64> = FxHashMap::default();
    for node in &recording.nodes {
        *calls.entry(node.function).or_default() += node.calls;
        *own.entry(node.function).or_default() += node.self_instructions;
        if let Some(parent) = recording.nodes.get(node.parent as usize) {
            from.entry(node.function).or_default().insert(parent.function);
            *called.entry((parent.function, node.function)).or_default() += node.calls;
        }
    }
    let of = |map: &FxHashMap<FunctionId, u64>, function: FunctionId| map.get(&function).copied().unwrap_or(0);
    let functions = || recording.checks.iter().filter(|check| check.how == How::Function);
    let dropping: FxHashSet<FunctionId> = functions()
        .filter(|check| {
            check.discards >= ENTRIES && check.discards.saturating_mul(100) >= of(&calls, check.function) * 99
        })
        .map(|check| check.function)
        .collect();
    // Entry code returns by thunks as well, with a stack that it has moved: what it does then looks called from there.
    let mut calls_others: FxHashMap<FunctionId, u64> = FxHashMap::default();
    for ((caller, callee), count) in &called {
        *calls_others.entry(*caller).or_default() += if dropping.contains(callee) { 0 } else { *count };
    }
    let jumped_to = functions().filter(|check| {
        let entries = of(&calls, check.function);
        entries >= ENTRIES
            && check.tails.saturating_mul(100) >= entries * 95
            && of(&own, check.function) <= entries * INSTRUCTIONS_EACH
            && from.get(&check.function).map_or(0, FxHashSet::len) >= JUMPED_FROM
            && of(&calls_others, check.function).saturating_mul(100) <= entries
    });
    let mut found: Vec<FunctionId> = dropping.iter().copied().chain(jumped_to.map(|check| check.function)).collect();
    found.sort_unstable();
    found.into_iter().map(|function| UnknownThunk { function, transfers: of(&calls, function) }).collect()
}

/// Takes the rows of these functions out of the tree: their instructions and callees become those of their callers, and
/// their entries are none.
///
/// ```
/// use firstlight_profile::{fold::fold, isa::X86_64, recording::State, tracker::Watch, Recording, SymbolTable, Tracker};
/// let symbols = SymbolTable::<X86_64>::parse("1000 T _text\n1000 T main\n1040 T thunk\n1080 T _etext\n");
/// let mut tracker = Tracker::new(&symbols, Watch::default());
/// tracker.entry(0, 10);
/// tracker.call(0, 0xff8, 14);
/// tracker.entry(1, 14);
/// tracker.ret(1, 0xff8, 20);
/// let mut file = Vec::new();
/// tracker.snapshot(State::Ready, &[], 25).write(&mut file)?;
/// let mut recording = Recording::decode(&file)?;
/// let thunk = recording.functions.iter().position(|function| function.name == "thunk").expect("seen") as u32;
/// fold(&mut recording, |function| function == thunk);
/// let main = recording.nodes.iter().find(|node| recording.functions[node.function as usize].name == "main").expect("seen");
/// assert_eq!((main.calls, main.self_instructions), (1, 15));
/// # Ok::<(), firstlight_profile::recording::RecordingError>(())
/// ```
pub fn fold(recording: &mut Recording, is_folded: impl Fn(FunctionId) -> bool) {
    regroup(recording, |node| (!is_folded(node.function)).then_some((node.function, node.kind)));
}

/// Makes the tree anew with other rows: nodes that get one function under one parent become one.
///
/// `row` says which function and kind a node is to have; a node without one is taken out, as [`fold`] does.
pub fn regroup(recording: &mut Recording, row: impl Fn(&Node) -> Option<(FunctionId, Kind)>) {
    let rows: Vec<Option<(FunctionId, Kind)>> = recording.nodes.iter().map(row).collect();
    let mut tree = CallTree::new(recording.nodes.first().map_or(0, |root| root.function));
    let mut moved = vec![ROOT; recording.nodes.len()];
    for (index, node) in recording.nodes.iter().enumerate().skip(1) {
        let parent = moved[node.parent as usize];
        moved[index] = rows[index].map_or(parent, |(function, kind)| tree.child(parent, function, kind));
    }
    let is_kept = |node: u32| rows[node as usize].is_some();
    let mut nodes: Vec<Node> = tree.nodes().map(|node| Node { calls: 0, ..node }).collect();
    for (index, node) in recording.nodes.iter().enumerate() {
        let kept: &mut Node = &mut nodes[moved[index] as usize];
        kept.calls += if rows[index].is_some() { node.calls } else { 0 };
        kept.self_instructions += node.self_instructions;
    }
    for phase in &mut recording.phases {
        phase.calls = if is_kept(phase.node) { phase.calls } else { 0 };
        phase.node = moved[phase.node as usize];
    }
    for row in recording.slices.iter_mut().flat_map(|slice| &mut slice.rows) {
        row.calls = if is_kept(row.node) { row.calls } else { 0 };
        row.node = moved[row.node as usize];
    }
    recording.doubtful.retain(|(node, _)| is_kept(*node));
    for (node, _) in &mut recording.doubtful {
        *node = moved[*node as usize];
    }
    for run in &mut recording.running.runs {
        run.node = run.node.map(|node| moved[node as usize]);
    }
    recording.nodes = nodes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::State;
    use crate::tracker::{Tracker, Watch};
    use firstlight_isa::X86_64;

    type SymbolTable = crate::SymbolTable<X86_64>;

    const MAIN: u32 = 0;
    const ONE: u32 = 1;
    const OTHER: u32 = 2;
    const LAST: u32 = 3;

    /// `main` calls `one`, `other` and `last`, each once and for 5 instructions.
    fn recording() -> Recording {
        let text = "1000 T _text\n1000 T main\n1040 T one\n1080 T other\n10c0 T last\n1100 T _etext\n";
        let mut tracker = Tracker::new(&SymbolTable::parse(text), Watch::default());
        tracker.entry(MAIN, 10);
        for (callee, now) in [(ONE, 20), (OTHER, 30), (LAST, 40)] {
            tracker.call(MAIN, 0xff8, now);
            tracker.entry(callee, now);
            tracker.ret(callee, 0xff8, now + 5);
        }
        let mut file = Vec::new();
        tracker.snapshot(State::Ready, &[], 50).write(&mut file).expect("memory is written");
        Recording::decode(&file).expect("what was written is read")
    }

    fn node_of(recording: &Recording, function: u32) -> u32 {
        recording.nodes.iter().position(|node| node.function == function).expect("it was entered") as u32
    }

    #[test]
    fn doubtful_entries_move_with_their_rows() {
        let mut recording = recording();
        recording.doubtful = [ONE, OTHER, LAST].map(|function| (node_of(&recording, function), 1)).to_vec();
        regroup(&mut recording, |node| Some((if node.function == OTHER { ONE } else { node.function }, node.kind)));
        let (one, last) = (node_of(&recording, ONE), node_of(&recording, LAST));
        assert_eq!(recording.doubtful, [(one, 1), (one, 1), (last, 1)]);
        let row = recording.nodes[one as usize];
        assert_eq!((row.calls, row.self_instructions), (2, 10));
    }

    #[test]
    fn doubtful_entries_of_a_folded_row_go_with_its_calls() {
        let mut recording = recording();
        recording.doubtful = [ONE, LAST].map(|function| (node_of(&recording, function), 1)).to_vec();
        fold(&mut recording, |function| function == ONE);
        assert_eq!(recording.doubtful, [(node_of(&recording, LAST), 1)]);
        assert_eq!(recording.nodes[node_of(&recording, MAIN) as usize].self_instructions, 10 + 5 + 5 + 5 + 5);
    }
}
