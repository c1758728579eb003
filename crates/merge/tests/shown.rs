//! What systemd says of its units after the recording, in the tables of that recording.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

use firstlight_merge::shown::add_units;
mod tables;

use firstlight_schema::table::{integers, texts, write, write_empty, Values};
use std::path::Path;
use tables::column;

const MS: i64 = 1_000_000;

/// The guest's clock began 100 ms after the recording's 0, and runs one part in a thousand slow.
const CLOCKS: &str = "900000000 799200000\n1100000000 999000000\n";

const SHOWN: &str = "\
Version=252.38
UserspaceTimestampMonotonic=299700
GeneratorsStartTimestampMonotonic=309690
GeneratorsFinishTimestampMonotonic=319680

Id=early.service
Type=oneshot
ActiveState=active
Result=success
InactiveExitTimestampMonotonic=399600
ActiveEnterTimestampMonotonic=449550
ExecMainStartTimestampMonotonic=400000
ExecMainExitTimestampMonotonic=440000

Id=late.service
Type=simple
InactiveExitTimestampMonotonic=499500
ActiveEnterTimestampMonotonic=549450
After=early.service

Id=slow.service
InactiveExitTimestampMonotonic=559440
ActiveEnterTimestampMonotonic=699300

Id=after.service
InactiveExitTimestampMonotonic=709290
ActiveEnterTimestampMonotonic=719280
";

/// A recording of 700 ms, to which its console told of three units.
fn recording(bundle: &Path) {
    let rows = [
        ("phase", "kernel", 0, Some(300), "profile"),
        ("phase", "userspace", 300, Some(700), "profile"),
        ("unit", "early.service", 502, Some(551), "console"),
        ("unit_active", "early.service", 551, None, "console"),
        ("unit", "gone.service", 310, Some(320), "console"),
        ("unit", "late.service", 601, Some(652), "console"),
    ];
    let ms = |at: i64| at * MS;
    let spans = vec![
        ("span", integers(0..rows.len() as u64)),
        ("parent", Values::Int64(rows.iter().map(|row| (row.0 != "phase").then_some(1)).collect())),
        ("kind", texts(rows.iter().map(|row| row.0))),
        ("name", texts(rows.iter().map(|row| row.1))),
        ("track", texts(rows.iter().map(|_| "systemd"))),
        ("level", Values::Text(vec![None; rows.len()])),
        ("start_ns", Values::Int64(rows.iter().map(|row| Some(ms(row.2))).collect())),
        ("end_ns", Values::Int64(rows.iter().map(|row| row.3.map(ms)).collect())),
        ("instructions", Values::Int64(vec![None; rows.len()])),
        ("idle_ns", Values::Int64(vec![None; rows.len()])),
        ("duration_ns", Values::Int64(rows.iter().map(|row| row.3.map(|end| ms(end - row.2))).collect())),
        ("grade", texts(rows.iter().map(|_| "good"))),
        ("reason", Values::Text(vec![None; rows.len()])),
        ("source", texts(rows.iter().map(|row| row.4))),
        ("attributes", Values::Text(vec![None; rows.len()])),
    ];
    write("spans", spans, bundle).unwrap();
    write_empty(&["links"], bundle).unwrap();
}

/// Name, instants in milliseconds, grade and source of the spans of a kind.
fn spans(bundle: &Path, kind: &str) -> Vec<String> {
    let of = |name| column(bundle, "spans", name);
    let ms = |ns: &str| ns.parse::<i64>().map_or("-".to_owned(), |ns| ((ns + MS / 2) / MS).to_string());
    let (kinds, names, starts, ends) = (of("kind"), of("name"), of("start_ns"), of("end_ns"));
    let (grades, sources) = (of("grade"), of("source"));
    let told = |row: usize| {
        let (start, end) = (ms(&starts[row]), ms(&ends[row]));
        format!("{} {start}-{end} {} ({})", names[row], grades[row], sources[row])
    };
    (0..kinds.len()).filter(|row| kinds[*row] == kind).map(told).collect()
}

fn told(clocks: &str) -> (tempfile::TempDir, Vec<String>) {
    let bundle = tempfile::tempdir().unwrap();
    recording(bundle.path());
    let facts = add_units(SHOWN.as_bytes(), clocks, bundle.path()).unwrap();
    (bundle, facts.into_iter().map(|(fact, value)| format!("{fact}={value}")).collect())
}

#[test]
fn units_have_systemds_own_instants_on_the_recordings_clock() {
    let (bundle, _) = told(CLOCKS);
    assert_eq!(
        spans(bundle.path(), "unit"),
        [
            "gone.service 310-320 good (console)",
            "early.service 500-550 good (systemd)",
            "late.service 600-650 good (systemd)",
            "slow.service 660-- unknown (systemd)"
        ]
    );
    assert_eq!(column(bundle.path(), "links", "to_name"), ["early.service"]);
    assert_eq!(column(bundle.path(), "links", "source"), ["systemd"]);
}

#[test]
fn what_began_after_the_recording_is_no_part_of_it() {
    let (bundle, _) = told(CLOCKS);
    assert!(!column(bundle.path(), "spans", "name").contains(&"after.service".to_owned()));
    let numbers = column(bundle.path(), "spans", "span");
    let different: std::collections::BTreeSet<&String> = numbers.iter().collect();
    assert_eq!(different.len(), numbers.len(), "no number stands twice: {numbers:?}");
}

#[test]
fn the_stages_of_userspace_are_the_managers() {
    let (bundle, _) = told(CLOCKS);
    assert_eq!(
        spans(bundle.path(), "stage"),
        ["userspace 400-- unknown (systemd)", "generators 410-420 good (systemd)"]
    );
}

#[test]
fn the_fit_and_what_it_leaves_over_are_reported() {
    let (_, facts) = told(CLOCKS);
    let expected = [
        "systemd.version=252.38",
        "systemd.clock.how=two readings of both clocks in the guest",
        "systemd.clock.rate=1.001001001",
        "systemd.clock.shared=2",
        "systemd.clock.residual_median_ns=1000000",
    ];
    for fact in expected {
        assert!(facts.contains(&fact.to_owned()), "{fact} in {facts:?}");
    }
}

#[test]
fn without_readings_the_units_that_both_tell_of_give_the_line() {
    for clocks in ["", "900000000 799200000\n", "1 1\n2 900000000000\n", "x y\n"] {
        let (bundle, facts) = told(clocks);
        assert!(facts.contains(&"systemd.clock.how=units that the console shows".to_owned()), "{facts:?}");
        assert!(spans(bundle.path(), "unit")[1].ends_with("(systemd)"));
    }
}

#[test]
fn what_is_no_answer_of_systemctl_changes_nothing() {
    let bundle = tempfile::tempdir().unwrap();
    recording(bundle.path());
    let before = spans(bundle.path(), "unit");
    assert_eq!(add_units(b"Failed to connect to bus\n", CLOCKS, bundle.path()).unwrap(), []);
    assert_eq!(spans(bundle.path(), "unit"), before);
}
