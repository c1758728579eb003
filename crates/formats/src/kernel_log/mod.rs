//! The kernel's log: printk text, kmsg records, serial captures, and what initcall_debug and its like print into it.
//!
//! Readers of other records that hold lines of the kernel use [`text::read`] or [`text::Text`] for text, and
//! [`messages::Interpreter`] where they have the messages already.

use crate::format::Format;

pub mod boots;
pub mod bytes;
pub mod clock_lookahead;
pub mod dates;
mod dmesg_json;
mod grabserial;
mod host_clock;
mod host_stamped;
pub mod json;
mod kmsg;
pub mod messages;
pub mod prefix;
mod printk;
mod serial;
pub mod text;
mod unstamped_lines;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[
    &kmsg::Kmsg,
    &dmesg_json::DmesgJson,
    &grabserial::Grabserial,
    &host_stamped::HostStamped,
    &serial::Serial,
    &printk::Printk,
];
