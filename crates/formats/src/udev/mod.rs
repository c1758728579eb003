//! udev's monitor and its debug log.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
