//! udev's monitor, its debug log and its database.

mod database;
mod event;
mod monitor;
pub mod queue;
mod udev_log;

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&monitor::UdevMonitor, &udev_log::UdevLog, &database::UdevDatabase];
