//! Which records are of the boot.

use crate::made::{boot, initcall, kernel, mark, of, record, Boot, LINES, MS};
use crate::units::unit;
use firstlight_formats::evidence::{Clock, Evidence, Mark, Stamp};
use firstlight_merge::merge;

#[test]
fn a_record_of_another_boot_is_reported_and_left_out() {
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
    let mut journal = of("journal-json", Clock::Monotonic);
    for (number, name) in (1_i64..).zip(names) {
        log.spans.push(unit(name, number * 1_000, number * 1_000 + 5));
        journal.spans.push(unit(name, number * number * 3_000, number * number * 3_000 + 5));
    }
    journal.log.push(Stamp { line: 1, time_ns: Some(40 * MS), ..Stamp::default() }, b"an application spoke");
    journal.understood = 1;
    let stranger = boot(&[record("dmesg", vec![log.clone()]), record("journal", vec![journal.clone()])]);
    assert_eq!(stranger.summary.lines, 4);
    assert!(stranger.summary.warnings[0].starts_with("journal: left out, it seems to be another boot's"));
    // No line of this boot is lost. How much of the record belongs to it is unknown.
    assert_eq!(stranger.summary.completeness.lost, 0);
    assert_eq!(stranger.summary.completeness.left_out, 1);
    assert_eq!(stranger.summary.completeness.missing.len(), 1);
    assert!(stranger.summary.completeness.missing[0].starts_with("journal: left out"));
    for of in [&mut log, &mut journal] {
        of.facts.push(("boot.id".into(), "0f1e".to_owned()));
    }
    let same = boot(&[record("dmesg", vec![log]), record("journal", vec![journal])]);
    assert_eq!((same.summary.lines, same.summary.completeness.lost), (5, 0));
    assert_eq!(same.summary.completeness.missing, Vec::<String>::new());
}

fn stamped(format: &'static str, units: &[(&str, i64, i64)]) -> Evidence {
    Evidence {
        spans: units.iter().map(|(name, start, end)| unit(name, *start, *end)).collect::<Vec<_>>().into(),
        step_ns: 1_000,
        ..of(format, Clock::Monotonic)
    }
}

#[test]
fn a_few_units_that_systemd_stamped_at_other_instants_are_another_boots() {
    let plot = [("a.service", 4_500, 5_500), ("b.service", 5_510, 7_510), ("c.service", 5_600, 5_700)];
    let show = [("a.service", 4_900, 6_900), ("b.service", 6_910, 8_910), ("c.service", 7_000, 7_100)];
    let both = |plot: &[(&str, i64, i64)], show: &[(&str, i64, i64)]| {
        let mut plot = stamped("systemd-plot-json", plot);
        plot.spans.push(unit("only.service", 6_000, 7_900));
        let mut show = stamped("systemd-show", show);
        show.spans.push(unit("d.service", 8_000, 8_001));
        show.spans.push(unit("e.service", 8_000, 8_001));
        boot(&[record("show", vec![show]), record("plot", vec![plot])])
    };
    let apart = both(&plot, &show);
    assert!(apart.summary.warnings[0].starts_with("plot: left out, it seems to be another boot's: 3 of 3 units"));
    assert!(apart.spans("unit").iter().all(|told| !told.starts_with("only.service")));
    // One that agrees speaks for the same boot, and so does what was restarted behind the end of the plot.
    for start in [5_600, 900_000] {
        let mut again = show;
        again[0] = plot[0];
        again[2] = ("c.service", start, start + 100);
        assert!(both(&plot, &again).summary.warnings.iter().all(|warning| !warning.contains("left out")));
    }
    let later = show.map(|(name, start, end)| (name, start + 900_000, end + 900_000));
    assert!(both(&plot, &later).summary.warnings.iter().all(|warning| !warning.contains("left out")));
}

#[test]
fn a_record_is_judged_by_the_one_that_has_the_boots_own_number() {
    let id = || vec![("boot.id".into(), "0f1e".to_owned())];
    let marks =
        |userspace, finished| vec![mark(Mark::UserspaceStart, userspace), mark(Mark::StartupFinished, finished)];
    let names = ["a.service", "b.service", "c.service"];
    let units = |slower: i64| -> Vec<(&str, i64, i64)> {
        (0..).zip(names).map(|(at, name)| (name, 4_200 + at * 300 * slower, 4_300 + at * 300 * slower)).collect()
    };
    let journal = Evidence { marks: marks(4_000, 8_000), facts: id(), ..stamped("journal-json", &units(1)) };
    let mut kernel = Evidence { part: "kernel".to_owned(), ..kernel(&LINES) };
    kernel.facts = id();
    let with =
        |show: Evidence| boot(&[record("show", vec![show]), record("journal", vec![journal.clone(), kernel.clone()])]);
    let other = with(Evidence { marks: marks(4_100, 9_400), ..stamped("systemd-show", &units(2)) });
    let told = &other.summary.warnings[0];
    assert!(told.starts_with("show: left out, it seems to be another boot's: the same mark lies 1.4"), "{told}");
    assert_eq!(other.spans("unit").len(), 3);
    let same = with(Evidence { marks: marks(4_000, 8_000), ..stamped("systemd-show", &units(1)) });
    assert_eq!((same.summary.warnings.len(), same.summary.contradictions.len()), (0, 0));
}

/// The kernel's log with some lines of its own pace, as a record of this format has it.
fn paced(format: &'static str, pace: i64) -> Evidence {
    let mut log = Evidence { step_ns: 1_000, understood: 9, ..of(format, Clock::Printk) };
    for number in 1_i64..10 {
        let at = number * (100 + pace * number) * MS;
        log.log.push(
            Stamp { line: 1, time_ns: Some(at), ..Stamp::default() },
            format!("gizmo: step {number} of the start is done").as_bytes(),
        );
    }
    log
}

/// A journal of that pace: what the kernel said, and what a program did.
fn journal(pace: i64) -> Vec<Evidence> {
    let mut own = Evidence { understood: 1, ..of("journal-json", Clock::Monotonic) };
    own.log.push(Stamp { line: 1, time_ns: Some(9_000 * MS), ..Stamp::default() }, b"an application spoke");
    let mut both = vec![own, Evidence { part: "kernel".to_owned(), ..paced("journal-json", pace) }];
    for one in &mut both {
        one.facts.push(("boot.id".into(), "0f1e".to_owned()));
    }
    both
}

fn left_out(boot: &Boot) -> Vec<&str> {
    boot.summary.warnings.iter().filter_map(|warning| warning.split_once(": left out")).map(|(file, _)| file).collect()
}

#[test]
fn a_log_whose_lines_are_not_the_journals_is_another_boots_whatever_else_the_journal_holds() {
    let boot = boot(&[record("dmesg", vec![paced("printk", 7)]), record("journal", journal(0))]);
    assert_eq!(left_out(&boot), ["dmesg"]);
    assert_eq!(boot.summary.lines, 10);
}

#[test]
fn the_boot_is_that_of_most_records() {
    let odd = || record("odd", vec![paced("printk", 7)]);
    let log = |file| record(file, vec![paced("printk", 0)]);
    for reads in [[odd(), log("dmesg"), log("serial")], [log("dmesg"), odd(), log("serial")]] {
        let boot = boot(&reads);
        assert_eq!(left_out(&boot), ["odd"]);
        assert_eq!(boot.summary.lines, 9);
    }
    // Also where the odd one is a journal that has a number.
    let boot = boot(&[record("journal", journal(7)), log("dmesg"), log("serial")]);
    assert_eq!(left_out(&boot), ["journal", "journal"]);
    assert_eq!(boot.summary.lines, 9);
}
