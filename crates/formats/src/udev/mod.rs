//! udev's monitor, its debug log and its database.

mod event;
pub mod queue;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod database;
pub(crate) mod monitor;
pub(crate) mod udev_log;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &monitor::UdevMonitor, &udev_log::UdevLog, &database::UdevDatabase,
];
// End of the readers.
