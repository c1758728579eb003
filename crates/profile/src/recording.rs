//! What a recording holds when it is over, and the file it is kept in.

pub use crate::instant::Instant;
use crate::slices::Slice;
use crate::tree::{FunctionId, Node, NodeId};
use crate::userspace::{Spent, Userspace};
use serde::{Deserialize, Serialize};

pub(crate) const MAGIC: &[u8; 6] = b"FLPROF";
// After the version byte: one zstd frame of what the second has as it is.
const PACKED: u8 = 13;
pub(crate) const PLAIN: u8 = 14;
// A profile is a few megabytes; a file that claims more than this is not one.
const LARGEST_BYTES: usize = 1 << 30;

/// Why a profile file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It does not begin as a profile does.
    #[error("not a Firstlight profile")]
    NotAProfile,
    /// It was written by another Firstlight: the evidence is read where it was recorded, tables are read everywhere.
    #[error("the profile has version {0}, and this Firstlight reads {PACKED} and {PLAIN}")]
    OtherVersion(u8),
    /// Its bytes are cut short or altered.
    #[error("the profile is damaged: {0}")]
    Damaged(String),
    /// It could not be encoded.
    #[error("the profile could not be written: {0}")]
    Encode(String),
}

/// A row of the table of functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name, or a bracketed row name; empty when only the address is known.
    pub name: String,
    /// Where it begins; 0 for rows that are not functions.
    pub address: u64,
}

/// A named instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its name.
    pub mark: String,
    /// When.
    pub at: Instant,
    /// What gave it: `reset`, `address`, `function`, `instruction`, `console`.
    pub source: String,
    /// The function, the pattern, and so on.
    pub detail: String,
}

/// One run of an initcall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The function.
    pub function: FunctionId,
    /// Its level.
    pub level: String,
    /// The task it ran in, numbered as they first ran.
    pub task: u32,
    /// When it was entered.
    pub start: Instant,
    /// When it returned, if it did.
    pub end: Option<Instant>,
}

/// What one node did in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The node.
    pub node: NodeId,
    /// The phase: the mark that began it, as an index into the marks.
    pub mark: u32,
    /// Entries in the phase.
    pub calls: u64,
    /// Instructions of its own in the phase.
    pub self_instructions: u64,
}

/// A line of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The offset of its first byte in the console's file.
    pub offset: u64,
    /// When that byte was sent.
    pub at: Instant,
}

/// Figures about how the profile came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Calls that were followed to a function.
    pub calls: u64,
    /// Frames pushed on shadow stacks.
    pub pushed: u64,
    /// Frames taken off again, unwound ones among them.
    pub popped: u64,
    /// Returns that matched the frame on top.
    pub returns: u64,
    /// Returns that matched a frame further down: the ones above it were left without returning.
    pub unwinds: u64,
    /// Frames dropped by such an unwind.
    pub unwound_frames: u64,
    /// Returns that matched no frame.
    pub unmatched_returns: u64,
    /// Switches from one task's stack to another's.
    pub switches: u64,
    /// Tasks seen.
    pub tasks: u64,
    /// Frames still open when the recording was frozen, on all stacks.
    pub open_frames: u64,
    /// Frames left on stacks of tasks that ended.
    pub abandoned_frames: u64,
    /// Jumps in tail position.
    pub tail_calls: u64,
    /// Interrupts and exceptions entered.
    pub interrupts: u64,
    /// Events whose clock lay before the one before: none, when all is well.
    pub backward_steps: u64,
    /// Times the clock was compared with QEMU's, and found different.
    pub clock_checks: u64,
    /// See `clock_checks`.
    pub clock_mismatches: u64,
    /// Calls that reached no function's beginning, and were followed when the next event showed where they had gone.
    pub late_calls: u64,
    /// Frames that ended without a return that was seen: a later call wrote its return address over theirs.
    pub lost_returns: u64,
    /// Returns that went to the beginning of a function, because their address had been replaced (rethooks).
    pub replaced_returns: u64,
    /// Circles of jumps in tail position that were cut short.
    pub collapses: u64,
    /// Returns of functions that had dropped their own return address, and returned by their caller's.
    pub discarded_addresses: u64,
    /// Turns of processors, from the kernel's first instruction on.
    pub turns: u64,
}

