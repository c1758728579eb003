//! Small recordings on their way into tables.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

mod convert;
mod invariants;
mod names;

use firstlight_profile::isa::X86_64;
use firstlight_schema::table::{read, Values};
use std::path::Path;

type SymbolTable = firstlight_profile::SymbolTable<X86_64>;
type Tracker = firstlight_profile::Tracker<X86_64>;

fn integers(table: &str, column: usize, bundle: &Path) -> Vec<Option<i64>> {
    match &read(table, bundle).expect("reads")[column] {
        Values::Int64(values) => values.clone(),
        Values::Text(_) => panic!("column {column} of {table} is text"),
    }
}

fn texts(table: &str, column: usize, bundle: &Path) -> Vec<Option<String>> {
    match &read(table, bundle).expect("reads")[column] {
        Values::Text(values) => values.clone(),
        Values::Int64(_) => panic!("column {column} of {table} is numbers"),
    }
}
