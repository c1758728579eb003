//! One count under way.

use crate::architecture::{Architecture, ConsoleCode, Image, Look};
use crate::config::{Config, ConfigError};
use crate::console::Console;
use crate::kind::Kind;
use crate::stacks::{Place, Stacks, State};
use crate::tables::{Checks, Status, Tables};
use crate::text::{Row, Text};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

const STATUS_BYTES: usize = 1024;
// The stack pointer is checked at so many calls at first, then at every so many-th.
const CHECKED_AT_FIRST: u64 = 1 << 14;
const CHECKED_EVERY: u64 = 1 << 8;
// Where a kernel's image has its sign, and how long its head is at least.
const SIGN_AT: u64 = 0x38;
const HEAD_BYTES: u64 = 0x40;
// Firmware lies right below the image, which begins where the next large page does (Documentation/arch/riscv/boot.rst).
const FIRMWARE_BYTES: u64 = 2 << 20;
// `do_one_initcall(fn)`, init/main.c.
const INITCALL_CALLER: &str = "do_one_initcall";

/// What the oracle knows of one block when it is executed.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    address: u64,
    end: u64,
    place: Place,
    ends_at_console: bool,
}

impl Block {
    /// Whether it is kernel code.
    pub fn is_kernel(&self) -> bool {
        !matches!(self.place, Place::Outside | Place::Firmware)
    }
}

/// What is to be done with one block when it is translated.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What it is.
    pub block: Block,
    /// For every instruction, the counter that it adds to; none for what is not an instruction.
    pub counters: Vec<Option<usize>>,
    /// First instructions of functions in its middle: which instruction, which row, how far the stack pointer has moved.
    pub starts: Vec<(usize, Row, i64)>,
    /// The guest's mark *ready*.
    pub ready: Option<usize>,
}

/// An instruction as QEMU shows it.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: [u8; 16],
    /// How many of them.
    pub size: usize,
}

/// What is read of QEMU and of the guest at the start of a block.
pub trait Processor {
    /// A register, by its place in the architecture's order; 0 as long as registers are not found.
    fn register(&self, place: usize) -> u64;
    /// A word of the guest's memory.
    fn word(&self, address: u64) -> Option<u64>;
    /// A counter's value.
    fn count(&self, counter: usize) -> u64;
}

struct Looking<'p, P>(&'p P);

impl<P: Processor> Look for Looking<'_, P> {
    fn register(&self, place: usize) -> u64 {
        self.0.register(place)
    }

    fn word(&self, address: u64) -> u64 {
        self.0.word(address).unwrap_or(0)
    }
}

/// Everything the callbacks work on.
#[derive(Debug)]
pub struct Session {
    /// The kernel's text.
    pub text: Text,
    /// Nothing is followed any more.
    pub frozen: bool,
    architecture: &'static Architecture,
    stacks: Stacks,
    checks: Checks,
    config: Config,
    console: Console,
    status: Option<File>,
    panics: Vec<Row>,
    // What calls initcalls, where the list of symbols does not name these.
    calls_initcalls: Option<Row>,
    initcalls: FxHashSet<Row>,
    fault_handlers: Vec<Row>,
    // Names begin so of the functions of these rows that may write to the console.
    console_rows: Vec<bool>,
    in_kernel: bool,
    before_kernel: u64,
    high: bool,
    // How far above the memory it lies in the image is mapped, once that is known, and where its head lies.
    offset: Option<u64>,
    head: Option<u64>,
    firmware: Option<u64>,
    last_end: u64,
    last_call: u64,
    after_console: bool,
    // The stack pointer and the link register at the start of the running block.
    sp: u64,
    link: Option<u64>,
    calls: u64,
    // Instructions that faulted and were executed again, by counter.
    faulted: Vec<u64>,
}

