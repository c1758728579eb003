//! One recording under way.

use crate::api::Api;
use crate::asks::{Asks, Instant};
use crate::clock::Clock;
use crate::config::{ClockChoice, Config, ConfigError};
use crate::console::Console;
use crate::copies::{processor_time, Copies};
use crate::guest_memory::{Mapped, TaskNames};
use crate::linkage::Linkage;
use crate::loader_code::LoaderCode;
use crate::parts::{Begins, Part};
use crate::processes::{Probe, Processes};
use crate::status::{Status, StatusFile};
use firstlight_isa::Isa;
use firstlight_profile::code::Memory as _;
use firstlight_profile::code::{LoadedCode, Shape, GIVEN_MODULE};
use firstlight_profile::initcall_table::initcalls;
use firstlight_profile::recording::State;
use firstlight_profile::symbols::{class_in_module, Extent};
use firstlight_profile::tracker::{Identity, Request, Watch};
use firstlight_profile::{SymbolTable, Tracker};
use firstlight_qemu::Turns;
use firstlight_schema::{Mark, MarkSource};
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

const EVENTS_BETWEEN_TICKS: u32 = 1 << 16;

/// The processor that starts the machine.
const FIRST_CPU: u32 = 0;

/// Everything the callbacks work on.
// What every event needs stands together, in few cache lines: QEMU leaves little of it in the caches between two events.
#[repr(C, align(64))]
pub struct Session<I: Isa> {
    /// What is known of calls by a link register.
    pub linkage: Linkage,
    events: u32,
    pub frozen: bool,
    pub clock: Clock,
    pub tracker: Tracker<I>,
    pub api: Api,
    /// How many processors the guest has, and whose turn it is.
    pub cpus: u32,
    pub cpu: u32,
    /// Nothing before the first block, and for one processor.
    pub turns: Option<Turns>,
    /// How often each function's first instruction was executed, where several processors do.
    pub entries: Vec<u64>,
    pub symbols: SymbolTable<I>,
    pub ready_by_mark: bool,
    /// Where the kernel's image is mapped, less where it lies in memory.
    pub image_offset: Option<u64>,
    /// Where the kernel's image lies in memory, where that was seen.
    pub image: Option<Range<u64>>,
    /// What runs before the kernel's image, where a boot loader starts it.
    pub parts: Vec<Part>,
    /// The boot loader's functions, where they are given.
    pub loader_code: Option<LoaderCode>,
    /// The physical address of the console's registers, where they are memory.
    pub console_registers: Option<u64>,
    /// What is known of calls by a link register on the other processors.
    pub linkages: FxHashMap<u32, Linkage>,
    /// Addresses of blocks that follow an `out`.
    pub after_out: HashSet<u64>,
    /// What the kernel has reached, so far.
    pub progress: Progress,
    config: Config,
    status: StatusFile,
    console: Console,
    /// Nothing before it was looked for; nothing in it where it cannot be read.
    names: Option<Option<TaskNames<I>>>,
    loaded: LoadedCode,
    /// The function that is given the task that is left and the one that comes, where it is not the one that switches.
    given_tasks: Option<u32>,
    /// The function that is given modules, where no symbol says where the kernel's list of them begins.
    given_module: Option<u32>,
    mapped: Option<Mapped<I>>,
    /// Nothing where processes are not followed, or no longer.
    pub processes: Option<Processes<I>>,
    /// Nothing where nothing is asked.
    asks: Option<Asks<I>>,
    accesses: u64,
    copies: Copies,
}

/// Code that was loaded while the boot ran.
pub struct Loaded {
    /// Its number.
    pub function: u32,
    pub extent: Extent,
    /// How it is entered.
    pub shape: Shape,
}

impl Loaded {
    /// Whether a call to this address stays inside the function. Where code is not a function, every call is one.
    pub fn is_inside(&self, target: u64) -> bool {
        self.shape == Shape::Function && (self.extent.address + 1..self.extent.end).contains(&target)
    }
}

type Parts<I> = (Api, Clock, SymbolTable<I>, Tracker<I>, Console, Option<Asks<I>>, Option<LoaderCode>);

/// How far the boot has come, as far as translation must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    Firmware,
    Decompressor,
    KernelLow,
    KernelHigh,
}

