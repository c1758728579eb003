//! A small recording on its way into tables: what stands in each, and that their sums agree.

use crate::{integers, texts, SymbolTable, Tracker};
use firstlight_model::folding::Parts;
use firstlight_model::kd::bundle_kd;
use firstlight_model::profile_tables::{convert, NoFiles, ProfileSummary};
use firstlight_model::ModelError;
use firstlight_profile::recording::State;
use firstlight_profile::tracker::{Identity, Watch, UNKNOWN};
use firstlight_schema::MarkSource;
use std::path::Path;

const KERNEL: &str = "\
1000 T _text
1000 T start_kernel
1100 T do_one_initcall
1200 T first_init
1300 T _etext
9000 d __initcall__kmod_first__1_2_first_init4
";
const MODULE_FUNCTION: u64 = 0xffff_ffff_c000_1000;
const NAMELESS_FUNCTION: u64 = 0xffff_ffff_c000_2000;
const ANOTHER_NAMELESS: u64 = 0xffff_ffff_c000_3000;
const CONSOLE: &[u8] = b"[    0.000000] Linux\r\nbroken \xff line\r\nafter the mark";

fn recording(shift: u8) -> Vec<u8> {
    let symbols = SymbolTable::parse(KERNEL);
    let watch = Watch { marks: vec![("kernel_start".to_owned(), "start_kernel".to_owned())], ..Watch::default() };
    let mut tracker = Tracker::new(&symbols, watch);
    tracker.decompressor(100);
    tracker.kernel(300);
    tracker.entry(0, 350);
    tracker.line(0, 360);
    tracker.call(0, 0x8ff8, 400);
    tracker.entry(1, 400);
    tracker.call(1, 0x8ff0, 410);
    tracker.entry(2, 410);
    for (address, instructions) in [(MODULE_FUNCTION, 5), (NAMELESS_FUNCTION, 7), (ANOTHER_NAMELESS, 11)] {
        let now = 500 + instructions * 10;
        tracker.call(2, 0x8fe8, now);
        tracker.unknown(address, now);
        tracker.ret(UNKNOWN, 0x8fe8, now + instructions);
    }
    tracker.idle(1_000, 640);
    tracker.line(22, 650);
    tracker.ret(2, 0x8ff0, 700);
    tracker.mark("ready", MarkSource::Instruction, "", 800);
    let mut snapshot = tracker.snapshot(State::Ready, &[], 800);
    (snapshot.icount_shift, snapshot.clock) = (shift, "icount");
    let mut file = Vec::new();
    snapshot.write(&mut file).expect("writes");
    file
}

fn converted(bundle: &Path, shift: u8) -> ProfileSummary {
    let path = |name: &str| bundle.join(name);
    std::fs::write(path("profile.flp"), recording(shift)).expect("written");
    std::fs::write(path("console.log"), CONSOLE).expect("written");
    let modules = format!("{MODULE_FUNCTION:x} t probe\t[nd_pmem]\n{MODULE_FUNCTION:x}0 r data\t[nd_pmem]\n");
    std::fs::write(path("modules"), modules).expect("written");
    convert(&path("profile.flp"), Some(&path("console.log")), Some(&path("modules")), &NoFiles, bundle)
        .expect("converts")
}

/// Texts, an empty one for what is missing.
fn plain(table: &str, column: usize, bundle: &Path) -> Vec<String> {
    texts(table, column, bundle).into_iter().map(Option::unwrap_or_default).collect()
}

fn sum(values: &[Option<i64>]) -> i64 {
    values.iter().flatten().sum()
}

#[test]
fn totals_are_instructions_virtual_time_and_idle() {
    let bundle = tempfile::tempdir().expect("a directory");
    assert_eq!(converted(bundle.path(), 0).totals, [800, 1_800, 1_000]);
    assert_eq!(converted(bundle.path(), 3).totals, [800, 7_400, 1_000]);
}

#[test]
fn every_invariant_holds() {
    let bundle = tempfile::tempdir().expect("a directory");
    for invariant in converted(bundle.path(), 0).invariants {
        assert!(invariant.holds, "{invariant:?}");
    }
}

#[test]
fn phases_partition_the_boot() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    let kinds = plain("spans", 2, bundle.path());
    let names = plain("spans", 3, bundle.path());
    let phases: Vec<usize> = (0..kinds.len()).filter(|row| kinds[*row] == "phase").collect();
    let named: Vec<&str> = phases.iter().map(|row| names[*row].as_str()).collect();
    assert_eq!(named, ["firmware", "decompression", "kernel_entry", "early_init", "initcall_subsys"]);
    let (starts, ends) = (integers("spans", 6, bundle.path()), integers("spans", 7, bundle.path()));
    for pair in phases.windows(2) {
        assert_eq!(ends[pair[0]], starts[pair[1]]);
    }
    assert_eq!((starts[phases[0]], ends[phases[4]]), (Some(0), Some(1_800)));
}

