//! A profile becomes tables, for Python: `firstlight_model::profile_tables`.

use crate::errors::unwritable;
use firstlight_model::profile_tables::{convert, pack, GuestFiles};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use std::path::PathBuf;

const UNREAD: &str = "the profile cannot be read";

/// What a profile says of the whole boot.
#[pyclass(frozen, get_all, module = "firstlight._core")]
pub struct Profile {
    instructions: u64,
    virtual_ns: u64,
    idle_ns: u64,
    plugin_api: u32,
    clock: String,
    invariants: Vec<(&'static str, Py<PyDict>)>,
    processes_missing: Option<&'static str>,
}

/// Files of the guest, asked of Python: `file(path, size)` and `debug_file(path, build_id)`.
struct Asked(Option<Py<PyAny>>);

impl Asked {
    // What cannot be asked is not there: the functions of that file stay without names.
    fn ask(&self, method: &str, arguments: impl for<'py> pyo3::call::PyCallArgs<'py>) -> Option<PathBuf> {
        let files = self.0.as_ref()?;
        Python::attach(|py| files.bind(py).call_method1(method, arguments).ok()?.extract().ok()).flatten()
    }
}

impl GuestFiles for Asked {
    fn file(&self, path: &str, size: u64) -> Option<PathBuf> {
        self.ask("file", (path, size))
    }

    fn debug_file(&self, path: &str, build_id: &str) -> Option<PathBuf> {
        self.ask("debug_file", (path, build_id))
    }
}

/// The paths and sizes of the files that user code stands in.
#[pyfunction]
pub fn code_files(py: Python<'_>, profile: PathBuf) -> PyResult<Vec<(String, u64)>> {
    let read = || firstlight_model::profile_tables::code_files(&profile);
    py.detach(read).map_err(|error| unwritable(&error, UNREAD, &profile.display()))
}

/// The name of a function and where it begins.
type Named = (String, u64);

/// For addresses of an ELF file the names of the functions that they lie in, by its symbols; nothing where it has another build id.
#[pyfunction]
pub fn function_names(
    py: Python<'_>,
    file: PathBuf,
    build_id: &str,
    addresses: Vec<u64>,
) -> PyResult<Option<Vec<Option<Named>>>> {
    let read = |file: &Path| std::fs::read(file).ok().and_then(|bytes| firstlight_elf::Code::read(&bytes, None));
    Ok(py.detach(|| {
        let code = read(&file).filter(|code| code.build_id() == Some(build_id))?;
        let named = |address: &u64| {
            let function = code.function(*address)?;
            Some((function.name.clone()?, function.start))
        };
        Some(addresses.iter().map(named).collect())
    }))
}

/// `firstlight_elf::build_id`.
#[pyfunction]
pub fn build_id(file: PathBuf) -> Option<String> {
    firstlight_elf::build_id(&std::fs::read(file).ok()?)
}

/// `firstlight_model::profile_tables::convert`.
#[pyfunction]
#[pyo3(signature = (profile, console, module_symbols, out_dir, guest_files=None))]
pub fn convert_profile(
    py: Python<'_>,
    profile: PathBuf,
    console: Option<PathBuf>,
    module_symbols: Option<PathBuf>,
    out_dir: PathBuf,
    guest_files: Option<Py<PyAny>>,
) -> PyResult<Profile> {
    let files = Asked(guest_files);
    let convert = || convert(&profile, console.as_deref(), module_symbols.as_deref(), &files, &out_dir);
    let summary = py.detach(convert).map_err(|error| unwritable(&error, UNREAD, &profile.display()))?;
    let [instructions, virtual_ns, idle_ns] = summary.totals;
    let invariants = summary.invariants.into_iter().map(|invariant| {
        let figures = PyDict::new(py);
        figures.set_item("holds", invariant.holds)?;
        figures.set_item("value", invariant.value)?;
        figures.set_item("limit", invariant.limit)?;
        figures.set_item("concerns", invariant.concerns.name())?;
        figures.set_item("functions", invariant.functions)?;
        for (name, value) in invariant.figures {
            figures.set_item(name, value)?;
        }
        Ok((invariant.name, figures.unbind()))
    });
    Ok(Profile {
        instructions,
        virtual_ns,
        idle_ns,
        plugin_api: summary.plugin_api,
        clock: summary.clock,
        processes_missing: summary.processes_missing,
        invariants: invariants.collect::<PyResult<_>>()?,
    })
}

/// `firstlight_model::profile_tables::pack`.
#[pyfunction]
pub fn pack_profile(py: Python<'_>, profile: PathBuf) -> PyResult<()> {
    py.detach(|| pack(&profile)).map_err(|error| unwritable(&error, UNREAD, &profile.display()))
}
