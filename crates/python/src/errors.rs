//! The engine's errors as the exceptions of `firstlight.errors`; no other place maps them.

use firstlight_export::ExportError;
use firstlight_merge::MergeError;
use firstlight_model::ModelError;
use firstlight_schema::TableError;
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;

const DAMAGED: &str = "the file was cut off or changed; copy the bundle again, or record it again";

/// An exception of `firstlight.errors`, by the name of its class.
pub fn exception(class: &str, message: &str, location: &dyn Display, hint: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let make = || {
            let keywords = PyDict::new(py);
            keywords.set_item("where", location.to_string())?;
            keywords.set_item("hint", hint)?;
            py.import("firstlight.errors")?.getattr(class)?.call((message,), Some(&keywords))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    })
}

/// A bundle that cannot be read: `BundleError`, or `KeyError` for a function or phase that it does not hold.
pub fn unreadable(error: &ModelError, bundle: &dyn Display) -> PyErr {
    match error {
        ModelError::NotFound { .. } => PyKeyError::new_err(error.to_string()),
        _ => exception("BundleError", &error.to_string(), bundle, None),
    }
}

/// A table that cannot be written: `OSError` where the system refuses it, `FirstlightError` where its rows are wrong.
pub fn unwritable(error: &ModelError, what: &str, location: &dyn Display) -> PyErr {
    match error {
        ModelError::File { .. } | ModelError::Table(TableError::File { .. }) => PyOSError::new_err(error.to_string()),
        _ => exception("FirstlightError", &format!("{what}: {error}"), location, None),
    }
}

/// Records that cannot become tables, as [`unwritable`].
pub fn unmerged(error: MergeError, what: &str, location: &dyn Display) -> PyErr {
    match error {
        MergeError::Table(error) => unwritable(&error.into(), what, location),
        MergeError::Nothing => exception("FirstlightError", &format!("{what}: {error}"), location, None),
    }
}

/// An export that fails: `BundleError` where the bundle is the reason, `FirstlightError` where the file is.
pub fn unexported(error: &ExportError, bundle: &dyn Display) -> PyErr {
    match error {
        ExportError::Nothing(what) => {
            let hint = if what.contains("instructions") {
                "`--unit time` weighs by time"
            } else {
                "`--to csv` and `--to json` hold every table"
            };
            exception("BundleError", &format!("nothing to export: {what}"), bundle, Some(hint))
        }
        ExportError::Write { .. }
        | ExportError::Table(TableError::File { .. })
        | ExportError::Model(ModelError::File { .. } | ModelError::Table(TableError::File { .. })) => {
            exception("FirstlightError", &format!("cannot be exported: {error}"), bundle, None)
        }
        ExportError::Model(_) | ExportError::Table(_) => {
            exception("BundleError", &format!("damaged table: {error}"), bundle, Some(DAMAGED))
        }
    }
}
