//! The calling-context tree: one node for each path of calls from the root.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A node's number in its tree. Parents have smaller numbers than their children.
pub type NodeId = u32;

/// A function's number in the recording's table of functions.
pub type FunctionId = u32;

/// What one node did in one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeRow {
    /// The node.
    pub node: NodeId,
    /// Entries in the slice.
    pub calls: u64,
    /// Instructions of its own in the slice.
    pub self_instructions: u64,
}

/// The root of every tree.
pub const ROOT: NodeId = 0;

/// What a row of the tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// The whole boot.
    Root,
    /// A kernel function that was called, or jumped to in tail position.
    Function,
    /// The entry code of a hardware interrupt.
    Interrupt,
    /// The entry code of an exception.
    Exception,
    /// The entry code of a system call.
    Syscall,
    /// Where a new task begins.
    Task,
    /// Everything before the kernel's image is entered.
    Firmware,
    /// The kernel's own decompressor.
    Decompressor,
    /// Kernel code that no symbol covers.
    Unknown,
    /// User mode.
    User,
    /// Time without instructions.
    Idle,
    /// A row that only gathers others.
    Group,
    /// The boot loader, where it can be distinguished from the firmware.
    Loader,
}

impl Kind {
    /// The name used in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Function => "function",
            Self::Interrupt => "interrupt",
            Self::Exception => "exception",
            Self::Syscall => "syscall",
            Self::Task => "task",
            Self::Firmware => "firmware",
            Self::Decompressor => "decompressor",
            Self::Unknown => "unknown",
            Self::User => "user",
            Self::Idle => "idle",
            Self::Group => "group",
            Self::Loader => "loader",
        }
    }
}

/// One calling context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The context it was entered from; the root is its own parent.
    pub parent: NodeId,
    /// The function, as numbered in the recording.
    pub function: FunctionId,
    /// What the row stands for.
    pub kind: Kind,
    /// How often it was entered.
    pub calls: u64,
    /// Instructions executed in it and in nothing below it.
    pub self_instructions: u64,
}

/// What most events touch, and all that a function without calls does: four nodes to a cache line of 64 bytes, because a
/// tree of a boot is larger than the caches.
#[derive(Debug, Clone, Copy)]
struct Counts {
    calls: u64,
    self_instructions: u64,
}

// Children in one cache line. A node remembers those of two.
const IN_LINE: usize = 8;

/// No function has this number.
const NO_FUNCTION: FunctionId = FunctionId::MAX;

/// Function and node of some children of a node, in one cache line; node 0 (the root) stands for none. All functions are compared at
/// once: a search that ends at the first that is equal ends at another one each time, which the processor guesses wrong.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    functions: [FunctionId; IN_LINE],
    nodes: [NodeId; IN_LINE],
}

impl Line {
    const EMPTY: Self = Self { functions: [NO_FUNCTION; IN_LINE], nodes: [ROOT; IN_LINE] };

    #[inline]
    fn node(&self, function: FunctionId) -> Option<NodeId> {
        let hits = self.functions.map(|known| u8::from(known == function));
        self.nodes.get((u64::from_le_bytes(hits).trailing_zeros() / u8::BITS) as usize).copied()
    }

    /// Puts a child in front, and returns the last one.
    fn put(&mut self, (function, node): (FunctionId, NodeId)) -> (FunctionId, NodeId) {
        self.functions.rotate_right(1);
        self.nodes.rotate_right(1);
        (std::mem::replace(&mut self.functions[0], function), std::mem::replace(&mut self.nodes[0], node))
    }
}

/// The children that a node met last, the latest first.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Latest {
    first: Line,
    second: Line,
}

// A boot to a login prompt has a third of a million contexts.
const EXPECTED_NODES: usize = 1 << 19;

// Nodes that share a note of whether one of them changed: a cut looks at those alone.
const BLOCK: usize = 64;

const UNTOUCHED: Counts = Counts { calls: 0, self_instructions: 0 };
const CHILDLESS: Latest = Latest { first: Line::EMPTY, second: Line::EMPTY };

/// A tree that grows while a boot is followed.
///
/// ```
/// use firstlight_profile::tree::{CallTree, Kind, ROOT};
/// let mut tree = CallTree::new(0);
/// let a = tree.child(ROOT, 1, Kind::Function);
/// tree.charge(a, 1, 10);
/// assert_eq!(tree.child(ROOT, 1, Kind::Function), a);
/// assert_eq!(tree.node(a).self_instructions, 10);
/// ```
#[derive(Debug, Clone)]
#[repr(C)]
pub struct CallTree {
    counts: Vec<Counts>,
    latest: Vec<Latest>,
    // Of every block of nodes, whether one of them changed since [`Self::settle`].
    changed: Vec<bool>,
    places: Vec<(NodeId, FunctionId, Kind)>,
    // The same since [`Self::begin_phase`], as far as it was settled.
    settled: Vec<bool>,
    // The children that their parents have forgotten.
    others: FxHashMap<(NodeId, FunctionId), NodeId>,
}

impl CallTree {
    /// A tree with a root that stands for function number `root`.
    pub fn new(root: FunctionId) -> Self {
        // Address space costs nothing until it is used; growing would copy the tree again and again.
        let mut tree = Self {
            counts: Vec::with_capacity(EXPECTED_NODES),
            latest: Vec::with_capacity(EXPECTED_NODES),
            places: Vec::with_capacity(EXPECTED_NODES),
            others: FxHashMap::default(),
            changed: Vec::with_capacity(EXPECTED_NODES / BLOCK),
            settled: Vec::new(),
        };
        tree.changed.push(true);
        tree.counts.push(Counts { calls: 1, ..UNTOUCHED });
        tree.latest.push(CHILDLESS);
        tree.places.push((ROOT, root, Kind::Root));
        tree
    }

