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

// Children that a node remembers: they fill two cache lines.
const REMEMBERED: usize = 16;

/// Function and node of the children that a node met last, the latest first; node 0 (the root) stands for none.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Latest([(FunctionId, NodeId); REMEMBERED]);

// A boot to a login prompt has a third of a million contexts.
const EXPECTED_NODES: usize = 1 << 19;

// Nodes that share a note of whether one of them changed: a cut looks at those alone.
const BLOCK: usize = 64;

const UNTOUCHED: Counts = Counts { calls: 0, self_instructions: 0 };
const CHILDLESS: Latest = Latest([(0, ROOT); REMEMBERED]);

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
pub struct CallTree {
    counts: Vec<Counts>,
    latest: Vec<Latest>,
    places: Vec<(NodeId, FunctionId, Kind)>,
    // The children that their parents have forgotten.
    others: FxHashMap<(NodeId, FunctionId), NodeId>,
    // Of every block of nodes, whether one of them changed since [`Self::settle`].
    changed: Vec<bool>,
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
        for (known, node) in &self.latest[parent as usize].0 {
            if *known == function && *node != ROOT {
                return *node;
            }
        }
        self.find_child(parent, function, kind)
    }

    // A node that remembers fewer children than it can has no others.
    #[cold]
    fn find_child(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        let (_, oldest) = self.latest[parent as usize].0[REMEMBERED - 1];
        let known = if oldest == ROOT { None } else { self.others.get(&(parent, function)).copied() };
        let node = known.unwrap_or_else(|| self.add(parent, function, kind));
        let remembered = &mut self.latest[parent as usize].0;
        let (forgotten, was) = remembered[REMEMBERED - 1];
        remembered.rotate_right(1);
        remembered[0] = (function, node);
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
        self.changed.fill(false);
    }

    fn changed_nodes(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.changed.iter().enumerate().filter(|(_, changed)| **changed);
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
        let functions = 2..2 + 5 * REMEMBERED as FunctionId;
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
