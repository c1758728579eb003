//! The stamps of a text of the tracer: where it begins another boot, and where they go back.

use crate::counts::counted;
use crate::evidence::{Evidence, ProblemKind};

/// What is known of them so far.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// The last one of the text before, in the same file.
    before_ns: Option<i64>,
    last_ns: Option<i64>,
    back: u64,
    first_back: u64,
}

/// What a stamp is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The first of the text; of another boot where it lies before the text before.
    First {
        /// Whether it does.
        another_boot: bool,
    },
    /// Any later one.
    Later,
}

impl Stamps {
    /// Of a text that follows another.
    pub fn after(before_ns: Option<i64>) -> Self {
        Self { before_ns, ..Self::default() }
    }

    /// The next one. Records of several processors are merged by their stamps: none should lie before the one above it.
    #[inline]
    pub fn next(&mut self, line: u64, time_ns: i64) -> Place {
        let place = match self.last_ns {
            None => Place::First { another_boot: self.before_ns.is_some_and(|before| time_ns < before) },
            Some(last) => {
                if time_ns < last {
                    self.goes_back(line);
                }
                Place::Later
            }
        };
        self.last_ns = Some(time_ns);
        place
    }

    #[cold]
    fn goes_back(&mut self, line: u64) {
        self.back += 1;
        if self.back == 1 {
            self.first_back = line;
        }
    }

    /// The last one.
    pub fn last_ns(&self) -> Option<i64> {
        self.last_ns
    }

    /// Says where they go back.
    pub fn report(&self, evidence: &mut Evidence) {
        if self.back > 0 {
            let detail = counted(self.back, "# stamp[ is|s are] before the one of the line before");
            evidence.problem(ProblemKind::ClockJump, Some(self.first_back), detail);
        }
    }
}