impl Session {
    /// A count that begins at power-on.
    ///
    /// # Errors
    ///
    /// [`ConfigError`]: the symbols cannot be read, or hold no function.
    pub fn new(config: Config, architecture: &'static Architecture) -> Result<Self, ConfigError> {
        let symbols = firstlight_qemu::read(&config.symbols)?;
        let text = Text::parse(&String::from_utf8_lossy(&symbols), architecture);
        if text.names().len() <= 2 {
            return Err(ConfigError::NoFunctions(config.symbols));
        }
        let pattern = config.ready.console.as_deref().map(regex::Regex::new).transpose()?;
        let rows = text.names().len();
        let prefixes = match architecture.console {
            ConsoleCode::Functions(prefixes) => prefixes,
            ConsoleCode::Instruction(_) => &[],
        };
        let writes = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let session = Self {
            stacks: Stacks::new(rows, text.root, text.nameless, text.named(architecture.switch)),
            fault_handlers: architecture.fault_handlers.iter().filter_map(|name| text.named(name)).collect(),
            console_rows: text.names().iter().map(|name| writes(&name.function)).collect(),
            offset: match architecture.image {
                Image::Offset(offset) => Some(offset),
                Image::Signed(_) => None,
            },
            calls_initcalls: text.named(INITCALL_CALLER).filter(|_| text.initcalls().is_empty()),
            initcalls: text.initcalls().iter().copied().collect(),
            head: None,
            firmware: None,
            console: Console::new(config.console.as_deref(), pattern),
            status: File::create(&config.status).ok(),
            panics: ["panic", "vpanic"].iter().filter_map(|name| text.named(name)).collect(),
            checks: Checks::default(),
            faulted: vec![0; rows + OTHERS],
            frozen: false,
            architecture,
            in_kernel: false,
            before_kernel: 0,
            high: false,
            last_end: 0,
            last_call: 0,
            after_console: false,
            sp: 0,
            link: None,
            calls: 0,
            text,
            config,
        };
        session.report("running", "");
        Ok(session)
    }

    /// How many counters there are.
    pub fn counters(&self) -> usize {
        self.faulted.len()
    }

    fn other(&self, which: usize) -> usize {
        self.text.names().len() + which
    }

    /// The counter of all instructions.
    pub fn executed(&self) -> usize {
        self.other(EXECUTED)
    }

    /// Decides what is to be done with a block.
    pub fn plan(&mut self, shown: &[Shown], processor: &impl Processor) -> Plan {
        let Architecture { is_kernel, is_whole, moves_stack_pointer, .. } = self.architecture;
        let address = shown.first().map_or(0, |first| first.address);
        let is_high = is_kernel(address);
        self.high |= is_high;
        self.find_image(address, processor);
        let entered = self.offset.is_some_and(|offset| address == self.text.entered_at().wrapping_sub(offset));
        if !self.in_kernel && (entered || is_high) {
            self.in_kernel = true;
            // A block is translated between two others, when all counters are up to date.
            self.before_kernel = processor.count(self.executed());
        }
        // Before it maps itself high, the kernel runs where it lies; later a few instructions that change its map.
        let offset = if is_high { 0 } else { self.offset.unwrap_or(0) };
        let low = !is_high && self.in_kernel && self.offset.is_some() && self.is_low_kernel(address, processor);
        let mapped = address.wrapping_add(offset);
        // Code of the image that no symbol covers is a part of what runs, the image's head before its text is not.
        let linked = self.architecture.registers.link.is_some();
        let named = |mapped| self.text.containing(mapped).is_some() || (linked && self.text.in_image(mapped));
        let kernel = is_high || (low && named(mapped));
        let head = linked && self.in_kernel && !self.high && !kernel;
        let firmware = !kernel && self.is_firmware(address);
        let last = shown.last().filter(|last| is_whole(&last.bytes[..last.size], last.address));
        let whole = shown.len() - usize::from(last.is_none());
        self.checks.phantoms += u64::from(last.is_none());
        let end = shown[..whole].last().map_or(address, |last| last.address + last.size as u64);
        let mut counters = vec![None; shown.len()];
        let mut starts = Vec::new();
        let mut ready = None;
        let mut moved = Some(0);
        for (index, each) in shown[..whole].iter().enumerate() {
            let mapped = each.address.wrapping_add(offset);
            counters[index] = Some(match () {
                () if kernel => self.counter(mapped),
                () if firmware => self.other(FLOATING),
                () if head => self.text.nameless as usize,
                () => self.other(self.outside()),
            });
            if kernel && index > 0 {
                if let Some(row) = self.start_at(mapped, shown[index - 1].address.wrapping_add(offset)) {
                    match moved {
                        Some(moved) => starts.push((index, row, moved)),
                        None => self.checks.undecided_starts += 1,
                    }
                }
            }
            let bytes = &each.bytes[..each.size];
            if kernel {
                moved = moved.and_then(|so_far| Some(so_far + moves_stack_pointer(bytes, each.address)?));
            } else if self.high && bytes == self.architecture.ready {
                ready = Some(index);
            }
        }
        self.checks.starts_inside += starts.len() as u64;
        let place = match () {
            () if kernel => self.place(address.wrapping_add(offset)),
            () if firmware => Place::Firmware,
            () => Place::Outside,
        };
        let ends_at_console = match self.architecture.console {
            ConsoleCode::Instruction(code) => last.is_some_and(|last| last.bytes[..last.size] == *code),
            ConsoleCode::Functions(_) => match place {
                Place::Inside(row) | Place::Start(row, _) => self.console_rows[row as usize],
                _ => false,
            },
        };
        Plan { block: Block { address, end, place, ends_at_console }, counters, starts, ready }
    }