impl<I: Isa> Session<I> {
    pub fn new(config: Config) -> Result<Self, (StatusFile, ConfigError)> {
        let status = StatusFile::create(&config.status);
        match Self::parts(&config) {
            Ok((api, clock, symbols, mut tracker, console, asks, loader_code)) => Ok(Self {
                asks,
                loader_code,
                processes: Self::processes(&symbols, &mut tracker, config.user_functions),
                names: None,
                given_tasks: I::LINKED.and_then(|linked| symbols.function(linked.given_tasks?)),
                given_module: Self::function_with_module(&symbols),
                loaded: LoadedCode::new(&symbols),
                mapped: None,
                image: None,
                // A boot loader puts the image anywhere.
                image_offset: I::IMAGE_OFFSET
                    .filter(|_| !config.parts.iter().any(|part| part.begins == Begins::Kernel)),
                parts: config.parts.clone(),
                console_registers: config.console_registers,
                linkage: Linkage::default(),
                linkages: FxHashMap::default(),
                cpus: config.cpus,
                cpu: FIRST_CPU,
                turns: None,
                entries: if config.cpus > 1 { vec![0; symbols.functions().len()] } else { Vec::new() },
                ready_by_mark: config.ready.nop,
                api,
                clock,
                symbols,
                tracker,
                frozen: false,
                after_out: HashSet::new(),
                progress: Progress::Firmware,
                config,
                status,
                console,
                events: 0,
                accesses: 0,
                copies: Copies::new(),
            }),
            Err(error) => Err((status, error)),
        }
    }

    fn parts(config: &Config) -> Result<Parts<I>, ConfigError> {
        let symbols = SymbolTable::parse(&String::from_utf8_lossy(&firstlight_qemu::read(&config.symbols)?));
        if symbols.functions().is_empty() {
            return Err(match symbols.lacks_bounds() {
                true => ConfigError::NoBounds(config.symbols.clone()),
                false => ConfigError::NoFunctions(config.symbols.clone()),
            });
        }
        let pattern = config.ready.console.as_deref().map(regex::Regex::new).transpose()?;
        let api = Api::load(FIRST_CPU, symbols.functions().len()).map_err(ConfigError::NoFunction)?;
        let clock = match config.clock {
            ClockChoice::Counted if config.cpus > 1 => return Err(ConfigError::Counted),
            ClockChoice::Auto => Clock::icount(FIRST_CPU, config.icount_shift).map_err(ConfigError::Clock)?,
            ClockChoice::Counted => Clock::counted(config.icount_shift),
        };
        let marks = config.marks.iter().map(|at| (at.mark.clone(), at.function.clone())).collect();
        let tracker = Tracker::new(
            &symbols,
            Watch { marks, ready: config.ready.function.clone(), icount_shift: config.icount_shift },
        );
        let console = Console::new(config.console.as_deref(), pattern);
        let asks = config.asks.as_ref().map(|asked| Asks::new(FIRST_CPU, asked, &symbols)).transpose();
        let program = |path: &PathBuf| {
            LoaderCode::read(firstlight_qemu::read(path)?).ok_or_else(|| ConfigError::NoProgram(path.clone()))
        };
        let loader_code = config.loader_symbols.as_ref().map(program).transpose()?;
        Ok((api, clock, symbols, tracker, console, asks.map_err(ConfigError::Asks)?, loader_code))
    }

    fn function_with_module(symbols: &SymbolTable<I>) -> Option<u32> {
        let is_needed = I::LINKED.is_some() && LoadedCode::reads::<I>() && LoadedCode::new(symbols).lacks_modules();
        GIVEN_MODULE.iter().filter(|_| is_needed).find_map(|name| symbols.function(name))
    }

    fn processes(symbols: &SymbolTable<I>, tracker: &mut Tracker<I>, wants_code: bool) -> Option<Processes<I>> {
        if wants_code {
            tracker.follow_user_code();
        }
        Processes::new(FIRST_CPU, symbols, wants_code).map_err(|missing| tracker.processes_missing(missing)).ok()
    }

    /// The kernel's image was found in memory.
    pub fn found_image(&mut self, image: Range<u64>) {
        if let Some(processes) = &mut self.processes {
            processes.image(image.clone());
        }
        self.image = Some(image);
    }

    /// A function that is looked at was entered.
    pub fn probed(&mut self, probe: Probe, now: u64) {
        self.tracker.idle(self.clock.idle_ns(), now);
        self.understand_questions();
        let mapped = self.mapped();
        let Some(processes) = &mut self.processes else { return };
        if let Err(missing) = processes.entered(probe, &self.symbols, mapped, &mut self.tracker, now) {
            self.tracker.processes_missing(missing);
            self.processes = None;
        }
    }

