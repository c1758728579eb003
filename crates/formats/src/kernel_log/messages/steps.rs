//! Whether the clock of the stamps moves in steps of the kernel's tick, as it does before a real clock takes over.

/// The ticks of kernels with 100, 250 and 1000 Hz.
const TICKS: [i64; 3] = [10_000_000, 4_000_000, 1_000_000];
/// So many instants on the tick, each within a few ticks of the one before, are no accident.
const ENOUGH: u32 = 4;
const FEW: i64 = 2;
/// So many lines with the same stamp, in microseconds, were printed while the clock stood still.
const STANDS: u32 = 6;
/// A clock that stands still more often than this is coarse.
const MOST: usize = 16;

/// Follows the stamps of a boot.
#[derive(Debug, Default)]
pub struct Steps {
    last: i64,
    until: [i64; 3],
    near: [u32; 3],
    ended: [bool; 3],
    left: bool,
    /// How many lines in a row have the last stamp.
    same: u32,
    /// Stamps that more lines have than a kernel prints in a microsecond.
    stands: Vec<i64>,
}

impl Steps {
    /// The next stamp.
    #[inline]
    pub fn at(&mut self, time: i64) {
        if time == self.last {
            self.same = self.same.saturating_add(1);
            if self.same == STANDS && self.stands.len() < MOST {
                self.stands.push(time);
            }
            return;
        }
        self.same = 1;
        if self.left {
            self.last = time;
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

    /// Whether the clock stood still at this stamp for longer than its step. Before it runs, it stands at zero.
    pub fn stands_at(&self, time: i64) -> bool {
        time != 0 && self.stands.len() < MOST && self.stands.contains(&time)
    }

    /// The step of the clock at its beginning, and how long it lasted.
    pub fn found(&self) -> Option<(i64, i64)> {
        let tick = self.near.iter().position(|&near| near >= ENOUGH)?;
        Some((TICKS[tick], self.until[tick]))
    }
}
