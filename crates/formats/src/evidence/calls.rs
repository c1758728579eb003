//! Functions: by call path, and as kd counts them.

/// One row of a calling-context tree; node 0 is the root, parents come before their children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNode {
    /// The row it was entered from; the root is its own.
    pub parent: u32,
    /// Its function, by its place in [`Calls::functions`].
    pub function: u32,
    /// `root`, `function`, `interrupt`, `task`, ...: the kinds of the bundle.
    pub kind: &'static str,
    /// Entries.
    pub calls: u64,
    /// Time in it and in nothing below it, where the record has it; negative where it contradicts itself.
    pub self_ns: Option<i64>,
}

/// A calling-context tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// Names, with the module where the record has it.
    pub functions: Vec<(String, Option<String>)>,
    /// The rows.
    pub nodes: Vec<CallNode>,
}

/// One row of a kd table, in kd's own terms: times in microseconds, -1 where an unfinished call spoils them; none where
/// the table lacks the column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KdRow {
    /// The function as it stands in the record.
    pub function: String,
    /// Rows of the log with that name.
    pub count: i64,
    /// Sum of their lengths.
    pub time_us: i64,
    /// Time / Count, rounded down.
    pub average_us: Option<i64>,
    /// The shortest.
    pub min_us: Option<i64>,
    /// The longest.
    pub max_us: Option<i64>,
    /// Sum of the lengths of what it called.
    pub sub_time_us: Option<i64>,
    /// Time - Sub-time.
    pub local_us: Option<i64>,
    /// The direct callee with the largest total over the whole log.
    pub max_sub: Option<String>,
    /// How often it was called from here.
    pub max_sub_count: Option<i64>,
    /// The names of all direct callees, joined by blanks.
    pub sub_list: Option<String>,
}