    /// The child of `parent` for `function`, made when it is not there yet.
    #[inline]
    pub fn child(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        match self.latest[parent as usize].first.node(function) {
            Some(node) => node,
            None => self.find_child(parent, function, kind),
        }
    }

    // A node that remembers fewer children than it can has no others.
    #[inline(never)]
    fn find_child(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        let second = &self.latest[parent as usize].second;
        if let Some(node) = second.node(function) {
            return node;
        }
        let oldest = second.nodes[IN_LINE - 1];
        let known = if oldest == ROOT { None } else { self.others.get(&(parent, function)).copied() };
        let node = known.unwrap_or_else(|| self.add(parent, function, kind));
        let latest = &mut self.latest[parent as usize];
        let (forgotten, was) = latest.second.put(latest.first.put((function, node)));
        if was != ROOT {
            self.others.insert((parent, forgotten), was);
        }
        node
    }

    fn add(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        let node = self.places.len() as NodeId;
        if self.places.len() / BLOCK >= self.changed.len() {
            self.changed.push(true);
        }
        self.counts.push(UNTOUCHED);
        self.latest.push(CHILDLESS);
        self.places.push((parent, function, kind));
        node
    }

    /// Counts one entry of `node`.
    #[inline]
    pub fn enter(&mut self, node: NodeId) {
        self.counts[node as usize].calls += 1;
        self.changed[node as usize / BLOCK] = true;
    }

    /// Adds entries of `node`, and instructions that it executed itself.
    #[inline]
    pub fn charge(&mut self, node: NodeId, entries: u64, instructions: u64) {
        let counts = &mut self.counts[node as usize];
        counts.calls += entries;
        counts.self_instructions += instructions;
        self.changed[node as usize / BLOCK] = true;
    }

    /// What the nodes did since [`Self::settle`] left their figures in `before`, where that is not zero.
    pub(crate) fn changed_since<'t>(&'t self, before: &'t [(u64, u64)]) -> impl Iterator<Item = NodeRow> + 't {
        self.changed_nodes().filter_map(|node| {
            let Counts { calls, self_instructions } = self.counts[node];
            let (calls_before, own_before) = before.get(node).copied().unwrap_or_default();
            let row = NodeRow {
                node: node as NodeId,
                calls: calls - calls_before,
                self_instructions: self_instructions - own_before,
            };
            (row.calls > 0 || row.self_instructions > 0).then_some(row)
        })
    }

    /// Keeps the figures of the nodes: what they do from here on is a change.
    pub(crate) fn settle(&mut self, before: &mut Vec<(u64, u64)>) {
        before.resize(self.len(), (0, 0));
        for node in self.changed_nodes() {
            let Counts { calls, self_instructions } = self.counts[node];
            before[node] = (calls, self_instructions);
        }
        self.settled.resize(self.changed.len(), false);
        for (settled, changed) in self.settled.iter_mut().zip(&mut self.changed) {
            *settled |= std::mem::take(changed);
        }
    }

    /// The nodes of which some changed since [`Self::begin_phase`], by number.
    pub(crate) fn changed_in_phase(&self) -> impl Iterator<Item = usize> + '_ {
        let settled = self.settled.iter().copied().chain(std::iter::repeat(false));
        self.nodes_of(self.changed.iter().zip(settled).map(|(changed, settled)| *changed || settled))
    }

    /// A phase begins here.
    pub(crate) fn begin_phase(&mut self) {
        self.settled.fill(false);
    }

    fn changed_nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes_of(self.changed.iter().copied())
    }

    fn nodes_of<'t>(&'t self, blocks: impl Iterator<Item = bool> + 't) -> impl Iterator<Item = usize> + 't {
        let blocks = blocks.enumerate().filter(|(_, changed)| *changed);
        blocks.flat_map(|(block, _)| block * BLOCK..((block + 1) * BLOCK).min(self.counts.len()))
    }

    /// The counts of `node`, and where the next call from it will look first.
    #[inline]
    pub fn next(&self, node: NodeId) -> [*const u8; 2] {
        let node = node as usize;
        [self.counts.as_ptr().wrapping_add(node).cast(), self.latest.as_ptr().wrapping_add(node).cast()]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// A tree always has its root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// One node.
    pub fn node(&self, node: NodeId) -> Node {
        let (parent, function, kind) = self.places[node as usize];
        let Counts { calls, self_instructions } = self.counts[node as usize];
        Node { parent, function, kind, calls, self_instructions }
    }

    /// All nodes, by number.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        (0..self.places.len()).map(|index| self.node(index as NodeId))
    }
}

/// Total instructions of every node of a tree given as its list of nodes (parents first).
pub fn totals(nodes: &[Node]) -> Vec<u64> {
    let mut totals: Vec<u64> = nodes.iter().map(|node| node.self_instructions).collect();
    for index in (1..nodes.len()).rev() {
        let parent = nodes[index].parent as usize;
        totals[parent] += totals[index];
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_finds_each_of_its_children_again_however_many_they_are() {
        let mut tree = CallTree::new(0);
        let parent = tree.child(ROOT, 1, Kind::Function);
        let functions = 2..2 + 10 * IN_LINE as FunctionId;
        let made: Vec<NodeId> = functions.clone().map(|each| tree.child(parent, each, Kind::Function)).collect();
        assert_eq!(tree.len(), 2 + made.len());
        for _ in 0..3 {
            let found: Vec<NodeId> =
                functions.clone().rev().map(|each| tree.child(parent, each, Kind::Function)).collect();
            assert!(found.iter().rev().eq(&made));
        }
        assert_eq!(tree.len(), 2 + made.len());
    }
}
