//! The instruction clock: QEMU's own counter, read where QEMU keeps it.
//!
//! Under `-icount` every block takes its length off a budget before it runs, and gives back what a fault left undone.
//! So `icount + budget - extra - decrementer` is the number of instructions executed up to the end of the running
//! block, exact to the instruction, at no cost to the guest's speed (`softmmu/icount.c`, `accel/tcg/cpu-exec.c`).
//! QEMU has a function that adds this up, but ends itself when it is called in the middle of a block; it may be called
//! while a block is translated. The plugin finds the four variables by comparing memory with that function's answers,
//! and goes on comparing them at every translation for the whole boot.
#![allow(unsafe_code)]

use firstlight_qemu::symbol;
use std::ffi::{c_int, c_void};

// How much of QEMU's structures is searched. Both are larger than this in 7.2 and in 10.0.
const TIMERS_BYTES: usize = 160;
const CPU_BYTES: usize = 32 * 1024;
const CLOCK_VIRTUAL: c_int = 1;
// Samples that must agree before a candidate is accepted.
const AGREEMENTS: u32 = 12;

/// Where QEMU keeps the parts of its counter. Until they are known they are zeros, or a count of one's own.
#[derive(Clone, Copy)]
struct Parts {
    icount: *const i64,
    /// The budget, and the extra behind it.
    budget: *const i64,
    decrementer: *const u16,
    /// All bits set where the count is one of the end of the running block, and none where it is one of the running instruction.
    at_block_end: u64,
    bias: *const i64,
}

static ZEROS: [i64; 2] = [0; 2];

impl Parts {
    const NONE: Self = Self {
        icount: ZEROS.as_ptr(),
        budget: ZEROS.as_ptr(),
        decrementer: ZEROS.as_ptr().cast(),
        at_block_end: 0,
        bias: ZEROS.as_ptr(),
    };

    // What the other two parts leave of the budget.
    #[inline]
    fn left(&self) -> i64 {
        // SAFETY: the parts were found in QEMU's own structures, which live as long as it does, or are the zeros.
        unsafe { (*self.budget.add(1)).wrapping_add(i64::from(*self.decrementer)) }
    }
}

/// What the search has found so far.
struct Search {
    timers: *const u8,
    number: u32,
    // Null until the first translation: plugins are loaded before there is a CPU.
    cpu: *const u8,
    icount: Vec<usize>,
    bias: Vec<usize>,
    budget: Vec<Candidate>,
    samples: u32,
    last: i64,
    // Where instructions are counted one by one meanwhile; null where they are not.
    counted: *const u64,
}

/// A place that may be the budget's, with one that may be the decrementer's. The extra follows the budget.
#[derive(Clone, Copy)]
struct Candidate {
    budget: usize,
    decrementer: usize,
    left: i64,
    // How often `left` was another than at the sample before: places that agree because nothing moves do not count.
    changes: u32,
}

enum Source {
    Searching(Search),
    Icount,
    Counted,
}

/// The clock of a recording.
// What every event needs comes first.
#[repr(C)]
pub struct Clock {
    at: Parts,
    source: Source,
    shift: u8,
    /// The processor whose parts are read.
    number: u32,
    raw: Option<extern "C" fn() -> i64>,
    nanoseconds: Option<extern "C" fn(c_int) -> i64>,
}

