//! The turns of several processors.

use crate::api::{Block, Instruction};
use crate::clock::Clock;
use crate::session::Session;
use crate::shared::{recording, unpack_block};
use firstlight_isa::Isa;
use firstlight_qemu::Turns;
use std::ffi::c_void;

/// A block of a guest with several processors: the data is its length. To be called before all else that happens in it.
pub extern "C" fn on_turn<I: Isa>(_cpu: u32, data: *mut c_void) {
    let Some(session) = recording::<I>() else { return };
    if let Some(cpu) = session.turns.as_ref().and_then(|turns| turns.other_than(session.cpu)) {
        let (_, length) = unpack_block(data);
        // Between two blocks QEMU would say it, too, but not in one.
        session.turn(cpu, |clock| clock.is_ready().then(|| clock.now(length)));
    }
}

/// The first instruction of a function, which the data is.
extern "C" fn on_counted<I: Isa>(_cpu: u32, data: *mut c_void) {
    let Some(session) = recording::<I>() else { return };
    if let Some(count) = session.entries.get_mut(data as usize) {
        *count += 1;
    }
}

impl<I: Isa> Session<I> {
    /// Counts the executions of this instruction, the first one of a function.
    ///
    /// Where several processors share a thread, QEMU 10 breaks the code around counters of its own: it multiplies the number of the
    /// processor in place, and that is a constant which the rest of the block uses (`gen_plugin_u64_ptr` in accel/tcg/plugin-gen.c).
    pub fn count_entry(&self, instruction: *mut Instruction, function: u32) {
        match self.cpus {
            1 => self.api.count_entry(instruction, function),
            _ => self.api.on_instruction(instruction, on_counted::<I>, u64::from(function)),
        }
    }

    /// A block is translated: where another processor is about to execute it, that one's turn has begun.
    pub fn turn_of_translation(&mut self) {
        if self.cpus == 1 {
            return;
        }
        if self.turns.is_none() {
            self.turns = Turns::find(self.cpus);
        }
        match &self.turns {
            Some(turns) => {
                if let Some(cpu) = turns.other_than(self.cpu) {
                    self.turn(cpu, Clock::between_blocks);
                }
            }
            None => self.fail("QEMU does not show which processor runs"),
        }
    }

    /// Has every execution of a block look whose turn it is.
    pub fn watch_turns(&self, block: *mut Block, length: usize) {
        if self.cpus > 1 {
            self.api.on_block(block, on_turn::<I>, length as u64 & 0xffff);
        }
    }

    // The clock is that of the other processor when it says when its turn began.
    fn turn(&mut self, cpu: u32, now: impl FnOnce(&Clock) -> Option<u64>) {
        let rests = self.clock.turn(cpu);
        let Some(now) = now(&self.clock) else {
            return self.fail("QEMU's instruction counter was not found before another processor ran");
        };
        self.tracker.clock_checked(rests);
        self.tracker.idle(self.clock.idle_ns(), now);
        self.tracker.turn(cpu, now);
        let mut linkage = self.linkages.remove(&cpu).unwrap_or_default();
        linkage.goes_on(I::LINKED, cpu, self.cpu, &self.linkage);
        self.linkages.insert(self.cpu, std::mem::replace(&mut self.linkage, linkage));
        self.cpu = cpu;
        self.turn_of_memory();
    }
}