    /// Whether something of processes or of modules is seen where this function begins.
    pub fn is_probed(&self, function: u32) -> bool {
        self.given_module == Some(function)
            || self.processes.as_ref().is_some_and(|processes| processes.probe(function).is_some())
    }

    /// Whether this function is given the task that is left and the one that comes, and calls the one that switches.
    pub fn is_given_tasks(&self, function: u32) -> bool {
        self.given_tasks == Some(function)
    }

    /// A function that is given a module was entered: the kernel's list of modules is found by it.
    pub fn given_module(&mut self, function: u32) {
        let Some(linked) = I::LINKED.filter(|_| self.given_module == Some(function)) else { return };
        let mapped = self.mapped();
        let Some((memory, offset)) = mapped.zip(self.image_offset) else { return };
        let Some(image) = &self.image else { return };
        let end = I::MODULES_FROM.unwrap_or(image.end.wrapping_add(offset));
        let image = image.start.wrapping_add(offset)..end;
        self.loaded.given(self.linkage.argument(linked), &image, &memory);
    }

    /// Whether a person asks about this function.
    pub fn is_asked(&self, function: u32) -> bool {
        self.asks.as_ref().is_some_and(|asks| asks.concerns(function))
    }

    /// Whether a person asks what functions return.
    pub fn asks_for_results(&self) -> bool {
        self.asks.as_ref().is_some_and(Asks::wants_results)
    }

    /// A function that a person asks about was entered.
    pub fn asked(&mut self, function: u32, now: u64) {
        self.understand_questions();
        let task = self.running_task();
        let at = self.instant(now);
        if let Some(asks) = &mut self.asks {
            asks.called(function, task.as_ref().map(|(address, name)| (*address, name.as_str())), at);
        }
    }

    /// A call that a person asks about may have returned.
    pub fn may_return(&mut self, address: u64, now: u64) {
        let at = self.instant(now);
        if let Some(asks) = &mut self.asks {
            asks.returned(address, at);
        }
    }

    // A wrong question ends the boot: it is asked of the running kernel, which knows its own types.
    fn understand_questions(&mut self) {
        let understood = self.asks.as_mut().map_or(Ok(()), |asks| asks.resolve(&self.symbols, self.image.clone()));
        if let Err(error) = understood {
            self.fail(&error);
        }
    }

    fn instant(&self, now: u64) -> Instant {
        Instant { instructions: now, virtual_ns: self.clock.virtual_ns(now, self.clock.idle_ns()) }
    }

    /// The first initcall is about to be called: where the symbols do not say which there are, the kernel's tables do.
    pub fn find_initcalls(&mut self) {
        if let Some(memory) = self.mapped() {
            self.tracker.know_initcalls(initcalls(&self.symbols, &memory));
        }
    }

    /// User mode is about to go on.
    pub fn reaches_user(&mut self, now: u64) {
        self.tracker.user_start(now);
        let mapped = self.mapped();
        if let Some(processes) = &mut self.processes {
            processes.reaches_user(mapped, &mut self.tracker, now);
        }
    }

    /// The number of the block of user code at this address, where user code is followed.
    pub fn user_block(&mut self, address: u64) -> Option<u32> {
        let processes = self.processes.as_mut().filter(|_| self.config.user_functions)?;
        Some(processes.user_block(address, &mut self.tracker))
    }

    /// Whether a boot loader runs, which may wait by polling a clock.
    pub fn polls(&self) -> bool {
        !self.parts.is_empty() && self.progress < Progress::KernelLow
    }

    /// The kernel's image is about to be entered, at an address that was not known before.
    pub fn image_found(&mut self) {
        let Some((mostly, now)) = I::IMAGE_OFFSET.zip(self.image_offset) else { return };
        let by = mostly.wrapping_sub(now);
        if let Some(processes) = &mut self.processes {
            processes.image_moved(by);
        }
        if let Some(asks) = &mut self.asks {
            asks.image_moved(by);
        }
    }

    /// Where the kernel's image is entered: its address in memory.
    pub fn entry_address(&self) -> Option<u64> {
        let entry = I::IMAGE_ENTRY.iter().find_map(|name| self.symbols.address(name))?;
        Some(entry.wrapping_sub(self.image_offset?))
    }

    /// The address at which the code of an address in memory is mapped, if it is the kernel's before it maps itself.
    pub fn low_code(&self, address: u64) -> Option<u64> {
        let mapped = address.wrapping_add(self.image_offset?);
        let start = self.symbols.begins()?;
        (mapped >= start && self.symbols.containing(mapped).is_some()).then_some(mapped)
    }

