//! Phases, and where a start-up ends.

use crate::made::{boot, initcall, kernel, mark, of, record, LINES, MS};
use crate::units::unit;
use firstlight_formats::evidence::{CallNode, Calls, Clock, Evidence, Grade, Mark, Span, SpanKind};

#[test]
fn phases_partition_the_boot_and_probes_lie_in_the_initcalls_of_their_task() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::ClocksourceSwitch, 35), mark(Mark::UserStart, 60)];
    log.spans = vec![initcall("bus_init", 20, 50), initcall("odd_init", 55, 65)].into();
    log.spans.push(Span { track: "task 1".into(), ..Span::new(SpanKind::Probe, "pci0").between(25 * MS, 40 * MS) });
    log.spans.push(Span { track: "task 9".into(), ..Span::new(SpanKind::Probe, "usb0").between(25 * MS, 41 * MS) });
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!(
        boot.spans("phase"),
        [
            "early_init 0-20 took 20 good (dmesg) in -",
            "initcalls 20-60 took 40 bounded (dmesg) in -",
            "userspace 60-90 took 30 bounded (dmesg) in -"
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
fn an_initcall_that_never_returns_keeps_its_phase_to_the_end_of_the_record() {
    let mut log = kernel(&[(10, "first thing happened"), (6_000, "last thing happened")]);
    log.marks = vec![mark(Mark::KernelStart, 0)];
    let hung = Span { end_ns: None, duration_ns: Some(5_300 * MS), ..initcall("open_init", 700, 6_000) };
    log.spans = vec![initcall("slow_init", 500, 600), hung.graded(Grade::Bounded, "it never returned")].into();
    let boot = boot(&[record("con", vec![log])]);
    assert_eq!(
        boot.spans("phase"),
        ["early_init 0-500 took 500 good (con) in -", "initcalls 500-6000 took 5500 good (con) in -"]
    );
}

#[test]
fn a_trace_without_a_span_has_its_time_all_the_same() {
    let mut trace = of("function-graph", Clock::Trace(String::new()));
    let node =
        |parent, function, self_ns| CallNode { parent, function, kind: "function", calls: 1, self_ns: Some(self_ns) };
    let functions = ["[boot]", "short"].map(|name| (name.to_owned(), None)).to_vec();
    trace.calls = Some(Calls { functions, nodes: vec![CallNode { kind: "root", ..node(0, 0, 0) }, node(0, 1, 900)] });
    trace.extent_ns = Some((3 * MS, 2_003 * MS));
    let boot = boot(&[record("trace", vec![trace])]);
    assert_eq!(boot.summary.marks, [("record_start".to_owned(), 0), ("record_end".to_owned(), 2_000 * MS)]);
    assert_eq!(boot.spans("phase"), ["before_first_mark 0-2000 took 2000 good () in -"]);
}

#[test]
fn a_start_ends_where_nothing_happens_any_more_and_a_late_line_does_not_prolong_it() {
    let mut log =
        kernel(&[(10, "first thing happened"), (2_000, "last of the start"), (26_974_000, "usb 1-1: plugged in")]);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 1_000)];
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!((boot.summary.length_ns, boot.summary.lines), (2_000 * MS, 3));
    assert_eq!(boot.summary.marks.last().unwrap().0, "startup_settled");
    assert!(boot.summary.warnings[0].starts_with("no record shows when the start was over"));
}

#[test]
fn time_of_which_no_record_says_where_the_kernel_ended_is_a_phase_of_unknown_name() {
    let plot = || Evidence {
        spans: vec![unit("a.service", 2_000, 5_000)].into(),
        ..of("systemd-plot-json", Clock::Monotonic)
    };
    let phases = |evidence: Evidence| boot(&[record("plot", vec![evidence])]).spans("phase");
    let unknown = phases(plot());
    assert!(matches!(unknown.as_slice(), [only] if only.starts_with("unknown 0-5000")), "{unknown:?}");
    let told = phases(Evidence { marks: vec![mark(Mark::UserspaceStart, 1_500)], ..plot() });
    assert!(told.iter().all(|phase| !phase.starts_with("unknown")), "{told:?}");
}

