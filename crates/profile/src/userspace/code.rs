//! Code of user mode: where each executed block stands, and which thread executed how many of its instructions.

use super::text::TextId;
use firstlight_schema::CodeKind;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A number in [`UserCode::blocks`].
pub type BlockId = u32;
/// A number in [`UserCode::sources`].
pub type SourceId = u32;

/// Something that code stands in: a file, or memory without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSource {
    /// What it is: the name of a [`CodeKind`].
    pub kind: String,
    /// Its path, where it has one.
    pub path: Option<TextId>,
    /// The bytes of the file.
    pub size: u64,
}

/// Where a block of code stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// What it stands in.
    pub source: SourceId,
    /// The offset in the file; where there is none, the address in the process.
    pub offset: u64,
}

/// What one thread executed of a block while it ran one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The task.
    pub task: u32,
    /// What it ran: a number in [`super::Userspace::images`].
    pub image: Option<u32>,
    /// The block.
    pub block: BlockId,
    /// Instructions.
    pub instructions: u64,
}

/// The code of user mode, as it was executed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UserCode {
    /// Whether user code was followed at all.
    pub followed: bool,
    /// Files and memory with code.
    pub sources: Vec<CodeSource>,
    /// Blocks of code. The first stands for instructions whose block was not seen.
    pub blocks: Vec<Block>,
    /// What was executed, in order of threads, programs and blocks.
    pub rows: Vec<Executed>,
    /// Instructions that were executed behind the end of a block before the next one began.
    pub unplaced: u64,
}

impl UserCode {
    pub(super) fn is_consistent(&self, tasks: usize, images: usize, texts: usize) -> bool {
        let below = |number: u32, many: usize| (number as usize) < many;
        self.sources.iter().all(|source| source.path.is_none_or(|path| below(path, texts)))
            && self.blocks.iter().all(|block| below(block.source, self.sources.len()))
            && self.are_consistent(&self.rows, tasks, images)
    }

    /// Whether rows name tasks, images and blocks that are there.
    pub(crate) fn are_consistent(&self, rows: &[Executed], tasks: usize, images: usize) -> bool {
        let below = |number: u32, many: usize| (number as usize) < many;
        rows.iter().all(|row| {
            below(row.task, tasks)
                && row.image.is_none_or(|image| below(image, images))
                && below(row.block, self.blocks.len())
        })
    }
}

/// Instructions whose block was not seen.
const UNSEEN: BlockId = 0;
const CHUNK_BITS: u32 = 6;
const CHUNK: usize = 1 << CHUNK_BITS;

/// A thread while it runs one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Context {
    task: u32,
    image: Option<u32>,
}

/// Counts the instructions of blocks while a boot is followed.
#[derive(Debug)]
pub struct CodeLog {
    /// Since when the running block runs, how long it is, and its number.
    since: u64,
    length: u64,
    block: BlockId,
    /// By block, what was executed since the running context came.
    counts: Vec<u64>,
    /// The blocks of which something was.
    touched: Vec<BlockId>,
    running: u32,
    contexts: Vec<Context>,
    /// By context and piece of the blocks, what was executed before.
    kept: FxHashMap<(u32, u32), Box<[u64; CHUNK]>>,
    /// Context, block and instructions of what was moved there since the last slice ended.
    sliced: Vec<(u32, BlockId, u64)>,
    numbers: FxHashMap<Block, BlockId>,
    seen: UserCode,
}

impl Default for CodeLog {
    fn default() -> Self {
        let source = CodeSource { kind: CodeKind::Unknown.name().to_owned(), path: None, size: 0 };
        let unseen = Block { source: 0, offset: 0 };
        Self {
            since: 0,
            length: 0,
            block: UNSEEN,
            counts: vec![0],
            touched: Vec::new(),
            running: 0,
            contexts: Vec::new(),
            kept: FxHashMap::default(),
            sliced: Vec::new(),
            numbers: FxHashMap::default(),
            seen: UserCode { followed: true, sources: vec![source], blocks: vec![unseen], ..UserCode::default() },
        }
    }
}

impl CodeLog {
    /// The number of something that code stands in; each is to be added once.
    pub fn source(&mut self, kind: CodeKind, path: Option<TextId>, size: u64) -> SourceId {
        self.seen.sources.push(CodeSource { kind: kind.name().to_owned(), path, size });
        (self.seen.sources.len() - 1) as SourceId
    }