    /// Whether the code from `target` to the end of this function does nothing but run into the function behind: padding that
    /// no symbol names, as in front of functions of assembler.
    pub fn runs_into_next(&mut self, extent: Extent, target: u64) -> bool {
        let length = extent.end.wrapping_sub(target);
        if length > I::PADDING_BYTES || self.symbols.starting(extent.end).is_none() {
            return false;
        }
        let bytes = self.mapped().and_then(|memory| memory.bytes(target, length as usize));
        bytes.is_some_and(|bytes| I::runs_through(&bytes))
    }

    // Found once: to be asked when there is a processor.
    pub fn mapped(&mut self) -> Option<Mapped<I>> {
        self.mapped = self.memory();
        self.mapped
    }

    /// The same where a block is translated, without keeping it.
    pub fn memory(&self) -> Option<Mapped<I>> {
        self.mapped.or_else(|| Mapped::find(self.cpu))
    }

    /// Another processor goes on: its memory is looked at, as it has it mapped.
    pub fn turn_of_memory(&mut self) {
        let running = self.linkage.running();
        self.mapped = Mapped::find(self.cpu);
        if let (Some(Some(names)), Some(mapped)) = (&mut self.names, self.mapped) {
            names.turn(self.cpu, mapped, running);
        }
        if let Some(processes) = &mut self.processes {
            processes.turn(self.cpu, running);
        }
        if let Some(asks) = &mut self.asks {
            asks.turn(self.cpu);
        }
    }

    /// The code at an address outside the kernel's image, when it is about to be executed for the first time.
    pub fn loaded_code(&mut self, address: u64) -> Option<Loaded> {
        let memory = self.mapped()?;
        let code = self.loaded.at(address, &memory)?;
        let function = self.tracker.loaded(&code);
        let class = class_in_module::<I>(&code.name);
        let extent = Extent { address: code.entry, end: code.range.end, class };
        Some(Loaded { function, extent, shape: code.shape })
    }

    /// Does what an event asked for.
    pub fn answer(&mut self, request: Request, now: u64) {
        match request {
            Request::None => {}
            Request::NewPhase => {
                self.tracker.idle(self.clock.idle_ns(), now);
                self.copy_phase(now);
                self.report("running", "", now);
            }
            Request::NameTask => {
                let task = self.running_task();
                self.tracker.name_task(task.as_ref().map(|(_, name)| name.as_str()));
            }
            Request::Renames => {
                let task = self.running_task();
                let known = task.as_ref().map(|(address, name)| Identity { address: *address, name, state: None });
                self.tracker.renames(known, now);
            }
            Request::Freeze(state) => self.freeze(state, now),
        }
    }

    fn running_task(&mut self) -> Option<(u64, String)> {
        if I::LINKED.is_some() {
            return self.task_at(self.linkage.running()?);
        }
        let address = self.names()?.running()?;
        self.task_at(address)
    }

    fn task_at(&mut self, address: u64) -> Option<(u64, String)> {
        let first = self.linkage.first();
        let name = self.names()?.of(address, first)?;
        Some((address, name))
    }

    fn names(&mut self) -> Option<&mut TaskNames<I>> {
        let mapped = self.mapped()?;
        self.names.get_or_insert_with(|| TaskNames::find(mapped, self.cpu, &self.symbols)).as_mut()
    }

    /// After a switch of stacks: the kernel's `current` is still the task that was left.
    pub fn switched(&mut self) {
        let left = match I::LINKED {
            Some(_) => self.task_at(self.linkage.left()),
            None => self.running_task(),
        };
        if let Some((processes, task)) = self.processes.as_mut().zip(self.linkage.running()) {
            processes.switched(task);
        }
        if let Some((address, name)) = left {
            let state = self.processes.as_ref().and_then(|processes| processes.state(address));
            self.tracker.left(Identity { address, name: &name, state });
        }
    }

    /// Whether an access callback is the echo of an earlier one ([`Api::accesses`]).
    ///
    /// Every access callback asks this first: an access that was not asked about would let one echo pass as a new one.
    #[inline]
    pub fn is_echo(&mut self) -> bool {
        self.api.accesses().is_some_and(|begun| std::mem::replace(&mut self.accesses, begun) == begun)
    }

    /// From time to time: status, limits, a copy.
    #[inline]
    pub fn tick(&mut self, function: u32, now: u64) {
        self.events = self.events.wrapping_add(1);
        if self.events % EVENTS_BETWEEN_TICKS == 0 {
            self.at_entry(function, |session| session.slow_tick(now));
        }
    }

