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

const fn maybe_int(name: &'static str) -> ColumnSchema {
    ColumnSchema { nullable: true, ..int(name) }
}

const fn maybe_text(name: &'static str) -> ColumnSchema {
    ColumnSchema { nullable: true, ..text(name) }
}

/// Columns, each as `name: kind`.
macro_rules! columns {
    ($($name:ident: $kind:ident),+) => { &[$($kind(stringify!($name))),+] };
}

/// Name and columns of every table.
pub const TABLES: [(&str, &[ColumnSchema]); 23] = [
    (
        "marks",
        columns![
            mark: text, time_ns: int, instructions: maybe_int, idle_ns: maybe_int, source: text, detail: text
        ],
    ),
    (
        "spans",
        columns![
            span: int, parent: maybe_int, kind: text, name: text, track: text, level: maybe_text,
            start_ns: maybe_int, end_ns: maybe_int, instructions: maybe_int, idle_ns: maybe_int,
            duration_ns: maybe_int, grade: maybe_text, reason: maybe_text, source: maybe_text,
            attributes: maybe_text
        ],
    ),
    (
        "calls",
        columns![
            node: int, parent: maybe_int, function: text, module: maybe_text, kind: text, calls: int,
            self_instructions: maybe_int, total_instructions: maybe_int, self_ns: maybe_int, total_ns: maybe_int,
            doubtful_calls: maybe_int
        ],
    ),
    ("phase_calls", columns![node: int, phase: text, calls: int, self_instructions: maybe_int, self_ns: maybe_int]),
    ("slices", columns![slice: int, start_ns: int, end_ns: int, instructions: int, idle_ns: int]),
    ("slice_calls", columns![slice: int, node: int, calls: int, self_instructions: int]),
    (
        "slice_threads",
        columns![
            slice: int, thread: int, user_instructions: int, kernel_instructions: int, interrupt_instructions: int,
            idle_ns: int
        ],
    ),
    ("slice_system_calls", columns![slice: int, call: int, kernel_instructions: int]),
    ("slice_user_functions", columns![slice: int, row: int, self_instructions: int]),
    (
        "log",
        columns![
            line: int, time_ns: maybe_int, source: text, text: text, host_ns: maybe_int, level: maybe_int,
            caller: maybe_text, channel: maybe_text
        ],
    ),
    ("counters", columns![counter: text, time_ns: int, value: int]),
    ("facts", columns![fact: text, value: text]),
    ("links", columns![kind: text, from_kind: text, from_name: text, to_kind: text, to_name: text, source: text]),
    (
        "kd",
        columns![
            function: text, count: int, time_us: int, average_us: maybe_int, min_us: maybe_int, max_us: maybe_int,
            sub_time_us: maybe_int, local_us: maybe_int, max_sub: maybe_text, max_sub_count: maybe_int,
            sub_list: maybe_text, source: text
        ],
    ),
    (
        "threads",
        columns![
            thread: int, kind: text, first_name: maybe_text, name: maybe_text, start_ns: int, end_ns: int,
            user_start_ns: maybe_int, run_ns: int, idle_ns: int, instructions: int, runs: int, pid: maybe_int,
            process: maybe_int, user_instructions: maybe_int, interrupt_instructions: maybe_int
        ],
    ),
    ("thread_names", columns![thread: int, time_ns: int, name: text]),
    (
        "runs",
        columns![
            thread: int, start_ns: int, end_ns: int, instructions: int, idle_ns: int, user_instructions: maybe_int,
            interrupt_instructions: maybe_int, state: maybe_int, node: maybe_int, cpu: maybe_int
        ],
    ),
    (
        "processes",
        columns![
            process: int, pid: int, parent: maybe_int, name: maybe_text, image: maybe_text, arguments: maybe_text,
            cgroup: maybe_text, start_ns: int, end_ns: maybe_int, status: maybe_int, threads: int,
            user_instructions: int, kernel_instructions: int, interrupt_instructions: int, idle_ns: int
        ],
    ),
    ("images", columns![process: int, thread: int, start_ns: int, image: text, arguments: text, cgroup: text]),
    ("wakeups", columns![time_ns: int, waker: int, wakee: maybe_int, interrupt: int]),
    (
        "system_calls",
        columns![
            call: int, thread: int, name: text, start_ns: int, end_ns: maybe_int, kernel_instructions: maybe_int,
            interrupt_instructions: maybe_int, result: maybe_int, path: maybe_text, argument_0: int, argument_1: int,
            argument_2: int, user_function: maybe_int
        ],
    ),
    (
        "user_functions",
        columns![
            row: int, process: maybe_int, thread: int, image: maybe_text, kind: text, file: maybe_text,
            build_id: maybe_text, function: maybe_text, source: text, offset: maybe_int, address: maybe_int,
            self_instructions: int
        ],
    ),
    ("packages", columns![path: text, package: text, version: maybe_text]),
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
