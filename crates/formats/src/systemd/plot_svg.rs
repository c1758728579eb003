//! The picture that `systemd-analyze plot` draws: a bar is a time, to a hundredth of a millisecond.

use super::plot_units;
use super::time::target;
use super::timespan::{nanoseconds, STEP_NS};
use super::unit_times::{is_unit, UnitTimes};
use crate::about::{About, Origin, Traits};
use crate::decimal::scaled;
use crate::evidence::{Clock, Evidence, Instant, Link, LinkKind, ProblemKind, Span, SpanKind, Stage};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use quick_xml::events::{BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the SVG of `systemd-analyze plot`.
pub struct SystemdPlotSvg;

const SIGNATURE: &[u8] = b"This file is a systemd-analyze SVG file";

/// More rows than any system has units.
const MOST_ROWS: usize = 1 << 20;

/// One row of the picture, in thousandths of a pixel.
#[derive(Default)]
struct Row {
    bars: Vec<(String, i64, i64)>,
    text: String,
    title: String,
}

#[derive(Default)]
struct Picture {
    rows: BTreeMap<i64, Row>,
    /// Thousandths of a pixel at the latest labelled second, and that second in milliseconds.
    scale: Option<(i64, i64)>,
    heading: Vec<String>,
    version: Option<String>,
    cut: bool,
}

impl Format for SystemdPlotSvg {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemdPlotSvg, Traits { units: 2, stages: 2, ..Traits::of(Origin::Systemd) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        Likelihood::of_signature(memchr::memmem::find(head.bytes, SIGNATURE).is_some())
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let picture = picture(input)?;
        let not = |what: &str| FormatError::NotThis { format: self.title(), what: what.to_owned() };
        let Some((pixels, milliseconds)) = picture.scale else { return Err(not("it has no axis of seconds")) };
        // Nanoseconds of a thousandth of a pixel, rounded.
        let ns_of = |position: i64| {
            let ns = i128::from(position) * i128::from(milliseconds) * 1_000_000 / i128::from(pixels);
            i64::try_from(ns).unwrap_or(0) / 1000 * 1000
        };
        let step_ns = ns_of(1).max(1000);
        let mut evidence = Evidence { first_line: 1, step_ns, ..Evidence::of(self.about(), Clock::Monotonic) };
        if let Some(version) = picture.version {
            evidence.facts.push(("systemd.version".into(), version));
        }
        let (mut units, mut end, mut userspace) = (Vec::new(), None, None);
        for row in picture.rows.values() {
            let bar = |class: &str| {
                row.bars.iter().find(|bar| bar.0 == class).map(|bar| (ns_of(bar.1), ns_of(bar.1.saturating_add(bar.2))))
            };
            evidence.understood += 1;
            let before = Stage::parse(&row.text).filter(|stage| *stage != Stage::Userspace);
            match row.text.as_str() {
                text if before.is_some() => {
                    before.into_iter().for_each(|before| stage(before, bar(text), &bar, &mut evidence));
                }
                "systemd" => {
                    userspace = bar("active").map(|(start, _)| start);
                    end = bar("active").map(|(_, end)| end);
                    stage(Stage::Userspace, bar("active"), &bar, &mut evidence);
                }
                text => match unit(row, text, &bar, step_ns) {
                    Some(unit) => {
                        dependencies(&row.title, &unit.name, &mut evidence);
                        units.push(unit);
                    }
                    None => evidence.understood -= 1,
                },
            }
        }
        if evidence.understood == 0 {
            return Err(not("it has no row of a unit or stage"));
        }
        plot_units::report(units, end, &mut evidence);
        let barred: BTreeSet<String> =
            evidence.spans.iter().filter(|span| span.kind == SpanKind::Unit).map(|span| span.name.to_owned()).collect();
        for line in picture.heading.iter().flat_map(|text| text.lines()) {
            let mut heading = Evidence::default();
            machine(line.trim(), &mut heading);
            target(line.trim(), userspace, &mut heading);
            // The target has its own bar: that the heading names it, too, is no second start.
            if !heading.spans.iter().any(|span| barred.contains(span.name)) {
                evidence.spans.append(&heading.spans);
            }
            evidence.facts.append(&mut heading.facts);
            evidence.marks.append(&mut heading.marks);
            evidence.problems.append(&mut heading.problems);
        }
        if picture.cut {
            evidence.problem(ProblemKind::Cut, None, "the picture ends before its legend");
        }
        Ok(vec![evidence])
    }
}

/// `Debian GNU/Linux 12 box (Linux 6.1.0-13-amd64 #1 SMP ...) x86-64 kvm`: which machine this is.
fn machine(line: &str, evidence: &mut Evidence) {
    let Some((before, kernel)) = line.split_once(" (Linux ") else { return };
    let Some((kernel, after)) = kernel.rsplit_once(')') else { return };
    let mut fact = |name: &'static str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            evidence.facts.push((name.into(), value.to_owned()));
        }
    };
    fact("system.hostname", before.split(' ').next_back());
    fact("kernel.release", kernel.split(' ').next());
    fact("kernel.version", kernel.split_once(' ').map(|(_, version)| version));
    fact("system.architecture", after.split_whitespace().next());
}

