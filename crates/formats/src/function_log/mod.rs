//! Logs of instrumented functions (KFI, KFT), and what kd makes of them.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
