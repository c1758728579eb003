//! The kernel's log: printk text, kmsg records, serial captures, and what initcall_debug and its like print into it.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
