//! One count under way.

use crate::config::{Config, ConfigError};
use crate::console::Console;
use crate::kind::Kind;
use crate::stacks::{Place, Stacks, State};
use crate::tables::{Checks, Status, Tables};
use crate::text::{Row, Text};
use crate::x86_64::{self, is_kernel, is_whole, moves_stack_pointer, IMAGE_OFFSET};
use std::fs::File;
use std::os::unix::fs::FileExt;

const STATUS_BYTES: usize = 1024;
// The stack pointer is checked at so many calls at first, then at every so many-th.
const CHECKED_AT_FIRST: u64 = 1 << 14;
const CHECKED_EVERY: u64 = 1 << 8;
/// What the oracle knows of one block when it is executed.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    address: u64,
    end: u64,
    place: Place,
    ends_in_out: bool,
}

impl Block {
    /// Whether it is kernel code.
    pub fn is_kernel(&self) -> bool {
        self.place != Place::Outside
    }
}

/// What is to be done with one block when it is translated.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What it is.
    pub block: Block,
    /// For every instruction, the counter that it adds to; none for what is no instruction.
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
    /// The stack pointer.
    fn stack_pointer(&self) -> u64;
    /// A word of the guest's memory.
    fn word(&self, address: u64) -> Option<u64>;
    /// A counter's value.
    fn count(&self, counter: usize) -> u64;
}

/// Everything the callbacks work on.
#[derive(Debug)]
pub struct Session {
    /// The kernel's text.
    pub text: Text,
    /// Nothing is followed any more.
    pub frozen: bool,
    stacks: Stacks,
    checks: Checks,
    config: Config,
    console: Console,
    status: Option<File>,
    panics: Vec<Row>,
    in_kernel: bool,
    high: bool,
    last_end: u64,
    last_call: u64,
    after_out: bool,
    // The stack pointer at the start of the running block.
    sp: u64,
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
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let symbols = firstlight_qemu::read(&config.symbols)?;
        let text = Text::parse(&String::from_utf8_lossy(&symbols));
        if text.names().len() <= 2 {
            return Err(ConfigError::NoFunctions(config.symbols));
        }
        let pattern = config.ready.console.as_deref().map(regex::Regex::new).transpose()?;
        let rows = text.names().len();
        let session = Self {
            stacks: Stacks::new(rows, text.root, text.nameless, text.named(x86_64::SWITCH)),
            console: Console::new(config.console.as_deref(), pattern),
            status: File::create(&config.status).ok(),
            panics: ["panic", "vpanic"].iter().filter_map(|name| text.named(name)).collect(),
            checks: Checks::default(),
            faulted: vec![0; rows + OTHERS],
            frozen: false,
            in_kernel: false,
            high: false,
            last_end: 0,
            last_call: 0,
            after_out: false,
            sp: 0,
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
    pub fn plan(&mut self, shown: &[Shown]) -> Plan {
        let address = shown.first().map_or(0, |first| first.address);
        let is_high = is_kernel(address);
        self.high |= is_high;
        self.in_kernel |= address == self.text.first_instruction() || is_high;
        // Before it maps itself high, the kernel runs where it lies.
        let offset = if is_high { 0 } else { IMAGE_OFFSET };
        let low = self.in_kernel && !self.high && address >= self.text.load_address();
        let kernel = is_high || (low && self.text.containing(address.wrapping_add(offset)).is_some());
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
            counters[index] = Some(if kernel { self.counter(mapped) } else { self.other(self.outside()) });
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
            } else if self.high && bytes == x86_64::READY {
                ready = Some(index);
            }
        }
        self.checks.starts_inside += starts.len() as u64;
        let place = if kernel { self.place(address.wrapping_add(offset)) } else { Place::Outside };
        let ends_in_out = last.is_some_and(|last| last.bytes[..last.size] == x86_64::OUT);
        Plan { block: Block { address, end, place, ends_in_out }, counters, starts, ready }
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
        let last_end = std::mem::replace(&mut self.last_end, block.end);
        let last_call = self.last_call;
        if block.place != Place::Part {
            self.last_call = block.end;
        }
        let executed = processor.count(self.executed()) - self.faulted[self.executed()];
        if std::mem::replace(&mut self.after_out, block.ends_in_out) && self.console.look() {
            return self.freeze("ready", executed, processor);
        }
        let floating = self.floating(processor);
        let address = block.address;
        let mut state = State { address, sp: 0, now: executed, floating, last_end, last_call, from_user: false };
        if block.place != Place::Outside {
            state.sp = processor.stack_pointer();
            self.sp = state.sp;
            match block.place {
                Place::Start(row, Kind::Function) => self.check_call(row, state, processor),
                Place::Start(row, Kind::Exception) => state = self.faulted(row, state, processor),
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

    fn floating(&self, processor: &impl Processor) -> u64 {
        let counter = self.other(FLOATING);
        processor.count(counter) - self.faulted[counter]
    }

    /// A function's first instruction in the middle of the running block is about to be executed.
    pub fn at_start(&mut self, row: Row, moved: i64, processor: &impl Processor) {
        let executed = processor.count(self.executed()) - self.faulted[self.executed()];
        let floating = self.floating(processor);
        self.stacks.inside(row, self.sp.wrapping_add_signed(moved), executed, floating);
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
        let word = |index: u64| processor.word(state.sp.wrapping_add(index * 8)).unwrap_or(0);
        let raised = x86_64::raised(name, word);
        let state = State { from_user: raised.from_user, ..state };
        if !raised.again {
            return state;
        }
        let from = raised.from;
        let low = from.wrapping_add(IMAGE_OFFSET);
        let counter = match from {
            _ if from >= x86_64::KERNEL_HALF => self.counter(from),
            _ if !self.high && self.text.containing(low).is_some() => self.counter(low),
            _ => self.other(self.outside()),
        };
        let executed = self.executed();
        self.faulted[counter] += 1;
        self.faulted[executed] += 1;
        self.checks.faults += 1;
        let floating = u64::from(counter == self.other(FLOATING));
        State { now: state.now - 1, floating: state.floating - floating, ..state }
    }

    // At a call the word at the stack pointer is the address behind the call, which ended the block before.
    fn check_call(&mut self, row: Row, state: State, processor: &impl Processor) {
        self.calls += 1;
        if self.calls > CHECKED_AT_FIRST && self.calls % CHECKED_EVERY != 0 || !self.high {
            return;
        }
        if self.stacks.top() == row {
            return;
        }
        let word = processor.word(state.sp);
        self.checks.stack_pointers += 1;
        self.checks.at_calls += u64::from(word == Some(state.last_end) || word == Some(state.last_call));
        let is_text = |word: u64| self.text.containing(word).is_some() || word >= IMAGE_OFFSET;
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
        let tables = Tables::of(&self.text, &self.stacks, by_address, self.checks, state, executed)
            .with_outside(of(FIRMWARE), of(USER));
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
