//! What systemd tells of a boot: its analyses, its units' properties, its journal.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
