//! The files that a plugin reads: its configuration, named on QEMU's command line, and what that names.

use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Why a file gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No configuration is named.
    #[error("the plugin needs the argument `config=FILE`")]
    NoArgument,
    /// A file cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The configuration is not JSON of this form.
    #[error("cannot parse {path}: {error}", path = path.display())]
    Parse {
        /// Which.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
}

/// The content of a file.
///
/// # Errors
///
/// [`FileError::Read`].
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(|error| FileError::Read { path: path.to_owned(), error })
}

/// The configuration in the file that the plugin's arguments name.
///
/// # Errors
///
/// [`FileError`]: there is no such argument or file, or it is of another form.
///
/// ```
/// use firstlight_qemu::{config, FileError};
/// let config: Result<Vec<u8>, _> = config(&["other=1".to_owned()]);
/// assert!(matches!(config, Err(FileError::NoArgument)));
/// ```
pub fn config<T: DeserializeOwned>(arguments: &[String]) -> Result<T, FileError> {
    let path = arguments.iter().find_map(|argument| argument.strip_prefix("config="));
    let path = Path::new(path.ok_or(FileError::NoArgument)?);
    serde_json::from_slice(&read(path)?).map_err(|error| FileError::Parse { path: path.to_owned(), error })
}
