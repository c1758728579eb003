//! Readers of every boot record: one file per format, behind one trait ([`format::Format`]).
//!
//! A reader turns bytes into [`evidence::Evidence`]: what the record says, in its own clock, with what is wrong with it. It
//! opens no file, and merges nothing.

pub mod about;
pub mod collection;
pub mod counts;
pub mod decimal;
pub mod enclosed;
pub mod evidence;
pub mod firmware;
pub mod format;
pub mod function_log;
pub mod kernel_log;
pub mod lines;
pub mod names;
pub mod registry;
pub mod sampling;
pub mod sniff;
pub mod systemd;
pub mod tracing;
pub mod udev;

/// Why a record could not be read at all. Whatever is only damaged is a [`evidence::Problem`] in a partial result.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The bytes could not be had.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// Nothing of the format is in it.
    #[error("not {format}: {what}")]
    NotThis {
        /// The title of the format.
        format: &'static str,
        /// What was found instead.
        what: String,
    },
    /// It is of the format, and there is no boot in it.
    #[error("{what}; {remedy}")]
    NoBoot {
        /// What is in it instead.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The format is known, this version of it is not.
    #[error("{format} version {version} is not supported")]
    Version {
        /// The title of the format.
        format: &'static str,
        /// The version that was found.
        version: String,
    },
    /// No format is called that.
    #[error("no format is called `{0}`")]
    UnknownFormat(String),
    /// No reader recognises the content.
    #[error("its format is not recognised: {0}")]
    Unrecognised(String),
}
