//! Questions of a person: at each entry of a kernel function its arguments, and at its return the result.
//!
//! What a question means is worked out once the kernel runs, from its own description of its types ([`crate::prototype`]). Registers and memory are
//! read; nothing in the guest changes.

use crate::guest_memory::Mapped;
use crate::kernel_memory::{text, KernelMemory, Sight};
use crate::layout::Layout;
use crate::prototype::{place, result, Kind, Place};
use crate::types::Types;
use firstlight_isa::{Isa, RegisterFile, Userspace};
use firstlight_profile::code::Memory as _;
use firstlight_profile::SymbolTable;
use firstlight_qemu::Registers;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::PathBuf;

const LONGEST_TEXT: usize = 4096;
const POINTER_BYTES: u64 = 8;

/// What is asked, as the configuration has it (`docs/reference/formats/plugin.md`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    output: PathBuf,
    /// No more calls than this are written.
    most: u64,
    questions: Vec<Question>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    function: String,
    returns: bool,
    /// How the result is read; by default as its type says, a pointer as a number.
    #[serde(default)]
    result: Option<Kind>,
    values: Vec<Value>,
}

/// One value: a parameter by its name, and the members to follow from it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    path: Vec<String>,
    kind: Option<Kind>,
}

#[derive(Serialize)]
struct Call<'a> {
    call: u64,
    question: usize,
    start_ns: u64,
    instructions: u64,
    task: &'a str,
    pid: Option<u32>,
    tgid: Option<u32>,
    values: Vec<Json>,
}

#[derive(Serialize)]
struct Returned {
    call: u64,
    end_ns: u64,
    result: Json,
}

/// The instant of an event: instructions and virtual time.
#[derive(Debug, Clone, Copy)]
pub struct Instant {
    pub instructions: u64,
    pub virtual_ns: u64,
}

/// Answers questions while the boot runs.
pub struct Asks<I: Isa> {
    questions: Vec<Question>,
    /// Where the values of each question are, once that is known.
    places: Option<Vec<(Vec<Place>, Option<Kind>)>>,
    by_function: FxHashMap<u32, Vec<usize>>,
    file: RegisterFile,
    registers: Option<Registers>,
    memory: KernelMemory,
    mapped: Option<Mapped<I>>,
    userspace: &'static Userspace,
    /// Offsets of `pid` and `tgid` in `struct task_struct`.
    task: (u64, u64),
    most: u64,
    calls: u64,
    /// By return address: the stack pointer after the return, the call, and how its result is read.
    pending: FxHashMap<u64, Vec<(u64, u64, Option<Kind>)>>,
    returns: bool,
    out: BufWriter<File>,
    cpu: u32,
}

impl<I: Isa> Asks<I> {
    /// # Errors
    ///
    /// Why nothing can be asked.
    pub fn new(cpu: u32, asked: &Questions, symbols: &SymbolTable<I>) -> Result<Self, String> {
        let userspace = I::USERSPACE.ok_or("arguments are not known of this architecture")?;
        let memory = KernelMemory::find(symbols).ok_or("QEMU lacks what is needed to read memory")?;
        let questions = asked.questions.clone();
        let mut by_function: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (number, question) in questions.iter().enumerate() {
            let function = symbols.function(&question.function);
            let function = function.ok_or_else(|| format!("the kernel has no function {}", question.function))?;
            by_function.entry(function).or_default().push(number);
        }
        let out = File::create(&asked.output).map_err(|error| format!("{}: {error}", asked.output.display()))?;
        Ok(Self {
            returns: questions.iter().any(|question| question.returns),
            questions,
            by_function,
            file: userspace.registers,
            registers: None,
            memory,
            mapped: None,
            task: (0, 0),
            userspace,
            places: None,
            most: asked.most,
            calls: 0,
            pending: FxHashMap::default(),
            out: BufWriter::new(out),
            cpu,
        })
    }

    /// Another processor goes on.
    pub fn turn(&mut self, to: u32) {
        self.registers = self.registers.and_then(|registers| registers.on(self.cpu, to));
        self.mapped = None;
        self.cpu = to;
    }

    /// Whether something is asked where this function begins.
    pub fn concerns(&self, function: u32) -> bool {
        self.by_function.contains_key(&function)
    }

    /// Whether results are asked for.
    pub fn wants_results(&self) -> bool {
        self.returns
    }

    /// Works out what the questions mean, when the kernel's description of its types can be read.
    ///
    /// The kernel's image lies so much further up in memory than mostly.
    pub fn image_moved(&mut self, by: u64) {
        self.memory.image_moved(by);
    }

