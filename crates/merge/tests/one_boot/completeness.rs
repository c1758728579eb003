//! What is missing.

use crate::made::{boot, kernel, mark, of, record, LINES, MS};
use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark, Problem, ProblemKind, Stamp};

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

#[test]
fn a_wall_clock_that_shows_no_beginning_of_a_boot_is_incomplete() {
    let journal = |marks: Vec<Instant>| {
        let mut evidence = of("journal-short", Clock::Realtime);
        for (number, time_ns) in [(1, 1_000 * MS), (2, 90_000_000 * MS)] {
            let stamp = Stamp { line: number, time_ns: Some(time_ns), ..Stamp::default() };
            evidence.log.push(stamp, b"sshd[900]: Accepted publickey");
        }
        boot(&[record("messages", vec![Evidence { marks, understood: 2, ..evidence }])]).summary.completeness.missing
    };
    let missing = journal(Vec::new());
    assert!(matches!(missing.as_slice(), [only] if only.starts_with("when the boot began")), "{missing:?}");
    assert_eq!(journal(vec![mark(Mark::KernelClockStart, 500)]), Vec::<String>::new());
}