/// What a function of the symbol table is to the tracker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Called or jumped to, and left by a return.
    Function,
    /// Entered by an interrupt, an exception or a system call.
    Entry,
    /// A place inside entry code.
    Label,
    /// Passes control on, and is not a function.
    Thunk,
    /// A part of a function that stands elsewhere (`.cold`).
    Part,
}

/// How one function's entries were followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCheck {
    /// The function.
    pub function: FunctionId,
    /// What it is.
    pub how: How,
    /// How often its first instruction was executed, counted by address; nothing where that was not counted.
    pub executed: Option<u64>,
    /// Entries by a jump in tail position.
    pub tails: u64,
    /// Executions of its first instruction that were not entries: a loop to its start, or a fault's second try.
    pub again: u64,
    /// Entries behind its first instruction.
    pub inside: u64,
    /// Entries that ended by the function dropping its own return address and returning by its caller's.
    pub discards: u64,
    /// An initcall is registered under this function's name.
    pub is_initcall: bool,
}

/// One stretch in which a task had a processor, and that its turn; interrupts included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The task, numbered as they first ran.
    pub task: u32,
    /// The switch to it.
    pub start: Instant,
    /// The switch away from it, the turn of another processor, or the freeze.
    pub end: Instant,
    /// Its instructions.
    pub spent: Spent,
    /// The context that it left the processor in; nothing at the freeze.
    pub node: Option<NodeId>,
    /// The task's state when it left the processor, where it could be read: 0 for one that could have gone on.
    pub state: Option<u32>,
    /// The processor that it was on.
    pub cpu: u32,
}

/// A name that a task had from an instant on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskName {
    /// The task.
    pub task: u32,
    /// From when on.
    pub at: Instant,
    /// What the kernel calls it (`comm`).
    pub name: String,
}

/// Who had the processor. The runs follow one another without holes, from the kernel's first instruction to the freeze.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Running {
    /// The stretches, in order of time.
    pub runs: Vec<Run>,
    /// The names of tasks, in the order in which they were read.
    pub names: Vec<TaskName>,
    /// For every task, by its number: when it was first on the way to user mode, if it was.
    pub user: Vec<Option<Instant>>,
    /// For every task, by its number: where its `task_struct` lies, if that was read.
    pub addresses: Vec<Option<u64>>,
    /// The tasks in which further processors idle, each the one that its processor began with.
    pub idle: Vec<u32>,
    /// Switches at which the kernel's own pointer to the running task named the one that the recorder held for it.
    pub confirmed: u64,
    /// Switches at which it named another.
    pub contradicted: u64,
}

/// How a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It has not ended: a copy kept for the case that QEMU dies.
    Running,
    /// At the ready mark.
    Ready,
    /// The kernel panicked.
    Panic,
    /// The virtual clock passed its limit.
    Timeout,
    /// QEMU ended first.
    Stopped,
}

/// A boot's profile, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// How it ended.
    pub state: State,
    /// The plugin API that QEMU spoke.
    pub plugin_api: u32,
    /// `icount`: QEMU's own counter; `counted`: every instruction counted by the plugin.
    pub clock: String,
    /// N of `-icount shift=N`.
    pub icount_shift: u8,
    /// The freeze.
    pub end: Instant,
    /// The functions that the nodes name.
    pub functions: Vec<Function>,
    /// The calling-context tree, parents first.
    pub nodes: Vec<Node>,
    /// What each node did in each phase, where that is not zero.
    pub phases: Vec<PhaseRow>,
    /// What each node did in each slice of time, where that is not zero.
    pub slices: Vec<Slice>,
    /// The marks, in order of time.
    pub marks: Vec<Mark>,
    /// The initcalls, in order of entry.
    pub spans: Vec<Span>,
    /// The console's lines.
    pub lines: Vec<Line>,
    /// The ends of the idle intervals.
    pub idles: Vec<Instant>,
    /// How it came about.
    pub counts: Counts,
    /// How each function's entries were followed.
    pub checks: Vec<FunctionCheck>,
    /// Nodes, and how many of their entries were followed by inference.
    pub doubtful: Vec<(NodeId, u64)>,
    /// Who had the processor.
    pub running: Running,
    /// Processes.
    pub processes: Userspace,
}

