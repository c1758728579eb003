//! What no firmware's clock can say of one boot.

use crate::evidence::{Evidence, ProblemKind};

/// Longer than this no firmware takes; some never reset their timer, and count from boot to boot.
pub const LONGEST_NS: i64 = 600_000_000_000;

/// Notes times that run backwards or are too long, of instants in the order in which they must come.
pub fn check(instants: &[(&str, i64)], evidence: &mut Evidence) {
    for pair in instants.windows(2) {
        if let [(before, first), (after, second)] = pair {
            if second < first {
                let detail = format!("{after} is before {before}");
                evidence.problem(ProblemKind::Contradiction, None, detail);
            }
        }
    }
    if let Some((name, time)) = instants.iter().find(|(_, time)| *time > LONGEST_NS) {
        let detail = format!("{name} is at {} s: the timer was not reset for this boot", time / 1_000_000_000);
        evidence.problem(ProblemKind::Implausible, None, detail);
    }
}
