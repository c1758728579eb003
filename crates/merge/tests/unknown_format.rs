//! A format that merging has never heard of: what it says of itself is enough.
#![expect(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

use firstlight_formats::about::{About, Anchor, Origin, Traits};
use firstlight_formats::evidence::{Clock, Evidence, Grade, Instant, Mark, Span, SpanKind};
use firstlight_formats::format::{Format, Head, Input, Likelihood};
use firstlight_formats::registry::READERS;
use firstlight_formats::FormatError;
use firstlight_merge::align::{align, Place};
use firstlight_merge::grades::{distance, origin};
use firstlight_merge::record::Read;
use firstlight_merge::{merge, MergeSummary};
use firstlight_schema::table::{read, Values};

const MS: i64 = 1_000_000;

/// `MARK MILLISECONDS`, or `UNIT FROM TO`, a line each.
struct Invented(About);

impl Invented {
    const fn new(name: &'static str, traits: Traits) -> Self {
        Self(About { name, title: "an invented record", traits })
    }

    fn evidence(&'static self, clock: Clock, text: &str) -> Evidence {
        let mut bytes = text.as_bytes();
        let mut all = self.read(Input { name: "", bytes: &mut bytes, nested: &READERS }).unwrap();
        Evidence { clock, ..all.remove(0) }
    }
}

impl Format for Invented {
    fn about(&self) -> &'static About {
        [&STAMPS, &NOTES, &BOARD].into_iter().map(|one| &one.0).find(|about| about.name == self.0.name).unwrap()
    }

    fn likelihood(&self, _: &Head<'_>) -> Likelihood {
        Likelihood::No
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut text = String::new();
        input.bytes.read_to_string(&mut text)?;
        let mut evidence = Evidence { step_ns: 1_000, ..Evidence::of(self.about(), Clock::Monotonic) };
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let at = |place: usize| words[place].parse::<i64>().unwrap() * MS;
            evidence.understood += 1;
            match Mark::parse(words[0]) {
                Some(mark) => evidence.marks.push(Instant { mark, time_ns: at(1), detail: line.to_owned() }),
                None => evidence.spans.push(Span::new(SpanKind::Unit, words[0]).between(at(1), at(2))),
            }
        }
        Ok(vec![evidence])
    }
}

static STAMPS: Invented = Invented::new("stamps", Traits { units: 1, ..Traits::of(Origin::Other) });
static NOTES: Invented = Invented::new("notes", Traits::of(Origin::Other));
static BOARD: Invented = Invented::new(
    "board",
    Traits {
        anchor: Some(Anchor { mark: Mark::LoaderEnd, assumption: ": the board hands over then" }),
        ..Traits::of(Origin::Firmware)
    },
);

fn merged(all: &[(&str, Evidence)]) -> (MergeSummary, tempfile::TempDir) {
    let reads: Vec<Read> =
        all.iter().map(|(file, one)| Read { file: (*file).to_owned(), outcome: Ok(vec![one.clone()]) }).collect();
    let bundle = tempfile::tempdir().unwrap();
    (merge(&reads, &vec![Some(0); reads.len()], bundle.path()).unwrap(), bundle)
}

#[test]
fn its_clock_is_aligned_by_its_anchor() {
    let kernel = STAMPS.evidence(Clock::Monotonic, "userspace_start 900");
    let board = BOARD.evidence(Clock::Firmware, "firmware_start 0\nloader_end 2500");
    let places = align(&[&kernel, &board]);
    let Place::Fitted { fitted, how } = &places[1] else { panic!("{:?}", places[1]) };
    assert_eq!(fitted.line.at(2_500 * MS), 0);
    assert_eq!(how, "assumed: the board hands over then");
}

#[test]
fn its_distance_ranks_it_and_its_origin_makes_it_a_witness() {
    let (stamps, notes) = (STAMPS.evidence(Clock::Monotonic, "a.service 10 500"), NOTES.evidence(Clock::Monotonic, ""));
    assert!(distance(SpanKind::Unit, &stamps) < distance(SpanKind::Unit, &notes));
    assert_eq!(origin(SpanKind::Process, &BOARD.evidence(Clock::Firmware, "")), Origin::Firmware);
}

#[test]
fn of_two_that_contradict_one_another_the_nearer_one_is_in_the_table() {
    for notes_first in [false, true] {
        let stamps = ("stamps", STAMPS.evidence(Clock::Monotonic, "userspace_start 1\na.service 10 500"));
        let notes = ("notes", NOTES.evidence(Clock::Monotonic, "userspace_start 1\na.service 10 900"));
        let (summary, bundle) = merged(&if notes_first { [notes, stamps] } else { [stamps, notes] });
        let spans = read("spans", bundle.path()).unwrap();
        let (Values::Text(kinds), Values::Int64(lengths)) = (&spans[2], &spans[10]) else { panic!("{spans:?}") };
        let unit = kinds.iter().position(|kind| kind.as_deref() == Some(SpanKind::Unit.name())).unwrap();
        assert_eq!(lengths[unit], Some(490 * MS));
        assert_eq!(summary.grades[&(SpanKind::Unit.name(), Grade::Good.name())], 1);
        assert_eq!(summary.contradictions[0].what, "how long unit `a.service` took");
        assert_eq!(summary.contradictions[0].statements[0].0, "stamps", "the tables follow the first");
    }
}
