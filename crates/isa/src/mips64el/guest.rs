//! The instructions of mips64el guests: marks, and the processor's counter.
//!
//! Each mark is `lui $0, 0x4c00 + NUMBER`: a write to the register that takes no value, for which compilers have no use.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::MARK;
use crate::guest_marks::{mark_function, ready_function};

/// How long one count takes, in hundredths of a nanosecond. The counter has half of the clock of 320 MHz of QEMU's `malta`;
/// before 8.1 QEMU takes whole nanoseconds for it.
const PERIODS: [u64; 2] = [600, 625];

/// So many counts tell one period from the other.
const TRIAL: u32 = 4096;

/// What the counter has counted before it begins anew.
const ROUND: u64 = 1 << 32;

/// What the real-time clock shows at power on, in seconds since 1970: `RTC` of `src/firstlight/recipe/recipe.py`.
const POWER_ON: Duration = Duration::from_secs(1_704_067_200);

mark_function!(guest_start, mark = MARK + 2, ".4byte {mark}");
mark_function!(switch_root, mark = MARK + 3, ".4byte {mark}");
ready_function!(
    mark = MARK + 1, [".4byte {mark}", "rdhwr $2, $2"], ["$2" => count: u64],
    nanoseconds(count as u32)
);

/// The counter in nanoseconds: where QEMU counts instructions, the virtual time from power on, rounded down to one period of the
/// counter.
pub fn counter() -> u64 {
    nanoseconds(count())
}

#[expect(unsafe_code, reason = "the counter has no reading that is safe")]
fn count() -> u32 {
    let count: u64;
    // SAFETY: it reads a counter, which Linux leaves to user mode.
    unsafe { core::arch::asm!("rdhwr $2, $2", out("$2") count, options(nomem, nostack)) };
    count as u32
}

/// The time at a count. The counter has 32 bits, so the real-time clock says how often it has begun anew.
fn nanoseconds(count: u32) -> u64 {
    let period = period();
    let round = ROUND * period / 100;
    let within = u64::from(count) * period / 100;
    let about = SystemTime::now().duration_since(UNIX_EPOCH + POWER_ON).map_or(0, |since| since.as_nanos() as u64);
    within + (about.saturating_sub(within) + round / 2) / round * round
}

/// The period that the kernel's clock shows.
fn period() -> u64 {
    static PERIOD: OnceLock<u64> = OnceLock::new();
    *PERIOD.get_or_init(|| {
        // The first reading of the clock takes longer than others.
        let _ = both();
        let (start, from) = both();
        while count().wrapping_sub(from) < TRIAL {}
        let (end, to) = both();
        let measured = (end - start).as_nanos() as u64 * 100 / u64::from(to.wrapping_sub(from)).max(1);
        PERIODS.into_iter().min_by_key(|period| period.abs_diff(measured)).unwrap_or(PERIODS[0])
    })
}

/// The kernel's clock and the counter, always as long after each other.
#[inline(never)]
fn both() -> (Instant, u32) {
    (Instant::now(), count())
}

/// The bytes of a mark, as `docs/reference/formats/guest-report.md` specifies them.
#[cfg(test)]
pub(crate) fn specified(number: u32) -> Vec<u8> {
    (0x3c00_4c00_u32 + number).to_le_bytes().to_vec()
}
