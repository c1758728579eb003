//! What is read of processes while the boot runs: registers and memory at the beginnings of a few kernel functions.

use crate::current_task::CurrentTask;
use crate::guest_memory::Mapped;
use crate::kernel_memory::{text, KernelMemory, Sight};
use crate::layout::Layout;
use crate::paths::{control_group, path};
use crate::user_code::UserCode;
use firstlight_isa::system_calls::path_argument;
use firstlight_isa::{Isa, Userspace};
use firstlight_profile::code::Memory as _;
use firstlight_profile::tracker::Program;
use firstlight_profile::userspace::Missing;
use firstlight_profile::{SymbolTable, Tracker};
use firstlight_qemu::Registers;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

const LONGEST_PATH: usize = 4096;
const LONGEST_ARGUMENTS: u64 = 4096;
/// No structure of the registers of a system call is larger.
const REGISTER_BYTES: usize = 512;
const EXECS: [&str; 2] = ["execve", "execveat"];

/// A kernel function that is looked at when it is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// A system call begins.
    Call,
    /// A system call has its result.
    Exit,
    /// A new task may run from here on.
    Created,
    /// A task becomes runnable.
    Wakes,
    /// The running task ends.
    Ends,
}

const PROBES: [(&str, Probe); 3] =
    [("wake_up_new_task", Probe::Created), ("try_to_wake_up", Probe::Wakes), ("do_exit", Probe::Ends)];

/// What was found of the guest's registers and memory.
struct Eyes {
    registers: Registers,
    layout: Layout,
}

/// A system call whose result is read when user mode goes on.
struct Waiting {
    /// Physical address of the result.
    result: Option<u64>,
    /// The result, where it was read before a signal was delivered.
    early: Option<i64>,
    /// Where its path stands, if it could not be read before.
    path: Option<u64>,
    is_exec: bool,
}

/// Follows processes. What cannot be read is left out, and the recording has the reason.
pub struct Processes<I: Isa> {
    probes: FxHashMap<u32, Probe>,
    /// Where the kernel's image lies in memory, where that was seen.
    image: Option<Range<u64>>,
    /// The address of the function that each system call enters.
    entry: u64,
    userspace: &'static Userspace,
    memory: KernelMemory,
    current: CurrentTask,
    eyes: Option<Eyes>,
    waiting: FxHashMap<usize, Waiting>,
    cpu: u32,
    /// Whether user code is to be found, and by what.
    wants_code: bool,
    code: Option<UserCode>,
    isa: PhantomData<I>,
}

impl<I: Isa> Processes<I> {
    /// # Errors
    ///
    /// Why processes cannot be followed.
    pub fn new(cpu: u32, symbols: &SymbolTable<I>, wants_code: bool) -> Result<Self, Missing> {
        let userspace = I::USERSPACE.ok_or(Missing::Architecture)?;
        let memory = KernelMemory::find(symbols).ok_or(Missing::Emulator)?;
        let named = PROBES.into_iter().chain([(userspace.entry, Probe::Call)]);
        let probes: Option<FxHashMap<u32, Probe>> =
            named.map(|(name, probe)| symbols.function(name).map(|function| (function, probe))).collect();
        let mut probes = probes.ok_or(Missing::Members)?;
        let exit = userspace.exits.iter().find_map(|name| symbols.function(name));
        probes.extend(exit.map(|function| (function, Probe::Exit)));
        Ok(Self {
            probes,
            image: None,
            entry: symbols.address(userspace.entry).ok_or(Missing::Members)?,
            userspace,
            memory,
            current: CurrentTask::find(cpu, symbols).ok_or(Missing::Members)?,
            eyes: None,
            waiting: FxHashMap::default(),
            cpu,
            wants_code,
            code: None,
            isa: PhantomData,
        })
    }

    /// The kernel's image lies here in memory.
    pub fn image(&mut self, image: Range<u64>) {
        self.image = Some(image);
    }

    /// Another processor goes on; `running` is the task that was switched to there last.
    pub fn turn(&mut self, to: u32, running: Option<u64>) {
        self.current.turn(to, running);
        if let Some(code) = &mut self.code {
            code.turn(to, running);
        }
        if let Some(eyes) = &mut self.eyes {
            match eyes.registers.on(self.cpu, to) {
                Some(registers) => eyes.registers = registers,
                None => self.eyes = None,
            }
        }
        self.cpu = to;
    }

    /// A switch gave the processor to this task.
    pub fn switched(&mut self, task: u64) {
        self.current.switched(task);
        if let Some(code) = &mut self.code {
            code.switched(task);
        }
    }

