//! What samplers saw: the archives of bootchart, and systemd-bootchart's picture.

mod blocks;
mod bootchart_facts;
mod bootchart_svg;
mod processes;
mod ticks;

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[
    &blocks::Bootchart,
    &bootchart_facts::BootchartHeader,
    &bootchart_facts::BootchartProcesses,
    &bootchart_facts::BootchartAccounting,
    &bootchart_svg::BootchartSvg,
];
