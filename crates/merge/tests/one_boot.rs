//! Evidence of several records as the tables of one boot.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it is surprised")]

use firstlight_formats::evidence::{
    CallNode, Calls, Clock, Evidence, Grade, Mark, Problem, ProblemKind, Span, SpanKind, Stamp,
};
use firstlight_merge::record::Read;
use firstlight_merge::{merge, Summary};
use firstlight_model::table::{read, Values};

const MS: i64 = 1_000_000;

fn record(file: &str, evidence: Vec<Evidence>) -> Read {
    Read { file: file.to_owned(), outcome: Ok(evidence) }
}

struct Boot {
    summary: Summary,
    directory: tempfile::TempDir,
}

fn boot(reads: &[Read]) -> Boot {
    let directory = tempfile::tempdir().unwrap();
    let summary = merge(reads, &vec![Some(0); reads.len()], directory.path()).unwrap();
    Boot { summary, directory }
}

impl Boot {
    fn texts(&self, table: &str, column: usize) -> Vec<Option<String>> {
        match read(table, self.directory.path()).unwrap().swap_remove(column) {
            Values::Text(values) => values,
            Values::Int64(_) => panic!("{table} {column}"),
        }
    }

    fn integers(&self, table: &str, column: usize) -> Vec<Option<i64>> {
        match read(table, self.directory.path()).unwrap().swap_remove(column) {
            Values::Int64(values) => values,
            Values::Text(_) => panic!("{table} {column}"),
        }
    }

    /// Of the spans of a kind: name, start, end, duration, grade, source, parent's name.
    fn spans(&self, kind: &str) -> Vec<String> {
        let number =
            |values: &[Option<i64>], row: usize| values[row].map_or("?".to_owned(), |ns| (ns / MS).to_string());
        let (kinds, names, grades, sources) =
            (self.texts("spans", 2), self.texts("spans", 3), self.texts("spans", 11), self.texts("spans", 13));
        let (parents, starts, ends, lengths) = (
            self.integers("spans", 1),
            self.integers("spans", 6),
            self.integers("spans", 7),
            self.integers("spans", 10),
        );
        (0..kinds.len())
            .filter(|row| kinds[*row].as_deref() == Some(kind))
            .map(|row| {
                let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
                let parent = parents[row].map_or("-".to_owned(), |parent| names[parent as usize].clone().unwrap());
                format!(
                    "{} {}-{} took {} {} ({}) in {parent}",
                    text(&names),
                    number(&starts, row),
                    number(&ends, row),
                    number(&lengths, row),
                    text(&grades),
                    text(&sources)
                )
            })
            .collect()
    }
}

fn kernel(lines: &[(i64, &str)]) -> Evidence {
    let mut evidence = Evidence::of("printk", Clock::Printk);
    evidence.step_ns = 1_000;
    for (number, (at, text)) in lines.iter().enumerate() {
        let stamp = Stamp { line: number as u64 + 1, time_ns: Some(at * MS), ..Stamp::default() };
        evidence.log.push(stamp, text.as_bytes());
    }
    evidence.understood = lines.len() as u64;
    evidence
}

fn mark(name: &'static str, at: i64) -> Mark {
    Mark { name: name.into(), time_ns: at * MS, detail: String::new() }
}

fn initcall(name: &str, start: i64, end: i64) -> Span {
    Span { track: "task 1".into(), ..Span::new(SpanKind::Initcall, name).between(start * MS, end * MS) }
}

const LINES: [(i64, &str); 4] = [
    (10, "first thing happened"),
    (20, "second thing happened"),
    (30, "third thing happened"),
    (90, "last thing happened"),
];

