//! The kernel's tracer: function graphs, events, histograms, and boot configuration.

use crate::format::Format;

mod bootconfig;
pub(crate) mod call_tree;
mod dat_sections;
mod event_format;
mod event_line;
mod events;
mod function_graph;
mod graph;
mod graph_line;
mod graph_places;
mod hist;
pub(crate) mod long_calls;
mod ring_buffer;
mod stamps;
pub(crate) mod symbols;
mod text;
mod trace_dat;
mod trace_events;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[
    &function_graph::FunctionGraph,
    &trace_events::TraceEvents,
    &hist::Hist,
    &bootconfig::BootConfig,
    &trace_dat::TraceDat,
];