/// The version of a file, and what follows it.
fn split(bytes: &[u8]) -> Result<(u8, &[u8]), RecordingError> {
    let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(RecordingError::NotAProfile)?;
    rest.split_first().map(|(version, body)| (*version, body)).ok_or(RecordingError::NotAProfile)
}

impl Recording {
    /// A file's bytes, made fewer: half as many. What is packed already stays as it is.
    ///
    /// # Errors
    ///
    /// [`RecordingError::NotAProfile`], [`RecordingError::Encode`] when the compressor fails.
    pub fn pack(bytes: &[u8]) -> Result<Vec<u8>, RecordingError> {
        let (version, body) = split(bytes)?;
        if version != PLAIN {
            return Ok(bytes.to_vec());
        }
        let packed = zstd::encode_all(body, 1).map_err(|error| RecordingError::Encode(error.to_string()))?;
        Ok([MAGIC.as_slice(), &[PACKED], &packed].concat())
    }

    /// Reads a file's bytes, which may be anything.
    ///
    /// # Errors
    ///
    /// Any of [`RecordingError`] but `Encode`. A tree whose parents do not come before their children is damaged, too.
    ///
    /// ```
    /// use firstlight_profile::Recording;
    /// assert!(Recording::decode(b"FLPROF").is_err());
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordingError> {
        let (version, body) = split(bytes)?;
        let damaged = |error: &dyn std::fmt::Display| RecordingError::Damaged(error.to_string());
        let mut unpacked = Vec::new();
        let plain = match version {
            PLAIN => body,
            PACKED => {
                let reader = zstd::Decoder::new(body).map_err(|error| damaged(&error))?;
                let mut limited = std::io::Read::take(reader, LARGEST_BYTES as u64);
                std::io::Read::read_to_end(&mut limited, &mut unpacked).map_err(|error| damaged(&error))?;
                unpacked.as_slice()
            }
            other => return Err(RecordingError::OtherVersion(other)),
        };
        let recording: Self = postcard::from_bytes(plain).map_err(|error| damaged(&error))?;
        recording.check()?;
        Ok(recording)
    }

    fn check(&self) -> Result<(), RecordingError> {
        let damaged = |what: &str| Err(RecordingError::Damaged(what.to_owned()));
        let functions = self.functions.len();
        if self.nodes.is_empty() {
            return damaged("no root");
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if (index > 0 && node.parent as usize >= index) || node.function as usize >= functions {
                return damaged("a node names what is not there");
            }
        }
        let rows = self
            .phases
            .iter()
            .all(|row| (row.node as usize) < self.nodes.len() && (row.mark as usize) < self.marks.len());
        let sliced = self.slices.iter().flat_map(|slice| &slice.rows);
        let rows = rows && sliced.into_iter().all(|row| (row.node as usize) < self.nodes.len());
        let spans = self.spans.iter().all(|span| (span.function as usize) < functions);
        let tasks = self.running.user.len();
        let named = self.running.names.iter().all(|name| (name.task as usize) < tasks);
        let context = |node: NodeId| (node as usize) < self.nodes.len();
        let ran = self.running.runs.iter().all(|run| (run.task as usize) < tasks && run.node.is_none_or(context))
            && self.running.addresses.len() == tasks
            && self.running.idle.iter().all(|task| (*task as usize) < tasks)
            && self.processes.is_consistent(tasks);
        let (code, images) = (&self.processes.code, self.processes.images.len());
        let ran = ran
            && self.slices.iter().all(|slice| {
                (slice.running.run as usize) < self.running.runs.len()
                    && code.are_consistent(&slice.code, tasks, images)
            });
        let checks = self.checks.iter().all(|check| (check.function as usize) < functions)
            && self.doubtful.iter().all(|(node, _)| (*node as usize) < self.nodes.len());
        if rows && spans && named && ran && checks {
            Ok(())
        } else {
            damaged("a row names what is not there")
        }
    }
}

/// The rows of one node in one phase made one, in order of phase and node: a copy taken in the middle of a phase closes
/// it early, and its rows come in two pieces.
pub fn merged(rows: &[PhaseRow]) -> Vec<PhaseRow> {
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| (row.mark, row.node));
    sorted.dedup_by(|later, first| {
        let same = (later.mark, later.node) == (first.mark, first.node);
        if same {
            first.calls += later.calls;
            first.self_instructions += later.self_instructions;
        }
        same
    });
    sorted
}