#[test]
fn phases_partition_the_boot_and_probes_lie_in_the_initcalls_of_their_task() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark("kernel_start", 0), mark("clocksource_switch", 35), mark("user_start", 60)];
    log.spans = vec![initcall("bus_init", 20, 50), initcall("odd_init", 55, 65)].into();
    log.spans.push(Span { track: "task 1".into(), ..Span::new(SpanKind::Probe, "pci0").between(25 * MS, 40 * MS) });
    log.spans.push(Span { track: "task 9".into(), ..Span::new(SpanKind::Probe, "usb0").between(25 * MS, 41 * MS) });
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!(
        boot.spans("phase"),
        [
            "early_init 0-20 took 20 good (dmesg) in -",
            "initcalls 20-60 took 40 good (dmesg) in -",
            "user_land 60-90 took 30 good (dmesg) in -"
        ]
    );
    assert_eq!(
        boot.spans("initcall"),
        ["bus_init 20-50 took 30 good (dmesg) in initcalls", "odd_init 55-65 took 10 good (dmesg) in -"]
    );
    assert_eq!(
        boot.spans("probe"),
        ["usb0 25-41 took 16 good (dmesg) in initcalls", "pci0 25-40 took 15 good (dmesg) in bus_init"]
    );
    assert_eq!((boot.summary.origin.as_str(), boot.summary.length_ns), ("kernel_start", 90 * MS));
}

#[test]
fn two_witnesses_that_agree_make_a_length_exact_and_two_that_do_not_a_contradiction() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark("kernel_start", 0)];
    log.spans = vec![initcall("same_init", 12, 15), initcall("other_init", 30, 40)].into();
    let mut trace = Evidence::of("function-graph", Clock::Trace("local".to_owned()));
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

