//! What the oracle found, and the file it is kept in (`docs/design/oracle.md`).

use crate::stacks::{Happened, Stacks};
use crate::text::{Row, Text};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::path::Path;

/// Figures that show whether the observation itself was sound.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Checks {
    /// Calls at which the word at the stack pointer was looked at.
    pub stack_pointers: u64,
    /// Of these, where it was the address behind the block that ran before.
    pub at_calls: u64,
    /// Of these, where it was not an address of kernel code.
    pub not_at_return_address: u64,
    /// Instructions that faulted, and were counted once in spite of it.
    pub faults: u64,
    /// Translated blocks whose last instruction was none.
    pub phantoms: u64,
    /// First instructions of functions in the middle of translated blocks.
    pub starts_inside: u64,
    /// Of these, those without a known stack pointer.
    pub undecided_starts: u64,
}

/// The status line that the launcher reads.
#[derive(Debug, Serialize)]
pub struct Status<'a> {
    state: &'a str,
    phase: &'a str,
    instructions: u64,
    virtual_ns: u64,
    idle_ns: u64,
    detail: &'a str,
}

impl<'a> Status<'a> {
    /// A status of this state.
    pub fn new(state: &'a str, detail: &'a str) -> Self {
        Self { state, phase: "", instructions: 0, virtual_ns: 0, idle_ns: 0, detail }
    }
}

#[derive(Debug, Serialize)]
struct FunctionRow<'a> {
    function: &'a str,
    module: Option<&'a str>,
    entries: u64,
    again: u64,
    by_address: u64,
    floating: u64,
    total: u64,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Tables<'a> {
    version: u32,
    state: &'a str,
    executed: u64,
    before_kernel: u64,
    firmware: u64,
    user: u64,
    checks: Checks,
    happened: Happened,
    functions: Vec<FunctionRow<'a>>,
    edges: Vec<(String, String, u64)>,
    elsewhere: Vec<(String, String, u64)>,
    aliases: Vec<(&'a str, String)>,
    initcalls: Vec<(String, u64)>,
    /// The list of symbols names the initcalls; else they are the functions that were called as such.
    names_initcalls: bool,
}

impl<'a> Tables<'a> {
    /// Gathers them; `initcalls` are the rows that were registered or called as such, `by_address` returns the instructions executed at the addresses of a row.
    pub fn of(
        text: &'a Text,
        stacks: &Stacks,
        initcalls: &FxHashSet<Row>,
        by_address: impl Fn(Row) -> u64,
        checks: Checks,
        state: &'a str,
        executed: u64,
    ) -> Self {
        let names = text.names();
        let name = |row: Row| names.get(row as usize).map(ToString::to_string).unwrap_or_default();
        let functions = names
            .iter()
            .zip(stacks.found())
            .zip(0..)
            .map(|((name, found), row)| FunctionRow {
                function: &name.function,
                module: name.module.as_deref(),
                entries: found.entries,
                again: found.again,
                by_address: by_address(row),
                floating: found.floating,
                total: found.total,
            })
            .filter(|row| row.entries + row.by_address + row.floating > 0)
            .collect();
        let flows = |flows: &rustc_hash::FxHashMap<(Row, Row), u64>| {
            let mut rows: Vec<_> = flows.iter().map(|((from, to), count)| (name(*from), name(*to), *count)).collect();
            rows.sort_unstable();
            rows
        };
        let entered = |row: &Row| (name(*row), stacks.found()[*row as usize].entries);
        let mut initcalls: Vec<_> = initcalls.iter().map(entered).filter(|(_, entries)| *entries > 0).collect();
        initcalls.sort_unstable();
        Self {
            version: 1,
            state,
            executed,
            before_kernel: 0,
            firmware: 0,
            user: 0,
            checks,
            happened: stacks.happened(),
            functions,
            edges: flows(stacks.edges()),
            elsewhere: flows(stacks.elsewhere()),
            aliases: text.aliases().iter().map(|(alias, row)| (alias.as_str(), name(*row))).collect(),
            initcalls,
            names_initcalls: !text.initcalls().is_empty(),
        }
    }

    /// Adds what was executed before the kernel and outside of it.
    #[must_use]
    pub fn with_outside(mut self, before_kernel: u64, firmware: u64, user: u64) -> Self {
        (self.before_kernel, self.firmware, self.user) = (before_kernel, firmware, user);
        self
    }

    /// Writes them, whole or not at all.
    ///
    /// # Errors
    ///
    /// Why they could not be written, in words.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let wrong = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
        let mut temporary = path.to_owned().into_os_string();
        temporary.push(".tmp");
        let bytes = serde_json::to_vec(self).map_err(|error| wrong(&error))?;
        std::fs::write(&temporary, bytes)
            .and_then(|()| std::fs::rename(&temporary, path))
            .map_err(|error| wrong(&error))
    }
}