    /// Does what may end the recording at the entry of a function, whose first instruction is not executed yet.
    pub fn at_entry(&mut self, function: u32, act: impl FnOnce(&mut Self)) {
        self.tracker.under_way(Some(function));
        act(self);
        self.tracker.under_way(None);
    }

    #[cold]
    fn slow_tick(&mut self, now: u64) {
        self.tracker.idle(self.clock.idle_ns(), now);
        self.check_limit(now);
        if self.frozen {
            return;
        }
        let begun = processor_time();
        if self.copies.is_due(begun) {
            self.copy(begun, now);
        }
        self.report("running", "", now);
    }

    /// Ends the recording when the virtual clock has passed its limit. Idle time leaps, and ends in an interrupt: so this
    /// is asked at every entry of the kernel, too.
    pub fn check_limit(&mut self, now: u64) {
        let virtual_ns = self.clock.virtual_ns(now, self.clock.idle_ns());
        if self.config.virtual_limit_ns.is_some_and(|limit| virtual_ns >= limit) {
            self.freeze(State::Timeout, now);
        }
    }

    /// After an `out`: the console may have grown.
    pub fn look_at_console(&mut self, now: u64) {
        let seen = self.console.look();
        if !seen.lines.is_empty() {
            self.tracker.idle(self.clock.idle_ns(), now);
        }
        for offset in seen.lines {
            self.tracker.line(offset, now);
        }
        if let Some(line) = seen.ready {
            self.tracker.mark(Mark::Ready.name(), MarkSource::Console, &line, now);
            self.freeze(State::Ready, now);
        }
    }

    /// The last mark: the profile is final from here on.
    pub fn freeze(&mut self, state: State, now: u64) {
        if self.frozen {
            return;
        }
        self.tracker.idle(self.clock.idle_ns(), now);
        self.frozen = true;
        if state == State::Panic {
            // Elsewhere user mode may have hidden the kernel's memory.
            if let Some((address, name)) = self.running_task() {
                self.tracker.runs(Identity { address, name: &name, state: None });
            }
        }
        let name = match state {
            State::Running => "running",
            State::Ready => "ready",
            State::Panic => "panic",
            State::Timeout => "timeout",
            State::Stopped => "stopped",
        };
        let answered = self.asks.as_mut().map_or(Ok(()), Asks::finish).map_err(|error| format!("answers: {error}"));
        match answered.and_then(|()| self.write(state, now)) {
            Ok(()) => self.report(name, "", now),
            Err(error) => self.report("error", &error, now),
        }
    }

    /// QEMU is about to end.
    pub fn stop(&mut self) {
        let now = self.clock.block_end();
        self.freeze(State::Stopped, now);
    }

    /// The plugin cannot go on.
    pub fn fail(&mut self, detail: &str) {
        self.frozen = true;
        self.report("error", detail, 0);
    }

    // A phase has begun: on a loaded host that may be long before the next copy is due.
    fn copy_phase(&mut self, now: u64) {
        let begun = processor_time();
        if self.copies.is_due_with_a_phase(begun) && !self.frozen {
            self.copy(begun, now);
        }
    }

    fn copy(&mut self, begun: Duration, now: u64) {
        if let Err(error) = self.write(State::Running, now) {
            self.fail(&error);
        }
        self.copies.made(begun);
    }

    fn write(&mut self, state: State, now: u64) -> Result<(), String> {
        let entered = if self.cpus > 1 { self.entries.as_slice() } else { self.api.entered() };
        let mut snapshot = self.tracker.snapshot(state, entered, now);
        snapshot.plugin_api = self.api.version.unsigned_abs();
        snapshot.clock = if self.clock.is_counted() { "counted" } else { "icount" };
        snapshot.icount_shift = self.config.icount_shift;
        let output = &self.config.output;
        let mut temporary = output.clone().into_os_string();
        temporary.push(".tmp");
        let wrong = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", output.display());
        let mut file = File::create(&temporary).map(BufWriter::new).map_err(|error| wrong(&error))?;
        snapshot.write(&mut file).map_err(|error| wrong(&error))?;
        file.flush().and_then(|()| std::fs::rename(&temporary, output)).map_err(|error| wrong(&error))
    }

    fn report(&self, state: &str, detail: &str, now: u64) {
        let idle_ns = self.clock.idle_ns();
        self.status.write(&Status {
            state,
            phase: self.tracker.phase(),
            instructions: now,
            virtual_ns: self.clock.virtual_ns(now, idle_ns),
            idle_ns,
            detail,
        });
    }
}