/// An initcall with its stamps and, of the kernel's log, its own figure; in microseconds.
fn timed(name: &str, level: Option<&'static str>, (start, end): (i64, i64), own: Option<i64>) -> Span {
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
    let mut trace = Evidence::of("trace-events", Clock::Trace(String::new()));
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
    assert_eq!(phases, ["record", "initcall_core", "initcall_postcore", "initcall_device", "after_initcalls"]);
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
fn an_initcall_that_never_returns_keeps_its_phase_to_the_end_of_the_record() {
    let mut log = kernel(&[(10, "first thing happened"), (6_000, "last thing happened")]);
    log.marks = vec![mark("kernel_start", 0)];
    let hung = Span { end_ns: None, duration_ns: Some(5_300 * MS), ..initcall("open_init", 700, 6_000) };
    log.spans = vec![initcall("slow_init", 500, 600), hung.graded(Grade::Bounded, "it never returned")].into();
    let boot = boot(&[record("con", vec![log])]);
    assert_eq!(
        boot.spans("phase"),
        ["early_init 0-500 took 500 good (con) in -", "initcalls 500-6000 took 5500 good (con) in -"]
    );
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
    let mut plot = Evidence::of("test", Clock::Monotonic);
    let unit = |name: &str| Span::new(SpanKind::Unit, name);
    plot.spans = vec![Span { start_ns: Some(5 * MS), ..unit("a.service") }.graded(Grade::Unknown, "not ended")].into();
    let mut blame = Evidence::of("test", Clock::Untimed);
    blame.spans = vec![Span { duration_ns: Some(4 * MS), ..unit("a.service") }].into();
    let boot = boot(&[record("plot", vec![plot]), record("blame", vec![blame])]);
    assert_eq!(boot.spans("unit"), ["a.service 5-? took 4 good (blame and plot) in -"]);
}

#[test]
fn lines_of_two_records_stand_in_order_of_time_each_once() {
    let journal = [(15, "an application spoke"), (20, "second thing happened"), (95, "nothing more")];
    let mut journal = kernel(&journal);
    journal.format = "journal";
    journal.clock = Clock::Monotonic;
    let boot = boot(&[record("dmesg", vec![kernel(&LINES)]), record("journal", vec![journal])]);
    let (texts, times) = (boot.texts("log", 3), boot.integers("log", 1));
    let told: Vec<(i64, String)> =
        times.into_iter().zip(texts).map(|(at, text)| (at.unwrap() / MS, text.unwrap())).collect();
    let expected: Vec<(i64, String)> = [
        (0, "first thing happened"),
        (5, "an application spoke"),
        (10, "second thing happened"),
        (20, "third thing happened"),
        (80, "last thing happened"),
        (85, "nothing more"),
    ]
    .map(|(at, text)| (at, text.to_owned()))
    .to_vec();
    assert_eq!(told, expected);
}

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
fn what_shares_nothing_keeps_its_lengths_and_gets_no_instants() {
    let mut firmware = Evidence::of("test", Clock::Firmware);
    firmware.spans = vec![Span::new(SpanKind::Firmware, "board_init").between(3 * MS, 9 * MS)].into();
    let boot = boot(&[record("dmesg", vec![kernel(&LINES)]), record("bootstage", vec![firmware])]);
    assert_eq!(boot.spans("firmware"), ["board_init ?-? took 6 good (bootstage) in -"]);
    let attributes = boot.texts("spans", 14).into_iter().flatten().next();
    assert_eq!(attributes.as_deref(), Some("{\"own_end_ns\":\"9000000\",\"own_start_ns\":\"3000000\"}"));
    assert!(boot.summary.warnings[0].starts_with("bootstage: its clock could not be put onto the boot's"));
}

#[test]
fn a_tree_adds_up_also_where_a_record_contradicts_itself() {
    let node =
        |parent, function, self_ns| CallNode { parent, function, kind: "function", calls: 1, self_ns: Some(self_ns) };
    let functions = ["[boot]", "outer", "inner"].map(|name| (name.to_owned(), None)).to_vec();
    let nodes = vec![CallNode { kind: "root", ..node(0, 0, 0) }, node(0, 1, -5), node(1, 2, 20)];
    let mut trace = Evidence::of("function-graph", Clock::Trace(String::new()));
    trace.calls = Some(Calls { functions, nodes });
    let boot = boot(&[record("trace", vec![trace])]);
    assert_eq!(boot.integers("calls", 9), [Some(15), Some(15), Some(20)]);
    let kd = firstlight_model::kd::bundle_kd(boot.directory.path(), None, None, false).unwrap();
    let outer = kd.rows.iter().find(|row| row.0 .0 == "outer").unwrap();
    assert_eq!((outer.1.total_ns, outer.1.self_ns, kd.instructions), (Some(15), Some(-5), false));
}

#[test]
fn a_trace_without_a_span_has_its_time_all_the_same() {
    let mut trace = Evidence::of("function-graph", Clock::Trace(String::new()));
    let node =
        |parent, function, self_ns| CallNode { parent, function, kind: "function", calls: 1, self_ns: Some(self_ns) };
    let functions = ["[boot]", "short"].map(|name| (name.to_owned(), None)).to_vec();
    trace.calls = Some(Calls { functions, nodes: vec![CallNode { kind: "root", ..node(0, 0, 0) }, node(0, 1, 900)] });
    trace.extent_ns = Some((3 * MS, 2_003 * MS));
    let boot = boot(&[record("trace", vec![trace])]);
    assert_eq!(boot.summary.marks, [("record_start".to_owned(), 0), ("record_end".to_owned(), 2_000 * MS)]);
    assert_eq!(boot.spans("phase"), ["record 0-2000 took 2000 good () in -"]);
}

#[test]
fn nothing_understood_is_no_boot() {
    let directory = tempfile::tempdir().unwrap();
    assert!(merge(&[], &[], directory.path()).is_err());
}

fn unit(name: &str, start: i64, end: i64) -> Span {
    Span::new(SpanKind::Unit, name).between(start * MS, end * MS)
}

#[test]
fn systemds_own_stamps_of_a_unit_win_over_messages_about_it_and_make_one_row_with_them() {
    let mut log = kernel(&LINES);
    log.spans = vec![unit("a.service", 6_739, 9_000), unit("b.service", 12, 15)].into();
    let mut show = Evidence::of("systemd-show", Clock::Monotonic);
    show.step_ns = 1_000;
    show.spans = vec![unit("a.service", 5_000, 8_500), unit("b.service", 12, 15)].into();
    let mut blame = Evidence::of("systemd-blame", Clock::Untimed);
    blame.step_ns = MS;
    blame.spans = vec![Span { duration_ns: Some(3_500 * MS), ..Span::new(SpanKind::Unit, "a.service") }].into();
    let boot = boot(&[record("dmesg", vec![log]), record("show", vec![show]), record("blame", vec![blame])]);
    let spans = boot.spans("unit");
    assert_eq!(spans.len(), 2);
    assert!(spans[0].starts_with("b.service 2-5 took 3 good (show and dmesg)"), "{spans:?}");
    assert!(spans[1].starts_with("a.service 4990-8490 took 3500 good (show and blame and dmesg)"), "{spans:?}");
    let told = &boot.summary.contradictions[0];
    assert_eq!(told.what, "how long unit `a.service` took");
    assert_eq!(told.statements[0], ("show".to_owned(), "3.500000 s".to_owned()));
    assert_eq!(told.statements[1], ("dmesg".to_owned(), "2.261000 s".to_owned()));
}

#[test]
fn of_a_unit_that_was_restarted_systemd_remembers_the_latest_start() {
    let mut log = kernel(&LINES);
    log.spans = vec![unit("a.service", 1_000, 2_000), unit("a.service", 5_000, 6_000)].into();
    let mut show = Evidence::of("systemd-show", Clock::Monotonic);
    show.spans = vec![unit("a.service", 4_000, 5_500)].into();
    let boot = boot(&[record("dmesg", vec![log]), record("show", vec![show])]);
    let spans = boot.spans("unit");
    assert_eq!(spans.len(), 2);
    assert!(spans[0].starts_with("a.service 990-1990 took 1000 good (dmesg)"), "{spans:?}");
    assert!(spans[1].starts_with("a.service 3990-5490 took 1500 good (show and dmesg)"), "{spans:?}");
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

#[test]
fn what_was_not_understood_is_counted_and_no_boot_is_complete_with_it() {
    let mut log = kernel(&LINES);
    log.not_understood = 12;
    let boot = boot(&[record("dmesg", vec![log])]);
    let all = &boot.summary.completeness;
    assert_eq!((all.understood, all.lost), (4, 12));
    assert_eq!(all.missing, ["dmesg: 12 of 16 lines or records were not understood"]);
}

#[test]
fn a_start_ends_where_nothing_happens_any_more_and_a_late_line_does_not_prolong_it() {
    let mut log =
        kernel(&[(10, "first thing happened"), (2_000, "last of the start"), (26_974_000, "usb 1-1: plugged in")]);
    log.marks = vec![mark("kernel_start", 0), mark("user_start", 1_000)];
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!((boot.summary.length_ns, boot.summary.lines), (2_000 * MS, 3));
    assert_eq!(boot.summary.marks.last().unwrap().0, "startup_over");
    assert!(boot.summary.warnings[0].starts_with("no record tells when the start was over"));
}

#[test]
fn the_files_of_a_directory_that_hold_one_time_each_are_one_clock() {
    let file = |name: &'static str, at: i64, detail: &str| {
        let mut one = Evidence::of("fpdt", Clock::Firmware);
        one.marks.push(Mark { name: name.into(), time_ns: at * MS, detail: detail.to_owned() });
        one.understood = 1;
        vec![one]
    };
    let fpdt = || {
        vec![
            record("fpdt/boot/firmware_start_ns", file("firmware_start", 1_000, "firmware_start_ns")),
            record("fpdt/boot/bootloader_launch_ns", file("loader_start", 2_600, "bootloader_launch_ns")),
            record("fpdt/boot/exitbootservice_end_ns", file("exit_boot_services_end", 4_100, "exitbootservice_end_ns")),
        ]
    };
    let alone = boot(&fpdt());
    let times =
        |boot: &Boot| boot.summary.marks.iter().map(|(name, at)| format!("{name} {}", at / MS)).collect::<Vec<_>>();
    assert_eq!(times(&alone), ["firmware_start 0", "loader_start 1600", "exit_boot_services_end 3100"]);
    assert_eq!(alone.summary.sources.len(), 3);
    assert!(alone.summary.sources.iter().all(|source| source.fit.is_some()));
    let mut log = kernel(&LINES);
    log.marks = vec![mark("kernel_start", 0), mark("user_start", 60)];
    let mut reads = fpdt();
    reads.push(record("dmesg", vec![log]));
    let whole = boot(&reads);
    assert_eq!(
        times(&whole),
        [
            "firmware_start 0",
            "loader_start 1600",
            "kernel_start 3100",
            "exit_boot_services_end 3100",
            "user_start 3160",
            "record_end 3190"
        ]
    );
}

#[test]
fn systemds_and_udevs_records_alone_count_from_the_zero_of_their_clock() {
    let spans = || vec![unit("a.service", 2_000, 5_000)].into();
    for format in ["systemd-plot-json", "udev-log", "udev-database", "journal-json"] {
        let alone = Evidence { spans: spans(), ..Evidence::of(format, Clock::Monotonic) };
        let boot = boot(&[record("one", vec![alone])]);
        assert_eq!((boot.summary.origin.as_str(), boot.summary.length_ns), ("kernel_clock_start", 5_000 * MS));
    }
}

#[test]
fn one_more_record_of_the_same_clock_moves_no_zero() {
    let plot = Evidence {
        spans: vec![unit("a.service", 2_000, 5_000)].into(),
        ..Evidence::of("systemd-plot-json", Clock::Monotonic)
    };
    let uevents: Vec<Span> = (0..3)
        .map(|number| Span::new(SpanKind::Uevent, format!("tty{number}")).between(1_900 * MS, 1_950 * MS))
        .collect();
    let log = Evidence { spans: uevents.into(), ..Evidence::of("udev-log", Clock::Monotonic) };
    let boot = boot(&[record("plot", vec![plot]), record("udevd", vec![log])]);
    assert_eq!((boot.summary.origin.as_str(), boot.summary.length_ns), ("kernel_clock_start", 5_000 * MS));
}

#[test]
fn time_of_which_no_record_says_where_the_kernel_ended_is_a_phase_of_unknown_name() {
    let plot = || Evidence {
        spans: vec![unit("a.service", 2_000, 5_000)].into(),
        ..Evidence::of("systemd-plot-json", Clock::Monotonic)
    };
    let phases = |evidence: Evidence| boot(&[record("plot", vec![evidence])]).spans("phase");
    let unknown = phases(plot());
    assert!(matches!(unknown.as_slice(), [only] if only.starts_with("unknown 0-5000")), "{unknown:?}");
    let told = phases(Evidence { marks: vec![mark("userspace_start", 1_500)], ..plot() });
    assert!(told.iter().all(|phase| !phase.starts_with("unknown")), "{told:?}");
}

#[test]
fn neighbours_of_one_name_are_one_phase() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark("kernel_clock_start", 0), mark("kernel_start", 5), mark("user_start", 60)];
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!(boot.spans("phase").len(), 2);
    assert!(boot.spans("phase")[0].starts_with("early_init 0-60"));
}