    // The block of the image's head goes on to the image's entry: that shows how far above its memory the image is mapped.
    fn find_image(&mut self, address: u64, processor: &impl Processor) {
        let Image::Signed(sign) = self.architecture.image else { return };
        if self.offset.is_some() || self.high {
            return;
        }
        match self.head {
            Some(head) if (head..head + HEAD_BYTES).contains(&address) => {}
            Some(head) => {
                self.offset = Some(self.text.entered_at().wrapping_sub(address));
                self.firmware = Some(head).filter(|_| self.architecture.has_firmware);
            }
            None => {
                let word = processor.word(address.wrapping_add(SIGN_AT));
                self.head = word.filter(|word| *word as u32 == sign).map(|_| address);
            }
        }
    }

    // The kernel runs code of the lower half only with a stack of its own: in user mode the stack pointer is never the kernel's.
    fn is_low_kernel(&self, address: u64, processor: &impl Processor) -> bool {
        let begins = self.text.image_start().wrapping_sub(self.offset.unwrap_or(0));
        let own_stack = || {
            let registers = &self.architecture.registers;
            registers.link.is_some() && (self.architecture.is_kernel)(processor.register(registers.stack_pointer))
        };
        address >= begins && (!self.high || own_stack())
    }

    // All that runs before the kernel, and later what lies below its image.
    fn is_firmware(&self, address: u64) -> bool {
        match self.firmware {
            Some(image) => (image.wrapping_sub(FIRMWARE_BYTES)..image).contains(&address),
            None => self.architecture.has_firmware && !self.in_kernel,
        }
    }

    fn outside(&self) -> usize {
        if self.high {
            USER
        } else {
            FIRMWARE
        }
    }

    fn counter(&self, mapped: u64) -> usize {
        match self.text.containing(mapped) {
            Some(piece) => match piece.kind {
                Kind::Part | Kind::Stub | Kind::Label => self.other(FLOATING),
                _ => piece.row as usize,
            },
            None if self.text.in_image(mapped) => self.other(FLOATING),
            None => self.text.nameless as usize,
        }
    }

