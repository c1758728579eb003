//! Units that several records tell.

use crate::made::{boot, kernel, mark, of, record, Boot, LINES, MS};
use firstlight_formats::evidence::{Clock, Evidence, Mark, Span, SpanKind};

pub fn unit(name: &str, start: i64, end: i64) -> Span {
    Span::new(SpanKind::Unit, name).between(start * MS, end * MS)
}

#[test]
fn systemds_own_stamps_of_a_unit_win_over_messages_about_it_and_make_one_row_with_them() {
    let mut log = kernel(&LINES);
    log.spans = vec![unit("a.service", 6_739, 9_000), unit("b.service", 12, 15)].into();
    let mut show = of("systemd-show", Clock::Monotonic);
    show.step_ns = 1_000;
    show.spans = vec![unit("a.service", 5_000, 8_500), unit("b.service", 12, 15)].into();
    let mut blame = of("systemd-blame", Clock::Untimed);
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
    let mut show = of("systemd-show", Clock::Monotonic);
    show.spans = vec![unit("a.service", 4_000, 5_500)].into();
    let boot = boot(&[record("dmesg", vec![log]), record("show", vec![show])]);
    let spans = boot.spans("unit");
    assert_eq!(spans.len(), 2);
    assert!(spans[0].starts_with("a.service 990-1990 took 1000 good (dmesg)"), "{spans:?}");
    assert!(spans[1].starts_with("a.service 3990-5490 took 1500 good (show and dmesg)"), "{spans:?}");
}

#[test]
fn a_unit_that_a_message_tells_otherwise_is_a_contradiction_and_keeps_the_figure_of_systemd() {
    let unit = |name: &str, start: i64, end: i64| {
        Span { track: "systemd".into(), ..Span::new(SpanKind::Unit, name) }.between(start * MS, end * MS)
    };
    let mut show = of("systemd-show", Clock::Monotonic);
    show.spans = vec![unit("late.service", 100, 3_490), unit("prompt.service", 100, 3_490)].into();
    let mut journal = of("journal-json", Clock::Monotonic);
    journal.spans = vec![unit("late.service", 194, 3_490), unit("prompt.service", 105, 3_490)].into();
    let short = of("journal-short", Clock::Monotonic);
    let copy = Evidence { format: short.format, traits: short.traits, ..journal.clone() };
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
fn stages_and_marks_of_systemd_follow_one_record_and_its_own_figures_exclude_one_another() {
    let stage = |end: i64| Span::new(SpanKind::Stage, "userspace").between(1_000 * MS, end * MS);
    let told = |format: &'static str, end: i64| {
        let mut evidence = of(format, Clock::Monotonic);
        evidence.spans = vec![stage(end)].into();
        evidence.marks = vec![mark(Mark::UserspaceStart, 1_000), mark(Mark::StartupFinished, end)];
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
        ..of(format, Clock::Monotonic)
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
