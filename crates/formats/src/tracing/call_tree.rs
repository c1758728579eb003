//! A calling-context tree that grows line by line.

use super::symbols::{Symbol, Symbols};
use crate::evidence::{CallNode, Calls};
use rustc_hash::FxHashMap;

/// A node's place in its tree.
pub(crate) type NodeId = u32;

/// The root of every tree.
pub(crate) const ROOT: NodeId = 0;

/// Contexts that are kept apart; a whole boot to a login prompt has a third of a million.
const MOST_NODES: usize = 1 << 21;

/// Children that a node remembers: most calls find theirs among them.
const REMEMBERED: usize = 4;

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Root,
    Task,
    Function,
    Interrupt,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Task => "task",
            Self::Function => "function",
            Self::Interrupt => "interrupt",
        }
    }
}

#[derive(Debug)]
struct Node {
    calls: u64,
    self_ns: i64,
    parent: NodeId,
    function: Symbol,
    // Function and node of the children met last; node 0 (the root) stands for none.
    recent: [(Symbol, NodeId); REMEMBERED],
    kind: Kind,
}

/// The tree. Memory is bounded: when it is full, new contexts are charged to their callers.
#[derive(Debug)]
pub(crate) struct CallTree {
    nodes: Vec<Node>,
    // The children that their parents have forgotten.
    others: FxHashMap<(NodeId, Symbol), NodeId>,
    /// Calls that found no place.
    pub(crate) folded: u64,
}

impl CallTree {
    pub(crate) fn new(root: Symbol) -> Self {
        let mut tree = Self { nodes: Vec::new(), others: FxHashMap::default(), folded: 0 };
        tree.nodes.push(Node::new(ROOT, root, Kind::Root));
        tree.enter(ROOT);
        tree
    }

    /// The child of `parent` for `function`; its kind is that of its first call.
    #[inline]
    pub(crate) fn child(&mut self, parent: NodeId, function: Symbol, kind: Kind) -> NodeId {
        let recent = &self.nodes[parent as usize].recent;
        for &(known, node) in recent {
            if known == function && node != ROOT {
                return node;
            }
        }
        self.find(parent, function, kind)
    }

    // A node that remembers fewer children than it can has no others.
    fn find(&mut self, parent: NodeId, function: Symbol, kind: Kind) -> NodeId {
        let (forgotten, was) = self.nodes[parent as usize].recent[REMEMBERED - 1];
        let known = if was == ROOT { None } else { self.others.get(&(parent, function)).copied() };
        let node = match known {
            Some(node) => node,
            None if self.nodes.len() >= MOST_NODES => {
                self.folded += 1;
                return parent;
            }
            None => {
                self.nodes.push(Node::new(parent, function, kind));
                self.nodes.len() as NodeId - 1
            }
        };
        let recent = &mut self.nodes[parent as usize].recent;
        recent.rotate_right(1);
        recent[0] = (function, node);
        if was != ROOT {
            self.others.insert((parent, forgotten), was);
        }
        node
    }

    /// Counts a call.
    #[inline]
    pub(crate) fn enter(&mut self, node: NodeId) {
        self.nodes[node as usize].calls += 1;
    }

    /// Adds time of the function's own; what contradicts itself may be negative.
    #[inline]
    pub(crate) fn charge(&mut self, node: NodeId, self_ns: i64) {
        let charged = &mut self.nodes[node as usize].self_ns;
        *charged = charged.saturating_add(self_ns);
    }

    pub(crate) fn kind(&self, node: NodeId) -> Kind {
        self.nodes[node as usize].kind
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The tree as evidence: every node before what it called, the callees in the order in which they were met. Without
    /// times where none was charged.
    pub(crate) fn into_calls(self, symbols: &Symbols) -> Calls {
        drop(self.others);
        // Where calls were only counted, there is no time at all.
        let timed = self.nodes.iter().any(|node| node.self_ns != 0);
        let functions = (0..symbols.len()).map(|symbol| symbols.name(symbol as Symbol)).collect();
        // Siblings are chained by number, so that no node needs a list of its own.
        let mut first_child = vec![ROOT; self.nodes.len()];
        let mut next_sibling = vec![ROOT; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().skip(1).rev() {
            next_sibling[place] = std::mem::replace(&mut first_child[node.parent as usize], place as NodeId);
        }
        let mut nodes: Vec<CallNode> = Vec::with_capacity(self.nodes.len());
        let mut waiting = vec![(ROOT, ROOT)];
        while let Some((place, parent)) = waiting.pop() {
            let node = &self.nodes[place as usize];
            let number = nodes.len() as NodeId;
            nodes.push(CallNode {
                parent,
                function: node.function,
                kind: node.kind.name(),
                calls: node.calls,
                self_ns: timed.then_some(node.self_ns),
            });
            if next_sibling[place as usize] != ROOT {
                waiting.push((next_sibling[place as usize], parent));
            }
            if first_child[place as usize] != ROOT {
                waiting.push((first_child[place as usize], number));
            }
        }
        Calls { functions, nodes }
    }
}

impl Node {
    fn new(parent: NodeId, function: Symbol, kind: Kind) -> Self {
        Self { calls: 0, self_ns: 0, parent, function, recent: [(0, ROOT); REMEMBERED], kind }
    }
}
