//! Files that collect several records: pm-graph, LAVA, grab-boot-data, and what the collector gathers.

mod yaml;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod collector;
pub(crate) mod grab_boot_data;
pub(crate) mod kernel_config;
pub(crate) mod lava;
pub(crate) mod pm_graph;
pub(crate) mod snapshot;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &collector::CollectorManifest, &snapshot::SystemSnapshot, &kernel_config::KernelConfig,
    &pm_graph::PmGraph, &pm_graph::PmGraphResult, &grab_boot_data::GrabBootData, &lava::Lava,
];
// End of the readers.
