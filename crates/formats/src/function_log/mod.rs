//! Logs of instrumented functions (KFI, KFT), and what kd makes of them.

use crate::format::Format;

mod intervals;
mod kd;
mod kd_table;
mod kd_tree;
mod kft;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&kft::Kft, &kd_table::KdTable, &kd_tree::KdTree];
