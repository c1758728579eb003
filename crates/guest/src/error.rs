//! Errors of the helper, with texts for the report and the console.

use std::path::PathBuf;

/// An error of the helper.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `/firstlight.conf` has a line that means nothing.
    #[error("configuration line {line}: {problem}")]
    Config {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A system call failed.
    #[error("cannot {action} `{}`: {source}", path.display())]
    System {
        /// What was tried, as a verb: `mount`, `read`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The device of the root did not come.
    #[error("`{}` did not appear within {seconds} s; are its modules loaded?", path.display())]
    NoRoot {
        /// The device.
        path: PathBuf,
        /// How long was waited, in seconds of the guest's clock.
        seconds: u64,
    },
    /// The new root holds no init.
    #[error("the new root has no `{}`", path.display())]
    NoInit {
        /// The init that was asked for.
        path: PathBuf,
    },
    /// The script of the user land failed.
    #[error("script `{}` ended with {status}", path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// Its exit status, in words.
        status: std::process::ExitStatus,
    },
}

/// Result of what the helper does.
pub type Result<T> = std::result::Result<T, Error>;

/// Adds to an error of the system what was tried on which file.
pub trait Context<T> {
    /// `action` is a verb in its base form.
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T, E: Into<std::io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T> {
        self.map_err(|source| Error::System { action, path: path.into(), source: source.into() })
    }
}