    fn place(&self, mapped: u64) -> Place {
        let Some(piece) = self.text.containing(mapped) else {
            return if self.text.in_image(mapped) { Place::Part } else { Place::Nameless };
        };
        match piece.kind {
            Kind::Part => Place::Part,
            Kind::Stub => Place::Stub,
            kind if mapped <= piece.address => Place::Start(piece.row, kind),
            Kind::Label => Place::Part,
            _ => Place::Inside(piece.row),
        }
    }

    // A function begins here, and not already with the padding that the instruction before stands in.
    fn start_at(&self, mapped: u64, before: u64) -> Option<Row> {
        let piece = self.text.containing(mapped)?;
        let begins = mapped <= piece.address && before < piece.padding;
        (begins && matches!(piece.kind, Kind::Function | Kind::Switch)).then_some(piece.row)
    }

    /// A block is about to be executed.
    #[inline]
    pub fn at_block(&mut self, block: &Block, processor: &impl Processor) {
        let executed = processor.count(self.executed()) - self.faulted[self.executed()];
        if std::mem::replace(&mut self.after_console, block.ends_at_console) && self.console.look() {
            return self.freeze("ready", executed, processor);
        }
        let (last_end, last_call) = (self.last_end, self.last_call);
        // The kernel goes on behind firmware as if nothing had been.
        if block.place != Place::Firmware {
            self.last_end = block.end;
            if block.place != Place::Part {
                self.last_call = block.end;
            }
        }
        let floating = self.floating(processor);
        let address = block.address;
        let mut state =
            State { address, sp: 0, link: None, now: executed, floating, last_end, last_call, from_user: false };
        if block.is_kernel() {
            let registers = &self.architecture.registers;
            state.sp = processor.register(registers.stack_pointer);
            state.link = registers.link.map(|link| processor.register(link));
            (self.sp, self.link) = (state.sp, state.link);
            match block.place {
                Place::Start(row, Kind::Function) => {
                    self.check_call(row, state, processor);
                    if self.calls_initcalls == Some(row) {
                        self.note_initcall(processor);
                    }
                    if self.fault_handlers.contains(&row) {
                        state = self.faulted(row, state, processor);
                    }
                }
                Place::Start(row, kind @ (Kind::Interrupt | Kind::Exception | Kind::Syscall)) => {
                    if kind == Kind::Exception {
                        state = self.faulted(row, state, processor);
                    }
                    let name = self.text.names()[row as usize].function.as_str();
                    state.from_user |= (self.architecture.is_from_user)(name, state.sp);
                }
                _ => {}
            }
        }
        self.stacks.block(block.place, state, &|address| processor.word(address));
        if let Place::Start(row, Kind::Function) = block.place {
            if self.panics.contains(&row) {
                self.freeze("panic", executed, processor);
            }
        }
    }

    // The list of a kernel without symbols of data does not name initcalls. What calls them is given their address.
    fn note_initcall(&mut self, processor: &impl Processor) {
        let address = processor.register(self.architecture.registers.argument);
        let Some(piece) = self.text.containing(address).filter(|piece| piece.address == address) else { return };
        if self.text.names()[piece.row as usize].module.is_none() {
            self.initcalls.insert(piece.row);
        }
    }

    fn floating(&self, processor: &impl Processor) -> u64 {
        let counter = self.other(FLOATING);
        processor.count(counter) - self.faulted[counter]
    }

    /// A function's first instruction in the middle of the running block is about to be executed.
    pub fn at_start(&mut self, row: Row, moved: i64, processor: &impl Processor) {
        let executed = processor.count(self.executed()) - self.faulted[self.executed()];
        let (sp, floating) = (self.sp.wrapping_add_signed(moved), self.floating(processor));
        let (last_end, last_call) = (self.last_end, self.last_call);
        let state = State {
            // Not the block's: nothing has returned to the middle of one.
            address: 0,
            sp,
            link: self.link,
            now: executed,
            floating,
            last_end,
            last_call,
            from_user: false,
        };
        self.stacks.inside(row, state);
    }

