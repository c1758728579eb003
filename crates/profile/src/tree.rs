//! The calling-context tree: one node for each path of calls from the root.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A node's number in its tree. Parents have smaller numbers than their children.
pub type NodeId = u32;

/// A function's number in the recording's table of functions.
pub type FunctionId = u32;

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

/// A tree that grows while a boot is followed.
///
/// ```
/// use firstlight_profile::tree::{CallTree, Kind, ROOT};
/// let mut tree = CallTree::new(0);
/// let a = tree.child(ROOT, 1, Kind::Function);
/// tree.enter(a);
/// tree.charge(a, 10);
/// assert_eq!(tree.child(ROOT, 1, Kind::Function), a);
/// assert_eq!(tree.totals(), vec![10, 10]);
/// ```
#[derive(Debug, Clone)]
pub struct CallTree {
    nodes: Vec<Node>,
    // The child found last under each node: calls repeat, so this answers most look-ups.
    last_child: Vec<NodeId>,
    children: FxHashMap<(NodeId, FunctionId), NodeId>,
}

impl CallTree {
    /// A tree with a root that stands for function number `root`.
    pub fn new(root: FunctionId) -> Self {
        let root = Node { parent: ROOT, function: root, kind: Kind::Root, calls: 1, self_instructions: 0 };
        Self { nodes: vec![root], last_child: vec![ROOT], children: FxHashMap::default() }
    }

    /// The child of `parent` for `function`, made when it is not there yet.
    #[inline]
    pub fn child(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        let last = self.last_child[parent as usize];
        if last != ROOT && self.nodes[last as usize].function == function {
            return last;
        }
        self.find_child(parent, function, kind)
    }

    fn find_child(&mut self, parent: NodeId, function: FunctionId, kind: Kind) -> NodeId {
        let next = self.nodes.len() as NodeId;
        let node = *self.children.entry((parent, function)).or_insert(next);
        if node == next {
            self.nodes.push(Node { parent, function, kind, calls: 0, self_instructions: 0 });
            self.last_child.push(ROOT);
        }
        self.last_child[parent as usize] = node;
        node
    }

    /// Counts one entry of `node`.
    #[inline]
    pub fn enter(&mut self, node: NodeId) {
        self.nodes[node as usize].calls += 1;
    }

    /// Adds instructions to what `node` executed itself.
    #[inline]
    pub fn charge(&mut self, node: NodeId, instructions: u64) {
        self.nodes[node as usize].self_instructions += instructions;
    }

    /// All nodes, by number.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Total instructions of every node: its own and those of everything below it.
    pub fn totals(&self) -> Vec<u64> {
        totals(&self.nodes)
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