#[test]
fn neighbours_of_one_name_are_one_phase() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelClockStart, 0), mark(Mark::KernelStart, 5), mark(Mark::UserStart, 60)];
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!(boot.spans("phase").len(), 2);
    assert!(boot.spans("phase")[0].starts_with("kernel 0-60"));
}

#[test]
fn units_alone_are_userspace_and_what_a_timer_starts_a_day_later_does_not_prolong_the_start() {
    let show = |units: &[(&str, i64, i64)]| Evidence {
        spans: units.iter().map(|(name, start, end)| unit(name, *start, *end)).collect::<Vec<_>>().into(),
        ..of("systemd-show", Clock::Monotonic)
    };
    let start = [("a.service", 4_100, 4_600), ("multi-user.target", 4_700, 4_700)];
    let day = show(&[start[0], start[1], ("apt-daily.service", 90_000_000, 90_003_000)]);
    let day = boot(&[record("show", vec![day])]);
    assert_eq!(day.summary.marks.last(), Some(&("startup_settled".to_owned(), 4_700 * MS)));
    assert!(day.summary.warnings[0].starts_with("no record shows when the start was over"));
    assert_eq!(day.spans("unit").len(), 3);
    // A start that waits a minute and a half for a device is not over meanwhile.
    let slow = show(&[start[0], ("data.mount", 5_000, 95_000), ("multi-user.target", 95_100, 95_100)]);
    let slow = boot(&[record("show", vec![slow])]);
    assert_eq!((slow.summary.length_ns, slow.summary.warnings.len()), (95_100 * MS, 0));
}

#[test]
fn the_unit_of_the_journal_is_no_end_of_a_start_that_goes_on_in_the_journal() {
    let of = |unit: &str, last: &str| {
        let mut lines: Vec<(i64, &str)> = (0..140).map(|number| (1_000 + number * 45, "a device is there")).collect();
        lines.insert(1, (1_009, "systemd[1]: systemd 257 running in system mode"));
        lines.insert(40, (1_000 + 39 * 45, unit));
        lines.push((7_400, last));
        lines.extend((1..16).map(|number| (7_400 + number * 13_000, "audit: rotated")));
        let mut log = kernel(&lines);
        log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 1_000)];
        boot(&[record("dmesg", vec![log])])
    };
    for unit in
        ["systemd[1]: Started Journal Service.", "systemd[1]: Started systemd-journald.service - Journal Service."]
    {
        let up = of(unit, "a device is there");
        assert_eq!(up.summary.marks.last(), Some(&("record_end".to_owned(), 7_400 * MS)));
        let note = &up.summary.warnings[0];
        assert!(note.contains("from 2.755000 s on systemd writes to its journal"), "{note}");
        assert!(note.contains("it is not known when; the phases end at 7.400000 s"), "{note}");
        let phase = up.spans("phase").pop().unwrap();
        assert_eq!(phase, "userspace 1000-7400 took 6400 bounded (dmesg) in -");
        // A manager that goes on writing to the kernel's log shows the end.
        let up = of(unit, "systemd[1]: Reached target Multi-User System.");
        assert_eq!(up.summary.marks.last(), Some(&("up_by".to_owned(), 7_400 * MS)));
    }
    // So it is where a minute without lines follows.
    let mut log = kernel(&[
        (10, "first thing happened"),
        (2_000, "systemd[1]: Started Journal Service."),
        (3_000, "a device is there"),
        (26_974_000, "usb 1-1: plugged in"),
    ]);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 1_000)];
    let quiet = boot(&[record("dmesg", vec![log])]);
    assert_eq!(quiet.summary.marks.last(), Some(&("record_end".to_owned(), 3_000 * MS)));
}