#[test]
fn a_device_by_its_path_in_the_database_is_the_event_that_the_log_names_by_the_device() {
    let uevent = |name: &str, start: i64, end: Option<i64>| {
        let span = Span { track: "udev".into(), ..Span::new(SpanKind::Uevent, name) };
        match end {
            Some(end) => span.between(start * MS, end * MS),
            None => Span { start_ns: Some(start * MS), ..span.graded(Grade::Unknown, "only its start") },
        }
    };
    let mut journal = Evidence::of("journal-json", Clock::Monotonic);
    journal.spans =
        vec![uevent("ttyS0", 10, Some(40)), uevent("sda", 10, Some(20)), uevent("sda", 60, Some(70))].into();
    let mut database = Evidence::of("udev-database", Clock::Monotonic);
    let paths = ["/devices/pnp0/tty/ttyS0", "/devices/pci/sda", "/devices/pci/sdb"];
    database.spans = vec![uevent(paths[0], 35, None), uevent(paths[1], 65, None), uevent(paths[2], 66, None)].into();
    for records in [[&journal, &database], [&database, &journal]] {
        let reads: Vec<Read> =
            records.iter().map(|evidence| record(evidence.format, vec![(*evidence).clone()])).collect();
        let mut names: Vec<String> = boot(&reads)
            .spans("uevent")
            .iter()
            .map(|told| told.split(" (").next().unwrap_or_default().to_owned())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "/devices/pci/sdb 66-? took ? unknown",
                "sda 10-20 took 10 good",
                "sda 60-70 took 10 good",
                "ttyS0 10-40 took 30 good"
            ]
        );
    }
}

