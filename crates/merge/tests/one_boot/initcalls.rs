//! Initcalls that several records tell.

use crate::made::{boot, initcall, kernel, mark, of, record, LINES, MS};
use firstlight_formats::evidence::{Clock, Evidence, Grade, Mark, Span, SpanKind};

#[test]
fn two_witnesses_that_agree_make_a_length_exact_and_two_that_do_not_a_contradiction() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelStart, 0)];
    log.spans = vec![initcall("same_init", 12, 15), initcall("other_init", 30, 40)].into();
    let mut trace = of("function-graph", Clock::Trace("local".to_owned()));
    trace.step_ns = 1_000;
    trace.spans = vec![initcall("same_init", 12, 15), initcall("other_init", 30, 75)].into();
    trace.spans.push(initcall("third_init", 80, 81));
    let boot = boot(&[record("dmesg", vec![log]), record("trace", vec![trace])]);
    let spans = boot.spans("initcall");
    assert!(spans[0].starts_with("same_init 12-15 took 3 exact (dmesg and trace)"), "{spans:?}");
    assert!(spans[1].starts_with("other_init 30-40 took 10 doubtful (dmesg and trace)"), "{spans:?}");
    assert!(spans[2].starts_with("third_init 80-81 took 1 good (trace)"), "{spans:?}");
    let told = &boot.summary.contradictions[0];
    assert_eq!(told.what, "how long initcall `other_init` took");
    assert_eq!(told.statements[0], ("dmesg".to_owned(), "0.010000 s".to_owned()));
    assert_eq!(told.statements[1], ("trace".to_owned(), "0.045000 s".to_owned()));
}

#[test]
fn two_records_that_differ_in_what_an_initcall_returned_contradict_one_another() {
    let returned = |format, clock, value: &str| {
        let mut log = Evidence { step_ns: 1_000, understood: 1, ..of(format, clock) };
        let call = initcall("same_init", 12, 15);
        log.spans.push(Span { attributes: vec![("returned".into(), value.to_owned())], ..call });
        log.marks = vec![mark(Mark::KernelStart, 0)];
        log
    };
    let of = |value: &str| {
        let trace = returned("trace-events", Clock::Trace("local".to_owned()), value);
        boot(&[record("dmesg", vec![returned("printk", Clock::Printk, "0")]), record("trace", vec![trace])]).summary
    };
    assert_eq!(of("0").contradictions, []);
    let told = of("-19").contradictions.swap_remove(0);
    assert_eq!(told.what, "what initcall `same_init` returned");
    assert_eq!(told.statements, [("dmesg".into(), "0".into()), ("trace".into(), "-19".into())]);
}

/// An initcall with its stamps and, of the kernel's log, its own figure; in microseconds.
pub fn timed(name: &str, level: Option<&'static str>, (start, end): (i64, i64), own: Option<i64>) -> Span {
    let grade = if own.is_some() { Grade::Good } else { Grade::Exact };
    let took = own.unwrap_or(end - start) * 1_000;
    Span {
        track: "task 1".into(),
        level: level.map(Into::into),
        duration_ns: Some(took),
        ..Span::new(SpanKind::Initcall, name).between(start * 1_000, end * 1_000).graded(grade, "as it was read")
    }
}

/// What a slow console makes of two calls: each record's stamps have the printing of a line in them.
fn printed_and_traced() -> [Evidence; 2] {
    let mut log = kernel(&[]);
    log.spans = vec![
        timed("first_init", None, (1_319_258, 1_319_531), Some(150)),
        timed("xenbus_init", None, (1_319_900, 1_320_172), Some(72)),
        timed("slab_proc_init", None, (3_232_984, 3_242_625), Some(890)),
        timed("xenbus_init", None, (3_714_175, 3_714_336), Some(36)),
    ]
    .into();
    let mut trace = of("trace-events", Clock::Trace(String::new()));
    trace.step_ns = 1_000;
    trace.spans = vec![
        timed("first_init", Some("core"), (1_319_380, 1_319_600), None),
        timed("xenbus_init", Some("postcore"), (1_320_100, 1_320_500), None),
        timed("slab_proc_init", Some("device"), (3_241_743, 3_255_513), None),
        timed("xenbus_init", Some("device"), (3_714_302, 3_714_529), None),
    ]
    .into();
    [log, trace]
}

