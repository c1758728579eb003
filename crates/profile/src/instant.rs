//! The clock of a recording.

use serde::{Deserialize, Serialize};

/// A point in the boot: instructions executed and nanoseconds idled so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Instant {
    /// Instructions executed.
    pub instructions: u64,
    /// Nanoseconds that the virtual clock ran while nothing was executed.
    pub idle_ns: u64,
}
