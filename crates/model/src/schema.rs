//! The columns of every table, as `docs/formats/boot-bundle.md` specifies them.

/// The version that is written into every file.
pub const SCHEMA_VERSION: u32 = 1;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64-bit integers.
    Int64,
    /// UTF-8 text.
    Text,
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// Whether a value may be missing.
    pub nullable: bool,
}

const fn int(name: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind: ColumnKind::Int64, nullable: false }
}

const fn text(name: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind: ColumnKind::Text, nullable: false }
}

const fn maybe(column: ColumnSchema) -> ColumnSchema {
    ColumnSchema { nullable: true, ..column }
}

/// Name and columns of every table.
pub const TABLES: [(&str, &[ColumnSchema]); 7] = [
    (
        "marks",
        &[
            text("mark"),
            int("time_ns"),
            maybe(int("instructions")),
            maybe(int("idle_ns")),
            text("source"),
            text("detail"),
        ],
    ),
    (
        "spans",
        &[
            int("span"),
            maybe(int("parent")),
            text("kind"),
            text("name"),
            text("track"),
            maybe(text("level")),
            int("start_ns"),
            maybe(int("end_ns")),
            maybe(int("instructions")),
            maybe(int("idle_ns")),
        ],
    ),
    (
        "calls",
        &[
            int("node"),
            maybe(int("parent")),
            text("function"),
            maybe(text("module")),
            text("kind"),
            int("calls"),
            int("self_instructions"),
            int("total_instructions"),
            maybe(int("self_ns")),
            maybe(int("total_ns")),
        ],
    ),
    ("phase_calls", &[int("node"), text("phase"), int("calls"), int("self_instructions"), maybe(int("self_ns"))]),
    ("log", &[int("line"), maybe(int("time_ns")), text("source"), text("text")]),
    ("counters", &[text("counter"), int("time_ns"), int("value")]),
    ("facts", &[text("fact"), text("value")]),
];

/// The columns of one table.
///
/// ```
/// use firstlight_model::schema::columns;
/// assert_eq!(columns("facts").map(|columns| columns.len()), Some(2));
/// assert!(columns("fables").is_none());
/// ```
pub fn columns(table: &str) -> Option<&'static [ColumnSchema]> {
    TABLES.iter().find(|(name, _)| *name == table).map(|(_, columns)| *columns)
}
