//! Processes: what their instructions were executed for, their system calls, and what the caller of the tracker reads of them.

use super::mode::{since, Mode};
use super::{Role, Tracker};
use crate::userspace::code::{Block, BlockId, CodeLog, SourceId, UserCode};
use crate::userspace::{Created, Ended, Image, Missing, SystemCall, TextId, Wakeup};
use firstlight_isa::Isa;
use firstlight_schema::CodeKind;

/// What a task runs, as the kernel's memory has it.
#[derive(Debug, Clone, Copy)]
pub struct Program<'p> {
    /// The number that the kernel gave the task.
    pub pid: u32,
    /// The number of its process.
    pub tgid: u32,
    /// The executable's path.
    pub file: &'p str,
    /// The arguments, each ended by a NUL.
    pub arguments: &'p str,
    /// Its control group.
    pub cgroup: &'p str,
}

impl<I: Isa> Tracker<I> {
    /// Adds what was executed since the last time to the running task.
    #[inline]
    pub(super) fn settle_mode(&mut self, now: u64) {
        let passed = now.saturating_sub(std::mem::replace(&mut self.mode_since, now));
        let spent = &mut self.current.stack.spent;
        match self.current.stack.mode {
            Mode::Kernel => spent.kernel += passed,
            Mode::User => {
                spent.user += passed;
                if let Some(code) = &mut self.code {
                    code.settle(now);
                }
            }
            Mode::Interrupt => spent.interrupts += passed,
        }
    }

    /// Where the return address of the running function's call stands, if it was called.
    pub fn frame_key(&self) -> Option<u64> {
        self.current
            .stack
            .frames
            .last()
            .filter(|top| top.role != Role::Entry && top.sp != super::stack::ANY)
            .map(|top| top.sp)
    }

    /// The guest's stack pointer, read at the first instruction of a function, does or does not stand at the return address.
    pub fn registers_checked(&mut self, equal: bool) {
        let seen = &mut self.processes.seen;
        *if equal { &mut seen.registers_confirmed } else { &mut seen.registers_contradicted } += 1;
    }

    /// Processes cannot be followed, or no further; nor can user code, which is found by the same means.
    pub fn processes_missing(&mut self, missing: Missing) {
        self.processes.seen.missing.get_or_insert(missing);
        self.processes.seen.code = UserCode::default();
        self.code = None;
        self.timeline.forget_code();
    }

    /// The running task creates another.
    pub fn created(&mut self, address: u64, pid: u32, tgid: u32, now: u64) {
        let at = self.timeline.instant(now);
        self.processes.seen.created.push(Created { at, by: self.current.stack.task, address, pid, tgid });
    }

    /// A task is made runnable.
    pub fn wakes(&mut self, address: u64, now: u64) {
        let at = self.timeline.instant(now);
        let interrupt = self.current.stack.mode == Mode::Interrupt;
        self.processes.seen.wakeups.push(Wakeup { at, by: self.current.stack.task, interrupt, address });
    }

    /// The running task ends.
    pub fn ends(&mut self, status: u32, cgroup: &str, now: u64) {
        let at = self.timeline.instant(now);
        let cgroup = self.processes.text(cgroup);
        self.processes.seen.ended.push(Ended { at, task: self.current.stack.task, status, cgroup });
    }

    /// The running task is about to run this program in user mode.
    pub fn runs_program(&mut self, program: Program<'_>, now: u64) {
        self.current.stack.has_image = true;
        let at = self.timeline.instant(now);
        let Program { pid, tgid, .. } = program;
        let [file, arguments, cgroup] =
            [program.file, program.arguments, program.cgroup].map(|text| self.processes.text(text));
        let images = &mut self.processes.seen.images;
        images.push(Image { at, task: self.current.stack.task, pid, tgid, file, arguments, cgroup });
        let image = (images.len() - 1) as u32;
        if let Some(code) = &mut self.code {
            let context = code.context(self.current.stack.task, Some(image));
            self.current.stack.context = Some(context);
            code.comes(context, now);
        }
    }

    /// User code is followed from now on: [`Self::user_block`].
    pub fn follow_user_code(&mut self) {
        self.code = Some(CodeLog::default());
    }

    /// The number of something that user code stands in; each is to be added once.
    pub fn code_source(&mut self, kind: CodeKind, path: Option<&str>, size: u64) -> SourceId {
        let path = path.map(|path| self.processes.text(path));
        self.code.as_mut().map_or(0, |code| code.source(kind, path, size))
    }

    /// The number of a block of user code.
    pub fn code_block(&mut self, source: SourceId, offset: u64) -> BlockId {
        self.code.as_mut().map_or(0, |code| code.block(Block { source, offset }))
    }

    /// A block of user code, of so many instructions, is about to be executed. In the kernel it is none: arm64 runs a few instructions
    /// where they lie in memory, at addresses of the lower half, while it changes its page table (`idmap_cpu_replace_ttbr1`).
    #[inline]
    pub fn user_block(&mut self, block: BlockId, length: u64, now: u64) {
        self.reach(now);
        if let Some(code) = self.code.as_mut().filter(|_| self.current.stack.mode == Mode::User) {
            code.runs(block, length, now);
        }
    }

    /// User mode goes on.
    pub(super) fn reaches_user_code(&mut self, now: u64) {
        if let Some(code) = &mut self.code {
            let context =
                *self.current.stack.context.get_or_insert_with(|| code.context(self.current.stack.task, None));
            code.comes(context, now);
        }
    }

    /// Whether it is not known yet what the running task runs in user mode.
    pub fn lacks_program(&self) -> bool {
        !self.current.stack.has_image
    }

    /// The kernel begins to serve a system call of the running task. Gives the number of its row.
    pub fn system_call(&mut self, name: &str, arguments: [u64; 3], path: Option<&str>, now: u64) -> usize {
        self.reach(now);
        self.settle_mode(now);
        let start = self.timeline.instant(now);
        let name = self.processes.text(name);
        let path = path.map(|path| self.processes.text(path));
        let (task, spent) = (self.current.stack.task, self.current.stack.spent);
        let block = self.code.as_ref().map(CodeLog::current);
        let calls = &mut self.processes.seen.calls;
        let kernel_before = spent.kernel;
        calls.push(SystemCall {
            task,
            name,
            start,
            end: None,
            spent,
            kernel_before,
            arguments,
            result: None,
            path,
            block,
        });
        self.current.stack.call = Some(calls.len() - 1);
        calls.len() - 1
    }

    /// The row of the system call that the running task is in.
    pub fn call_under_way(&self) -> Option<usize> {
        self.current.stack.call
    }

    /// User mode is about to go on: the row of the system call that it returns from, if it does.
    pub fn returns_from_call(&mut self, now: u64) -> Option<usize> {
        let row = self.current.stack.call.take()?;
        let (end, spent) = (self.timeline.instant(now), self.current.stack.spent);
        if let Some(call) = self.processes.seen.calls.get_mut(row) {
            call.end = Some(end);
            call.spent = since(call.spent, spent);
        }
        Some(row)
    }

    /// What a system call returned, and its path where that could be read only then.
    pub fn call_returned(&mut self, row: usize, result: i64, path: Option<&str>) {
        let path: Option<TextId> = path.map(|path| self.processes.text(path));
        if let Some(call) = self.processes.seen.calls.get_mut(row) {
            call.result = Some(result);
            call.path = call.path.or(path);
        }
    }
}
