//! The columns of every table, as `docs/reference/formats/boot-bundle.md` specifies them.

/// The version that is written into every file.
pub const SCHEMA_VERSION: u32 = 3;

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
pub const TABLES: [(&str, &[ColumnSchema]); 12] = [
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
            maybe(int("start_ns")),
            maybe(int("end_ns")),
            maybe(int("instructions")),
            maybe(int("idle_ns")),
            maybe(int("duration_ns")),
            maybe(text("grade")),
            maybe(text("reason")),
            maybe(text("source")),
            maybe(text("attributes")),
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
            maybe(int("self_instructions")),
            maybe(int("total_instructions")),
            maybe(int("self_ns")),
            maybe(int("total_ns")),
            maybe(int("doubtful_calls")),
        ],
    ),
    (
        "phase_calls",
        &[int("node"), text("phase"), int("calls"), maybe(int("self_instructions")), maybe(int("self_ns"))],
    ),
    (
        "log",
        &[
            int("line"),
            maybe(int("time_ns")),
            text("source"),
            text("text"),
            maybe(int("host_ns")),
            maybe(int("level")),
            maybe(text("caller")),
            maybe(text("channel")),
        ],
    ),
    ("counters", &[text("counter"), int("time_ns"), int("value")]),
    ("facts", &[text("fact"), text("value")]),
    ("links", &[text("kind"), text("from_kind"), text("from_name"), text("to_kind"), text("to_name"), text("source")]),
    (
        "kd",
        &[
            text("function"),
            int("count"),
            int("time_us"),
            maybe(int("average_us")),
            maybe(int("min_us")),
            maybe(int("max_us")),
            maybe(int("sub_time_us")),
            maybe(int("local_us")),
            maybe(text("max_sub")),
            maybe(int("max_sub_count")),
            maybe(text("sub_list")),
            text("source"),
        ],
    ),
    (
        "threads",
        &[
            int("thread"),
            text("kind"),
            maybe(text("first_name")),
            maybe(text("name")),
            int("start_ns"),
            int("end_ns"),
            maybe(int("user_start_ns")),
            int("run_ns"),
            int("idle_ns"),
            int("instructions"),
            int("runs"),
        ],
    ),
    ("thread_names", &[int("thread"), int("time_ns"), text("name")]),
    ("runs", &[int("thread"), int("start_ns"), int("end_ns"), int("instructions"), int("idle_ns")]),
];

/// The columns of one table.
///
/// ```
/// use firstlight_schema::columns::columns;
/// assert_eq!(columns("facts").map(|columns| columns.len()), Some(2));
/// assert!(columns("fables").is_none());
/// ```
pub fn columns(table: &str) -> Option<&'static [ColumnSchema]> {
    TABLES.iter().find(|(name, _)| *name == table).map(|(_, columns)| *columns)
}