#[test]
fn a_unit_that_a_message_tells_otherwise_is_a_contradiction_and_keeps_the_figure_of_systemd() {
    let unit = |name: &str, start: i64, end: i64| {
        Span { track: "systemd".into(), ..Span::new(SpanKind::Unit, name) }.between(start * MS, end * MS)
    };
    let mut show = Evidence::of("systemd-show", Clock::Monotonic);
    show.spans = vec![unit("late.service", 100, 3_490), unit("prompt.service", 100, 3_490)].into();
    let mut journal = Evidence::of("journal-json", Clock::Monotonic);
    journal.spans = vec![unit("late.service", 194, 3_490), unit("prompt.service", 105, 3_490)].into();
    let copy = Evidence { format: "journal-short", ..journal.clone() };
    let records = [("units.txt", show), ("journal.json", journal), ("journal.txt", copy)];
    let boot = boot(&records.map(|(file, evidence)| record(file, vec![evidence])));
    let spans = boot.spans("unit");
    assert!(spans.iter().all(|told| told.contains(" 100-3490 took 3390 good")), "{spans:?}");
    let told: Vec<&str> = boot.summary.contradictions.iter().map(|told| told.what.as_str()).collect();
    assert_eq!(told, ["how long unit `late.service` took"]);
    let statements = &boot.summary.contradictions[0].statements;
    assert_eq!(statements[0], ("units.txt".to_owned(), "3.390000 s".to_owned()));
    assert_eq!(statements[1], ("journal.json and journal.txt".to_owned(), "3.296000 s".to_owned()));
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
fn stages_and_marks_of_systemd_follow_one_record_and_its_own_figures_exclude_one_another() {
    let stage = |end: i64| Span::new(SpanKind::Stage, "userspace").between(1_000 * MS, end * MS);
    let told = |format: &'static str, end: i64| {
        let mut evidence = Evidence::of(format, Clock::Monotonic);
        evidence.spans = vec![stage(end)].into();
        evidence.marks = vec![mark("userspace_start", 1_000), mark("startup_finished", end)];
        evidence
    };
    let finished = |boot: &Boot| boot.summary.marks.iter().find(|mark| mark.0 == "startup_finished").unwrap().1 / MS;
    // Both pass on what systemd says: neither is nearer to it.
    let journal = || record("journal", vec![told("journal-json", 6_003)]);
    let time = boot(&[journal(), record("time", vec![told("systemd-time", 8_003)])]);
    let spans = time.spans("stage");
    assert!(spans[0].contains("took 5003 doubtful"), "{spans:?}");
    assert_eq!(finished(&time), 5_003);
    // The manager's own stamps are nearer.
    let manager = boot(&[journal(), record("manager", vec![told("systemd-show", 8_003)])]);
    let spans = manager.spans("stage");
    assert!(spans[0].contains("took 7003 good"), "{spans:?}");
    assert_eq!(finished(&manager), 7_003);
}

