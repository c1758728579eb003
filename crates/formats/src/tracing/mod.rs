//! The kernel's tracer: function graphs, events, histograms, and boot configuration.

use crate::format::Format;

pub(crate) mod call_tree;
mod function_graph;
mod graph;
mod graph_line;
pub(crate) mod long_calls;
pub(crate) mod symbols;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&function_graph::FunctionGraph];
