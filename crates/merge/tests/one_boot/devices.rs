//! Devices that several records tell.

use crate::made::{boot, record, MS};
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