    /// # Errors
    ///
    /// What is wrong with a question, and on a second line what to do.
    pub fn resolve(&mut self, symbols: &SymbolTable<I>, image: Option<Range<u64>>) -> Result<(), String> {
        if self.places.is_some() {
            return Ok(());
        }
        let registers = self.registers();
        let entry = symbols.address(self.userspace.entry);
        let mapped = [entry, registers.map(|registers| registers.get(self.file.stack_pointer))].into_iter().flatten();
        if !self.memory.look(self.cpu, symbols, &Sight { image, mapped: mapped.collect() }) {
            return Err("QEMU does not show the kernel's page table\nboot with another QEMU: `--qemu`".to_owned());
        }
        let lacks = |_| "the kernel does not describe its types\nboot a kernel with CONFIG_DEBUG_INFO_BTF".to_owned();
        let types = Types::read(&self.memory, symbols).map_err(lacks)?;
        let layout = Layout::read(&self.memory, symbols, self.userspace).map_err(lacks)?;
        self.task = (layout.task_pid, layout.task_tgid);
        let places = self.questions.iter().map(|question| {
            let values = question.values.iter();
            let places = values.map(|value| place(&types, &question.function, &value.path, value.kind));
            let result = question.result.or_else(|| result(&types, &question.function));
            Ok((places.collect::<Result<_, String>>()?, result))
        });
        self.places = Some(places.collect::<Result<_, String>>()?);
        Ok(())
    }

    fn registers(&mut self) -> Option<Registers> {
        if self.registers.is_none() {
            self.registers = Registers::find(self.cpu, self.file.read, self.file.order, self.file.width.bytes());
        }
        self.registers
    }

    /// A function was entered, by its first block.
    pub fn called(&mut self, function: u32, task: Option<(u64, &str)>, at: Instant) {
        let Some(numbers) = self.by_function.get(&function).cloned() else { return };
        if self.mapped.is_none() {
            self.mapped = Mapped::find(self.cpu);
        }
        let Some(registers) = self.registers() else { return };
        for question in numbers {
            let call = self.calls;
            self.calls += 1;
            if call >= self.most {
                continue;
            }
            let Some(asked) = self.questions.get(question) else { continue };
            let Some((places, kind)) = self.places.as_ref().and_then(|places| places.get(question)) else { continue };
            let values = places.iter().map(|value| self.value(value, registers).unwrap_or(Json::Null)).collect();
            let number = |offset: u64| task.and_then(|(task, _)| self.memory.half(task.wrapping_add(offset)));
            let (pid, tgid) = (number(self.task.0), number(self.task.1));
            let name = task.map_or("", |(_, name)| name);
            if asked.returns {
                let stack = registers.get(self.file.stack_pointer);
                let (address, after) = match I::LINKED {
                    Some(linked) => (Some(registers.get(linked.link)), stack),
                    None => (self.memory.word(stack), stack.wrapping_add(POINTER_BYTES)),
                };
                if let Some(address) = address {
                    self.pending.entry(address).or_default().push((after, call, *kind));
                }
            }
            let Instant { instructions, virtual_ns } = at;
            let call = Call { call, question, start_ns: virtual_ns, instructions, task: name, pid, tgid, values };
            self.write(&call);
        }
    }

    /// A block of the kernel begins: a call may have returned to it.
    pub fn returned(&mut self, address: u64, at: Instant) {
        let Some(registers) = self.registers else { return };
        let Some(calls) = self.pending.get_mut(&address) else { return };
        let stack = registers.get(self.file.stack_pointer);
        let ended: Vec<_> = calls.iter().filter(|(expected, ..)| *expected == stack).copied().collect();
        calls.retain(|(expected, ..)| *expected != stack);
        if calls.is_empty() {
            self.pending.remove(&address);
        }
        let word = registers.get(self.file.result);
        for (_, call, kind) in ended {
            let result = match kind {
                Some(Kind::String | Kind::Text) => self.text(word).map_or(Json::Null, Json::from),
                Some(kind) => kind.of(word),
                None => Json::Null,
            };
            self.write(&Returned { call, end_ns: at.virtual_ns, result });
        }
    }

    /// Writes what is left; the last line has how many calls there were.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn finish(&mut self) -> std::io::Result<()> {
        writeln!(self.out, "{{\"calls\":{}}}", self.calls)?;
        self.out.flush()
    }

    // What cannot be written is missed at the end: there is no last line.
    fn write(&mut self, line: &impl Serialize) {
        if serde_json::to_writer(&mut self.out, line).is_ok() {
            let _ = self.out.write_all(b"\n");
        }
    }

    fn value(&self, value: &Place, registers: Registers) -> Option<Json> {
        let mut word = registers.get(*self.file.arguments.get(value.argument)?);
        let mut members = value.members.as_slice();
        while let [offset, rest @ ..] = members {
            let address = word.wrapping_add(*offset);
            if rest.is_empty() && value.kind == Kind::Text {
                return self.text(address).map(Json::from);
            }
            let mut bytes = [0; 8];
            let length = if rest.is_empty() { value.kind.bytes() } else { POINTER_BYTES as usize };
            self.read(address, bytes.get_mut(..length)?).then_some(())?;
            word = u64::from_le_bytes(bytes);
            members = rest;
        }
        match value.kind {
            Kind::String | Kind::Text => self.text(word).map(Json::from),
            kind => Some(kind.of(word)),
        }
    }

    // The upper half of the addresses is the kernel's. The lower half is the process's, by the page tables that are current.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        if (address as i64) < 0 {
            return self.memory.read(address, buffer);
        }
        self.mapped.as_ref().is_some_and(|memory| memory.read(address, buffer))
    }

    fn text(&self, address: u64) -> Option<String> {
        text(LONGEST_TEXT, address, |at, buffer| self.read(at, buffer))
    }
}
