//! The symbols, the tracker and the tree on a processor that the project does not know: two-byte instructions, other names of
//! entry code, small stacks. A machine executes its code and reports what it decodes, as the plugin does.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use firstlight_profile::isa::{Class, Flow, Isa, ThunkSection};
use firstlight_profile::recording::State;
use firstlight_profile::tracker::{Request, Watch, UNKNOWN};
use firstlight_profile::{Recording, SymbolTable, Tracker};
use std::collections::BTreeMap;

/// Instructions are an operation and an operand; a target is the operand's multiple of sixteen, behind [`TEXT`].
#[derive(Debug, Clone, Copy, Default)]
struct Small;

const TEXT: u64 = 0x8000;
const OTHER: u8 = 0;
const CALL: u8 = 1;
const RETURN: u8 = 2;
const JUMP: u8 = 3;
const LEAVE: u8 = 4;
const MARK: u8 = 5;
const POP: u8 = 6;
const TAKE_STACK: u8 = 7;

impl Isa for Small {
    const NAME: &'static str = "small";
    const LONGEST_INSTRUCTION: u64 = 2;
    const MARK_BYTES: usize = 2;
    const LANDING_PAD_BYTES: u64 = 0;
    const ENTRY_BOUNDS: (&'static str, &'static str) = ("vectors_start", "vectors_end");
    const THUNKS: &'static [ThunkSection] = &[];
    const PADDING: &'static [&'static str] = &["pad."];
    const PADDING_BYTES: u64 = 8;
    const WAYS_OUT: &'static [&'static str] = &["to_user"];
    const CURRENT_TASK: &'static [&'static str] = &["running"];
    const STACK_BYTES: u64 = 256;
    const SWITCH_FRAME_BYTES: u64 = 16;
    const RETURN_SLOT_BYTES: u64 = 2;
    const KERNEL_HALF: u64 = TEXT;
    const IMAGE_OFFSET: Option<u64> = Some(TEXT);
    const IMAGE_ENTRY: &'static [&'static str] = &["_text"];
    const DECOMPRESSOR: Option<u64> = Some(0x100);

    fn flow(bytes: &[u8], _address: u64) -> Flow {
        match bytes {
            [CALL, operand] => Flow::Call(target(*operand)),
            [RETURN, _] => Flow::Return,
            [JUMP, operand] => Flow::Jump(target(*operand)),
            [LEAVE, _] => Flow::InterruptReturn,
            [MARK, number] => Flow::Mark(u16::from(*number)),
            [POP, _] => Flow::Pop,
            [TAKE_STACK, _] => Flow::TakeStack,
            [_, _] => Flow::Other,
            _ => Flow::Incomplete,
        }
    }

    fn runs_through(bytes: &[u8]) -> bool {
        bytes.chunks(2).all(|each| Self::flow(each, 0) == Flow::Other)
    }

    fn class(symbol: &str) -> Option<Class> {
        match symbol {
            "vector_timer" => Some(Class::Interrupt),
            "swap_tasks" => Some(Class::Switch),
            _ => None,
        }
    }

    fn is_kernel_code(address: u64) -> bool {
        address >= Self::KERNEL_HALF
    }
}

fn target(operand: u8) -> u64 {
    TEXT + u64::from(operand) * 16
}

const SYMBOLS: &str = "\
8000 T _text
8000 T start
8010 T worker
8020 T leaf
8030 T tail
8040 T vectors_start
8040 T vector_timer
8050 T vectors_end
8060 T swap_tasks
8070 T to_user
807c t pad.other_task
8080 T other_task
8090 T leaf.cold
80a0 T _etext
";

/// Each function's instructions, at the function's address.
const CODE: [(u64, &[[u8; 2]]); 9] = [
    (0x8000, &[[OTHER, 0], [CALL, 1], [CALL, 6], [OTHER, 0], [MARK, 1]]),
    (0x8010, &[[CALL, 2], [OTHER, 0], [CALL, 3], [RETURN, 0]]),
    (0x8020, &[[OTHER, 0], [OTHER, 0], [RETURN, 0]]),
    (0x8030, &[[OTHER, 0], [JUMP, 2]]),
    (0x8040, &[[OTHER, 0], [CALL, 2], [LEAVE, 0]]),
    (0x8060, &[[TAKE_STACK, 0], [POP, 0], [RETURN, 0]]),
    (0x8070, &[[RETURN, 0]]),
    (0x807c, &[[OTHER, 0], [OTHER, 0]]),
    (0x8080, &[[CALL, 7], [CALL, 2], [CALL, 6]]),
];
const STACKS: [u64; 2] = [0x1100, 0x1200];

/// Executes code of an architecture whose calls push their return address.
struct Machine<I: Isa> {
    symbols: SymbolTable<I>,
    tracker: Tracker<I>,
    words: BTreeMap<u64, u64>,
    pc: u64,
    sp: u64,
    /// The stack pointer of the task that does not run.
    suspended: u64,
    interrupted: Option<u64>,
    now: u64,
    asked: Vec<Request>,
}

