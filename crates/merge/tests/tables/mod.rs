//! Reads the tables of a bundle in tests.

use firstlight_schema::columns::columns;
use firstlight_schema::table::{read, Values};
use std::path::Path;

/// The values of a column as texts; a missing number is `-`.
pub fn column(bundle: &Path, table: &str, column: &str) -> Vec<String> {
    let place = columns(table).unwrap().iter().position(|known| known.name == column).unwrap();
    match read(table, bundle).unwrap().swap_remove(place) {
        Values::Text(values) => values.into_iter().map(Option::unwrap_or_default).collect(),
        Values::Int64(values) => {
            values.into_iter().map(|value| value.map_or("-".to_owned(), |value| value.to_string())).collect()
        }
    }
}
