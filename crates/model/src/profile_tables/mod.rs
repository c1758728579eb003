//! A profile's way into the tables of a bundle.

mod calls;
mod evidence;
mod instants;
mod module_symbols;
mod processes;
mod slices;
mod spans;
mod threads;
mod user_functions;

use crate::invariants::{check, Invariant};
use crate::{bytes, ModelError};
use calls::{write_calls, write_phase_calls};
use evidence::{write_counters, write_log};
use firstlight_profile::fold::{fold, unknown_thunks};
use firstlight_profile::recording::{merged, Recording, State};
use firstlight_schema::table::write_empty;
use firstlight_schema::CodeKind;
use instants::Clock;
use module_symbols::{gather_nameless, ModuleSymbols};
use processes::{missing, write_processes, Processes};
use slices::{write_slices, write_slices_of_threads};
use spans::{write_marks, write_spans};
use std::path::Path;
use threads::write_threads;
use user_functions::UserFunctions;
pub use user_functions::{GuestFiles, NoFiles};

/// What the tables say altogether.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSummary {
    /// How the recording ended.
    pub state: State,
    /// Instructions, virtual nanoseconds and idle nanoseconds at its end.
    pub totals: [u64; 3],
    /// The plugin interface that QEMU spoke.
    pub plugin_api: u32,
    /// `icount` or `counted`.
    pub clock: String,
    /// What must hold, and whether it does.
    pub invariants: Vec<Invariant>,
    /// Why processes are not in the tables, if they are not.
    pub processes_missing: Option<&'static str>,
}

/// Reads a profile and writes `marks`, `spans`, `calls`, `phase_calls`, `slices`, `slice_calls`, `log`, `counters`, `threads`, `thread_names`, `runs`, the tables of processes,
/// `user_functions`, and what threads, system calls and user functions did in slices, into a bundle's directory.
///
/// `console` is what the guest's console printed, `modules` the lines of `/proc/kallsyms` that name a module; either may
/// be missing. `files` has the guest's programs and libraries, for the names of their functions.
///
/// # Errors
///
/// [`ModelError::Profile`] or [`ModelError::File`] when the evidence cannot be read, or what [`write`] says.
pub fn convert(
    profile: &Path,
    console: Option<&Path>,
    modules: Option<&Path>,
    files: &dyn GuestFiles,
    bundle: &Path,
) -> Result<ProfileSummary, ModelError> {
    let decoded = Recording::decode(&bytes(profile)?);
    let mut recording = decoded.map_err(|error| ModelError::Profile { path: profile.to_owned(), error })?;
    let text = |path: Option<&Path>| path.map(bytes).transpose().map(Option::unwrap_or_default);
    let console = text(console)?;
    let mut modules = ModuleSymbols::parse(&String::from_utf8_lossy(&text(modules)?));
    modules.forget_initcalls(&recording);
    modules.find_shared(&recording);
    let thunks = unknown_thunks(&recording);
    fold(&mut recording, |function| thunks.iter().any(|thunk| thunk.function == function));
    gather_nameless(&mut recording, &modules);
    recording.phases = merged(&recording.phases);
    let clock = Clock { shift: recording.icount_shift };
    write_marks(&recording, clock, bundle)?;
    write_spans(&recording, clock, &modules, bundle)?;
    write_calls(&recording, clock, &modules, bundle)?;
    write_phase_calls(&recording, clock, bundle)?;
    write_slices(&recording, clock, bundle)?;
    write_log(&recording, clock, &console, bundle)?;
    write_counters(&recording, clock, bundle)?;
    let processes = Processes::of(&recording);
    write_threads(&recording.running, &processes, clock, bundle)?;
    let functions = UserFunctions::of(&recording, files)?;
    functions.write(&recording, &processes, bundle)?;
    write_slices_of_threads(&recording, &functions, bundle)?;
    write_processes(&recording, &processes, &functions.callers(&recording), clock, bundle)?;
    write_empty(&["links", "kd"], bundle)?;
    let end = recording.end;
    Ok(ProfileSummary {
        state: recording.state,
        totals: [end.instructions, clock.at(end), end.idle_ns],
        plugin_api: recording.plugin_api,
        clock: recording.clock.clone(),
        processes_missing: missing(&recording),
        invariants: check(&recording, &thunks, announced_thunk(&console).as_deref()),
    })
}

/// The paths and sizes of the files that a recording's user code stands in.
///
/// # Errors
///
/// [`ModelError::Profile`] or [`ModelError::File`] when the profile cannot be read.
pub fn code_files(profile: &Path) -> Result<Vec<(String, u64)>, ModelError> {
    let decoded = Recording::decode(&bytes(profile)?);
    let recording = decoded.map_err(|error| ModelError::Profile { path: profile.to_owned(), error })?;
    let texts = &recording.processes.texts;
    let files = recording.processes.code.sources.iter().filter(|source| source.kind == CodeKind::File.name());
    Ok(files.filter_map(|source| Some((texts.get(source.path? as usize)?.clone(), source.size))).collect())
}

/// The return thunk that the kernel says it uses (`set_return_thunk` in arch/x86/kernel/cpu/bugs.c, since 6.17).
fn announced_thunk(console: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(console);
    let said = text.lines().rev().find_map(|line| line.split_once("active return thunk: "))?;
    said.1.split_whitespace().next().map(str::to_owned)
}

/// Makes a profile's file smaller where it lies, whole or not at all.
///
/// # Errors
///
/// [`ModelError::Profile`] when it is none, [`ModelError::File`] when it cannot be read or written.
pub fn pack(profile: &Path) -> Result<(), ModelError> {
    let wrong = |error| ModelError::Profile { path: profile.to_owned(), error };
    let packed = Recording::pack(&bytes(profile)?).map_err(wrong)?;
    let mut temporary = profile.to_owned().into_os_string();
    temporary.push(".tmp");
    std::fs::write(&temporary, packed)
        .and_then(|()| std::fs::rename(&temporary, profile))
        .map_err(|error| ModelError::File { path: profile.to_owned(), error })
}
