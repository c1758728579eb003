//! Errors, with messages that the user can act on.

use std::path::PathBuf;

/// An error of the workload runner.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A shape that is none.
    #[error("`{0}` is not a tree shape: write numbers joined by `x`, such as 70x70")]
    Shape(String),
    /// A word that means nothing.
    #[error("`{0}` is not known here")]
    Word(String),
    /// A mount trap said something that is not a request.
    #[error("the automount sent a packet of {0} bytes that is not a request")]
    Packet(usize),
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
}

impl Error {
    /// An error of the system.
    pub fn system(action: &'static str, path: impl Into<PathBuf>, source: impl Into<std::io::Error>) -> Self {
        Self::System { action, path: path.into(), source: source.into() }
    }
}

/// Result of what is done here.
pub type Result<T> = std::result::Result<T, Error>;

/// Adds to an error of the system what was tried on which file.
pub trait Context<T> {
    /// `action` is a verb in its base form.
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T, E: Into<std::io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T> {
        self.map_err(|source| Error::system(action, path, source))
    }
}
