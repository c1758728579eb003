//! A mark of the whole boot.

use firstlight_formats::evidence::INFERRED;
use firstlight_schema::Mark;

/// A mark of the boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootMark {
    /// Which one.
    pub mark: Mark,
    /// On the boot's clock.
    pub time_ns: i64,
    /// The file below `raw/` that has it.
    pub source: String,
    /// The line, function or variable.
    pub detail: String,
    /// It is of a clock that cannot be right.
    pub doubted: bool,
    /// Of an inferred one: it was reached by then, if anything shows this.
    pub by_ns: Option<i64>,
}

impl BootMark {
    /// A mark of a clock that nothing speaks against.
    pub fn new(mark: Mark, time_ns: i64, source: String, detail: String) -> Self {
        Self { mark, time_ns, source, detail, doubted: false, by_ns: None }
    }

    /// No record has it: it is inferred from what they hold.
    pub fn is_inferred(&self) -> bool {
        self.detail.starts_with(INFERRED)
    }

    /// It is inferred, and nothing shows by when it was reached.
    pub fn is_open(&self) -> bool {
        self.is_inferred() && self.by_ns.is_none()
    }
}
