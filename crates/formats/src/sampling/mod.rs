//! What samplers saw: the archives of bootchart, and systemd-bootchart's picture.

mod processes;
mod ticks;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod blocks;
pub(crate) mod bootchart_facts;
pub(crate) mod bootchart_svg;
pub(crate) mod value_changes;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &blocks::Bootchart, &bootchart_facts::BootchartHeader, &bootchart_facts::BootchartProcesses,
    &bootchart_facts::BootchartAccounting, &bootchart_svg::BootchartSvg, &value_changes::ValueChanges,
];
// End of the readers.
