//! What a recorded boot says on its own console: probes, units, the names of modules' initcalls. The recorder stamps every
//! line that is printed; by these stamps the kernel's clock is put onto the recording's. What the recording measured stays.
//! The kernel's ring buffer, where the guest reported it, has more lines: a console leaves out those below its level.

use crate::fit::{below, Line};
use crate::tables::object;
use crate::MergeError;
use firstlight_formats::about::Role;
use firstlight_formats::evidence::{Evidence, Grade, SpanKind, SpanRef};
use firstlight_formats::format::{Input, Recognise};
use firstlight_formats::registry::READERS;
use firstlight_formats::systemd::console_units::ConsoleUnits;
use firstlight_schema::columns::columns;
use firstlight_schema::table::{read, write, Values};
use firstlight_schema::InitcallLevel;
use firstlight_schema::ReasonCode;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The kernel measures its clock at each start, and errs by less than this.
pub(crate) const CALIBRATED: f64 = 0.01;
/// Facts of the console that no report has.
const FACTS: [&str; 3] = ["kernel.deferred_probe", "kernel.initcalls_blacklisted", "systemd.failed"];
const SOURCE: &str = "console";

/// Adds the spans and links of a console to the bundle, and returns the facts that the console holds. The table of the
/// log is there already: lines behind its last one with an instant are left out.
///
/// # Errors
///
/// When a table cannot be read or written.
pub fn add_console(console: &[u8], ring: Option<&[u8]>, bundle: &Path) -> Result<Vec<(String, String)>, MergeError> {
    let instants = instants(bundle)?;
    let Some(last) = instants.iter().rposition(Option::is_some) else { return Ok(Vec::new()) };
    let end = end_of(console, last + 1);
    // A console without a line of the kernel adds nothing.
    let Some(evidence) = first_boot(Role::Console, console.get(..end).unwrap_or(console)) else {
        return Ok(Vec::new());
    };
    let at = |line: u64| {
        let place = usize::try_from(line).ok()?.checked_sub(1)?;
        instants.get(place).copied().flatten()
    };
    let both =
        evidence.log.iter().filter_map(|(stamp, _)| Some((stamp.time_ns.filter(|own| *own > 0)?, at(stamp.line)?)));
    let fitted = below(both.collect(), CALIBRATED);
    let mut rows = Rows::open(bundle, SOURCE)?;
    let mut kernel = ring.and_then(|ring| first_boot(Role::KernelRing, ring)).unwrap_or_else(|| evidence.clone());
    if let Some(fitted) = fitted {
        // Units come from the lines themselves, of which more have the recorder's timestamp than the kernel's.
        let units = [SpanKind::Unit, SpanKind::UnitActive, SpanKind::Stage];
        rows.add(&kernel, fitted.line, |kind| !units.contains(&kind));
    }
    let mut said = Evidence::default();
    let mut units = ConsoleUnits::default();
    for (stamp, text) in evidence.log.iter() {
        if let Some(time_ns) = at(stamp.line) {
            units.line(time_ns, text);
        }
    }
    units.finish(&mut said);
    rows.add(&said, Line::SAME, |kind| kind != SpanKind::Stage);
    rows.write(bundle)?;
    add_links(&kernel, SOURCE, bundle)?;
    kernel.facts.retain(|(fact, _)| fact != "systemd.failed");
    kernel.facts.append(&mut said.facts);
    let wanted = |fact: &str| FACTS.iter().any(|known| fact.starts_with(known));
    let facts = kernel.facts.into_iter().filter(|(fact, _)| wanted(fact));
    Ok(facts.map(|(fact, value)| (fact.into_owned(), value)).collect())
}

pub(crate) fn first_boot(role: Role, mut bytes: &[u8]) -> Option<Evidence> {
    READERS.for_role(role)?.read(Input { name: SOURCE, bytes: &mut bytes, nested: &READERS }).ok()?.into_iter().next()
}

/// When each line was printed.
fn instants(bundle: &Path) -> Result<Vec<Option<i64>>, MergeError> {
    match read("log", bundle)?.into_iter().nth(1) {
        Some(Values::Int64(times)) => Ok(times),
        _ => Ok(Vec::new()),
    }
}

/// Where so many lines end.
fn end_of(bytes: &[u8], lines: usize) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.take(lines).last().filter(|_| lines > 0).unwrap_or(bytes.len())
}

/// The table of spans as columns.
pub(crate) struct Rows {
    /// The source of the rows that are added.
    source: &'static str,
    numbers: FxHashMap<&'static str, Vec<Option<i64>>>,
    texts: FxHashMap<&'static str, Vec<Option<String>>>,
    count: usize,
    /// The number of the next row: those of rows that were taken away are not given again.
    next: i64,
    phases: Vec<usize>,
    /// When the last phase ends.
    end: i64,
    /// Rows of the recording's own initcalls that no call of the console has been found to be.
    free: Vec<usize>,
}