#[test]
fn the_note_about_the_end_counts_from_the_boots_first_mark() {
    let day = 86_400_000;
    let mut lines: Vec<(i64, &str)> = (0..140).map(|number| (day + 1_000 + number * 45, "a device is there")).collect();
    lines.insert(1, (day + 1_009, "systemd[1]: systemd 257 running in system mode"));
    lines.extend((1..16).map(|number| (day + 7_400 + number * 13_000, "audit: rotated")));
    let mut log = kernel(&lines);
    log.marks = vec![mark(Mark::KernelStart, day), mark(Mark::UserStart, day + 1_000)];
    let up = boot(&[record("dmesg", vec![log])]);
    assert_eq!(up.summary.marks.last(), Some(&("up_by".to_owned(), (1_000 + 139 * 45) * MS)));
    assert!(up.summary.warnings[0].contains("up by 7.255000 s, where"), "{:?}", up.summary.warnings);
}

#[test]
fn systemd_counts_the_firmware_from_power_on_and_its_table_from_the_end_of_the_reset() {
    let marks = |all: &[(Mark, i64)]| all.iter().map(|(reached, at)| mark(*reached, *at)).collect();
    let systemd = marks(&[(Mark::FirmwareStart, -4_600), (Mark::LoaderStart, -1_100), (Mark::KernelClockStart, 0)]);
    let systemd = Evidence { marks: systemd, understood: 1, ..of("systemd-time", Clock::Monotonic) };
    let table = marks(&[(Mark::FirmwareStart, 1_000), (Mark::ExitBootServicesEnd, 4_600)]);
    let table = Evidence { marks: table, understood: 2, ..of("fpdt", Clock::Firmware) };
    let boot = boot(&[record("time", vec![systemd]), record("fpdt", vec![table])]);
    assert_eq!(boot.summary.contradictions, []);
    let marks: Vec<Option<String>> = boot.texts("marks", 0);
    assert_eq!(marks[..2], [Some("power_on".to_owned()), Some("firmware_start".to_owned())]);
    assert!(boot.spans("phase")[0].starts_with("firmware 0-3500"), "{:?}", boot.spans("phase"));
}

#[test]
fn a_system_that_is_up_is_not_prolonged_by_rare_lines() {
    // Busy to 7.4 s, then a line in 13 s: never a silent minute.
    let mut lines: Vec<(i64, &str)> = (0..140).map(|number| (1_000 + number * 45, "a device is there")).collect();
    lines.insert(1, (1_009, "systemd[1]: systemd 257 running in system mode"));
    lines.push((7_400, "systemd[1]: Reached target Multi-User System."));
    lines.extend((1..16).map(|number| (7_400 + number * 13_000, "audit: rotated")));
    let of = |lines: &[(i64, &str)]| {
        let mut log = kernel(lines);
        log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 1_000)];
        boot(&[record("dmesg", vec![log])])
    };
    let up = of(&lines);
    assert_eq!(up.summary.marks.last(), Some(&("up_by".to_owned(), 7_400 * MS)));
    assert!(
        up.summary.warnings[0].contains("up by 7.400000 s, where the last unit that is up"),
        "{:?}",
        up.summary.warnings
    );
    assert_eq!(
        up.spans("phase").last().map(String::as_str),
        Some("userspace 1000-7400 took 6400 bounded (dmesg) in -")
    );
    // Without units it is where the lines become rare.
    lines.retain(|(_, text)| !text.contains("Reached"));
    assert_eq!(of(&lines).summary.marks.last(), Some(&("up_by".to_owned(), (1_000 + 139 * 45) * MS)));
    // Nor before the first sign of a program, and without one nothing shows that the boot was up.
    lines.retain(|(_, text)| !text.starts_with("systemd"));
    assert_eq!(of(&lines).summary.marks.last().map(|(mark, _)| mark.as_str()), Some("record_end"));
    lines.push((7_400 + 15 * 13_000, "systemd[1]: Started gizmo.service."));
    assert_eq!(of(&lines).summary.marks.last().map(|(mark, _)| mark.as_str()), Some("record_end"));
    // A steady log has no end.
    let steady: Vec<(i64, &str)> = (0..300).map(|number| (1_000 + number * 700, "a device is there")).collect();
    assert_eq!(of(&steady).summary.marks.last().map(|(mark, _)| mark.as_str()), Some("record_end"));
}