#[test]
fn a_unit_that_begins_at_two_instants_is_a_contradiction_whatever_its_length() {
    let told = |format: &'static str, start: i64| Evidence {
        spans: vec![unit("a.service", start, start + 1_000)].into(),
        ..Evidence::of(format, Clock::Monotonic)
    };
    let records = |start| {
        [record("plot", vec![told("systemd-plot-json", start)]), record("units", vec![told("systemd-show", 5_200)])]
    };
    let what = |boot: &Boot| boot.summary.contradictions.iter().map(|told| told.what.clone()).collect::<Vec<_>>();
    let apart = boot(&records(5_700));
    assert_eq!(what(&apart), ["when unit `a.service` began"]);
    // The tables follow the first, which is systemd's own record.
    assert_eq!(apart.summary.contradictions[0].statements[0], ("units".to_owned(), "5.200000 s".to_owned()));
    assert!(apart.spans("unit")[0].starts_with("a.service 5200-6200"));
    assert_eq!(what(&boot(&records(5_205))), Vec::<String>::new());
}

#[test]
fn one_uevent_by_its_number_in_two_records_is_one_row_with_the_path() {
    let uevent = |name: &str, number: &str, start: i64| {
        Span::new(SpanKind::Uevent, name)
            .between(start * MS, (start + 10) * MS)
            .with("seqnum", number)
            .with("action", "add")
    };
    let monitor = Evidence {
        spans: vec![uevent("/devices/pci/sda", "100", 40), uevent("/devices/pci/sda/sda1", "101", 41)].into(),
        ..Evidence::of("udev-monitor", Clock::Monotonic)
    };
    let log = Evidence {
        spans: vec![uevent("sda", "100", 40), uevent("sda1", "101", 41), uevent("sdb", "102", 42)].into(),
        ..Evidence::of("udev-log", Clock::Monotonic)
    };
    for records in [[&monitor, &log], [&log, &monitor]] {
        let reads = records.map(|evidence| record(evidence.format, vec![evidence.clone()]));
        let mut names: Vec<String> =
            boot(&reads).spans("uevent").iter().map(|told| told.split(' ').next().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["/devices/pci/sda", "/devices/pci/sda/sda1", "sdb"]);
    }
}
