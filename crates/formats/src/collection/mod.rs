//! Files that collect several records: pm-graph, LAVA, grab-boot-data, and what the collector gathers.

use crate::format::Format;

mod collector;
mod snapshot;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&collector::CollectorManifest, &snapshot::SystemSnapshot];