impl Clock {
    /// A clock by QEMU's counter of this processor, found while the firmware runs.
    ///
    /// # Errors
    ///
    /// What this QEMU lacks for it.
    pub fn icount(cpu: u32, shift: u8) -> Result<Self, &'static str> {
        let missing = "QEMU's instruction counter is not visible to plugins";
        let mut clock = Self { number: cpu, ..Self::with(Source::Counted, shift) };
        symbol(c"qemu_get_cpu").ok_or(missing)?;
        let timers = symbol(c"timers_state").ok_or(missing)?.cast_const().cast();
        if clock.raw.is_none() || clock.nanoseconds.is_none() {
            return Err(missing);
        }
        clock.source = Source::Searching(Search {
            timers,
            number: cpu,
            cpu: std::ptr::null(),
            icount: (0..TIMERS_BYTES / 8).map(|index| index * 8).collect(),
            bias: (0..TIMERS_BYTES / 8).map(|index| index * 8).collect(),
            budget: Vec::new(),
            samples: 0,
            last: 0,
            counted: std::ptr::null(),
        });
        Ok(clock)
    }

    /// A clock that counts each instruction where QEMU executes it.
    pub fn counted(shift: u8) -> Self {
        Self::with(Source::Counted, shift)
    }

    /// Tells where instructions are counted: a counting clock, or one that searches for QEMU's own counter and goes by this one until it
    /// is found.
    pub fn count_at(&mut self, counter: *const u64) {
        if let Source::Searching(search) = &mut self.source {
            search.counted = counter;
        }
        if !matches!(self.source, Source::Icount) {
            self.at.icount = counter.cast();
        }
    }

    fn with(source: Source, shift: u8) -> Self {
        // SAFETY: `int64_t icount_get_raw(void)` and `int64_t qemu_clock_get_ns(QEMUClockType)` in every version.
        let raw = symbol(c"icount_get_raw").map(|address| unsafe { std::mem::transmute::<*mut c_void, _>(address) });
        let nanoseconds =
            symbol(c"qemu_clock_get_ns").map(|address| unsafe { std::mem::transmute::<*mut c_void, _>(address) });
        Self { at: Parts::NONE, source, shift, number: 0, raw, nanoseconds }
    }

    /// Another processor goes on: its parts stand at the same places of its object, and those of the one before are at rest.
    /// Whether they are.
    pub fn turn(&mut self, to: u32) -> bool {
        let from = std::mem::replace(&mut self.number, to);
        let (Source::Icount, parts) = (&self.source, &mut self.at) else { return true };
        let Some((from, to)) = firstlight_qemu::cpu(from).zip(firstlight_qemu::cpu(to)) else { return false };
        // SAFETY: as for `block_end`.
        let rests = unsafe { *parts.budget } == parts.left();
        let distance = (to as isize).wrapping_sub(from as isize);
        parts.budget = parts.budget.wrapping_byte_offset(distance);
        parts.decrementer = parts.decrementer.wrapping_byte_offset(distance);
        rests
    }

    /// Instructions executed up to the end of the running block (or, counted, up to and with the running instruction).
    #[inline]
    pub fn block_end(&self) -> u64 {
        // SAFETY: the parts were found in QEMU's own structures, which live as long as it does, or are the zeros, or a counter.
        let (icount, budget) = unsafe { (*self.at.icount, *self.at.budget) };
        icount.wrapping_add(budget).wrapping_sub(self.at.left()) as u64
    }

    /// Instructions executed when `remaining` of the running block are still to come.
    #[inline]
    pub fn now(&self, remaining: u64) -> u64 {
        self.block_end().wrapping_sub(remaining & self.at.at_block_end)
    }

    /// Nanoseconds the virtual clock ran without instructions; 0 where that cannot be seen.
    pub fn idle_ns(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (*self.at.bias).max(0) as u64 }
    }

    /// Whether instructions are counted one by one.
    pub fn is_counted(&self) -> bool {
        matches!(self.source, Source::Counted)
    }

    /// Whether the clock can be read: QEMU's counter was found, or instructions are counted meanwhile.
    pub fn is_readable(&self) -> bool {
        match &self.source {
            Source::Searching(search) => !search.counted.is_null(),
            _ => true,
        }
    }

    /// Whether QEMU's counter was found, or none is wanted.
    pub fn is_ready(&self) -> bool {
        !matches!(self.source, Source::Searching(_))
    }

    /// Virtual nanoseconds at an instant.
    pub fn virtual_ns(&self, instructions: u64, idle_ns: u64) -> u64 {
        (instructions << self.shift) + idle_ns
    }

    /// Instructions executed so far, by QEMU's own answer: only between two blocks, as while one is translated.
    pub fn between_blocks(&self) -> Option<u64> {
        Some(self.raw?() as u64)
    }

    /// To be called at every translation, when nothing runs: searches on, or compares with QEMU's answer.
    /// Returns whether they agree, once there is something to compare.
    pub fn at_translation(&mut self) -> Option<bool> {
        let raw = self.raw?();
        match &mut self.source {
            Source::Searching(search) => {
                let idle = self.nanoseconds?(CLOCK_VIRTUAL) - (raw << self.shift);
                // SAFETY: the counter lives as long as QEMU does.
                let counted = (!search.counted.is_null()).then(|| unsafe { *search.counted });
                let found = search.narrow(raw, idle);
                if let Some(parts) = found {
                    (self.at, self.source) = (parts, Source::Icount);
                }
                // Both counters have to say the same at the instant that the one takes over from the other.
                counted.filter(|_| found.is_some()).map(|counted| counted == raw as u64)
            }
            Source::Icount => {
                let idle = self.nanoseconds?(CLOCK_VIRTUAL) - (raw << self.shift);
                Some(self.block_end() == raw as u64 && self.idle_ns() == idle as u64)
            }
            Source::Counted => None,
        }
    }
}

