//! Logs of instrumented functions (KFI, KFT), and what kd makes of them.

mod intervals;
mod kd;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod kd_table;
pub(crate) mod kd_tree;
pub(crate) mod kft;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &kft::Kft, &kd_table::KdTable, &kd_tree::KdTree,
];
// End of the readers.