#[test]
fn the_tree_and_its_phases_sum_to_the_boot() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    assert_eq!(sum(&integers("calls", 6, bundle.path())), 800, "self instructions");
    assert_eq!(sum(&integers("calls", 8, bundle.path())), 1_800, "self time, idle among it");
    assert_eq!(integers("calls", 9, bundle.path())[0], Some(1_800), "the root's total");
    assert_eq!(sum(&integers("phase_calls", 3, bundle.path())), 800);
    assert_eq!(sum(&integers("phase_calls", 4, bundle.path())), 1_800);
    let entries = sum(&integers("calls", 5, bundle.path()));
    assert_eq!(sum(&integers("phase_calls", 2, bundle.path())), entries);
    assert_eq!(sum(&integers("slice_calls", 2, bundle.path())), entries);
    assert_eq!(sum(&integers("slice_calls", 3, bundle.path())), 800);
    assert_eq!(sum(&integers("slices", 3, bundle.path())), 800);
    assert_eq!(sum(&integers("slices", 4, bundle.path())), 1_000, "idle");
    let ends = integers("slices", 2, bundle.path());
    assert_eq!(ends, [100, 300, 350, 410, 1_800].map(Some), "no slice without a length at the end");
    assert_eq!(integers("slices", 1, bundle.path())[1..], ends[..4]);
}

#[test]
fn modules_functions_get_their_names_and_nameless_code_one_row() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    let table = bundle_kd(bundle.path(), None, None, false, Parts::Folded).expect("a table");
    let of =
        |name: &str| table.rows.iter().find(|(row, ..)| row.0 == name).map(|(row, figures, _)| (row.clone(), *figures));
    let (probe, figures) = of("probe").expect("named by the module's symbols");
    assert_eq!((probe.1.as_deref(), figures.count, figures.self_instructions), (Some("nd_pmem"), 1, 5));
    let (_, nameless) = of("[kernel without symbol]").expect("one row");
    assert_eq!((nameless.self_instructions, nameless.count), (50 + 7 + 11, 3), "the image's entry and two functions");
}

#[test]
fn console_lines_have_the_instant_of_their_first_byte() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    assert_eq!(integers("log", 1, bundle.path()), [Some(360), Some(1_650), None]);
    assert_eq!(plain("log", 3, bundle.path()), ["[    0.000000] Linux", "broken \u{fffd} line", "after the mark"]);
}

#[test]
fn initcalls_stand_in_their_phase() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    let kinds = plain("spans", 2, bundle.path());
    let row = kinds.iter().position(|kind| kind == "initcall").expect("an initcall");
    assert_eq!(plain("spans", 3, bundle.path())[row], "first_init");
    assert_eq!(plain("spans", 5, bundle.path())[row], "subsys");
    let parent = integers("spans", 1, bundle.path())[row].and_then(|parent| usize::try_from(parent).ok());
    let names = plain("spans", 3, bundle.path());
    assert_eq!(parent.map(|parent| names[parent].as_str()), Some("initcall_subsys"));
    assert_eq!(integers("spans", 8, bundle.path())[row], Some(290), "instructions between entry and return");
}

#[test]
fn a_table_for_one_phase_or_function_holds_only_that() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    let total = |phase: Option<&str>, under: Option<&str>| -> u64 {
        let rows = bundle_kd(bundle.path(), phase, under, false, Parts::Folded).expect("a table");
        rows.rows.iter().map(|(_, figures, _)| figures.self_instructions).sum()
    };
    assert_eq!(total(Some("firmware"), None), 100);
    assert_eq!(total(None, Some("do_one_initcall")), 400, "it never returned");
    assert_eq!(total(Some("initcall_subsys"), Some("first_init")), 290);
    for (phase, under) in [(Some("no such"), None), (None, Some("no such"))] {
        assert!(matches!(
            bundle_kd(bundle.path(), phase, under, false, Parts::Folded),
            Err(ModelError::NotFound { .. })
        ));
    }
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    let (one, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    converted(one.path(), 0);
    converted(other.path(), 0);
    for table in ["marks", "spans", "calls", "phase_calls", "log", "counters"] {
        let bytes = |bundle: &Path| std::fs::read(bundle.join(format!("{table}.parquet"))).expect("read");
        assert_eq!(bytes(one.path()), bytes(other.path()), "{table}");
    }
}

