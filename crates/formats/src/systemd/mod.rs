//! Records of systemd: its analyses, its units' properties, its journal.

mod analyses;
pub mod console_units;
mod journal;
mod journal_boots;
pub mod months;
mod plot_units;
pub mod short_line;
mod stages;
pub(crate) mod stated_stages;
pub mod timespan;
mod unit_jobs;
mod unit_messages;
pub mod unit_times;
mod wall_clock;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod blame;
pub(crate) mod critical_chain;
pub(crate) mod journal_export;
pub(crate) mod journal_json;
pub(crate) mod journal_short;
pub(crate) mod journal_verbose;
pub(crate) mod plot_json;
pub(crate) mod plot_svg;
pub(crate) mod show;
pub(crate) mod time;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &time::SystemdTime, &blame::SystemdBlame, &critical_chain::SystemdCriticalChain,
    &plot_json::SystemdPlotJson, &plot_svg::SystemdPlotSvg, &show::SystemdShow, &journal_json::JournalJson,
    &journal_export::JournalExport, &journal_verbose::JournalVerbose, &journal_short::JournalShort,
];
// End of the readers.