    /// The guest's mark *ready* is about to be executed: it still belongs to the count.
    pub fn at_ready(&mut self, processor: &impl Processor) {
        if self.config.ready.mark {
            let executed = processor.count(self.executed()) - self.faulted[self.executed()] + 1;
            self.freeze("ready", executed, processor);
        }
    }

    // An instruction that faults was counted, and is counted again when it is done again; what could not be fetched was not.
    fn faulted(&mut self, row: Row, state: State, processor: &impl Processor) -> State {
        let name = self.text.names()[row as usize].function.as_str();
        let raised = (self.architecture.raised)(name, &Looking(processor));
        let state = State { from_user: raised.from_user, ..state };
        if !raised.again {
            return state;
        }
        let from = raised.from;
        let low = self.offset.map(|offset| from.wrapping_add(offset));
        let counter = match low {
            _ if (self.architecture.is_kernel)(from) => self.counter(from),
            Some(low) if !self.high && self.text.containing(low).is_some() => self.counter(low),
            _ => self.other(self.outside()),
        };
        let executed = self.executed();
        self.faulted[counter] += 1;
        self.faulted[executed] += 1;
        self.checks.faults += 1;
        let floating = u64::from(counter == self.other(FLOATING));
        State { now: state.now - 1, floating: state.floating - floating, ..state }
    }

    // At a call the link register, or the word at the stack pointer, is the address behind the call, which ended the block before.
    fn check_call(&mut self, row: Row, state: State, processor: &impl Processor) {
        self.calls += 1;
        if self.calls > CHECKED_AT_FIRST && self.calls % CHECKED_EVERY != 0 || !self.high {
            return;
        }
        if self.stacks.top() == row {
            return;
        }
        let word = state.link.or_else(|| processor.word(state.sp));
        self.checks.stack_pointers += 1;
        self.checks.at_calls += u64::from(word == Some(state.last_end) || word == Some(state.last_call));
        let is_text = |word: u64| self.text.containing(word).is_some() || (self.architecture.is_kernel)(word);
        self.checks.not_at_return_address += u64::from(!word.is_some_and(is_text));
    }

    /// The count is over: the tables are final from here on.
    pub fn freeze(&mut self, state: &str, executed: u64, processor: &impl Processor) {
        if self.frozen {
            return;
        }
        self.frozen = true;
        self.stacks.finish(executed, self.floating(processor));
        let of = |which: usize| {
            let counter = self.other(which);
            processor.count(counter).saturating_sub(self.faulted[counter])
        };
        let by_address = |row: Row| processor.count(row as usize).saturating_sub(self.faulted[row as usize]);
        let tables = Tables::of(&self.text, &self.stacks, &self.initcalls, by_address, self.checks, state, executed)
            .with_outside(self.before_kernel, of(FIRMWARE), of(USER) + self.stacks.floating_outside());
        match tables.write(&self.config.output) {
            Ok(()) => self.report(state, ""),
            Err(error) => self.report("error", &error),
        }
    }

    /// QEMU is about to end.
    pub fn stop(&mut self, processor: &impl Processor) {
        let executed = processor.count(self.executed()) - self.faulted[self.executed()];
        self.freeze("stopped", executed, processor);
    }

    /// The oracle cannot go on.
    pub fn fail(&mut self, detail: &str) {
        self.frozen = true;
        self.report("error", detail);
    }

    // A status that cannot be written is no reason to end a boot.
    fn report(&self, state: &str, detail: &str) {
        let Some(file) = &self.status else { return };
        let Ok(line) = serde_json::to_string(&Status::new(state, detail)) else { return };
        let _ = file.write_all_at(format!("{line:<0$}\n", STATUS_BYTES - 1).as_bytes(), 0);
    }
}

// Counters behind those of the rows.
const FLOATING: usize = 0;
const FIRMWARE: usize = 1;
const USER: usize = 2;
const EXECUTED: usize = 3;
const OTHERS: usize = 4;
