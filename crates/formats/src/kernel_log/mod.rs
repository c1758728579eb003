//! The kernel's log: printk text, kmsg records, serial captures, and what initcall_debug and its like print into it.
//!
//! Readers of other records that hold lines of the kernel use [`text::read`] or [`text::Text`] for text, and
//! [`messages::Interpreter`] where they have the messages already.

pub(crate) mod boot_messages;
pub mod boots;
pub mod bytes;
pub mod clock_lookahead;
pub mod dates;
mod host_clock;
pub mod json;
pub mod messages;
pub mod prefix;
mod processors;
mod read_late;
pub mod text;
pub(crate) mod unstamped_lines;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod capture;
pub(crate) mod dmesg_json;
pub(crate) mod grabserial;
pub(crate) mod host_stamped;
pub(crate) mod kmsg;
pub(crate) mod printk;
pub(crate) mod serial;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &kmsg::Kmsg, &dmesg_json::DmesgJson, &capture::Capture, &grabserial::Grabserial,
    &host_stamped::HostStamped, &serial::Serial, &printk::Printk,
];
// End of the readers.
