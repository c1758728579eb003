//! A recording as it stands while a boot is followed, and its file: written out of the tracker's own tables, because a
//! copy of them would be another megabyte for every few that the boot itself has.

use crate::recording::{
    Counts, Function, FunctionCheck, Instant, Line, Mark, PhaseRow, RecordingError, Running, Span, State, MAGIC, PLAIN,
};
use crate::slices::SlicesSoFar;
use crate::tree::{CallTree, FunctionId, Node, NodeId};
use crate::userspace::Userspace;
use serde::{Serialize, Serializer};
use std::io::Write;

/// What [`Recording`](crate::Recording) holds, field by field, borrowed. Functions that nothing names are left out, and
/// the rows of one node in one phase may come in several pieces.
#[derive(Debug, Serialize)]
pub struct Snapshot<'t> {
    /// How the recording ended.
    pub state: State,
    /// The plugin API that QEMU spoke.
    pub plugin_api: u32,
    /// `icount` or `counted`.
    pub clock: &'static str,
    /// N of `-icount shift=N`.
    pub icount_shift: u8,
    pub(crate) end: Instant,
    pub(crate) functions: Vec<&'t Function>,
    pub(crate) nodes: Nodes<'t>,
    pub(crate) phases: &'t [PhaseRow],
    pub(crate) slices: SlicesSoFar<'t>,
    pub(crate) marks: &'t [Mark],
    pub(crate) spans: Vec<Span>,
    pub(crate) lines: &'t [Line],
    pub(crate) idles: &'t [Instant],
    pub(crate) counts: Counts,
    pub(crate) checks: Vec<FunctionCheck>,
    pub(crate) doubtful: Vec<(NodeId, u64)>,
    pub(crate) running: Running,
    pub(crate) processes: &'t Userspace,
}

impl Snapshot<'_> {
    /// Writes the file: while a boot is recorded nothing is spent on making it smaller.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Encode`] when it cannot be written.
    ///
    /// ```
    /// use firstlight_profile::{isa::X86_64, recording::State, tracker::Watch, Recording, SymbolTable, Tracker};
    /// let mut tracker = Tracker::new(&SymbolTable::<X86_64>::default(), Watch::default());
    /// let mut file = Vec::new();
    /// tracker.snapshot(State::Running, &[], 7).write(&mut file)?;
    /// assert_eq!(Recording::decode(&file)?.end.instructions, 7);
    /// # Ok::<(), firstlight_profile::recording::RecordingError>(())
    /// ```
    pub fn write(&self, mut file: impl Write) -> Result<(), RecordingError> {
        let wrong = |error: &dyn std::fmt::Display| RecordingError::Encode(error.to_string());
        file.write_all(MAGIC).and_then(|()| file.write_all(&[PLAIN])).map_err(|error| wrong(&error))?;
        postcard::to_io(self, file).map(|_| ()).map_err(|error| wrong(&error))
    }
}

/// The nodes of a tree, with the functions numbered as the file has them.
#[derive(Debug)]
pub(crate) struct Nodes<'t> {
    tree: &'t CallTree,
    numbers: Numbers,
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tree.nodes().map(|node| Node { function: self.numbers.of(node.function), ..node }))
    }
}

/// The new numbers of those functions that something names.
#[derive(Debug)]
pub(crate) struct Numbers(Vec<FunctionId>);

impl Numbers {
    fn of(&self, function: FunctionId) -> FunctionId {
        self.0[function as usize]
    }
}

/// What names functions: nodes, initcalls and checks, and the functions that they name, numbered anew in the same order.
pub(crate) struct Named<'t> {
    pub nodes: Nodes<'t>,
    pub spans: Vec<Span>,
    pub checks: Vec<FunctionCheck>,
    pub functions: Vec<&'t Function>,
}

/// Leaves out the functions that nothing names.
pub(crate) fn named<'t>(
    tree: &'t CallTree,
    spans: &[Span],
    checks: &[FunctionCheck],
    functions: &'t [Function],
) -> Named<'t> {
    let mut is_named = vec![false; functions.len()];
    let in_spans = spans.iter().map(|span| span.function);
    for function in tree.nodes().map(|node| node.function).chain(in_spans).chain(checks.iter().map(|row| row.function))
    {
        is_named[function as usize] = true;
    }
    let mut next = 0;
    let number = |named: &bool| {
        let number = next;
        next += FunctionId::from(*named);
        number
    };
    let numbers = Numbers(is_named.iter().map(number).collect());
    let spans = spans.iter().map(|span| Span { function: numbers.of(span.function), ..span.clone() }).collect();
    let checks = checks.iter().map(|row| FunctionCheck { function: numbers.of(row.function), ..*row }).collect();
    let functions = functions.iter().zip(&is_named).filter_map(|(function, named)| named.then_some(function)).collect();
    Named { nodes: Nodes { tree, numbers }, spans, checks, functions }
}
