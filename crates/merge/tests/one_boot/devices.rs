//! Devices that several records tell.

use crate::made::{boot, of, record, MS};
use firstlight_formats::evidence::{Clock, Evidence, Grade, Span, SpanKind};
use firstlight_merge::record::Read;

#[test]
fn a_device_by_its_path_in_the_database_is_the_event_that_the_log_names_by_the_device() {
    let uevent = |name: &str, start: i64, end: Option<i64>| {
        let span = Span { track: "udev".into(), ..Span::new(SpanKind::Uevent, name) };
        match end {
            Some(end) => span.between(start * MS, end * MS),
            None => Span { start_ns: Some(start * MS), ..span.graded(Grade::Unknown, "only its start") },
        }
    };
    let mut journal = of("journal-json", Clock::Monotonic);
    journal.spans =
        vec![uevent("ttyS0", 10, Some(40)), uevent("sda", 10, Some(20)), uevent("sda", 60, Some(70))].into();
    let mut database = of("udev-database", Clock::Monotonic);
    let paths = ["/devices/pnp0/tty/ttyS0", "/devices/pci/sda", "/devices/pci/sdb"];
    database.spans = vec![uevent(paths[0], 35, None), uevent(paths[1], 65, None), uevent(paths[2], 66, None)].into();
    for records in [[&journal, &database], [&database, &journal]] {
        let reads: Vec<Read> =
            records.iter().map(|evidence| record(evidence.format.name, vec![(*evidence).clone()])).collect();
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
fn one_uevent_by_its_number_in_two_records_is_one_row_with_the_path() {
    let uevent = |name: &str, number: &str, start: i64| {
        Span::new(SpanKind::Uevent, name)
            .between(start * MS, (start + 10) * MS)
            .with("seqnum", number)
            .with("action", "add")
    };
    let monitor = Evidence {
        spans: vec![uevent("/devices/pci/sda", "100", 40), uevent("/devices/pci/sda/sda1", "101", 41)].into(),
        ..of("udev-monitor", Clock::Monotonic)
    };
    let log = Evidence {
        spans: vec![uevent("sda", "100", 40), uevent("sda1", "101", 41), uevent("sdb", "102", 42)].into(),
        ..of("udev-log", Clock::Monotonic)
    };
    for records in [[&monitor, &log], [&log, &monitor]] {
        let reads = records.map(|evidence| record(evidence.format.name, vec![evidence.clone()]));
        let mut names: Vec<String> =
            boot(&reads).spans("uevent").iter().map(|told| told.split(' ').next().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["/devices/pci/sda", "/devices/pci/sda/sda1", "sdb"]);
    }
}

#[test]
fn a_monitor_a_log_and_the_database_tell_of_one_event_once_in_any_order() {
    let (vda, vda1, pci) = ("/devices/pci/virtio0/block/vda", "/devices/pci/virtio0/block/vda/vda1", "/devices/pci");
    let uevent = |name: &str, number: &str, start: i64, end: i64| {
        Span::new(SpanKind::Uevent, name).between(start * MS, end * MS).with("seqnum", number).with("action", "add")
    };
    let taken_up = |name: &str, at: i64| {
        let span = Span { start_ns: Some(at * MS), ..Span::new(SpanKind::Uevent, name) };
        span.graded(Grade::Unknown, "only when udevd took it up")
    };
    let of = |format: &'static str, spans: Vec<Span>, events: &str| Evidence {
        spans: spans.into(),
        facts: vec![("udev.events".into(), events.to_owned())],
        ..of(format, Clock::Monotonic)
    };
    let log = of("udev-log", vec![uevent("vda", "712", 50, 80), uevent("vda1", "713", 52, 90)], "2");
    let monitor = of("udev-monitor", vec![uevent(vda, "712", 45, 86), uevent(vda1, "713", 46, 97)], "6");
    let database = of("udev-database", vec![taken_up(vda, 60), taken_up(vda1, 61), taken_up(pci, 62)], "3");
    let all = [&log, &monitor, &database];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let reads = order.map(|number| record(all[number].format.name, vec![all[number].clone()]));
        let boot = boot(&reads);
        let spans = boot.spans("uevent");
        assert_eq!(spans.len(), 3, "{order:?} {spans:?}");
        // What one record counts of itself excludes no other's count.
        assert!(boot.summary.contradictions.iter().all(|told| !told.what.contains("udev.events")));
    }
}

#[test]
fn devices_of_one_name_at_two_paths_are_two() {
    let one = Evidence {
        spans: vec![Span::new(SpanKind::Uevent, "/devices/a/rx-0").between(10 * MS, 40 * MS)].into(),
        ..of("udev-monitor", Clock::Monotonic)
    };
    let other = Span { start_ns: Some(20 * MS), ..Span::new(SpanKind::Uevent, "/devices/b/rx-0") };
    let database = Evidence { spans: vec![other].into(), ..of("udev-database", Clock::Monotonic) };
    assert_eq!(boot(&[record("monitor", vec![one]), record("database", vec![database])]).spans("uevent").len(), 2);
}