#[test]
fn what_the_tracer_times_with_the_printing_in_it_gives_way_to_the_kernels_own_figure() {
    let [log, trace] = printed_and_traced();
    for reads in [[("con", &log), ("trace", &trace)], [("trace", &trace), ("con", &log)]] {
        let boot = boot(&reads.map(|(file, evidence)| record(file, vec![evidence.clone()])));
        assert_eq!(boot.texts("spans", 3).iter().filter(|name| name.as_deref() == Some("xenbus_init")).count(), 2);
        assert_eq!(boot.spans("initcall").len(), 4);
        let kinds = boot.texts("spans", 2);
        let calls: Vec<usize> = (0..kinds.len()).filter(|row| kinds[*row].as_deref() == Some("initcall")).collect();
        let took: Vec<i64> = calls.iter().map(|row| boot.integers("spans", 10)[*row].unwrap() / 1_000).collect();
        assert_eq!(took, [150, 72, 890, 36]);
        let grades: Vec<String> = calls.iter().map(|row| boot.texts("spans", 11)[*row].clone().unwrap()).collect();
        assert_eq!(grades, ["exact", "coarse", "exact", "coarse"]);
        let levels: Vec<String> = calls.iter().map(|row| boot.texts("spans", 5)[*row].clone().unwrap()).collect();
        assert_eq!(levels, ["core", "postcore", "device", "device"]);
        // The clocks are one: a fit would have taken the printing for their difference.
        let begins: Vec<i64> = calls.iter().map(|row| boot.integers("spans", 6)[*row].unwrap() / 1_000).collect();
        assert_eq!(begins.iter().map(|at| at - begins[0]).collect::<Vec<_>>(), [0, 720, 1_922_363, 2_394_922]);
        assert_eq!(boot.summary.contradictions, []);
        let marks: Vec<&str> = boot.summary.marks.iter().map(|(name, _)| name.as_str()).collect();
        assert!(!marks.contains(&"initcalls"), "{marks:?}");
    }
}

#[test]
fn a_call_that_only_the_log_knows_is_no_phase_in_the_middle_of_a_level() {
    let [mut log, trace] = printed_and_traced();
    log.spans.push(timed("lone_init", None, (3_500_000, 3_500_900), Some(800)));
    let boot = boot(&[record("con", vec![log]), record("trace", vec![trace])]);
    let phases: Vec<String> =
        boot.spans("phase").iter().map(|phase| phase.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(
        phases,
        ["before_first_mark", "initcall_core", "initcall_postcore", "initcall_device", "after_initcalls"]
    );
}

#[test]
fn a_modules_initcall_that_the_tracer_names_by_freed_code_is_that_of_the_log() {
    let module = |name: &str, of: &str, instants, own| {
        Span { track: "task 92".into(), ..timed(name, Some("module"), instants, own) }.with("module", of)
    };
    let [mut log, mut trace] = printed_and_traced();
    log.spans.push(module("nfit_init", "nfit", (7_177_488, 7_338_400), Some(160_290)));
    trace.spans.push(module("btt_getgeo", "nd_btt", (7_178_121, 7_338_730), None));
    // Of a short one most of either's time is printing.
    log.spans.push(module("nd_btt_init", "nd_btt", (7_774_612, 7_777_642), Some(211)));
    trace.spans.push(module("dax_visible", "nd_pmem", (7_777_443, 7_777_877), None));
    // Another task's call of the same time is another call.
    log.spans
        .push(Span { track: "task 94".into(), ..module("other_init", "other", (7_177_000, 7_338_000), Some(160_000)) });
    let boot = boot(&[record("con", vec![log]), record("trace", vec![trace])]);
    let calls = boot.spans("initcall");
    let nfit: Vec<&String> = calls.iter().filter(|call| call.starts_with("nfit_init")).collect();
    assert_eq!(calls.len(), 7, "{calls:?}");
    assert!(nfit[0].contains("took 160 exact (con and trace)"), "{nfit:?}");
    assert!(!calls.iter().any(|call| call.starts_with("btt_getgeo")));
}

#[test]
fn copies_of_one_witness_are_one_row_and_no_second_figure() {
    let mut log = kernel(&LINES);
    log.spans = vec![initcall("same_init", 12, 15)].into();
    let boot = boot(&[record("dmesg", vec![log.clone()]), record("serial", vec![log])]);
    let spans = boot.spans("initcall");
    assert_eq!(spans.len(), 1);
    assert!(spans[0].contains("took 3 good (dmesg and serial)"), "{spans:?}");
    assert_eq!((boot.summary.lines, boot.summary.copies), (4, 4));
}

#[test]
fn a_length_without_instants_joins_the_instants_of_another_record() {
    let mut plot = of("test", Clock::Monotonic);
    let unit = |name: &str| Span::new(SpanKind::Unit, name);
    plot.spans = vec![Span { start_ns: Some(5 * MS), ..unit("a.service") }.graded(Grade::Unknown, "not ended")].into();
    let mut blame = of("test", Clock::Untimed);
    blame.spans = vec![Span { duration_ns: Some(4 * MS), ..unit("a.service") }].into();
    let boot = boot(&[record("plot", vec![plot]), record("blame", vec![blame])]);
    assert_eq!(boot.spans("unit"), ["a.service 5-? took 4 good (blame and plot) in -"]);
}
