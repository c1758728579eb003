//! One journal in two forms.

use crate::made::{boot, mark, of, record, Boot, MS};
use firstlight_formats::evidence::{Clock, Evidence, Mark, Span, SpanKind, Stamp};

/// Lines of a journal: when each was sent, and when it was received.
const LINES: [(i64, i64); 8] =
    [(100, 600), (150, 600), (200, 601), (400, 602), (610, 640), (650, 680), (700, 702), (900, 903)];

fn form(format: &'static str, instants: impl Fn((i64, i64)) -> i64) -> Evidence {
    let mut evidence = Evidence { step_ns: 1_000, ..of(format, Clock::Monotonic) };
    for (number, line) in (0_u64..).zip(LINES) {
        let (at, device) = (instants(line), format!("sd{number}"));
        let stamp = Stamp { line: number + 1, time_ns: Some(at * MS), ..Stamp::default() };
        evidence.log.push(stamp, format!("udevd[{number}]: {device} was taken up").as_bytes());
        let event = Span::new(SpanKind::Uevent, device).between(at * MS, (at + 1) * MS);
        evidence.spans.push(event.with("seqnum", number.to_string()));
    }
    evidence.marks = vec![mark(Mark::StartupFinished, instants((950, 953)))];
    evidence.understood = 8;
    evidence
}

fn left_out(boot: &Boot) -> bool {
    boot.summary.warnings.iter().any(|warning| warning.contains("left out"))
}

#[test]
fn a_text_with_the_instants_at_which_journald_received_the_lines_is_the_same_journal() {
    let json = record("journal.json", vec![form("journal-json", |(sent, _)| sent)]);
    for format in ["journal-short", "udev-log"] {
        let mut text = form(format, |(_, received)| received);
        let stamp = Stamp { line: 9, time_ns: Some(800 * MS), ..Stamp::default() };
        text.log.push(stamp, b"only the text has this line");
        let text = record("text", vec![text]);
        for turned in [false, true] {
            let of = |read: &firstlight_merge::record::Read| record(&read.file, read.outcome.as_ref().unwrap().clone());
            let reads = if turned { [of(&text), of(&json)] } else { [of(&json), of(&text)] };
            let boot = boot(&reads);
            assert!(!left_out(&boot), "{:?}", boot.summary.warnings);
            assert_eq!((boot.summary.lines, boot.summary.copies), (9, 8));
            assert_eq!(boot.summary.contradictions, []);
            // The sending time wins.
            let events = boot.spans("uevent");
            assert_eq!(events.len(), 8);
            assert!(events[0].starts_with("sd0 100-101 took 1 good (journal.json)"), "{events:?}");
            let fit = boot.summary.sources.iter().find(|source| source.file == "text").unwrap().fit.clone().unwrap();
            assert!(fit.how.ends_with("8 lines are those of journal.json, which has when they were sent"), "{fit:?}");
        }
    }
}

#[test]
fn a_text_with_the_lines_of_another_boot_is_still_another_boots() {
    let json = || record("journal.json", vec![form("journal-json", |(sent, _)| sent)]);
    let with = |instants: fn((i64, i64)) -> i64| boot(&[json(), record("text", vec![form("journal-short", instants)])]);
    // Slower and slower, and now early and now late.
    assert!(left_out(&with(|(sent, _)| sent + sent / 2)));
    assert!(left_out(&with(|(sent, _)| if sent % 100 == 0 { sent + 40 } else { sent - 45 })));
}
