//! Between which instants the first program began.

use crate::made::{boot, kernel, mark, of, record, Boot, MS};
use crate::units::unit;
use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark, Stamp};

const RUN: &str = "Run /init as init process";

/// A log whose kernel runs its first program at 1000 ms, and what follows.
fn log(after: &[(i64, &str)]) -> Evidence {
    let mut lines = vec![(0, "Linux version 6.17"), (1_000, RUN)];
    lines.extend_from_slice(after);
    let mut log = kernel(&lines);
    log.marks = vec![
        mark(Mark::KernelStart, 0),
        mark(Mark::FreeInitMemory, 900),
        Instant { mark: Mark::UserStart, time_ns: 1_000 * MS, detail: RUN.to_owned() },
    ];
    log
}

/// Detail of the mark, and grade and attributes of the phase that it begins.
fn told(boot: &Boot) -> (String, String, String) {
    let row = |table, of: &str| {
        let column = usize::from(table == "spans") * 3;
        boot.texts(table, column).iter().position(|name| name.as_deref() == Some(of)).unwrap()
    };
    let (mark, phase) = (row("marks", "user_start"), row("spans", "userspace"));
    let text = |table, column: usize, row: usize| boot.texts(table, column)[row].clone().unwrap_or_default();
    (text("marks", 5, mark), text("spans", 11, phase), text("spans", 14, phase))
}

#[test]
fn a_line_of_a_program_shortly_after_the_kernels_own_leaves_no_doubt() {
    let boot = boot(&[record("dmesg", vec![log(&[(1_009, "systemd[1]: systemd 257 running"), (1_500, "late")])])]);
    assert_eq!(told(&boot), (RUN.to_owned(), "good".to_owned(), String::new()));
}

#[test]
fn a_late_line_of_a_program_bounds_the_begin_and_what_the_kernel_prints_does_not() {
    let lines = [(1_004, "usb 1-1: new device"), (1_060, "systemd[1]: systemd 257 running"), (1_500, "late")];
    let boot = boot(&[record("dmesg", vec![log(&lines)])]);
    let (detail, grade, attributes) = told(&boot);
    assert_eq!(
        detail,
        "inferred: Run /init as init process; between 1.000000 s and 1.060001 s: `systemd[1]: systemd 257 running`"
    );
    assert_eq!(
        (grade.as_str(), attributes.as_str()),
        ("bounded", "{\"began_by_ns\":\"1060001000\",\"unsure_ns\":\"60001000\"}")
    );
    assert_eq!(
        boot.spans("phase")[1..],
        [
            "free_init_memory 900-1000 took 100 bounded (dmesg) in -",
            "userspace 1000-1500 took 500 bounded (dmesg) in -"
        ]
    );
}

#[test]
fn a_kernel_whose_last_step_is_the_only_bound_ends_within_the_same_bounds() {
    let lines = [
        (0, "Linux version 4.14"),
        (2_440, "Freeing unused kernel memory: 268K"),
        (9_000, "init: up"),
        (12_000, "late"),
    ];
    let freed = Instant::inferred(Mark::UserStart, 2_440 * MS, "the init memory is freed");
    let mut log = kernel(&lines);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::FreeInitMemory, 2_440), freed];
    let boot = boot(&[record("dmesg", vec![log])]);
    assert_eq!(
        boot.spans("phase"),
        ["kernel 0-2440 took 2440 bounded (dmesg) in -", "userspace 2440-12000 took 9560 bounded (dmesg) in -"]
    );
    let row = boot.texts("spans", 3).iter().position(|name| name.as_deref() == Some("kernel")).unwrap();
    let attributes = boot.texts("spans", 14)[row].clone().unwrap_or_default();
    assert_eq!(attributes, "{\"ended_by_ns\":\"9000001000\",\"unsure_ns\":\"6560001000\"}");
}

#[test]
fn without_any_sign_of_a_program_the_begin_is_open() {
    let boot = boot(&[record("dmesg", vec![log(&[(1_004, "usb 1-1: new device")])])]);
    let (detail, grade, attributes) = told(&boot);
    assert!(detail.ends_with("; at 1.000000 s or later: no line shows by when"), "{detail}");
    assert_eq!((grade.as_str(), attributes.as_str()), ("bounded", ""));
}

#[test]
fn another_record_may_have_the_sign() {
    let show = Evidence { spans: vec![unit("a.service", 1_008, 1_400)].into(), ..of("systemd-show", Clock::Monotonic) };
    let boot = boot(&[record("dmesg", vec![log(&[(1_300, "usb 1-1: new device")])]), record("show", vec![show])]);
    assert_eq!(told(&boot).1, "good");
}

/// A log whose last line of the kernel is of 1000 ms, without what the kernel does last.
fn unfinished(after: &[(i64, &str)]) -> Evidence {
    let mut lines = vec![(0, "Linux version 6.17"), (300, "IOAPIC[0]: apic_id 2"), (1_000, "mmc0: new card")];
    lines.extend_from_slice(after);
    let mut log = kernel(&lines);
    log.marks = vec![mark(Mark::KernelStart, 0)];
    log
}

#[test]
fn a_program_begins_after_the_kernels_last_line_where_the_kernel_does_not_say_that_it_runs_one() {
    for sign in [
        "systemd[1]: systemd 247 running in system mode",
        "procd: - early -",
        "init: plymouth-upstart-bridge main process (188) terminated with status 1",
        "init: init first stage started!",
    ] {
        let boot = boot(&[record("dmesg", vec![unfinished(&[(1_600, sign), (2_500, "late")])])]);
        let (detail, grade, _) = told(&boot);
        let short: String = sign.chars().take(60).collect();
        assert_eq!(
            detail,
            format!(
                "inferred: the last line of the kernel before userspace: {short}; between 1.000000 s and 1.600001 s: `{short}`"
            )
        );
        assert_eq!(grade, "bounded");
        assert_eq!(boot.spans("phase")[0], "kernel 0-1000 took 1000 bounded (dmesg) in -", "{sign}");
    }
}

#[test]
fn a_program_without_a_stamp_begins_after_the_line_before_it() {
    let mut log = unfinished(&[]);
    for (time_ns, text) in [(None, "init started: BusyBox v1.22.1"), (Some(9_000 * MS), "EXT4-fs: mounted")] {
        log.log.push(Stamp { time_ns, ..Stamp::default() }, text.as_bytes());
    }
    let boot = boot(&[record("console", vec![log])]);
    assert!(told(&boot).0.ends_with("; at 1.000000 s or later: no line shows by when"), "{}", told(&boot).0);
}

#[test]
fn no_program_is_inferred_from_drivers_lines_or_where_systemd_has_its_own_start() {
    let drivers = boot(&[record("dmesg", vec![unfinished(&[(2_500, "late")])])]);
    assert!(!drivers.texts("marks", 0).contains(&Some("user_start".to_owned())));
    let mut show = of("systemd-show", Clock::Monotonic);
    show.marks = vec![mark(Mark::UserspaceStart, 1_500)];
    let log = unfinished(&[(1_600, "systemd[1]: systemd 247 running in system mode")]);
    let both = boot(&[record("dmesg", vec![log]), record("show", vec![show])]);
    assert!(!both.texts("marks", 0).contains(&Some("user_start".to_owned())));
}
