//! Whether the clock of the stamps moves in steps of the kernel's tick, as it does before a real clock takes over.

/// The ticks of kernels with 100, 250 and 1000 Hz.
const TICKS: [i64; 3] = [10_000_000, 4_000_000, 1_000_000];
/// So many instants on the tick, each within a few ticks of the one before, are no accident.
const ENOUGH: u32 = 4;
const FEW: i64 = 2;

/// Follows the stamps of a boot.
#[derive(Debug, Default)]
pub struct Steps {
    last: i64,
    until: [i64; 3],
    near: [u32; 3],
    ended: [bool; 3],
    left: bool,
}

impl Steps {
    /// The next stamp.
    #[inline]
    pub fn at(&mut self, time: i64) {
        if self.left || time == self.last {
            return;
        }
        let gap = time.saturating_sub(self.last).saturating_abs();
        self.last = time;
        for (tick, step) in TICKS.into_iter().enumerate() {
            if self.ended[tick] {
                continue;
            }
            if time % step == 0 {
                self.near[tick] = self.near[tick].saturating_add(u32::from(gap <= FEW * step));
                self.until[tick] = time;
            } else {
                self.ended[tick] = true;
            }
        }
        self.left = self.ended == [true; 3];
    }

    /// The step of the clock at its beginning, and how long it lasted.
    pub fn found(&self) -> Option<(i64, i64)> {
        let tick = self.near.iter().position(|&near| near >= ENOUGH)?;
        Some((TICKS[tick], self.until[tick]))
    }
}
