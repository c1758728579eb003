//! Evidence as text that a person reads.

use firstlight_formats::evidence::{Caller, Clock, Evidence, SpanRef};
use std::fmt::Write;

/// Seconds to the nanosecond, without zeros that say nothing beyond the microsecond.
fn seconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let text = format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.strip_suffix("000").map(str::to_owned).unwrap_or(text)
}

fn at(ns: Option<i64>) -> String {
    ns.map_or_else(|| "?".to_owned(), seconds)
}

fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Trace(name) if name.is_empty() => "trace".to_owned(),
        Clock::Trace(name) => format!("trace {name}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn span(span: SpanRef<'_>, number: usize) -> String {
    let mut text = format!("{} {number}: {}", span.kind.name(), span.name);
    if let Some(level) = &span.level {
        write!(text, " [{level}]").unwrap();
    }
    if !span.track.is_empty() {
        write!(text, " on {}", span.track).unwrap();
    }
    write!(text, ", {} to {}", at(span.start_ns), at(span.end_ns)).unwrap();
    if let Some(duration) = span.duration_ns {
        write!(text, ", took {}", seconds(duration)).unwrap();
    }
    write!(text, ", {}", span.grade.name()).unwrap();
    if !span.reason.is_empty() {
        write!(text, " ({})", span.reason).unwrap();
    }
    if let Some(parent) = span.parent {
        write!(text, ", in {parent}").unwrap();
    }
    for (key, value) in span.attributes.iter() {
        write!(text, ", {key}={value}").unwrap();
    }
    text
}

/// One line for each statement.
pub fn evidence(evidence: &Evidence) -> String {
    let mut text = format!("format {}", evidence.format.name);
    if !evidence.part.is_empty() {
        write!(text, ", part {}", evidence.part).unwrap();
    }
    writeln!(
        text,
        ", boot {} from line {}, clock {}, {} understood",
        evidence.boot,
        evidence.first_line,
        clock(&evidence.clock),
        evidence.understood
    )
    .unwrap();
    if evidence.not_understood > 0 {
        writeln!(text, "not understood: {}", evidence.not_understood).unwrap();
    }
    if let Some((first, last)) = evidence.extent_ns {
        writeln!(text, "stamps {} to {}", seconds(first), seconds(last)).unwrap();
    }
    for mark in &evidence.marks {
        writeln!(text, "mark {} {} ({})", mark.mark, seconds(mark.time_ns), mark.detail).unwrap();
    }
    for mark in &evidence.host_marks {
        writeln!(text, "mark {} ? host {} ({})", mark.mark, seconds(mark.time_ns), mark.detail).unwrap();
    }
    for (number, one) in evidence.spans.iter().enumerate() {
        writeln!(text, "{}", span(one, number)).unwrap();
    }
    for (stamp, line) in evidence.log.iter() {
        write!(text, "log {} {}", stamp.line, at(stamp.time_ns)).unwrap();
        if let Some(host) = stamp.host_ns {
            write!(text, " host {}", seconds(host)).unwrap();
        }
        if let Some(level) = stamp.level {
            write!(text, " <{level}>").unwrap();
        }
        match stamp.caller {
            Some(Caller::Task(task)) => write!(text, " T{task}").unwrap(),
            Some(Caller::Cpu(cpu)) => write!(text, " C{cpu}").unwrap(),
            None => {}
        }
        writeln!(text, " | {line}").unwrap();
    }
    for (fact, value) in &evidence.facts {
        writeln!(text, "fact {fact} = {value}").unwrap();
    }
    for counter in &evidence.counters {
        writeln!(text, "counter {} {} = {}", counter.name, seconds(counter.time_ns), counter.value).unwrap();
    }
    if let Some(calls) = &evidence.calls {
        let mut depths = vec![0; calls.nodes.len()];
        for (number, node) in calls.nodes.iter().enumerate() {
            depths[number] = if number == 0 { 0 } else { depths[node.parent as usize] + 1 };
            let (function, module) = &calls.functions[node.function as usize];
            let module = module.as_ref().map_or(String::new(), |module| format!(" [{module}]"));
            let indent = "  ".repeat(depths[number]);
            writeln!(
                text,
                "call {indent}{function}{module} {} x{} self {}",
                node.kind,
                node.calls,
                node.self_ns.map_or_else(|| "?".to_owned(), seconds)
            )
            .unwrap();
        }
    }
    for row in &evidence.kd {
        let cell = |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        writeln!(
            text,
            "kd {} count {} time {} average {} range {}-{} sub {} local {} max-sub {} x{}",
            row.function,
            row.count,
            row.time_us,
            cell(row.average_us),
            cell(row.min_us),
            cell(row.max_us),
            cell(row.sub_time_us),
            cell(row.local_us),
            row.max_sub.as_deref().unwrap_or("-"),
            cell(row.max_sub_count)
        )
        .unwrap();
    }
    for link in &evidence.links {
        writeln!(
            text,
            "link {} {} -> {} {} ({})",
            link.from.0.name(),
            link.from.1,
            link.to.0.name(),
            link.to.1,
            link.kind
        )
        .unwrap();
    }
    for problem in &evidence.problems {
        write!(text, "problem {}", problem.kind.name()).unwrap();
        if let Some(line) = problem.line {
            write!(text, " at line {line}").unwrap();
        }
        if let Some(lost) = problem.lost {
            write!(text, ", {lost} lost").unwrap();
        }
        writeln!(text, ": {}", problem.detail).unwrap();
    }
    text
}
