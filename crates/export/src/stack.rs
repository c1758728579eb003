//! Weighted stacks.

use firstlight_schema::interned::{TextNumber, Texts};

/// What a stack weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds of the boot's clock.
    Time,
    /// Instructions.
    Instructions,
}

/// What the stacks were made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The calling-context tree; the weights add up to the boot.
    Calls,
    /// The spans: each instant shared between what was at work, so that the weights add up to the boot; without instants,
    /// and for instructions, what a span has beyond the spans in it.
    Spans,
}

/// A place in the tree; parents come before their children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The place of the caller in the list.
    pub parent: Option<usize>,
    /// The row of the table.
    pub row: usize,
    /// Its name.
    pub name: TextNumber,
    /// What it weighs without those below it.
    pub weight: u64,
}

/// The tree.
#[derive(Debug)]
pub struct Stacks {
    /// What it was made of.
    pub origin: Origin,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// The names of the nodes.
    pub texts: Texts,
    /// Nodes of which nothing says what they weigh; they count nothing.
    pub unknown: u64,
    /// Nodes and spans whose children last longer than they do; they count nothing themselves.
    pub overlapped: u64,
}

impl Stacks {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, nodes: Vec::new(), texts: Texts::default(), unknown: 0, overlapped: 0 }
    }

    /// The name of a node.
    pub fn name(&self, node: &Node) -> &str {
        self.texts.get(node.name).unwrap_or_default()
    }
}
