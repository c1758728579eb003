//! Files that collect several records: pm-graph, LAVA, grab-boot-data.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