#[test]
fn units_of_an_initramfs_leave_a_boot_without_an_end() {
    let mut lines: Vec<(i64, &str)> = (0..140).map(|number| (1_000 + number, "a device is there")).collect();
    lines.push((1_140, "systemd[1]: Reached target Sockets."));
    lines.extend((0..200).map(|number| (3_000 + number * 1_000, "a device is there")));
    let last = |userspace: Option<i64>| {
        let mut log = kernel(&lines);
        log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 990), mark(Mark::InitramfsStart, 999)];
        log.marks.extend(userspace.map(|at| mark(Mark::UserspaceStart, at)));
        let boot = boot(&[record("dmesg", vec![log])]);
        (boot.summary.marks.last().unwrap().0.clone(), boot.spans("phase"))
    };
    assert_eq!(last(None).0, "record_end");
    let (end, phases) = last(Some(2_900));
    assert_eq!(end, "record_end");
    assert!(phases.iter().any(|phase| phase.starts_with("initramfs 990-2900")), "{phases:?}");
}

#[test]
fn memory_that_is_freed_after_the_first_program_runs_divides_no_phases() {
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 30), mark(Mark::FreeInitMemory, 35)];
    let boot = boot(&[record("dmesg", vec![log])]);
    let phases: Vec<String> =
        boot.spans("phase").iter().map(|phase| phase.split(" took").next().unwrap().to_owned()).collect();
    assert_eq!(phases, ["kernel 0-30", "userspace 30-90"]);
}

#[test]
fn a_phase_with_an_inferred_mark_is_a_bound_and_a_record_that_has_the_mark_is_better() {
    use firstlight_formats::evidence::Instant;
    let mut log = kernel(&LINES);
    log.marks = vec![
        mark(Mark::KernelStart, 0),
        mark(Mark::FreeInitMemory, 30),
        Instant::inferred(Mark::UserStart, 35 * MS, "userspace runs"),
    ];
    let alone = boot(&[record("dmesg", vec![log.clone()])]);
    assert_eq!(
        alone.spans("phase")[1..],
        ["free_init_memory 30-35 took 5 bounded (dmesg) in -", "userspace 35-90 took 55 bounded (dmesg) in -"]
    );
    let mut console = kernel(&[LINES[0], (60, "systemd[1]: systemd 257 running"), LINES[3]]);
    console.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 60)];
    let both = boot(&[record("dmesg", vec![log]), record("con", vec![console])]);
    assert_eq!(both.spans("phase").last().map(String::as_str), Some("userspace 60-90 took 30 good (con) in -"));
    assert_eq!(both.summary.contradictions, []);
}

#[test]
fn a_loader_that_hands_over_where_the_kernels_clock_begins_leaves_the_kernel_its_phase() {
    let mut loader = of("loader-stages", Clock::Firmware);
    loader.marks = vec![mark(Mark::FirmwareStart, 0), mark(Mark::KernelEntry, 700)];
    loader.understood = 2;
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 60)];
    let boot = boot(&[record("con", vec![log]), record("loader", vec![loader])]);
    let phases: Vec<String> =
        boot.spans("phase").iter().map(|phase| phase.split(" took").next().unwrap().to_owned()).collect();
    assert_eq!(phases, ["firmware 0-700", "kernel 700-760", "userspace 760-790"]);
}
