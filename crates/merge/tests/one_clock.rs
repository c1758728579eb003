//! Clocks of several pieces of evidence, put onto one.

use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark, Span, SpanKind, Stamp};
use firstlight_formats::registry::by_name;
use firstlight_merge::align::{align, Place};

const MS: i64 = 1_000_000;

/// Empty evidence of a format; of a name that no format has, of none.
fn empty(format: &str, clock: Clock) -> Evidence {
    match by_name(format) {
        Some(format) => Evidence::of(format.about(), clock),
        None => Evidence { clock, ..Evidence::default() },
    }
}

/// A log of `count` lines, one every 20 ms of the boot, stamped by `clock`.
fn log(of: Clock, count: i64, clock: impl Fn(i64) -> i64) -> Evidence {
    let mut evidence = empty("test", of);
    for number in 1..=count {
        let at = clock(number * 20 * MS);
        let host = evidence.clock == Clock::Host;
        let stamp = Stamp {
            line: number as u64,
            time_ns: (!host).then_some(at),
            host_ns: host.then_some(at),
            ..Stamp::default()
        };
        evidence.log.push(stamp, format!("device {number} is ready").as_bytes());
    }
    evidence
}

fn initcalls(of: Clock, names: &[&str], clock: impl Fn(i64) -> i64) -> Evidence {
    let mut evidence = empty("test", of);
    for (number, name) in names.iter().enumerate() {
        let start = (number as i64 + 1) * 100 * MS;
        evidence.spans.push(Span::new(SpanKind::Initcall, *name).between(clock(start), clock(start + 7 * MS)));
    }
    evidence
}

fn mark(evidence: &mut Evidence, mark: Mark, time_ns: i64) {
    evidence.marks.push(Instant { mark, time_ns, detail: String::new() });
}

fn fitted(place: &Place) -> (i64, f64, usize) {
    match place {
        Place::Fitted { fitted, .. } => (fitted.line.offset_ns, fitted.line.rate, fitted.shared),
        other => panic_like(other),
    }
}

fn panic_like(other: &Place) -> (i64, f64, usize) {
    assert_eq!(format!("{other:?}"), "a fit");
    (0, 0.0, 0)
}

#[test]
fn the_kernels_clock_is_the_boots_and_an_offset_is_recovered_from_shared_lines() {
    let kernel = log(Clock::Printk, 60, |at| at);
    let journal = log(Clock::Realtime, 60, |at| at + 1_700_000_000_000_000_000);
    let places = align(&[&journal, &kernel]);
    assert_eq!(places[1], Place::Base);
    assert_eq!(fitted(&places[0]), (-1_700_000_000_000_000_000, 1.0, 60));
    assert_eq!(places[0].line().unwrap().at(1_700_000_000_000_000_020), 20);
}

#[test]
fn a_drift_is_recovered_where_enough_events_span_enough_time() {
    let drifting = |at: i64| at + at / 20_000 + 3 * MS;
    let (kernel, other) = (log(Clock::Printk, 400, |at| at), log(Clock::Monotonic, 400, drifting));
    let places = align(&[&kernel, &other]);
    let line = places[1].line().unwrap();
    for number in [1, 200, 400] {
        let at = number * 20 * MS;
        assert!((line.at(drifting(at)) - at).abs() < 1_000, "{line:?}");
    }
}

#[test]
fn a_capturing_machine_is_aligned_by_the_lines_that_came_with_least_delay() {
    // Every tenth line comes at once, the others up to 30 ms late; its clock is fast by 50 ppm.
    let host = |at: i64| {
        let number = at / (20 * MS);
        5_000 * MS + at + at / 20_000 + if number % 10 == 0 { 0 } else { (number * 7_919_013) % (30 * MS) }
    };
    let (kernel, capture) = (log(Clock::Printk, 400, |at| at), log(Clock::Host, 400, host));
    let places = align(&[&kernel, &capture]);
    let line = places[1].line().unwrap();
    for number in [10, 200, 400] {
        let at = number * 20 * MS;
        assert!((line.at(host(at)) - at).abs() < 50_000, "{number}: {}", line.at(host(at)) - at);
    }
}

