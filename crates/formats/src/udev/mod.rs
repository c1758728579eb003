//! udev's monitor, its debug log and its database.

use crate::format::Format;

mod database;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&database::UdevDatabase];
