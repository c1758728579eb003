//! What a return ends: the frame whose return address it takes, all that were called from there, and all that this frame
//! had replaced by a jump.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use firstlight_profile::recording::State;
use firstlight_profile::tracker::{Watch, UNKNOWN};
use firstlight_profile::tree::FunctionId;
use firstlight_profile::{isa::X86_64, Recording};

type SymbolTable = firstlight_profile::SymbolTable<X86_64>;
type Tracker = firstlight_profile::Tracker<X86_64>;

const KERNEL: &str = "\
1000 T _text
1000 T caller
1100 T first
1200 T second
1300 T third
1400 T helper
1500 T _etext
";

/// A small kernel whose `caller` runs; a step is some instructions and then an event.
struct Boot {
    symbols: SymbolTable,
    tracker: Tracker,
    now: u64,
}

impl Boot {
    fn new() -> Self {
        let symbols = SymbolTable::parse(KERNEL);
        let mut boot = Self { tracker: Tracker::new(&symbols, Watch::default()), symbols, now: 0 };
        boot.tracker.kernel(0);
        boot.jump("caller", 0);
        boot
    }

    fn id(&self, name: &str) -> FunctionId {
        self.symbols.function(name).expect("a function of the small kernel")
    }

    fn call(&mut self, name: &str, sp: u64, after: u64) {
        self.now += after;
        self.tracker.call(UNKNOWN, sp, self.now);
        self.tracker.entry(self.id(name), self.now);
    }

    fn jump(&mut self, name: &str, after: u64) {
        self.now += after;
        self.tracker.entry(self.id(name), self.now);
    }

    fn ret(&mut self, site: &str, sp: u64, after: u64) {
        self.now += after;
        self.tracker.ret(self.id(site), sp, self.now);
    }

    /// Calls and self of each function that ran, and the frames that are open, after some more instructions.
    fn end(mut self, after: u64) -> (Vec<(String, u64, u64)>, u64) {
        let mut file = Vec::new();
        self.tracker.snapshot(State::Ready, &[], self.now + after).write(&mut file).expect("writes");
        let recording = Recording::decode(&file).expect("decodes");
        let name = |function: u32| recording.functions[function as usize].name.clone();
        let mut rows: Vec<_> = recording
            .nodes
            .iter()
            .filter(|node| node.calls > 0 && !name(node.function).starts_with('['))
            .map(|node| (name(node.function), node.calls, node.self_instructions))
            .collect();
        rows.sort();
        (rows, recording.counts.open_frames)
    }
}

fn row(name: &str, calls: u64, own: u64) -> (String, u64, u64) {
    (name.to_owned(), calls, own)
}

#[test]
fn a_return_past_open_calls_ends_every_function_that_shares_its_address() {
    let mut boot = Boot::new();
    boot.call("first", 0x8ff8, 10);
    boot.jump("second", 2);
    boot.jump("third", 3);
    boot.call("helper", 0x8fe0, 4);
    // `helper` never returns: the stack is unwound to where `caller` goes on.
    boot.ret("third", 0x8ff8, 5);
    let (rows, open) = boot.end(7);
    assert_eq!(
        rows,
        [row("caller", 1, 17), row("first", 1, 2), row("helper", 1, 5), row("second", 1, 3), row("third", 1, 4)]
    );
    assert_eq!(open, 1, "only `caller` is open");
}

#[test]
fn a_return_past_open_calls_leaves_the_callers_below_alone() {
    let mut boot = Boot::new();
    boot.call("first", 0x8ff8, 10);
    boot.call("second", 0x8ff0, 2);
    boot.jump("third", 3);
    boot.call("helper", 0x8fe0, 4);
    boot.ret("third", 0x8ff0, 5);
    boot.ret("first", 0x8ff8, 6);
    let (rows, open) = boot.end(7);
    assert_eq!(
        rows,
        [row("caller", 1, 17), row("first", 1, 8), row("helper", 1, 5), row("second", 1, 3), row("third", 1, 4)]
    );
    assert_eq!(open, 1, "only `caller` is open");
}
