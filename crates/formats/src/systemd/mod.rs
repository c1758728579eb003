//! Records of systemd: its analyses, its units' properties, its journal.

mod blame;
pub mod console_units;
mod critical_chain;
mod journal;
mod journal_export;
mod journal_json;
mod journal_short;
mod journal_verbose;
pub mod months;
mod plot_json;
mod plot_svg;
mod plot_units;
pub mod short_line;
mod show;
mod stages;
mod time;
pub mod timespan;
mod unit_jobs;
mod unit_messages;
pub mod unit_times;
mod wall_clock;

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[
    &time::SystemdTime,
    &blame::SystemdBlame,
    &critical_chain::SystemdCriticalChain,
    &plot_json::SystemdPlotJson,
    &plot_svg::SystemdPlotSvg,
    &show::SystemdShow,
    &journal_json::JournalJson,
    &journal_export::JournalExport,
    &journal_verbose::JournalVerbose,
    &journal_short::JournalShort,
];
