//! What runs before the kernel where a boot loader starts it.

use super::Tracker;
use crate::recording::Function;
use crate::tree::{FunctionId, Kind, ROOT};
use firstlight_isa::Isa;
use firstlight_schema::{Mark, MarkSource};

impl<I: Isa> Tracker<I> {
    /// The boot loader's first instruction.
    ///
    /// ```
    /// use firstlight_profile::{isa::X86_64, recording::State, tracker::Watch, Recording, SymbolTable, Tracker};
    /// let symbols = SymbolTable::<X86_64>::parse("1000 T _text\n1000 T main\n1080 T _etext\n");
    /// let mut tracker = Tracker::new(&symbols, Watch::default());
    /// tracker.loader("EFI stub", 40);
    /// tracker.kernel(100);
    /// let mut file = Vec::new();
    /// tracker.snapshot(State::Ready, &[], 130).write(&mut file)?;
    /// let recording = Recording::decode(&file)?;
    /// let row = recording.nodes.iter().find(|node| node.kind.name() == "loader").expect("a row of its own");
    /// assert_eq!((row.calls, row.self_instructions), (1, 60));
    /// # Ok::<(), firstlight_profile::recording::RecordingError>(())
    /// ```
    pub fn loader(&mut self, detail: &str, now: u64) {
        self.mark(Mark::LoaderStart.name(), MarkSource::Address, detail, now);
        self.functions.push(Function { name: "[loader]".to_owned(), address: 0 });
        let row = self.tree.child(ROOT, (self.functions.len() - 1) as FunctionId, Kind::Loader);
        self.loader = Some(row);
        self.move_to(row, now);
    }

    /// The number of a function of the boot loader, by its name and its address in the loader's program file.
    pub fn loader_function(&mut self, name: &str, address: u64) -> FunctionId {
        // The form of `/proc/kallsyms`.
        self.functions.push(Function { name: format!("{name}\t[loader]"), address });
        (self.functions.len() - 1) as FunctionId
    }

    /// A block of the boot loader is about to be executed: of this function, or of none that is known. `begins` where the
    /// block has the function's first instruction; a loop to that is no further entry.
    ///
    /// ```
    /// use firstlight_profile::{isa::X86_64, recording::State, tracker::Watch, Recording, SymbolTable, Tracker};
    /// let mut tracker = Tracker::new(&SymbolTable::<X86_64>::parse("1000 T _text\n1080 T _etext\n"), Watch::default());
    /// tracker.loader("U-Boot", 0);
    /// let init = tracker.loader_function("board_init_f", 0x1400);
    /// tracker.loader_block(Some(init), true, 10);
    /// tracker.loader_block(Some(init), true, 20);
    /// tracker.loader_block(None, false, 50);
    /// let mut file = Vec::new();
    /// tracker.snapshot(State::Ready, &[], 60).write(&mut file)?;
    /// let recording = Recording::decode(&file)?;
    /// let of = |name: &str| {
    ///     let mut nodes = recording.nodes.iter().filter(|node| recording.functions[node.function as usize].name == name);
    ///     nodes.next().map(|node| (node.calls, node.self_instructions))
    /// };
    /// assert_eq!(of("board_init_f\t[loader]"), Some((1, 40)));
    /// assert_eq!(of("[loader]"), Some((1, 20)));
    /// # Ok::<(), firstlight_profile::recording::RecordingError>(())
    /// ```
    pub fn loader_block(&mut self, function: Option<FunctionId>, begins: bool, now: u64) {
        let Some(row) = self.loader else { return };
        let node = function.map_or(row, |function| self.tree.child(row, function, Kind::Function));
        if node != self.current.node {
            self.charge(now);
            self.current.node = node;
            if begins {
                self.tree.enter(node);
            }
        }
    }
}