/// Takes the picture apart: bars and texts by row, the scale by the labelled seconds. Stops at the legend.
fn picture(input: Input<'_>) -> Result<Picture, FormatError> {
    let mut reader = quick_xml::Reader::from_reader(input.bytes);
    reader.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    let mut picture = Picture { cut: true, ..Picture::default() };
    let mut text: Option<(String, i64, i64, String)> = None;
    let mut title: Option<String> = None;
    let mut pending_title = String::new();
    loop {
        buffer.clear();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => {
                return Err(FormatError::Read(std::io::Error::other(error.to_string())))
            }
            Err(_) => break,
        };
        match event {
            Event::Comment(comment) => {
                let comment = String::from_utf8_lossy(&comment);
                if let Some((_, version)) = comment.split_once("generated by systemd-analyze version ") {
                    picture.version = Some(version.trim().to_owned());
                }
            }
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                b"g" if attribute(&element, "transform").is_some_and(|value| value == "translate(20,100)") => {
                    picture.cut = false;
                    break;
                }
                b"rect" => bar(&element, &mut picture),
                b"text" => {
                    let number = |name| attribute(&element, name).and_then(|value| scaled(&value, 3));
                    let class = attribute(&element, "class").unwrap_or_default();
                    text = Some((class, number("x").unwrap_or(0), number("y").unwrap_or(0), String::new()));
                }
                b"title" => title = Some(String::new()),
                _ => {}
            },
            Event::Text(part) => {
                let part = String::from_utf8_lossy(&part).into_owned();
                push(&part, &mut text, &mut title);
            }
            Event::GeneralRef(reference) => {
                let character = match reference.as_ref() {
                    b"amp" => "&",
                    b"lt" => "<",
                    b"gt" => ">",
                    b"quot" => "\"",
                    b"apos" => "'",
                    _ => "\u{fffd}",
                };
                push(character, &mut text, &mut title);
            }
            Event::End(element) if element.name().as_ref() == b"title" => {
                pending_title = title.take().unwrap_or_default();
            }
            Event::End(element) if element.name().as_ref() == b"text" => {
                if let Some(text) = text.take() {
                    label(text, &mut pending_title, &mut picture);
                }
            }
            _ => {}
        }
    }
    Ok(picture)
}

