//! The kernel's tracer: function graphs, events, histograms, and boot configuration.

use crate::format::Format;

mod call_tree;
mod function_graph;
mod graph;
mod graph_line;
mod long_calls;
mod symbols;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&function_graph::FunctionGraph];