    /// The kernel's image lies so much further up in memory than mostly.
    pub fn image_moved(&mut self, by: u64) {
        self.memory.image_moved(by);
    }

    /// What is looked at when this function is entered.
    pub fn probe(&self, function: u32) -> Option<Probe> {
        self.probes.get(&function).copied()
    }

    /// A function was entered, by its first block: looks at what it was given.
    ///
    /// # Errors
    ///
    /// Why processes cannot be followed any further.
    pub fn entered(
        &mut self,
        probe: Probe,
        symbols: &SymbolTable<I>,
        mapped: Option<Mapped<I>>,
        tracker: &mut Tracker<I>,
        now: u64,
    ) -> Result<(), Missing> {
        if self.eyes.is_none() {
            let file = self.userspace.registers;
            let registers =
                Registers::find(self.cpu, file.read, file.order, file.width.bytes()).ok_or(Missing::Emulator)?;
            let first = registers.get(file.arguments[0]);
            let mapped = vec![self.entry, registers.get(file.stack_pointer), first];
            if !self.memory.look(self.cpu, symbols, &Sight { image: self.image.clone(), mapped }) {
                return Err(Missing::Emulator);
            }
            let layout = Layout::read(&self.memory, symbols, self.userspace)?;
            if self.wants_code {
                self.code = UserCode::find(self.memory.clone(), self.current, &layout, symbols);
            }
            self.eyes = Some(Eyes { registers, layout });
        }
        let Some(Eyes { registers, layout }) = &self.eyes else { return Ok(()) };
        let (registers, layout) = (*registers, *layout);
        let file = &self.userspace.registers;
        // With a link register the key was read from the same place: there the calls through registers are what is compared.
        if let Some(key) = tracker.frame_key().filter(|_| I::LINKED.is_none()) {
            tracker.registers_checked(registers.get(file.stack_pointer) == key);
        }
        let [first, second, ..] = file.arguments.map(|place| registers.get(place));
        match probe {
            Probe::Wakes => tracker.wakes(first, now),
            Probe::Created => {
                if let Some((pid, tgid)) = self.numbers(first, &layout) {
                    tracker.created(first, pid, tgid, now);
                }
            }
            Probe::Ends => {
                let group = |task| control_group(&self.memory, &layout, task);
                let cgroup = self.task().and_then(group).unwrap_or_default();
                tracker.ends(first as u32, &cgroup, now);
            }
            Probe::Call => {
                let number = layout.number.map_or(Some(second), |at| self.memory.word(first.wrapping_add(at)));
                self.called(first, number.unwrap_or_default() as u32, &layout, mapped, tracker, now);
            }
            Probe::Exit => self.exits(first, &layout, tracker),
        }
        Ok(())
    }

    /// The state of a task: 0 for one that could go on.
    pub fn state(&self, task: u64) -> Option<u32> {
        let eyes = self.eyes.as_ref()?;
        self.memory.half(task.wrapping_add(eyes.layout.task_state))
    }

    /// The number of the block of user code that begins at this address; 0 where that cannot be seen.
    pub fn user_block(&mut self, address: u64, tracker: &mut Tracker<I>) -> u32 {
        self.code.as_mut().map_or(0, |code| code.block(address, tracker))
    }

    /// User mode is about to go on.
    pub fn reaches_user(&mut self, mapped: Option<Mapped<I>>, tracker: &mut Tracker<I>, now: u64) {
        if let Some(code) = &mut self.code {
            code.forget();
        }
        let Some(eyes) = &self.eyes else { return };
        let layout = eyes.layout;
        let row = tracker.returns_from_call(now);
        let mut has_new_program = tracker.lacks_program();
        if let Some((row, waiting)) = row.and_then(|row| Some((row, self.waiting.remove(&row)?))) {
            let late = || waiting.result.map(|at| self.memory.physical_word(at) as i64);
            if let Some(result) = waiting.early.or_else(late) {
                let path = waiting.path.and_then(|at| self.user_text(mapped, &layout, at));
                has_new_program |= waiting.is_exec && result == 0;
                tracker.call_returned(row, result, path.as_deref());
            }
        }
        if has_new_program {
            self.program(mapped, tracker, &layout, now);
        }
    }

    // The result of the call, before the kernel prepares a handler of a signal in its place.
    fn exits(&mut self, registers: u64, layout: &Layout, tracker: &Tracker<I>) {
        let waiting = tracker.call_under_way().and_then(|row| self.waiting.get_mut(&row));
        if let Some(waiting) = waiting.filter(|waiting| waiting.early.is_none()) {
            let result = self.memory.word(registers.wrapping_add(layout.result));
            waiting.early = result.map(|result| result as i64);
        }
    }