impl<I: Isa> Machine<I> {
    fn new(symbols: &str) -> Self {
        let symbols = SymbolTable::parse(symbols);
        let mut tracker = Tracker::new(&symbols, Watch::default());
        tracker.kernel(0);
        // The other task was left in the switch: a register, and the way into its own function.
        let other = STACKS[1] - 4 * I::RETURN_SLOT_BYTES;
        let words = BTreeMap::from([(other + I::RETURN_SLOT_BYTES, 0x807c)]);
        let (pc, sp) = (TEXT, STACKS[0]);
        Self { symbols, tracker, words, pc, sp, suspended: other, interrupted: None, now: 0, asked: Vec::new() }
    }

    fn fetch(&self) -> [u8; 2] {
        let (at, code) = CODE.iter().rfind(|(at, _)| *at <= self.pc).expect("code before the address");
        *code.get((self.pc - at) as usize / 2).expect("an instruction at the address")
    }

    /// Executes one instruction; false at a mark.
    fn step(&mut self) -> bool {
        let bytes = self.fetch();
        let (site, extent) = self.symbols.extent(self.pc).expect("code of a function");
        if self.pc < extent.address {
            self.tracker.padding(site, self.now);
        } else if self.pc == extent.address {
            let request = match extent.class {
                Class::Plain => self.tracker.entry(site, self.now),
                _ => self.tracker.special(site, self.now),
            };
            self.asked.push(request);
        }
        self.now += 1;
        let next = self.pc + bytes.len() as u64;
        self.pc = next;
        match I::flow(&bytes, self.pc) {
            Flow::Call(to) => {
                self.sp -= I::RETURN_SLOT_BYTES;
                self.words.insert(self.sp, next);
                self.tracker.call(site, self.sp, self.now);
                self.pc = to;
            }
            Flow::Return => {
                self.tracker.ret(site, self.sp, self.now);
                self.pc = *self.words.get(&self.sp).expect("a return address");
                self.sp += I::RETURN_SLOT_BYTES;
            }
            Flow::Jump(to) => self.pc = to,
            Flow::InterruptReturn => {
                self.tracker.leave_kernel(self.now);
                self.pc = self.interrupted.take().expect("an interrupt under way");
            }
            Flow::TakeStack => {
                self.tracker.takes_stack(self.now);
                // Below the return address there is the register that the switch takes back.
                std::mem::swap(&mut self.sp, &mut self.suspended);
                self.suspended -= I::RETURN_SLOT_BYTES;
            }
            Flow::Pop => {
                self.tracker.switch(self.sp, self.now);
                self.sp += I::RETURN_SLOT_BYTES;
            }
            Flow::Mark(_) => return false,
            _ => {}
        }
        true
    }

    fn interrupt(&mut self, entry: u64) {
        self.interrupted = Some(self.pc);
        self.pc = entry;
    }

    fn rows(&mut self) -> Vec<String> {
        let mut file = Vec::new();
        self.tracker.snapshot(State::Ready, &[], self.now).write(&mut file).expect("a vector takes everything");
        let recording = Recording::decode(&file).expect("what was written");
        let mut paths: Vec<String> = Vec::new();
        for node in &recording.nodes {
            let name = recording.functions[node.function as usize].name.as_str();
            let above = paths.get(node.parent as usize).filter(|_| node.parent != 0);
            paths.push(above.map_or(name.to_owned(), |above| format!("{above}/{name}")));
        }
        let rows = recording.nodes.iter().zip(paths).filter(|(node, _)| node.self_instructions > 0);
        rows.map(|(node, path)| format!("{path} {} {}", node.calls, node.self_instructions)).collect()
    }
}

#[test]
fn calls_tail_calls_interrupts_and_switches_are_followed() {
    let mut machine = Machine::<Small>::new(SYMBOLS);
    let mut steps = 0;
    while machine.step() {
        steps += 1;
        if steps == 4 {
            machine.interrupt(0x8040);
        }
        assert!(steps < 100, "the machine runs in circles");
    }
    assert_eq!(machine.now, 38);
    assert!(machine.asked.contains(&Request::NameTask), "the way to user mode is watched");
    // The second half of the switch runs on the new task's stack, and nothing entered it there.
    let expected = [
        "[interrupts]/vector_timer 1 3",
        "[interrupts]/vector_timer/leaf 1 3",
        "other_task 1 5",
        "other_task/leaf 1 3",
        "other_task/swap_tasks 1 1",
        "other_task/to_user 1 1",
        "start 1 5",
        "start/swap_tasks 1 3",
        "start/worker 1 4",
        "start/worker/leaf 1 3",
        "start/worker/tail 1 2",
        "start/worker/tail/leaf 1 3",
        "swap_tasks 0 2",
    ];
    let mut rows = machine.rows();
    rows.sort();
    assert_eq!(rows, expected);
}

#[test]
fn symbols_are_classified_by_the_architectures_names() {
    let symbols = SymbolTable::<Small>::parse(SYMBOLS);
    let class = |address| symbols.extent(address).map(|(_, extent)| extent.class);
    assert_eq!(class(0x8040), Some(Class::Interrupt));
    assert_eq!(class(0x8060), Some(Class::Switch));
    assert_eq!(class(0x8090), Some(Class::Cold));
    assert_eq!(class(0x8000), Some(Class::Plain));
    let padded = symbols.containing(0x807c).expect("padding belongs to the function behind it").1;
    assert_eq!((padded.from, padded.name.as_str()), (0x807c, "other_task"));
    assert_eq!(Small::flow(&[CALL], UNKNOWN.into()), Flow::Incomplete);
}
