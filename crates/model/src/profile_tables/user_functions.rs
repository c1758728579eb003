//! The table of user functions: what each thread executed of each function in user mode.

use super::processes::Processes;
use crate::ModelError;
use firstlight_elf::Code;
use firstlight_profile::recording::Recording;
use firstlight_profile::userspace::code::{Block, CodeSource, Executed, SourceId};
use firstlight_schema::table::{integers, texts, write, Values};
use firstlight_schema::{CodeKind, FunctionSource, TableError};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the files of the guest are on the host.
pub trait GuestFiles {
    /// A file of the guest of this path and size; nothing where it cannot be had.
    fn file(&self, path: &str, size: u64) -> Option<PathBuf>;
    /// A separate file with the symbols of the file of this path and build id.
    fn debug_file(&self, path: &str, build_id: &str) -> Option<PathBuf>;
}

/// No file can be had.
#[derive(Debug, Clone, Copy)]
pub struct NoFiles;

impl GuestFiles for NoFiles {
    fn file(&self, _path: &str, _size: u64) -> Option<PathBuf> {
        None
    }

    fn debug_file(&self, _path: &str, _build_id: &str) -> Option<PathBuf> {
        None
    }
}

/// A function, or what stands for one, of one thread and program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    task: u32,
    image: Option<u32>,
    source: SourceId,
    /// Where it begins; nothing for memory without a file, where addresses mean nothing.
    offset: Option<u64>,
}

/// What is known of a place in a file.
#[derive(Debug, Clone)]
struct Named {
    offset: Option<u64>,
    address: Option<u64>,
    name: Option<String>,
    by: FunctionSource,
}

/// The rows of the table, and which one each block of a thread belongs to.
pub struct UserFunctions {
    keys: Vec<Key>,
    instructions: Vec<u64>,
    named: FxHashMap<(SourceId, Option<u64>), Named>,
    build_ids: Vec<Option<String>>,
    rows: FxHashMap<(u32, Option<u32>, u32), usize>,
}

impl UserFunctions {
    /// Finds the functions of a recording.
    ///
    /// # Errors
    ///
    /// [`ModelError::File`] when a file that there is cannot be read.
    pub fn of(recording: &Recording, files: &dyn GuestFiles) -> Result<Self, ModelError> {
        let code = &recording.processes.code;
        let mut places: Vec<Named> = Vec::with_capacity(code.blocks.len());
        let mut read: Vec<Option<Code>> = Vec::with_capacity(code.sources.len());
        for source in &code.sources {
            read.push(read_code(recording, source, files)?);
        }
        for block in &code.blocks {
            let source = code.sources.get(block.source as usize);
            let elf = read.get(block.source as usize).and_then(Option::as_ref);
            places.push(place(source, elf, block));
        }
        let mut sums: BTreeMap<Key, (u64, Vec<u32>)> = BTreeMap::new();
        let mut named = FxHashMap::default();
        for row in &code.rows {
            let Executed { task, image, block, instructions } = *row;
            let (Some(place), Some(Block { source, .. })) =
                (places.get(block as usize), code.blocks.get(block as usize).copied())
            else {
                continue;
            };
            named.entry((source, place.offset)).or_insert_with(|| place.clone());
            let sum = sums.entry(Key { task, image, source, offset: place.offset }).or_default();
            sum.0 += instructions;
            sum.1.push(block);
        }
        let mut rows = FxHashMap::default();
        for (number, (key, (_, blocks))) in sums.iter().enumerate() {
            rows.extend(blocks.iter().map(|block| ((key.task, key.image, *block), number)));
        }
        Ok(Self {
            instructions: sums.values().map(|(sum, _)| *sum).collect(),
            keys: sums.into_keys().collect(),
            named,
            build_ids: read.iter().map(|code| Some(code.as_ref()?.build_id()?.to_owned())).collect(),
            rows,
        })
    }

    /// The row that a block of a thread and program belongs to.
    pub fn row_of(&self, executed: &Executed) -> Option<u64> {
        self.rows.get(&(executed.task, executed.image, executed.block)).map(|row| *row as u64)
    }

