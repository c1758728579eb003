//! What inferno makes of our folded stacks: a reader that is not ours.
#![expect(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

use firstlight_export::folded::write_folded;
use firstlight_export::stack::{Origin, Unit};
use firstlight_export::stacks::stacks;
use firstlight_schema::table::{integers, texts, write, Values};
use std::path::Path;

const NAMES: [&str; 5] = ["[boot]", "start;kernel", "two\nlines \u{1b}[31m", "<b>&\"", " "];

fn calls(bundle: &Path, unit: &[Option<i64>; 5]) {
    let parents = [None, Some(0), Some(1), Some(1), Some(0)];
    let figures = || Values::Int64(unit.to_vec());
    let columns = vec![
        ("node", integers(0..5)),
        ("parent", Values::Int64(parents.to_vec())),
        ("function", texts(NAMES)),
        ("module", Values::Text(vec![None; 5])),
        ("kind", texts(["function"; 5])),
        ("calls", integers([1; 5])),
        ("self_instructions", figures()),
        ("total_instructions", figures()),
        ("self_ns", figures()),
        ("total_ns", figures()),
        ("doubtful_calls", Values::Int64(vec![None; 5])),
    ];
    write("calls", columns, bundle).unwrap();
}

#[test]
fn inferno_finds_every_stack_and_the_whole_weight() {
    let bundle = tempfile::tempdir().unwrap();
    calls(bundle.path(), &[Some(0), Some(10), Some(20), Some(30), Some(40)]);
    let stacks = stacks(bundle.path(), Unit::Time).unwrap();
    assert_eq!(stacks.origin, Origin::Calls);
    let mut folded = Vec::new();
    write_folded(&stacks, &mut folded).unwrap();
    let folded = String::from_utf8(folded).unwrap();
    let expected = "[boot];start\\x3bkernel 10\n\
                    [boot];start\\x3bkernel;two\\x0alines \\x1b[31m 20\n\
                    [boot];start\\x3bkernel;<b>&\" 30\n\
                    [boot];[nameless] 40\n";
    assert_eq!(folded, expected);

    let mut options = inferno::flamegraph::Options::default();
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, folded.lines(), &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("[boot] (100 samples, 100.00%)"), "{svg}");
    assert!(svg.contains("start\\x3bkernel (60 samples, 60.00%)"), "{svg}");
}

#[test]
fn spans_stand_in_for_a_tree_that_is_not_there() {
    let bundle = tempfile::tempdir().unwrap();
    firstlight_schema::table::write_empty(&["calls"], bundle.path()).unwrap();
    let none = || Values::Int64(vec![None; 4]);
    let nothing = || Values::Text(vec![None; 4]);
    // The second holds more than it lasts; the last two are each other's parent.
    let columns = vec![
        ("span", integers(0..4)),
        ("parent", Values::Int64(vec![None, Some(0), Some(3), Some(2)])),
        ("kind", texts(["phase"; 4])),
        ("name", texts(["kernel", "acpi_init", "egg", "hen"])),
        ("track", texts(["boot"; 4])),
        ("level", nothing()),
        ("start_ns", none()),
        ("end_ns", none()),
        ("instructions", none()),
        ("idle_ns", none()),
        ("duration_ns", Values::Int64(vec![Some(10), Some(4), Some(5), Some(7)])),
        ("grade", nothing()),
        ("reason", nothing()),
        ("source", nothing()),
        ("attributes", nothing()),
    ];
    write("spans", columns, bundle.path()).unwrap();
    let stacks = stacks(bundle.path(), Unit::Time).unwrap();
    let mut folded = Vec::new();
    write_folded(&stacks, &mut folded).unwrap();
    assert_eq!(String::from_utf8(folded).unwrap(), "kernel 6\nkernel;acpi_init 4\negg;hen 2\n");
    assert_eq!((stacks.origin, stacks.overlapped), (Origin::Spans, 1));
}

#[test]
fn a_unit_that_nothing_has_is_an_error() {
    let bundle = tempfile::tempdir().unwrap();
    calls(bundle.path(), &[None; 5]);
    let error = stacks(bundle.path(), Unit::Instructions).unwrap_err();
    assert_eq!(error.to_string(), "the boot counts no instructions");
}

/// Kind, name, parent, start and end.
type Row = (&'static str, &'static str, Option<i64>, Option<i64>, Option<i64>);

fn spans(bundle: &Path, rows: &[Row]) {
    firstlight_schema::table::write_empty(&["calls"], bundle).unwrap();
    let (none, nothing) = (|| Values::Int64(vec![None; rows.len()]), || Values::Text(vec![None; rows.len()]));
    let columns = vec![
        ("span", integers(0..rows.len() as u64)),
        ("parent", Values::Int64(rows.iter().map(|row| row.2).collect())),
        ("kind", texts(rows.iter().map(|row| row.0))),
        ("name", texts(rows.iter().map(|row| row.1))),
        ("track", texts(rows.iter().map(|_| "boot"))),
        ("level", nothing()),
        ("start_ns", Values::Int64(rows.iter().map(|row| row.3).collect())),
        ("end_ns", Values::Int64(rows.iter().map(|row| row.4).collect())),
        ("instructions", none()),
        ("idle_ns", none()),
        ("duration_ns", none()),
        ("grade", nothing()),
        ("reason", nothing()),
        ("source", nothing()),
        ("attributes", nothing()),
    ];
    write("spans", columns, bundle).unwrap();
}

