//! The kernel's tracer: function graphs, events, histograms, and boot configuration.

pub(crate) mod call_tree;
mod dat_sections;
mod event_format;
mod event_line;
mod events;
mod graph;
mod graph_line;
mod graph_places;
pub(crate) mod long_calls;
mod ring_buffer;
mod stamps;
pub(crate) mod symbols;
mod text;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod bootconfig;
pub(crate) mod function_graph;
pub(crate) mod hist;
pub(crate) mod trace_dat;
pub(crate) mod trace_events;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &function_graph::FunctionGraph, &trace_events::TraceEvents, &hist::Hist, &bootconfig::BootConfig,
    &trace_dat::TraceDat,
];
// End of the readers.