    /// For each system call the row of the function that made it.
    pub fn callers(&self, recording: &Recording) -> Vec<Option<i64>> {
        let mut running: FxHashMap<u32, u32> = FxHashMap::default();
        let mut images = (0..).zip(&recording.processes.images).peekable();
        let row = |image: Option<u32>, task: u32, block: Option<u32>| {
            self.rows.get(&(task, image, block?)).and_then(|row| i64::try_from(*row).ok())
        };
        let mut of = |call: &firstlight_profile::userspace::SystemCall| {
            while let Some((number, image)) =
                images.next_if(|(_, image)| image.at.instructions <= call.start.instructions)
            {
                running.insert(image.task, number);
            }
            row(running.get(&call.task).copied(), call.task, call.block)
        };
        recording.processes.calls.iter().map(&mut of).collect()
    }

    /// Writes `user_functions`.
    pub fn write(&self, recording: &Recording, processes: &Processes, bundle: &Path) -> Result<(), TableError> {
        let seen = &recording.processes;
        let unknown = Named { offset: None, address: None, name: None, by: FunctionSource::None };
        let named = |key: &Key| self.named.get(&(key.source, key.offset)).unwrap_or(&unknown);
        let number = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        let source = |key: &Key| seen.code.sources.get(key.source as usize);
        let text = |number: u32| seen.texts.get(number as usize).cloned();
        let process = |key: &Key| processes.of_task(key.task as usize).map(|(_, process)| process as u64);
        let image = |key: &Key| text(seen.images.get(key.image? as usize)?.file);
        let ints =
            |of: &dyn Fn(&Key) -> Option<u64>| Values::Int64(self.keys.iter().map(|key| number(of(key))).collect());
        let maybe = |of: &dyn Fn(&Key) -> Option<String>| Values::Text(self.keys.iter().map(of).collect());
        write(
            "user_functions",
            vec![
                ("row", integers(0..self.keys.len() as u64)),
                ("process", ints(&process)),
                ("thread", integers(self.keys.iter().map(|key| u64::from(key.task)))),
                ("image", maybe(&image)),
                (
                    "kind",
                    texts(self.keys.iter().map(|key| source(key).map_or("unknown", |source| source.kind.as_str()))),
                ),
                ("file", maybe(&|key| text(source(key)?.path?))),
                ("build_id", maybe(&|key| self.build_ids.get(key.source as usize)?.clone())),
                ("function", maybe(&|key| named(key).name.clone())),
                ("source", texts(self.keys.iter().map(|key| named(key).by.name()))),
                ("offset", ints(&|key| named(key).offset)),
                ("address", ints(&|key| named(key).address)),
                ("self_instructions", integers(self.instructions.iter().copied())),
            ],
            bundle,
        )
    }
}

fn read_code(recording: &Recording, source: &CodeSource, files: &dyn GuestFiles) -> Result<Option<Code>, ModelError> {
    let path = source.path.and_then(|path| recording.processes.texts.get(path as usize));
    let Some(path) = path.filter(|_| source.kind == CodeKind::File.name()) else { return Ok(None) };
    let Some(file) = files.file(path, source.size) else { return Ok(None) };
    let bytes = crate::bytes(&file)?;
    let Some(code) = Code::read(&bytes, None) else { return Ok(None) };
    match code.build_id().and_then(|build_id| files.debug_file(path, build_id)) {
        Some(debug) => Ok(Code::read(&bytes, Some(&crate::bytes(&debug)?))),
        None => Ok(Some(code)),
    }
}

fn place(source: Option<&CodeSource>, elf: Option<&Code>, block: &Block) -> Named {
    let has_offsets = source
        .and_then(|source| CodeKind::parse(&source.kind))
        .is_some_and(|kind| matches!(kind, CodeKind::File | CodeKind::Deleted | CodeKind::Memfd | CodeKind::Vdso));
    if !has_offsets {
        return Named { offset: None, address: None, name: None, by: FunctionSource::None };
    }
    let address = elf.and_then(|elf| elf.address(block.offset));
    if let Some((elf, function)) = elf.zip(address).and_then(|(elf, at)| Some((elf, elf.function(at)?))) {
        let offset = elf.offset(function.start);
        let (name, by) = (function.name.clone(), function.source);
        return Named { offset: offset.or(Some(block.offset)), address: Some(function.start), name, by };
    }
    let by = if elf.is_some() { FunctionSource::Block } else { FunctionSource::None };
    Named { offset: Some(block.offset), address, name: None, by }
}