    fn called(
        &mut self,
        registers: u64,
        number: u32,
        layout: &Layout,
        mapped: Option<Mapped<I>>,
        tracker: &mut Tracker<I>,
        now: u64,
    ) {
        let arguments = self.call_arguments(registers, layout);
        let known = (self.userspace.name)(u64::from(number));
        let name: Cow<'static, str> = known.map_or_else(|| format!("system call {number}").into(), Cow::from);
        let at = path_argument(&name).and_then(|place| arguments.get(place)).copied().filter(|at| *at != 0);
        let path = at.and_then(|at| self.user_text(mapped, layout, at));
        let [first, second, third, ..] = arguments;
        let row = tracker.system_call(&name, [first, second, third], path.as_deref(), now);
        let result = self.memory.translate(registers.wrapping_add(layout.result));
        let path = at.filter(|_| path.is_none());
        self.waiting.insert(row, Waiting { result, early: None, path, is_exec: EXECS.contains(&&*name) });
    }

    // They stand close together: one read instead of a walk of the page table for each.
    fn call_arguments(&self, registers: u64, layout: &Layout) -> [u64; 6] {
        let first = layout.arguments.into_iter().min().unwrap_or(0);
        let last = layout.arguments.into_iter().max().unwrap_or(0);
        let mut bytes = [0; REGISTER_BYTES];
        let Some(all) = bytes.get_mut(..(last - first) as usize + 8) else { return [0; 6] };
        if !self.memory.read(registers.wrapping_add(first), all) {
            return [0; 6];
        }
        layout.arguments.map(|offset| {
            let at = (offset - first) as usize;
            all.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes)
        })
    }

    fn program(&self, mapped: Option<Mapped<I>>, tracker: &mut Tracker<I>, layout: &Layout, now: u64) {
        let Some(task) = self.task() else { return };
        let Some((pid, tgid)) = self.numbers(task, layout) else { return };
        let mm = self.memory.word(task.wrapping_add(layout.task_mm)).filter(|mm| *mm != 0);
        let file = mm.and_then(|mm| self.memory.word(mm.wrapping_add(layout.mm_file))).filter(|file| *file != 0);
        let path = file.and_then(|file| self.path(file.wrapping_add(layout.file_path), layout)).unwrap_or_default();
        let arguments = mm.and_then(|mm| self.arguments(mapped, mm, layout)).unwrap_or_default();
        let cgroup = control_group(&self.memory, layout, task).unwrap_or_default();
        tracker.runs_program(Program { pid, tgid, file: &path, arguments: &arguments, cgroup: &cgroup }, now);
    }

    fn task(&self) -> Option<u64> {
        self.current.address(|at| self.memory.word(at))
    }

    fn numbers(&self, task: u64, layout: &Layout) -> Option<(u32, u32)> {
        let half = |offset: u64| self.memory.half(task.wrapping_add(offset));
        half(layout.task_pid).zip(half(layout.task_tgid))
    }

    // Between the two addresses in the memory of the process.
    fn arguments(&self, mapped: Option<Mapped<I>>, mm: u64, layout: &Layout) -> Option<String> {
        let start = self.memory.word(mm.wrapping_add(layout.mm_arguments))?;
        let end = self.memory.word(mm.wrapping_add(layout.mm_arguments_end))?;
        let mut bytes = vec![0; end.checked_sub(start)?.min(LONGEST_ARGUMENTS) as usize];
        self.read_user(mapped, layout, start, &mut bytes).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn path(&self, at: u64, layout: &Layout) -> Option<String> {
        let word = |offset: u64| self.memory.word(at.wrapping_add(offset));
        path(&self.memory, layout, word(layout.path_dentry)?, word(layout.path_mount)?)
    }

    fn user_text(&self, mapped: Option<Mapped<I>>, layout: &Layout, address: u64) -> Option<String> {
        text(LONGEST_PATH, address, |at, buffer| self.read_user(mapped, layout, at, buffer))
    }

    // As the processor has it mapped; where it keeps the kernel from user memory, by the page table of the process.
    fn read_user(&self, mapped: Option<Mapped<I>>, layout: &Layout, address: u64, buffer: &mut [u8]) -> bool {
        mapped.is_some_and(|memory| memory.read(address, buffer))
            || self.user_root(layout).is_some_and(|root| self.memory.read_from(root, address, buffer))
    }

    fn user_root(&self, layout: &Layout) -> Option<u64> {
        let word = |at: u64| self.memory.word(at);
        let mm = word(self.task()?.wrapping_add(layout.task_mm)).filter(|mm| *mm != 0)?;
        self.memory.translate(word(mm.wrapping_add(layout.pages?.mm_table))?)
    }
}