fn folded(bundle: &Path) -> String {
    let mut folded = Vec::new();
    write_folded(&stacks(bundle, Unit::Time).unwrap(), &mut folded).unwrap();
    String::from_utf8(folded).unwrap()
}

fn whole(folded: &str) -> i64 {
    folded.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap()).sum()
}

#[test]
fn every_instant_goes_to_what_was_at_work_then_and_all_add_up_to_the_boot() {
    let bundle = tempfile::tempdir().unwrap();
    let at = |start, end| (Some(start), Some(end));
    let row = |kind, name, parent, (start, end)| (kind, name, parent, start, end);
    spans(
        bundle.path(),
        &[
            row("phase", "kernel", None, at(0, 100)),
            row("phase", "userspace", None, at(100, 400)),
            row("initcall", "pci_init", Some(0), at(10, 50)),
            row("probe", "0000:00:1f.2", Some(2), at(20, 30)),
            // Two units side by side, and one that lasts over both phases and beyond the boot.
            row("unit", "a.service", Some(1), at(200, 300)),
            row("unit", "b.service", Some(1), at(250, 300)),
            row("unit", "c.service", None, at(90, 1000)),
            // What is up, waits or is alive does no work; the worker on a uevent does.
            row("unit_active", "system.slice", None, at(100, 400)),
            row("unit", "dev-sda.device", Some(1), at(100, 400)),
            row("process", "udevd", None, at(0, 400)),
            row("uevent", "/devices/x", Some(1), at(300, 399)),
            row("uevent_service", "/devices/x", Some(10), at(390, 400)),
            ("unit", "never-up.service", None, Some(380), None),
        ],
    );
    let folded = folded(bundle.path());
    let expected = "kernel 50\nkernel;pci_init 30\nkernel;pci_init;0000:00:1f.2 10\nkernel;c.service 10\n\
                    userspace;a.service 42\nuserspace;b.service 16\nuserspace;c.service 237\n\
                    userspace;/devices/x;/devices/x 5\n";
    assert_eq!((whole(&folded), folded.as_str()), (400, expected));
    assert_eq!(stacks(bundle.path(), Unit::Time).unwrap().unknown, 1);
}

#[test]
fn shares_that_are_no_whole_nanoseconds_add_up_all_the_same() {
    let bundle = tempfile::tempdir().unwrap();
    let mut rows = vec![("phase", "userspace", None, Some(0), Some(1_000_001))];
    for number in 0..97 {
        rows.push(("unit", "one.service", Some(0), Some(number * 7), Some(1_000_001 - number * 3)));
    }
    spans(bundle.path(), &rows);
    assert_eq!(whole(&folded(bundle.path())), 1_000_001);
}

#[test]
fn a_boot_without_phases_and_spans_that_lie_in_one_another_in_a_circle_are_no_obstacle() {
    let bundle = tempfile::tempdir().unwrap();
    let rows = [
        ("initcall", "hen", Some(1), Some(5), Some(20)),
        ("initcall", "egg", Some(0), Some(5), Some(20)),
        ("initcall", "self", Some(2), Some(30), Some(40)),
        ("initcall", "ends first", None, Some(50), Some(40)),
    ];
    spans(bundle.path(), &rows);
    let folded = folded(bundle.path());
    assert_eq!(whole(&folded), 35);
    assert!(folded.contains("[nothing recorded] 10\n") && folded.contains("self 10\n"), "{folded}");
}

#[test]
fn without_times_a_probe_does_not_count_beside_the_initcalls_that_it_may_lie_in() {
    let weigh = |kinds: [&'static str; 3]| {
        let bundle = tempfile::tempdir().unwrap();
        firstlight_schema::table::write_empty(&["calls"], bundle.path()).unwrap();
        let (none, nothing) = (|| Values::Int64(vec![None; 3]), || Values::Text(vec![None; 3]));
        let columns = vec![
            ("span", integers(0..3)),
            ("parent", Values::Int64(vec![None, None, Some(0)])),
            ("kind", texts(kinds)),
            ("name", texts(["gizmo_init", "gizmo", "inner"])),
            ("track", texts(["task 1"; 3])),
            ("level", nothing()),
            ("start_ns", none()),
            ("end_ns", none()),
            ("instructions", none()),
            ("idle_ns", none()),
            ("duration_ns", Values::Int64(vec![Some(100), Some(12), Some(30)])),
            ("grade", nothing()),
            ("reason", nothing()),
            ("source", nothing()),
            ("attributes", nothing()),
        ];
        write("spans", columns, bundle.path()).unwrap();
        (folded(bundle.path()), stacks(bundle.path(), Unit::Time).unwrap().unknown)
    };
    assert_eq!(weigh(["initcall", "probe", "probe"]), ("gizmo_init 70\ngizmo_init;inner 30\n".to_owned(), 1));
    assert_eq!(weigh(["phase", "probe", "probe"]), ("gizmo_init 70\ngizmo_init;inner 30\ngizmo 12\n".to_owned(), 0));
}
