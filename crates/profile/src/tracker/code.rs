//! Code that was loaded while the boot ran: modules, BPF programs, trampolines.

use super::Tracker;
use crate::code::Code;
use crate::recording::Function;
use crate::tree::FunctionId;
use firstlight_isa::Isa;

impl<I: Isa> Tracker<I> {
    /// The number of a piece of code by its name and address; the same one whenever the same code is loaded there again.
    pub fn loaded(&mut self, code: &Code) -> FunctionId {
        // The form of `/proc/kallsyms`.
        let name = format!("{}\t[{}]", code.name, code.module);
        let functions = &mut self.functions;
        *self.loaded.entry((code.entry, name)).or_insert_with_key(|(address, name)| {
            functions.push(Function { name: name.clone(), address: *address });
            (functions.len() - 1) as FunctionId
        })
    }

    /// The first instruction of a function of a module is about to be executed.
    pub fn enter_loaded(&mut self, function: FunctionId, now: u64) {
        if self.enter(function, now) {
            self.watch_module_initcall(function, now);
        }
    }

    /// The padding in front of a function of a module is about to be executed: it belongs to the function.
    pub fn pad_loaded(&mut self, function: FunctionId, now: u64) {
        if !self.is_inside(function) {
            self.enter_loaded(function, now);
            // Its first instruction follows, and is not a second entry.
            self.current.padded = Some(function);
        }
    }

    /// A block of loaded code without functions of its own is about to be executed, wherever in it that stands.
    pub fn inside_loaded(&mut self, function: FunctionId, now: u64) {
        self.enter_anywhere(|_, running| running == function, |_| function, now);
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Code, Shape};
    use crate::recording::State;
    use crate::tracker::{Watch, UNKNOWN};
    use crate::Recording;
    use firstlight_isa::X86_64;

    type SymbolTable = crate::SymbolTable<X86_64>;
    type Tracker = crate::Tracker<X86_64>;

    const KERNEL: &str = "1000 T _text\n1000 T do_one_initcall\n1100 T kmalloc\n1200 T _etext\n";
    const ONE_INITCALL: u32 = 0;
    const KMALLOC: u32 = 1;

    fn code(start: u64, name: &str, shape: Shape) -> Code {
        Code { range: start..start + 0x40, entry: start, name: name.to_owned(), module: "nfit".to_owned(), shape }
    }

    /// Each context as its path, with calls and own instructions; rows that did nothing are left out.
    fn contexts(tracker: &mut Tracker, now: u64) -> Vec<(String, u64, u64)> {
        let mut file = Vec::new();
        assert!(tracker.snapshot(State::Ready, &[], now).write(&mut file).is_ok());
        let Ok(recording) = Recording::decode(&file) else { return Vec::new() };
        let mut paths: Vec<String> = Vec::new();
        for node in &recording.nodes {
            let name = &recording.functions[node.function as usize].name;
            let path = paths.get(node.parent as usize).map_or(name.clone(), |above| format!("{above} > {name}"));
            paths.push(path);
        }
        let rows = recording.nodes.iter().zip(paths).skip(1);
        rows.filter(|(node, _)| node.self_instructions > 0)
            .map(|(node, path)| (path.trim_start_matches("[boot] > ").to_owned(), node.calls, node.self_instructions))
            .collect()
    }

    fn in_initcall() -> Tracker {
        let mut tracker = Tracker::new(&SymbolTable::parse(KERNEL), Watch::default());
        tracker.kernel(0);
        tracker.call(UNKNOWN, 0x8ff8, 0);
        tracker.entry(ONE_INITCALL, 0);
        tracker.call(ONE_INITCALL, 0x8ff0, 10);
        tracker
    }

    #[test]
    fn functions_of_modules_are_entered_like_the_kernels_own() {
        let mut tracker = in_initcall();
        let [init, probe] = ["nfit_init", "nfit_probe"].map(|name| {
            tracker.loaded(&code(if name == "nfit_init" { 0x9000 } else { 0x9100 }, name, Shape::Function))
        });
        tracker.enter_loaded(init, 10);
        tracker.call(init, 0x8fe8, 15);
        tracker.entry(KMALLOC, 15);
        tracker.ret(KMALLOC, 0x8fe8, 18);
        // A jump in tail position.
        tracker.enter_loaded(probe, 20);
        tracker.ret(probe, 0x8ff0, 27);
        let start = "[kernel without symbol] > do_one_initcall";
        let expected = [
            (start.to_owned(), 1, 13),
            (format!("{start} > nfit_init\t[nfit]"), 1, 7),
            (format!("{start} > nfit_init\t[nfit] > kmalloc"), 1, 3),
            (format!("{start} > nfit_init\t[nfit] > nfit_probe\t[nfit]"), 1, 7),
        ];
        assert_eq!(contexts(&mut tracker, 30), expected);
    }

    #[test]
    fn what_an_initcalls_caller_calls_in_a_module_is_its_initcall() {
        for shape in [Shape::Function, Shape::Row] {
            let mut tracker = in_initcall();
            let init = tracker.loaded(&code(0x9000, "nfit_init", shape));
            match shape {
                Shape::Function => tracker.enter_loaded(init, 10),
                Shape::Row => tracker.inside_loaded(init, 10),
            }
            tracker.ret(init, 0x8ff0, 25);
            let mut file = Vec::new();
            assert!(tracker.snapshot(State::Ready, &[], 30).write(&mut file).is_ok());
            let recording = Recording::decode(&file).ok();
            let spans: Vec<_> = recording.iter().flat_map(|recording| &recording.spans).collect();
            assert_eq!(spans.len(), 1);
            assert_eq!(spans[0].level, "module");
            assert_eq!(spans[0].end.map(|end| end.instructions - spans[0].start.instructions), Some(15));
        }
    }

    #[test]
    fn a_row_is_entered_anywhere_and_stays_one() {
        let mut tracker = in_initcall();
        let row = tracker.loaded(&code(0x9000, "[nfit]", Shape::Row));
        // Called, then block by block, then calling the kernel.
        for now in [10, 12, 14] {
            tracker.inside_loaded(row, now);
        }
        tracker.call(row, 0x8fe8, 16);
        tracker.entry(KMALLOC, 16);
        tracker.ret(KMALLOC, 0x8fe8, 19);
        tracker.inside_loaded(row, 19);
        tracker.ret(row, 0x8ff0, 21);
        let start = "[kernel without symbol] > do_one_initcall";
        let expected = [
            (start.to_owned(), 1, 19),
            (format!("{start} > [nfit]\t[nfit]"), 1, 8),
            (format!("{start} > [nfit]\t[nfit] > kmalloc"), 1, 3),
        ];
        assert_eq!(contexts(&mut tracker, 30), expected);
    }

    #[test]
    fn the_same_code_loaded_again_is_the_same_and_other_code_in_its_place_is_not() {
        let mut tracker = in_initcall();
        let one = tracker.loaded(&code(0x9000, "nfit_init", Shape::Function));
        assert_eq!(tracker.loaded(&code(0x9000, "nfit_init", Shape::Function)), one);
        assert_ne!(tracker.loaded(&code(0x9000, "pmem_init", Shape::Function)), one);
        assert_ne!(tracker.loaded(&code(0x9040, "nfit_init", Shape::Function)), one);
    }
}
