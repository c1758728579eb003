//! Evidence of several records as the tables of one boot.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it is surprised")]

mod calls;
mod clocks;
mod completeness;
mod devices;
mod first_program;
mod initcalls;
mod journal_texts;
mod log;
mod machines;
mod made;
mod phases;
mod units;
mod which_boot;
