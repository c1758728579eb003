//! What is known of a processor with a link register: where its registers are, and which task runs.

use firstlight_isa::Linked;
use firstlight_profile::tracker::Link;
use firstlight_qemu::{Register, Registers};

/// What is known of a processor with a link register.
#[derive(Debug, Default)]
// What every event needs comes last: what else it needs follows in the session.
#[repr(C)]
pub struct Linkage {
    registers: Option<Registers>,
    /// The task that is left, and the one that comes, while they are switched.
    tasks: (u64, u64),
    /// The running task, from the first switch on.
    running: Option<u64>,
    /// The first task.
    first: Option<u64>,
    stack_pointer: Register,
    link: Register,
}

impl Linkage {
    /// It is the turn of this processor, after that of another: what was found there is found here, too.
    pub fn goes_on(&mut self, linked: Option<&Linked>, cpu: u32, other: u32, before: &Self) {
        let found = self.registers.or_else(|| before.registers.and_then(|found| found.on(other, cpu)));
        if let Some((linked, registers)) = linked.zip(found) {
            self.found(linked, registers);
        }
        self.first = self.first.or(before.first);
    }

    /// The task that runs.
    pub fn running(&self) -> Option<u64> {
        self.running
    }

    /// The task that was left last.
    pub fn left(&self) -> u64 {
        self.tasks.0
    }

    /// The first task of the boot.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The function that switches between tasks begins: its arguments are the task that is left and the one that comes.
    pub fn switch_begins(&mut self, linked: &Linked) {
        let (left, next) = linked.tasks;
        self.tasks = (self.register(left), self.register(next));
    }

    /// The next task runs from here on.
    ///
    /// Returns the task that was left, and the one that runs.
    pub fn switch_ends(&mut self) -> (u64, u64) {
        let (left, next) = self.tasks;
        self.first.get_or_insert(left);
        self.running = Some(next);
        (left, next)
    }

    /// Looks for the registers, when a block is translated: between two blocks they are up to date. Whether they were found.
    pub fn find(&mut self, cpu: u32, linked: &Linked) -> bool {
        if self.registers.is_none() {
            let file = &linked.registers;
            if let Some(registers) = Registers::find(cpu, file.read, file.order, file.width.bytes()) {
                self.found(linked, registers);
            }
        }
        self.registers.is_some()
    }

    fn found(&mut self, linked: &Linked, registers: Registers) {
        self.stack_pointer = registers.register(linked.registers.stack_pointer);
        self.link = registers.register(linked.link);
        self.registers = Some(registers);
    }

    /// The first argument of the function that is about to be executed.
    pub fn argument(&self, linked: &Linked) -> u64 {
        let [first, ..] = linked.registers.arguments;
        self.register(first)
    }

    fn register(&self, place: usize) -> u64 {
        self.registers.as_ref().map_or(0, |registers| registers.get(place))
    }

    /// The registers of the call whose function is about to be executed.
    #[inline]
    pub fn link(&self) -> Link {
        Link { sp: self.stack_pointer.get(), address: self.link.get() }
    }

    /// The stack pointer, where a block is about to be executed.
    #[inline]
    pub fn stack_pointer(&self) -> u64 {
        self.stack_pointer.get()
    }
}