impl Rows {
    pub fn open(bundle: &Path, source: &'static str) -> Result<Self, MergeError> {
        let mut rows = Self {
            source,
            numbers: FxHashMap::default(),
            texts: FxHashMap::default(),
            count: 0,
            next: 0,
            phases: Vec::new(),
            end: i64::MAX,
            free: Vec::new(),
        };
        for (column, values) in columns("spans").unwrap_or_default().iter().zip(read("spans", bundle)?) {
            rows.count = values.len();
            match values {
                Values::Int64(values) => rows.numbers.insert(column.name, values).is_some(),
                Values::Text(values) => rows.texts.insert(column.name, values).is_some(),
            };
        }
        let of = |kind: SpanKind| (0..rows.count).filter(|row| rows.text("kind", *row) == kind.name()).collect();
        (rows.phases, rows.free) = (of(SpanKind::Phase), of(SpanKind::Initcall));
        let numbers = rows.numbers.get("span").map(Vec::as_slice).unwrap_or_default();
        rows.next = numbers.iter().flatten().max().map_or(0, |last| last.saturating_add(1));
        rows.end = rows.phases.iter().filter_map(|row| rows.number("end_ns", *row)).max().unwrap_or(i64::MAX);
        Ok(rows)
    }

    /// Name and end of every row of a kind.
    pub fn ends(&self, kind: SpanKind) -> impl Iterator<Item = (&str, i64)> {
        let of = move |row: &usize| self.text("kind", *row) == kind.name();
        (0..self.count).filter(of).filter_map(|row| Some((self.text("name", row), self.number("end_ns", row)?)))
    }

    /// Removes the rows of a kind for which `is_known` says that a better source exists.
    pub fn forget(&mut self, kinds: &[SpanKind], is_known: impl Fn(&str) -> bool) {
        let named = |row: usize| kinds.iter().any(|kind| self.text("kind", row) == kind.name());
        let kept: Vec<bool> = (0..self.count).map(|row| !(named(row) && is_known(self.text("name", row)))).collect();
        let keep = |values: usize| (0..values).map(|row| kept.get(row).copied().unwrap_or(true));
        for values in self.numbers.values_mut() {
            let mut keep = keep(values.len());
            values.retain(|_| keep.next().unwrap_or(true));
        }
        for values in self.texts.values_mut() {
            let mut keep = keep(values.len());
            values.retain(|_| keep.next().unwrap_or(true));
        }
        self.count = kept.iter().filter(|kept| **kept).count();
        let of = |kind: SpanKind| (0..self.count).filter(|row| self.text("kind", *row) == kind.name()).collect();
        (self.phases, self.free) = (of(SpanKind::Phase), of(SpanKind::Initcall));
    }

    fn number(&self, column: &str, row: usize) -> Option<i64> {
        self.numbers.get(column)?.get(row).copied().flatten()
    }

    fn text(&self, column: &str, row: usize) -> &str {
        self.texts.get(column).and_then(|values| values.get(row)?.as_deref()).unwrap_or_default()
    }

    fn set(&mut self, column: &str, row: usize, value: Option<String>) {
        if let Some(slot) = self.texts.get_mut(column).and_then(|values| values.get_mut(row)) {
            *slot = value;
        }
    }

    /// Adds spans, whose clock is put onto the recording's by a line.
    pub fn add(&mut self, evidence: &Evidence, line: Line, wanted: impl Fn(SpanKind) -> bool) {
        self.add_some(evidence, line, |_, kind| wanted(kind));
    }

    /// As [`Self::add`], of spans that are chosen by their place, too.
    pub fn add_some(&mut self, evidence: &Evidence, line: Line, wanted: impl Fn(usize, SpanKind) -> bool) {
        let measured = !self.free.is_empty();
        let mut moved: Vec<Option<usize>> = Vec::with_capacity(evidence.spans.len());
        for (place, span) in evidence.spans.iter().enumerate() {
            let row = match span.kind {
                SpanKind::Initcall if measured => self.known(span, line),
                SpanKind::Console => None,
                // What the ring holds of later is not part of the recording.
                _ if span.start_ns.or(span.end_ns).is_some_and(|at| line.at(at) > self.end) => None,
                kind if !wanted(place, kind) => None,
                _ => Some(self.append(span, line)),
            };
            moved.push(row);
        }
        for (span, row) in evidence.spans.iter().zip(&moved) {
            let Some(row) = row.filter(|_| span.kind != SpanKind::Initcall || !measured) else { continue };
            let within = |outer: usize| {
                let before = |one: Option<i64>, two: Option<i64>| one.zip(two).is_none_or(|(one, two)| one <= two);
                before(self.number("start_ns", outer), self.number("start_ns", row))
                    && before(self.number("end_ns", row), self.number("end_ns", outer))
            };
            let told =
                span.parent.and_then(|parent| moved.get(parent).copied().flatten()).filter(|outer| within(*outer));
            let known = self.number("start_ns", row).and(self.number("end_ns", row)).is_some();
            let phase = || self.phases.iter().copied().find(|outer| within(*outer));
            let parent = told.or_else(|| phase().filter(|_| known));
            let parent = parent.and_then(|parent| self.number("span", parent));
            if let Some(slot) = self.numbers.get_mut("parent").and_then(|values| values.get_mut(row)) {
                *slot = parent;
            }
        }
    }

