//! What is missing.

use crate::made::{boot, kernel, record, LINES};
use firstlight_formats::evidence::{Problem, ProblemKind};

#[test]
fn what_was_not_understood_is_counted_and_no_boot_is_complete_with_it() {
    let mut log = kernel(&LINES);
    log.not_understood = 12;
    let boot = boot(&[record("dmesg", vec![log])]);
    let all = &boot.summary.completeness;
    assert_eq!((all.understood, all.lost), (4, 12));
    assert_eq!(all.missing, ["dmesg: 12 of 16 lines or records were not parsed"]);
}

#[test]
fn what_a_ring_had_overwritten_is_not_missing_where_another_log_has_it() {
    let mut ring = kernel(&LINES[1..]);
    ring.problems.push(Problem {
        kind: ProblemKind::LostHead,
        detail: "the ring lost 3 records".into(),
        line: None,
        lost: Some(3),
    });
    let alone = boot(&[record("ring", vec![ring.clone()])]);
    assert_eq!(alone.summary.completeness.lost, 3);
    let both = boot(&[record("dmesg", vec![kernel(&LINES)]), record("ring", vec![ring.clone()])]);
    assert_eq!((both.summary.completeness.lost, both.summary.completeness.missing.len()), (0, 0));
    // A log that begins no earlier has not what the ring lost.
    let same = boot(&[record("dmesg", vec![kernel(&LINES[1..])]), record("ring", vec![ring])]);
    assert_eq!(same.summary.completeness.lost, 3);
}
