//! Tracers: the kernel's (function graphs, events, histograms, boot configuration), perf, strace, and the kernel's audit.

mod audit_record;
pub(crate) mod call_tree;
mod dat_sections;
mod event_calls;
mod event_format;
mod event_line;
mod events;
mod graph;
mod graph_line;
mod graph_places;
mod lives;
pub(crate) mod long_calls;
mod processor_time;
mod ring_buffer;
mod stamps;
mod strace_line;
mod strace_values;
pub(crate) mod symbols;
mod text;
mod traced_calls;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod audit;
pub(crate) mod bootconfig;
pub(crate) mod function_graph;
pub(crate) mod hist;
pub(crate) mod perf_script;
pub(crate) mod strace;
pub(crate) mod trace_dat;
pub(crate) mod trace_events;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &function_graph::FunctionGraph, &trace_events::TraceEvents, &hist::Hist, &bootconfig::BootConfig,
    &trace_dat::TraceDat, &strace::Strace, &perf_script::PerfScript, &audit::Audit,
];
// End of the readers.