    /// The recording's own row of an initcall on the console; it gets what only the console has.
    fn known(&mut self, span: SpanRef<'_>, line: Line) -> Option<usize> {
        let (start, end) = (span.start_ns.map(|at| line.at(at)), span.end_ns.map(|at| line.at(at)));
        let module = span.level == Some(InitcallLevel::Module.name());
        let apart = |row: &usize| {
            let begun = self.number("start_ns", *row)?;
            Some(begun.saturating_sub(start.or(end)?).saturating_abs())
        };
        let named = self.free.iter().filter(|row| self.text("name", **row) == span.name);
        let row = named.min_by_key(|row| apart(row).unwrap_or(i64::MAX)).copied().or_else(|| {
            // The initialiser of a module is freed when it has run: the recording knows no more than its address.
            let nameless = |row: &&usize| {
                self.text("name", **row).starts_with("0x")
                    && self.text("level", **row) == InitcallLevel::Module.name()
                    && (span.track.is_empty() || self.text("track", **row) == span.track)
            };
            let common = |row: &usize| {
                let from = self.number("start_ns", *row)?.max(start?);
                let until = self.number("end_ns", *row)?.min(end?);
                Some(until.saturating_sub(from)).filter(|shared| *shared > 0)
            };
            let best = self.free.iter().filter(|_| module).filter(nameless);
            best.filter_map(|row| Some((common(row)?, *row))).max().map(|(_, row)| row)
        })?;
        self.free.retain(|free| *free != row);
        let address = self.text("name", row).to_owned();
        let mut told: Vec<(&str, &str)> = span.attributes.iter().collect();
        if span.end_ns.is_some() && !told.iter().any(|(key, _)| *key == "returned") {
            told.push(("returned", "0"));
        }
        if address != span.name {
            told.push(("address", address.as_str()));
        }
        let told = object(told);
        self.set("attributes", row, told);
        self.set("name", row, Some(span.name.to_owned()));
        Some(row)
    }

    fn append(&mut self, span: SpanRef<'_>, line: Line) -> usize {
        let row = self.count;
        let number = self.next;
        self.next += 1;
        self.count += 1;
        // What goes on when the recording is over has no end in it.
        let late = span.end_ns.is_some_and(|end| line.at(end) > self.end);
        let own = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut told: Vec<(&str, &str)> = span.attributes.iter().collect();
        let answers = matches!(span.kind, SpanKind::Probe | SpanKind::Initcall);
        if answers && span.end_ns.is_some() && !told.iter().any(|(key, _)| *key == "returned") {
            told.push(("returned", "0"));
        }
        let told = object(told);
        for (column, values) in &mut self.numbers {
            values.push(match *column {
                "span" => Some(number),
                "start_ns" => span.start_ns.map(|at| line.at(at)),
                "end_ns" => span.end_ns.filter(|_| !late).map(|at| line.at(at)),
                "duration_ns" => span.duration_ns.filter(|_| !late).map(|length| line.length(length)),
                _ => None,
            });
        }
        for (column, values) in &mut self.texts {
            values.push(match *column {
                "kind" => own(span.kind.name()),
                "name" => own(span.name),
                "track" => Some(span.track.to_owned()),
                "level" => span.level.map(str::to_owned),
                "grade" if late => own(Grade::Unknown.name()),
                "grade" => own(span.grade.name()),
                "reason" if late => own(ReasonCode::RecordingEnded.text()),
                "reason" => own(span.reason),
                "source" => own(self.source),
                "attributes" => told.clone(),
                _ => None,
            });
        }
        row
    }

    pub fn write(mut self, bundle: &Path) -> Result<(), MergeError> {
        let schema = columns("spans").unwrap_or_default();
        let values = schema.iter().filter_map(|column| {
            let numbers = self.numbers.remove(column.name).map(Values::Int64);
            Some((column.name, numbers.or_else(|| self.texts.remove(column.name).map(Values::Text))?))
        });
        Ok(write("spans", values.collect(), bundle)?)
    }
}

pub(crate) fn add_links(evidence: &Evidence, source: &str, bundle: &Path) -> Result<(), MergeError> {
    let mut all = Vec::new();
    for (place, (column, values)) in columns("links").unwrap_or_default().iter().zip(read("links", bundle)?).enumerate()
    {
        let Values::Text(mut values) = values else { continue };
        values.extend(evidence.links.iter().map(|link| {
            let told = [
                link.kind.name(),
                link.from.0.name(),
                link.from.1.as_str(),
                link.to.0.name(),
                link.to.1.as_str(),
                source,
            ];
            told.get(place).map(|text| (*text).to_owned())
        }));
        all.push((column.name, Values::Text(values)));
    }
    Ok(write("links", all, bundle)?)
}
