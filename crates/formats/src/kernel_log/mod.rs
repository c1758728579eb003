//! The kernel's log: printk text, kmsg records, serial captures, and what initcall_debug and its like print into it.
//!
//! Readers of other records that hold lines of the kernel use [`text::read`] or [`text::Text`] for text, and
//! [`messages::Interpreter`] where they have the messages already.

use crate::format::Format;

pub mod boots;
mod bytes;
mod dates;
mod loader;
pub mod messages;
mod prefix;
mod printk;
mod serial;
pub mod text;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&serial::Serial, &printk::Printk];
