//! The kernel's tracer: function graphs, events, histograms, and boot configuration.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
