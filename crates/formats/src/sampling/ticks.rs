//! The unit of times in `/proc`.

/// `USER_HZ` and the unit of the instants: both are hundredths of a second.
pub(super) const TICK_NS: i64 = 10_000_000;
