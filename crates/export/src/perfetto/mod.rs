//! Perfetto's native track events, by hand: one sequence of packets, no generated code.
//!
//! The encoding is that of `protos/perfetto/trace` of Perfetto; the numbers of the fields stand beside their use.

mod annotations;
mod packets;
mod tracks;
mod wire;

use crate::lanes::{sweep, Interval, Step};
use crate::timeline::{timeline, LeftOut, Timeline, COLUMNS, GROUPS};
use crate::ExportError;
use annotations::{annotate, iid, name, SpanAnnotations};
use firstlight_schema::interned::{read, Interned, NO_TEXT};
use packets::Packets;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use tracks::{Beside, Lanes, COUNTER_GROUP, LOG_GROUP};
use wire::Message;

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// A longer line of the log is cut.
const LINE_CHARACTERS: usize = 1_000;

/// What a written trace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Spans as slices.
    pub spans: u64,
    /// Spans that are not in it.
    pub left_out: LeftOut,
    /// Lines of the log as instants.
    pub lines: u64,
    /// Lines without a time, which are not in it.
    pub lines_without_time: u64,
    /// By how much every time is later in the trace than in the bundle: a trace has no negative times.
    pub shift_ns: u64,
}

/// Writes the boot at *bundle* as a trace to the file *out*. *title* and *said* describe the boot to a person.
///
/// # Errors
///
/// What reading the tables says, and [`ExportError::Write`].
pub fn write_perfetto(bundle: &Path, out: &Path, title: &str, said: &str) -> Result<Written, ExportError> {
    let timeline = timeline(bundle, &COLUMNS)?;
    let marks = read("marks", &["mark", "time_ns", "instructions", "idle_ns", "source", "detail"], bundle)?;
    let log = read("log", &["line", "time_ns", "source", "text", "level", "caller"], bundle)?;
    let counters = read("counters", &["counter", "time_ns", "value"], bundle)?;
    let times = [&marks, &log, &counters].into_iter().flat_map(|table| table.integers("time_ns")).flatten().copied();
    let starts = timeline.tracks.iter().flat_map(|track| &track.spans).map(|span| span.interval.start);
    let earliest = times.chain(starts).min().unwrap_or(0);
    let shift = if earliest < 0 { earliest.unsigned_abs() } else { 0 };

    let mut trace = Trace { packets: Packets::begin(out)?, shift, event: Message::default() };
    tracks::root(&mut trace.packets)?;
    tracks::group(&mut trace.packets, 0, &format!("Boot {title}"), said)?;
    for (group, (name, _)) in GROUPS.iter().enumerate().skip(1) {
        if timeline.tracks.iter().any(|track| track.group == group) {
            tracks::group(&mut trace.packets, group, name, "")?;
        }
    }
    trace.marks(&marks)?;
    let spans = trace.spans(&timeline, &flows(bundle, &timeline)?)?;
    let (lines, lines_without_time) = trace.log(&log)?;
    trace.counters(&counters)?;
    trace.packets.end()?;
    Ok(Written { spans, left_out: timeline.left_out, lines, lines_without_time, shift_ns: shift })
}

struct Trace {
    packets: Packets,
    shift: u64,
    event: Message,
}

impl Trace {
    fn at(&self, time: i64) -> u64 {
        let shifted = i128::from(time) + i128::from(self.shift);
        u64::try_from(shifted).unwrap_or(0)
    }

    fn begin_event(&mut self, kind: u64, track: u64) {
        self.event.bytes.clear();
        self.event.uint(9, kind);
        self.event.uint(11, track);
    }

    fn end_event(&mut self, time: i64) -> Result<(), ExportError> {
        let time = self.at(time);
        self.packets.event(time, &self.event)
    }

    fn spans(&mut self, timeline: &Timeline, flows: &HashMap<usize, Vec<u64>>) -> Result<u64, ExportError> {
        let table = &timeline.spans;
        annotations::intern(&mut self.packets, table)?;
        let (kinds, names) = (table.numbers("kind"), table.numbers("name"));
        let mut annotations = SpanAnnotations::new(table);
        let mut numbers = Lanes::new();
        let mut written = 0;
        for (rank, track) in timeline.tracks.iter().enumerate() {
            let intervals: Vec<Interval> = track.spans.iter().map(|span| span.interval).collect();
            let mut lanes: Vec<u64> = Vec::new();
            let mut result = Ok(());
            sweep(&intervals, |step, lane| {
                if result.is_err() {
                    return;
                }
                result = (|| {
                    let uuid = match lanes.get(lane) {
                        Some(uuid) => *uuid,
                        None => {
                            let uuid = numbers.describe(&mut self.packets, track, rank, lane)?;
                            lanes.push(uuid);
                            uuid
                        }
                    };
                    let (Step::Begin(number) | Step::End(number)) = step;
                    let Some(span) = track.spans.get(number) else { return Ok(()) };
                    if matches!(step, Step::End(_)) {
                        self.begin_event(SLICE_END, uuid);
                        return self.end_event(span.interval.end.unwrap_or(i64::MAX));
                    }
                    self.begin_event(SLICE_BEGIN, uuid);
                    self.event.uint(3, iid(kinds.get(span.row).copied().unwrap_or(NO_TEXT)));
                    self.event.uint(10, iid(names.get(span.row).copied().unwrap_or(NO_TEXT)));
                    annotations.write(&mut self.event, span);
                    for flow in flows.get(&span.row).into_iter().flatten() {
                        self.event.fixed64(47, *flow);
                    }
                    written += 1;
                    self.end_event(span.interval.start)
                })();
            });
            result?;
        }
        Ok(written)
    }

