//! What inferno makes of our folded stacks: a reader that is not ours.
#![expect(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

use firstlight_export::folded::write_folded;
use firstlight_export::stacks::{stacks, Origin, Unit};
use firstlight_model::table::{integers, texts, write, Values};
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
    firstlight_model::table::write_empty(&["calls"], bundle.path()).unwrap();
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
