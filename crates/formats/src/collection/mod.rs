//! Files that collect several records: pm-graph, LAVA, grab-boot-data, and what the collector gathers.

use crate::format::Format;

mod collector;
mod grab_boot_data;
mod kernel_config;
mod lava;
mod pm_graph;
mod snapshot;
mod yaml;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[
    &collector::CollectorManifest,
    &snapshot::SystemSnapshot,
    &kernel_config::KernelConfig,
    &pm_graph::PmGraph,
    &pm_graph::PmGraphResult,
    &grab_boot_data::GrabBootData,
    &lava::Lava,
];