#[test]
fn a_damaged_file_is_named() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(bundle.path(), 0);
    let path = bundle.path().join("calls.parquet");
    let bytes = std::fs::read(&path).expect("read");
    for length in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).expect("written");
        let error = firstlight_schema::table::read("calls", bundle.path()).expect_err("damaged").to_string();
        assert!(error.contains("calls.parquet"), "{error}");
    }
}

#[test]
fn who_had_the_processor_stands_in_three_tables_whose_sums_agree() {
    let bundle = tempfile::tempdir().expect("a directory");
    let symbols = SymbolTable::parse("1000 T _text\n1000 T __switch_to_asm\n1100 T _etext\n");
    let mut tracker = Tracker::new(&symbols, Watch::default());
    tracker.kernel(300);
    for (now, next, left) in [(400, 0xa_0000, (0x100, "swapper/0")), (450, 0x8fc0, (0x200, "kthreadd"))] {
        tracker.call(UNKNOWN, if next == 0x8fc0 { 0xa_0010 } else { 0x8ff0 }, now);
        tracker.special(0, now);
        assert!(tracker.switch(next, now));
        tracker.left(Identity { address: left.0, name: left.1, state: None });
    }
    tracker.idle(1_000, 600);
    tracker.name_task(Some("init"));
    let mut snapshot = tracker.snapshot(State::Ready, &[], 800);
    (snapshot.icount_shift, snapshot.clock) = (1, "icount");
    let mut file = Vec::new();
    snapshot.write(&mut file).expect("writes");
    std::fs::write(bundle.path().join("profile.flp"), file).expect("written");
    let summary = convert(&bundle.path().join("profile.flp"), None, None, &NoFiles, bundle.path()).expect("converts");

    assert_eq!(plain("threads", 1, bundle.path()), ["idle", "kernel"]);
    assert_eq!(plain("threads", 2, bundle.path()), ["swapper/0", "kthreadd"]);
    assert_eq!(plain("threads", 3, bundle.path()), ["init", "kthreadd"]);
    assert_eq!(plain("thread_names", 2, bundle.path()), ["swapper/0", "kthreadd", "init"]);
    assert_eq!(integers("thread_names", 1, bundle.path()), [Some(600), Some(800), Some(900)]);
    assert_eq!(integers("runs", 0, bundle.path()), [Some(0), Some(1), Some(0)]);
    assert_eq!(integers("runs", 1, bundle.path()), [Some(600), Some(800), Some(900)]);
    assert_eq!(integers("runs", 2, bundle.path()), [Some(800), Some(900), Some(2_600)]);
    for table in [("threads", 9), ("runs", 3)] {
        assert_eq!(sum(&integers(table.0, table.1, bundle.path())), 500, "instructions of {table:?}");
    }
    assert_eq!(sum(&integers("threads", 7, bundle.path())), 1_000, "each instruction takes two nanoseconds");
    assert_eq!(sum(&integers("threads", 8, bundle.path())), 1_000, "idle");
    assert!(summary.invariants.iter().all(|invariant| invariant.holds), "{:?}", summary.invariants);
}

#[test]
fn doubtful_calls_stand_with_their_function_and_in_its_kd_row() {
    let bundle = tempfile::tempdir().expect("a directory");
    let symbols = SymbolTable::parse(KERNEL);
    let mut tracker = Tracker::new(&symbols, Watch::default());
    tracker.kernel(100);
    tracker.entry(0, 110);
    tracker.call(0, 0x8ff8, 120);
    tracker.entry(1, 120);
    // A return to nowhere: whether this call of the function ended is not known.
    tracker.ret(UNKNOWN, 0xdead_0000, 130);
    tracker.ret(1, 0x8ff8, 140);
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], 150).write(&mut file).expect("writes");
    std::fs::write(bundle.path().join("profile.flp"), file).expect("written");
    convert(&bundle.path().join("profile.flp"), None, None, &NoFiles, bundle.path()).expect("converts");
    assert_eq!(sum(&integers("calls", 10, bundle.path())), 1);
    let table = bundle_kd(bundle.path(), None, None, false, Parts::Folded).expect("a table");
    let of = |name: &str| table.rows.iter().find(|row| row.0 .0 == name).and_then(|row| row.1.doubtful);
    assert_eq!((of("do_one_initcall"), of("start_kernel")), (Some(1), Some(0)));
}
