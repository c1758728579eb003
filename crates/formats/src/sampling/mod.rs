//! Samplers of processes: bootchart2 and systemd-bootchart.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