    /// The number of a block.
    pub fn block(&mut self, block: Block) -> BlockId {
        *self.numbers.entry(block).or_insert_with(|| {
            self.seen.blocks.push(block);
            self.counts.push(0);
            (self.seen.blocks.len() - 1) as BlockId
        })
    }

    /// A block of so many instructions is about to be executed.
    #[inline]
    pub fn runs(&mut self, block: BlockId, length: u64, now: u64) {
        let passed = now.saturating_sub(self.since);
        match self.counts.get_mut(self.block as usize) {
            // Nearly always: the block before ended where it ends, and was executed before in this context.
            Some(count) if *count > 0 && passed <= self.length => *count += passed,
            _ => return self.runs_after_another(block, length, now),
        }
        (self.since, self.block, self.length) = (now, block, length);
    }

    // Out of the way: so nearly every call saves no register.
    #[cold]
    #[inline(never)]
    fn runs_after_another(&mut self, block: BlockId, length: u64, now: u64) {
        self.settle(now);
        (self.block, self.length) = (block, length);
    }

    /// Adds what was executed up to now to the running block.
    #[inline]
    pub(crate) fn settle(&mut self, now: u64) {
        let mut passed = now.saturating_sub(std::mem::replace(&mut self.since, now));
        if passed > self.length {
            self.unplaced(passed - self.length);
            passed = self.length;
        }
        // A block that goes on has so much less in front of it.
        self.length -= passed;
        self.add(self.block, passed);
    }

    #[inline]
    fn add(&mut self, block: BlockId, instructions: u64) {
        if let Some(count) = self.counts.get_mut(block as usize) {
            if *count == 0 && instructions > 0 {
                self.touched.push(block);
            }
            *count += instructions;
        }
    }

    #[cold]
    fn unplaced(&mut self, instructions: u64) {
        self.seen.unplaced += instructions;
        self.add(UNSEEN, instructions);
    }

    /// A new context: this thread runs this program from now on.
    pub(crate) fn context(&mut self, task: u32, image: Option<u32>) -> u32 {
        self.contexts.push(Context { task, image });
        (self.contexts.len() - 1) as u32
    }

    /// User mode goes on in this context, with a block that is not known yet.
    pub(crate) fn comes(&mut self, context: u32, now: u64) {
        if context != self.running {
            self.keep();
            self.running = context;
        }
        (self.since, self.length, self.block) = (now, 0, UNSEEN);
    }

    // Moves what was counted to the running context.
    fn keep(&mut self) {
        for block in self.touched.drain(..) {
            let count = self.counts.get_mut(block as usize).map_or(0, std::mem::take);
            let chunk = self.kept.entry((self.running, block >> CHUNK_BITS)).or_insert_with(|| Box::new([0; CHUNK]));
            chunk[block as usize % CHUNK] += count;
            self.sliced.push((self.running, block, count));
        }
    }

    /// What was executed since the last slice ended, up to the last [`Self::settle`]; the next slice begins.
    pub(crate) fn cut(&mut self) -> Vec<Executed> {
        let rows = self.since_cut();
        self.sliced.clear();
        rows
    }

    /// What was executed since the last slice ended, in order of contexts and blocks.
    pub(crate) fn since_cut(&mut self) -> Vec<Executed> {
        self.keep();
        self.sliced.sort_unstable_by_key(|(context, block, _)| (*context, *block));
        self.sliced.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            first.2 += if same { later.2 } else { 0 };
            same
        });
        let rows = self.sliced.iter().filter_map(|(context, block, instructions)| {
            let Context { task, image } = self.contexts.get(*context as usize).copied()?;
            Some(Executed { task, image, block: *block, instructions: *instructions })
        });
        rows.collect()
    }

    /// The block that runs.
    pub(crate) fn current(&self) -> BlockId {
        self.block
    }

    /// Everything that was executed up to the last [`Self::settle`].
    pub(crate) fn snapshot(&mut self) -> UserCode {
        self.keep();
        let mut pieces: Vec<_> = self.kept.iter().collect();
        pieces.sort_unstable_by_key(|(place, _)| **place);
        let rows = pieces.iter().flat_map(|((context, piece), counts)| {
            let context = self.contexts.get(*context as usize).copied();
            let base = piece << CHUNK_BITS;
            counts.iter().zip(base..).filter(|(count, _)| **count > 0).filter_map(move |(count, block)| {
                let Context { task, image } = context?;
                Some(Executed { task, image, block, instructions: *count })
            })
        });
        UserCode { rows: rows.collect(), ..self.seen.clone() }
    }
}
