//! Which records are of the boot.

use crate::made::{boot, initcall, kernel, record, LINES, MS};
use crate::units::unit;
use firstlight_formats::evidence::{Clock, Evidence, Stamp};
use firstlight_merge::merge;

#[test]
fn a_record_of_another_boot_is_told_and_left_out() {
    let of = |version: &str| {
        let mut log = kernel(&LINES);
        log.facts = vec![("kernel.version".into(), version.to_owned())];
        log.spans = vec![initcall("same_init", 12, 15)].into();
        log
    };
    let reads =
        [record("odd", vec![of("#1 Mon")]), record("dmesg", vec![of("#2 Tue")]), record("serial", vec![of("#2 Tue")])];
    let boot = boot(&reads);
    assert_eq!(boot.spans("initcall"), ["same_init 2-5 took 3 good (dmesg and serial) in initcalls"]);
    assert_eq!(boot.summary.contradictions[0].what, "which boot this is, by `kernel.version`");
    assert!(boot.summary.warnings.iter().any(|warning| warning.starts_with("odd: left out")));
    let odd = boot.summary.sources.iter().find(|source| source.file == "odd").unwrap();
    assert_eq!((odd.fit.as_ref(), odd.problems.len()), (None, 1));
}

#[test]
fn nothing_understood_is_no_boot() {
    let directory = tempfile::tempdir().unwrap();
    assert!(merge(&[], &[], directory.path()).is_err());
}

#[test]
fn a_record_with_the_boots_own_number_stays_whatever_it_tells_otherwise() {
    let names = ["a.service", "b.service", "c.service", "d.service", "e.service", "f.service"];
    let mut log = kernel(&LINES);
    let mut journal = Evidence::of("journal-json", Clock::Monotonic);
    for (number, name) in (1_i64..).zip(names) {
        log.spans.push(unit(name, number * 1_000, number * 1_000 + 5));
        journal.spans.push(unit(name, number * number * 3_000, number * number * 3_000 + 5));
    }
    journal.log.push(Stamp { line: 1, time_ns: Some(40 * MS), ..Stamp::default() }, b"an application spoke");
    journal.understood = 1;
    let stranger = boot(&[record("dmesg", vec![log.clone()]), record("journal", vec![journal.clone()])]);
    assert_eq!(stranger.summary.lines, 4);
    assert!(stranger.summary.warnings[0].starts_with("journal: left out, it seems to be another boot's"));
    // Of this boot nothing is missing by it.
    assert_eq!(stranger.summary.completeness.lost, 0);
    assert_eq!(stranger.summary.completeness.missing, Vec::<String>::new());
    for of in [&mut log, &mut journal] {
        of.facts.push(("boot.id".into(), "0f1e".to_owned()));
    }
    let same = boot(&[record("dmesg", vec![log]), record("journal", vec![journal])]);
    assert_eq!((same.summary.lines, same.summary.completeness.lost), (5, 0));
    assert_eq!(same.summary.completeness.missing, Vec::<String>::new());
}