#[test]
fn a_tracer_that_counts_cycles_is_aligned_by_shared_initcalls() {
    let names: Vec<String> = (0..30).map(|number| format!("driver_{number}_init")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let kernel = initcalls(Clock::Printk, &names, |at| at);
    let cycles = initcalls(Clock::Trace("x86-tsc".to_owned()), &names, |at| at / 5 * 12 + 77_000);
    let places = align(&[&kernel, &cycles]);
    let line = places[1].line().unwrap();
    assert!((line.rate - 5.0 / 12.0).abs() < 1e-9);
    assert!((line.at(77_000 + 2_400 * MS) - 1_000 * MS).abs() < 1_000);
}

#[test]
fn a_record_can_be_placed_by_way_of_another() {
    let kernel = log(Clock::Printk, 50, |at| at);
    let mut between = log(Clock::Realtime, 50, |at| at + 9_000 * MS);
    between.spans = initcalls(Clock::Realtime, &["a_init", "b_init", "c_init"], |at| at + 9_000 * MS).spans;
    let far = initcalls(Clock::Kft, &["a_init", "b_init", "c_init"], |at| at - 40 * MS);
    let places = align(&[&far, &between, &kernel]);
    assert_eq!(fitted(&places[0]), (40 * MS, 1.0, 6));
}

#[test]
fn clocks_that_are_one_by_what_they_are_need_no_shared_event_and_say_that_it_is_assumed() {
    let kernel = log(Clock::Printk, 10, |at| at);
    let mut systemd = empty("test", Clock::Monotonic);
    mark(&mut systemd, Mark::UserspaceStart, 900 * MS);
    let places = align(&[&kernel, &systemd]);
    assert_eq!(fitted(&places[1]), (0, 1.0, 0));
    assert!(matches!(&places[1], Place::Fitted { how, .. } if how.starts_with("assumed")));
}

#[test]
fn readings_of_two_clocks_at_one_instant_beat_assumptions() {
    let kernel = log(Clock::Printk, 10, |at| at);
    let mut systemd = empty("test", Clock::Monotonic);
    mark(&mut systemd, Mark::UserspaceStart, 900 * MS);
    let mut manifest = empty("test", Clock::Untimed);
    manifest.facts = vec![("clock.printk_ahead_of_monotonic_ns".into(), "-11512430".to_owned())];
    let places = align(&[&kernel, &systemd, &systemd, &manifest]);
    assert_eq!(fitted(&places[1]), (-11_512_430, 1.0, 0));
    assert_eq!(fitted(&places[2]), (-11_512_430, 1.0, 0), "the same clock has the same place");
}

#[test]
fn firmware_is_placed_by_a_mark_that_another_record_has_or_not_at_all() {
    let mut systemd = empty("test", Clock::Monotonic);
    mark(&mut systemd, Mark::LoaderStart, -700 * MS);
    mark(&mut systemd, Mark::UserspaceStart, 900 * MS);
    let mut fpdt = empty("test", Clock::Firmware);
    mark(&mut fpdt, Mark::LoaderStart, 2_300 * MS);
    let mut alone = empty("test", Clock::Firmware);
    mark(&mut alone, Mark::LoaderLoad, 5 * MS);
    let places = align(&[&fpdt, &systemd, &alone]);
    assert_eq!(fitted(&places[0]), (-3_000 * MS, 1.0, 1));
    assert!(matches!(places[2], Place::Unaligned(_)));
}

#[test]
fn a_boot_loaders_clock_ends_where_the_kernels_begins_and_that_is_said_to_be_assumed() {
    let kernel = log(Clock::Printk, 10, |at| at);
    let mut bootstage = empty("bootstage", Clock::Firmware);
    mark(&mut bootstage, Mark::FirmwareStart, 0);
    mark(&mut bootstage, Mark::KernelEntry, 4_500 * MS);
    let mut cbmem = empty("cbmem", Clock::Firmware);
    mark(&mut cbmem, Mark::PayloadStart, 805 * MS);
    let places = align(&[&kernel, &bootstage, &cbmem]);
    assert_eq!((fitted(&places[1]).0, fitted(&places[2]).0), (-4_500 * MS, -805 * MS));
    for place in &places[1..] {
        assert!(matches!(place, Place::Fitted { how, .. } if how.starts_with("assumed: ")), "{place:?}");
    }
}

#[test]
fn a_boot_loader_that_a_host_saw_hand_over_is_placed_by_that() {
    let mut console = log(Clock::Printk, 10, |at| at);
    console
        .log
        .push(Stamp { time_ns: Some(300 * MS), host_ns: Some(5_300 * MS), ..Stamp::default() }, b"widget: ready");
    console.host_marks.push(Instant { mark: Mark::KernelEntry, time_ns: 4_000 * MS, detail: String::new() });
    let mut bootstage = empty("bootstage", Clock::Firmware);
    mark(&mut bootstage, Mark::KernelEntry, 3_500 * MS);
    let places = align(&[&console, &bootstage]);
    assert_eq!(places[1].line().unwrap().at(3_500 * MS), -1_000 * MS);
    assert!(matches!(&places[1], Place::Fitted { how, .. } if how.starts_with("both records")), "{places:?}");
}

#[test]
fn whole_seconds_are_of_the_same_boot_as_what_they_round() {
    let second = 1_000 * MS;
    let kernel = log(Clock::Printk, 60, |at| at * 3);
    let whole = |shift: i64| {
        let mut dated = log(Clock::Realtime, 60, |at| (at * 3 + at * shift) / second * second);
        dated.step_ns = second;
        align(&[&kernel, &dated]).remove(1)
    };
    assert!(matches!(whole(0), Place::Fitted { .. }));
    assert!(matches!(whole(7), Place::Foreign(_)), "seven seconds in one are more than rounding");
}

#[test]
fn what_counts_from_user_space_is_placed_where_another_record_says_that_it_began() {
    let mut chain = empty("test", Clock::Userspace);
    mark(&mut chain, Mark::UserspaceStart, 0);
    let kernel = log(Clock::Printk, 10, |at| at);
    let mut systemd = empty("test", Clock::Monotonic);
    mark(&mut systemd, Mark::UserspaceStart, 900 * MS);
    let places = align(&[&chain, &kernel, &systemd]);
    assert_eq!(fitted(&places[0]), (900 * MS, 1.0, 0));
    assert!(matches!(&align(&[&chain, &kernel])[0], Place::Unaligned(why) if why.contains("userspace")));
}

#[test]
fn a_journal_by_the_wall_clock_is_placed_by_when_the_kernels_clock_began() {
    let mut journal = empty("test", Clock::Realtime);
    mark(&mut journal, Mark::KernelClockStart, 70_000 * MS);
    let kernel = log(Clock::Printk, 10, |at| at);
    assert_eq!(fitted(&align(&[&kernel, &journal])[1]), (-70_000 * MS, 1.0, 0));
}

#[test]
fn lines_that_lie_on_no_common_clock_convict_another_boot() {
    let kernel = log(Clock::Printk, 50, |at| at);
    let other = log(Clock::Printk, 50, |at| at + (at / MS * 7_919) % 97 * MS);
    assert!(matches!(align(&[&kernel, &other])[1], Place::Foreign(_)));
}

#[test]
fn a_record_without_times_needs_no_place_and_no_other() {
    let untimed = empty("test", Clock::Untimed);
    assert_eq!(align(&[&untimed]), [Place::Untimed]);
    assert!(align(&[]).is_empty());
}

#[test]
fn what_is_assumed_of_a_clock_is_assumed_of_every_record_that_has_it() {
    let uevent = |name: &'static str| {
        let mut evidence = empty("test", Clock::Monotonic);
        evidence.spans.push(Span::new(SpanKind::Uevent, name).between(40 * MS, 50 * MS));
        evidence
    };
    let (kernel, one, two) = (log(Clock::Printk, 5, |at| at), uevent("sda"), uevent("sdb"));
    let how = |place: &Place| match place {
        Place::Fitted { how, .. } => how.clone(),
        other => format!("{other:?}"),
    };
    let places = align(&[&kernel, &one, &two]);
    assert!(how(&places[1]).starts_with("assumed: both count from the kernel's start"));
    assert_eq!(how(&places[1]), how(&places[2]));
}
