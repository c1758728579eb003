//! Between which instants the first program began.

use crate::made::{boot, kernel, mark, of, record, Boot, MS};
use crate::units::unit;
use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark};

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