    fn marks(&mut self, table: &Interned) -> Result<(), ExportError> {
        tracks::beside(&mut self.packets, Beside::Marks)?;
        for row in 0..table.rows() {
            let text = |column: &str| table.numbers(column).get(row).and_then(|number| table.texts.get(*number));
            let integer = |column: &str| table.integers(column).get(row).copied().flatten();
            let Some(time) = integer("time_ns") else { continue };
            self.begin_event(INSTANT, Beside::Marks.uuid());
            self.event.text(22, "mark");
            self.event.text(23, text("mark").unwrap_or_default());
            for column in ["instructions", "idle_ns"] {
                if let Some(value) = integer(column) {
                    annotate_by_name(&mut self.event, column, |annotation| annotation.int(4, value));
                }
            }
            for column in ["source", "detail"] {
                if let Some(value) = text(column).filter(|text| !text.is_empty()) {
                    annotate_by_name(&mut self.event, column, |annotation| annotation.text(6, value));
                }
            }
            self.end_event(time)?;
        }
        Ok(())
    }

    fn log(&mut self, table: &Interned) -> Result<(u64, u64), ExportError> {
        let (mut lines, mut without) = (0, 0);
        for row in 0..table.rows() {
            let text = |column: &str| table.numbers(column).get(row).and_then(|number| table.texts.get(*number));
            let integer = |column: &str| table.integers(column).get(row).copied().flatten();
            let Some(time) = integer("time_ns") else {
                without += 1;
                continue;
            };
            if lines == 0 {
                tracks::group(&mut self.packets, LOG_GROUP, "Log", "")?;
                tracks::beside(&mut self.packets, Beside::Log)?;
            }
            lines += 1;
            let line = text("text").unwrap_or_default();
            let cut = line.char_indices().nth(LINE_CHARACTERS).and_then(|(place, _)| line.get(..place));
            self.begin_event(INSTANT, Beside::Log.uuid());
            self.event.text(22, "log");
            match cut {
                Some(cut) => self.event.text(23, &format!("{cut}…")),
                None => self.event.text(23, line),
            }
            for column in ["line", "level"] {
                if let Some(value) = integer(column) {
                    annotate(&mut self.event, name(column), |annotation| annotation.int(4, value));
                }
            }
            for column in ["source", "caller"] {
                if let Some(value) = text(column) {
                    annotate(&mut self.event, name(column), |annotation| annotation.text(6, value));
                }
            }
            self.end_event(time)?;
        }
        Ok((lines, without))
    }

    fn counters(&mut self, table: &Interned) -> Result<(), ExportError> {
        let mut places: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
        for row in 0..table.rows() {
            let integer = |column: &str| table.integers(column).get(row).copied().flatten();
            let counter = table.numbers("counter").get(row).and_then(|number| table.texts.get(*number));
            if let (Some(counter), Some(time), Some(value)) = (counter, integer("time_ns"), integer("value")) {
                places.entry(counter).or_default().push((time, value));
            }
        }
        if !places.is_empty() {
            tracks::group(&mut self.packets, COUNTER_GROUP, "Counters", "")?;
        }
        for (place, (counter, values)) in places.into_iter().enumerate() {
            let uuid = tracks::counter(&mut self.packets, place, counter)?;
            for (time, value) in values {
                self.begin_event(COUNTER, uuid);
                self.event.int(30, value);
                self.end_event(time)?;
            }
        }
        Ok(())
    }
}

/// Before the names of annotations are interned.
fn annotate_by_name(event: &mut Message, name: &str, fill: impl FnOnce(&mut Message)) {
    event.message(4, |annotation| {
        annotation.text(10, name);
        fill(annotation);
    });
}

/// Arrows from what was waited for to what waited: for each row of the spans the numbers of its arrows. A link whose
/// spans are not drawn, or drawn in the other order, has none.
fn flows(bundle: &Path, timeline: &Timeline) -> Result<HashMap<usize, Vec<u64>>, ExportError> {
    let mut flows: HashMap<usize, Vec<u64>> = HashMap::new();
    if !firstlight_schema::table::path_of(bundle, "links").exists() {
        return Ok(flows);
    }
    let links = read("links", &["from_kind", "from_name", "to_kind", "to_name"], bundle)?;
    if links.rows() == 0 {
        return Ok(flows);
    }
    let table = &timeline.spans;
    let mut places: HashMap<(&str, &str), (usize, i64)> = HashMap::new();
    for span in timeline.tracks.iter().flat_map(|track| &track.spans) {
        let text = |column: &str| table.numbers(column).get(span.row).and_then(|number| table.texts.get(*number));
        let key = (text("kind").unwrap_or_default(), text("name").unwrap_or_default());
        places.entry(key).or_insert((span.row, span.interval.start));
    }
    for row in 0..links.rows() {
        let text = |column: &str| links.numbers(column).get(row).and_then(|number| links.texts.get(*number));
        let place = |kind: &str, name: &str| places.get(&(text(kind)?, text(name)?)).copied();
        let ends = (place("to_kind", "to_name"), place("from_kind", "from_name"));
        let (Some((awaited, awaited_start)), Some((waiting, start))) = ends else { continue };
        if awaited != waiting && awaited_start <= start {
            flows.entry(awaited).or_default().push(row as u64 + 1);
            flows.entry(waiting).or_default().push(row as u64 + 1);
        }
    }
    Ok(flows)
}