fn push(part: &str, text: &mut Option<(String, i64, i64, String)>, title: &mut Option<String>) {
    if let Some((_, _, _, content)) = text {
        content.push_str(part);
    } else if let Some(content) = title {
        content.push_str(part);
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    Some(String::from_utf8_lossy(&attribute.value).into_owned())
}

fn bar(element: &BytesStart<'_>, picture: &mut Picture) {
    let number = |name| attribute(element, name).and_then(|value| scaled(&value, 3));
    let class = attribute(element, "class").unwrap_or_default();
    let (Some(x), Some(y), Some(width)) = (number("x"), number("y"), number("width")) else { return };
    // Rows are 20 pixels apart; the box round all of them, and the background, are no bars.
    if class != "box" && class != "background" && picture.rows.len() < MOST_ROWS {
        picture.rows.entry(y.div_euclid(20_000)).or_default().bars.push((class, x, width));
    }
}

fn label(text: (String, i64, i64, String), pending_title: &mut String, picture: &mut Picture) {
    let (class, x, y, content) = text;
    match class.as_str() {
        "sec" => {
            let label = content.strip_suffix('s').and_then(|label| scaled(label, 3));
            if let Some(milliseconds) = label.filter(|label| *label > 0 && x > 0) {
                if picture.scale.is_none_or(|(_, known)| milliseconds > known) {
                    picture.scale = Some((x, milliseconds));
                }
            }
        }
        "left" | "right" if picture.rows.len() < MOST_ROWS => {
            let row = picture.rows.entry(y.div_euclid(20_000)).or_default();
            if row.text.is_empty() {
                row.text = content;
                row.title = std::mem::take(pending_title);
            }
        }
        "" => picture.heading.push(content),
        _ => {}
    }
}

type Bar<'a> = dyn Fn(&str) -> Option<(i64, i64)> + 'a;

fn stage(name: Stage, times: Option<(i64, i64)>, bar: &Bar<'_>, evidence: &mut Evidence) {
    let Some((start, end)) = times.filter(|(start, end)| end >= start) else { return };
    let detail = format!("the bar `{}`", if name == Stage::Userspace { "systemd" } else { name.name() });
    evidence.marks.push(Instant { mark: name.mark(), time_ns: start, detail });
    let parent = evidence.spans.len();
    evidence.spans.push(Span::new(SpanKind::Stage, name.name()).between(start, end));
    for (class, part) in [("security", "security"), ("generators", "generators"), ("unitsload", "units-load")] {
        if let Some((start, end)) = bar(class).filter(|(start, end)| end > start) {
            let span = Span { parent: Some(parent), ..Span::new(SpanKind::Stage, part).between(start, end) };
            evidence.spans.push(span);
        }
    }
}

fn unit(row: &Row, text: &str, bar: &Bar<'_>, step_ns: i64) -> Option<UnitTimes> {
    let (name, time) = match text.strip_suffix(')').and_then(|text| text.split_once(" (")) {
        Some((name, time)) => (name, nanoseconds(time)),
        None => (text, None),
    };
    let name = Some(name).filter(|name| is_unit(name))?.to_owned();
    let (activating, activated) = bar("activating")?;
    let up = bar("active");
    let down = bar("deactivating");
    let mut unit = UnitTimes {
        name,
        activating: Some(activating),
        activated: Some(activated),
        deactivating: up.map(|(_, end)| end),
        deactivated: down.map(|(_, end)| end),
        // Printed to the millisecond only: of use where the bars were cut.
        time: Some(time.unwrap_or(0)),
        clamp: None,
        step_ns,
        slack_ns: STEP_NS.max(step_ns),
        once: false,
    };
    let exact = |key: &str| row.title.lines().find_map(|line| line.strip_prefix(key)).and_then(tooltip);
    if let (Some(activating), Some(activated)) = (exact("Activating: "), exact("Activated: ")) {
        unit.activating = Some(activating);
        unit.activated = Some(activated);
    }
    Some(unit)
}

/// A time of the tooltip. After the point stands a whole number of microseconds, without its leading zeros beyond three
/// digits: `5.050` is 5.000050 s.
fn tooltip(text: &str) -> Option<i64> {
    let (seconds, microseconds) = text.trim().split_once('.')?;
    let microseconds: i64 = microseconds.parse().ok().filter(|value| (0..1_000_000).contains(value))?;
    scaled(seconds, 9)?.checked_add(microseconds * 1000)
}

/// The units a tooltip lists under `After:` and the like.
fn dependencies(title: &str, unit: &str, evidence: &mut Evidence) {
    // What stands under the heading, and whether it lists what comes later.
    let mut heading: Option<(LinkKind, bool)> = None;
    for line in title.lines() {
        match line.strip_prefix("  ") {
            Some(other) if is_unit(other) && heading.is_some() => {
                let Some((kind, later)) = heading else { continue };
                let (from, to) = if later { (other, unit) } else { (unit, other) };
                evidence.links.push(Link {
                    kind,
                    from: (SpanKind::Unit, from.to_owned()),
                    to: (SpanKind::Unit, to.to_owned()),
                });
            }
            _ => {
                heading = match line {
                    "After:" => Some((LinkKind::After, false)),
                    "Before:" => Some((LinkKind::After, true)),
                    "Requires:" | "Requisite:" => Some((LinkKind::Requires, false)),
                    "Wants:" | "Upholds:" => Some((LinkKind::Wants, false)),
                    _ => None,
                }
            }
        }
    }
}