impl Search {
    /// Keeps the places that agree with this answer; the parts, when only one of each is left.
    fn narrow(&mut self, raw: i64, idle: i64) -> Option<Parts> {
        if raw == self.last {
            return None;
        }
        self.last = raw;
        if self.cpu.is_null() {
            self.cpu = firstlight_qemu::cpu(self.number)?.cast_const().cast();
        }
        // SAFETY: offsets lie within the structures, see the constants; QEMU's thread is the one that runs this.
        let long = |base: *const u8, offset: usize| unsafe { base.add(offset).cast::<i64>().read_unaligned() };
        let short = |offset: usize| unsafe { self.cpu.add(offset).cast::<u16>().read_unaligned() };
        self.icount.retain(|offset| long(self.timers, *offset) == raw);
        self.bias.retain(|offset| long(self.timers, *offset) == idle);
        // The answer was just added up, so the budget is what is left.
        let left = |offset: usize| long(self.cpu, offset) - long(self.cpu, offset + 8);
        if self.budget.is_empty() {
            let decrementers: Vec<usize> = (0..CPU_BYTES - 8).step_by(4).collect();
            for budget in (0..CPU_BYTES - 16).step_by(8) {
                let left = left(budget);
                if (1..=0xffff).contains(&left) && long(self.cpu, budget + 8) >= 0 {
                    // A number beside a zero agrees with itself.
                    let other = |offset: &&usize| **offset != budget && i64::from(short(**offset)) == left;
                    let same = decrementers.iter().filter(other);
                    self.budget.extend(same.map(|at| Candidate { budget, decrementer: *at, left, changes: 0 }));
                }
            }
            self.samples = 0;
            return None;
        }
        let mut kept = std::mem::take(&mut self.budget);
        kept.retain_mut(|candidate| {
            let now = left(candidate.budget);
            candidate.changes += u32::from(now != std::mem::replace(&mut candidate.left, now));
            now == i64::from(short(candidate.decrementer))
        });
        self.budget = kept;
        self.samples += 1;
        if self.samples < AGREEMENTS {
            return None;
        }
        let mut moving = self.budget.iter().filter(|candidate| candidate.changes >= AGREEMENTS / 2);
        let (Some(Candidate { budget, decrementer, .. }), None, [icount]) =
            (moving.next().copied(), moving.next(), self.icount.as_slice())
        else {
            return None;
        };
        let icount = *icount;
        // Until something idled the bias is zero like many others; it stands three words before the counter.
        let bias = match self.bias.as_slice() {
            [only] => *only,
            several => *several.iter().find(|offset| **offset + 24 == icount)?,
        };
        // SAFETY: as above.
        unsafe {
            Some(Parts {
                icount: self.timers.add(icount).cast(),
                budget: self.cpu.add(budget).cast(),
                decrementer: self.cpu.add(decrementer).cast(),
                at_block_end: u64::MAX,
                bias: self.timers.add(bias).cast(),
            })
        }
    }
}
