//! A profile becomes tables, for Python: `firstlight_model::profile_tables`.

use crate::errors::unwritable;
use firstlight_model::profile_tables::{convert, pack};
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
}

/// `firstlight_model::profile_tables::convert`.
#[pyfunction]
pub fn convert_profile(
    py: Python<'_>,
    profile: PathBuf,
    console: Option<PathBuf>,
    module_symbols: Option<PathBuf>,
    out_dir: PathBuf,
) -> PyResult<Profile> {
    let convert = || convert(&profile, console.as_deref(), module_symbols.as_deref(), &out_dir);
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
        invariants: invariants.collect::<PyResult<_>>()?,
    })
}

/// `firstlight_model::profile_tables::pack`.
#[pyfunction]
pub fn pack_profile(py: Python<'_>, profile: PathBuf) -> PyResult<()> {
    py.detach(|| pack(&profile)).map_err(|error| unwritable(&error, UNREAD, &profile.display()))
}
