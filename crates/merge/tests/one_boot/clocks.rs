//! Clocks that are put onto one.

use crate::made::{boot, kernel, mark, of, record, Boot, LINES, MS};
use crate::units::unit;
use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark, Span, SpanKind};

#[test]
fn what_shares_nothing_keeps_its_lengths_and_gets_no_instants() {
    let mut firmware = of("test", Clock::Firmware);
    firmware.spans = vec![Span::new(SpanKind::Firmware, "board_init").between(3 * MS, 9 * MS)].into();
    let boot = boot(&[record("dmesg", vec![kernel(&LINES)]), record("bootstage", vec![firmware])]);
    assert_eq!(boot.spans("firmware"), ["board_init ?-? took 6 good (bootstage) in -"]);
    let attributes = boot.texts("spans", 14).into_iter().flatten().next();
    assert_eq!(attributes.as_deref(), Some("{\"own_end_ns\":\"9000000\",\"own_start_ns\":\"3000000\"}"));
    assert!(boot.summary.warnings[0].starts_with("bootstage: its clock could not be put onto the boot's"));
}

#[test]
fn the_files_of_a_directory_that_hold_one_time_each_are_one_clock() {
    let file = |mark: Mark, at: i64, detail: &str| {
        let mut one = of("fpdt", Clock::Firmware);
        one.marks.push(Instant { mark, time_ns: at * MS, detail: detail.to_owned() });
        one.understood = 1;
        vec![one]
    };
    let fpdt = || {
        vec![
            record("fpdt/boot/firmware_start_ns", file(Mark::FirmwareStart, 1_000, "firmware_start_ns")),
            record("fpdt/boot/bootloader_launch_ns", file(Mark::LoaderStart, 2_600, "bootloader_launch_ns")),
            record(
                "fpdt/boot/exitbootservice_end_ns",
                file(Mark::ExitBootServicesEnd, 4_100, "exitbootservice_end_ns"),
            ),
        ]
    };
    let alone = boot(&fpdt());
    let times =
        |boot: &Boot| boot.summary.marks.iter().map(|(name, at)| format!("{name} {}", at / MS)).collect::<Vec<_>>();
    assert_eq!(times(&alone), ["firmware_start 0", "loader_start 1600", "exit_boot_services_end 3100"]);
    assert_eq!(alone.summary.sources.len(), 3);
    assert!(alone.summary.sources.iter().all(|source| source.fit.is_some()));
    let mut log = kernel(&LINES);
    log.marks = vec![mark(Mark::KernelStart, 0), mark(Mark::UserStart, 60)];
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
        let alone = Evidence { spans: spans(), ..of(format, Clock::Monotonic) };
        let boot = boot(&[record("one", vec![alone])]);
        assert_eq!((boot.summary.origin.as_str(), boot.summary.length_ns), ("kernel_clock_start", 5_000 * MS));
    }
}

#[test]
fn one_more_record_of_the_same_clock_moves_no_zero() {
    let plot =
        Evidence { spans: vec![unit("a.service", 2_000, 5_000)].into(), ..of("systemd-plot-json", Clock::Monotonic) };
    let uevents: Vec<Span> = (0..3)
        .map(|number| Span::new(SpanKind::Uevent, format!("tty{number}")).between(1_900 * MS, 1_950 * MS))
        .collect();
    let log = Evidence { spans: uevents.into(), ..of("udev-log", Clock::Monotonic) };
    let boot = boot(&[record("plot", vec![plot]), record("udevd", vec![log])]);
    assert_eq!((boot.summary.origin.as_str(), boot.summary.length_ns), ("kernel_clock_start", 5_000 * MS));
}
