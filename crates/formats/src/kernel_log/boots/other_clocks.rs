//! Lines before the kernel's whose times are of another clock.

use super::{Boots, Interpreter, Jumps, Processes};

impl Boots {
    /// Whether the present boot has the first line of a kernel.
    pub fn has_kernel(&self) -> bool {
        self.begun || !self.done.is_empty()
    }

    /// The lines so far have times of another clock than the kernel's: they stay without. Returns how many had one, and the first.
    pub fn forget_times(&mut self) -> Option<(u64, u64)> {
        self.release();
        let mut forgotten: Option<(u64, u64)> = None;
        for number in 0..self.now.log.len() {
            if self.now.log.time_ns(number).is_some() {
                let line = self.now.log.get(number).map_or(0, |(stamp, _)| stamp.line);
                forgotten.get_or_insert((0, line)).0 += 1;
                self.now.log.set_time_ns(number, None);
            }
        }
        self.now.marks.clear();
        self.jumps = Jumps::default();
        self.forget_clock();
        forgotten
    }

    fn forget_clock(&mut self) {
        (self.kernel_lines, self.last, self.shift, self.first_kernel) = (0, None, 0, None);
        self.interpreter = Interpreter::new();
        self.processes = Processes::default();
    }

    /// Whether the stamps so far are a loader's: it had printed its name before them, and nothing in them is a kernel's.
    pub(super) fn is_loaders_own(&self) -> bool {
        let named = self.now.facts.iter().any(|(fact, _)| fact == "firmware.loaders");
        named && !self.begun && self.interpreter.understood() == 0
    }

    /// The lines so far, stamped as a kernel does it, are stages of a loader: their times go to the loader's clock.
    pub(super) fn stamps_are_loaders(&mut self) {
        for number in 0..self.now.log.len() {
            if let Some((time, (_, text))) = self.now.log.time_ns(number).zip(self.now.log.get(number)) {
                let line = self.now.log.get(number).map_or(0, |(stamp, _)| stamp.line);
                self.loaders.stamped(time, text, line);
                self.now.log.set_time_ns(number, None);
            }
        }
        self.forget_clock();
    }
}
