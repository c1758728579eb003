//! The relation between the guest's clocks, to align systemd's times to the recording's clock.

use firstlight_isa::guest::counter;
use rustix::time::{clock_gettime, ClockId};

/// Of so many readings the one counts that took least: an interrupt may come between the two clocks.
const READINGS: usize = 16;

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub fn monotonic_ns() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// One line: the time stamp counter and `CLOCK_MONOTONIC` at the same instant, as near as it can be told.
pub fn both() -> String {
    let reading = |_| {
        let before = counter();
        let monotonic = monotonic_ns();
        (counter().saturating_sub(before), before, monotonic)
    };
    let best = (0..READINGS).map(reading).min().unwrap_or_default();
    format!("{} {}\n", best.1 + best.0 / 2, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_both_clocks() {
        let line = both();
        let words: Vec<i128> = line.trim_end().split(' ').map(|word| word.parse().unwrap()).collect();
        assert_eq!(words.len(), 2);
        assert!(words.iter().all(|word| *word > 0) && words[1] <= monotonic_ns(), "{line}");
    }
}
