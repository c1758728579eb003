//! Calls as rows: names, tracks, and how one returned.

use super::figure::Figure;
use super::pairs::end;
use super::Interpreter;
use crate::evidence::spans::Row;
use crate::evidence::texts::Text;
use crate::evidence::{Caller, Evidence, SpanKind, Spans, Stamp};
use crate::kernel_log::bytes::number;
use memchr::memrchr;

/// The track of a task.
pub fn track(task: i64, spans: &mut Spans) -> Text {
    match task {
        1 => spans.texts.number(b"task 1"),
        task => spans.texts.number(format!("task {task}").as_bytes()),
    }
}

/// The task that printed a line.
pub fn task(stamp: &Stamp) -> Option<i64> {
    match stamp.caller {
        Some(Caller::Task(task)) => Some(i64::from(task)),
        _ => None,
    }
}

/// Name and module of `name+0xOFF/0xSIZE [module]`.
pub fn parts(symbol: &[u8]) -> (&[u8], Option<&[u8]>) {
    // Names are shorter than what a vectorised search takes to begin.
    let end = symbol.iter().position(|byte| matches!(byte, b'+' | b' ')).unwrap_or(symbol.len());
    let module = symbol.strip_suffix(b"]").and_then(|inside| Some(&inside[memrchr(b'[', inside)? + 1..]));
    (&symbol[..end], module)
}

/// The row of a call that was not met before.
pub fn row(symbol: &[u8], level: Option<&str>, spans: &mut Spans) -> Row {
    let (name, module) = parts(symbol);
    let mut row = Row::new(SpanKind::Initcall, spans.texts.number(name));
    if let Some(module) = module {
        row.level = spans.texts.number(b"module");
        spans.attach(&mut row, "module", module);
    } else if let Some(level) = level {
        row.level = spans.texts.number(level.as_bytes());
    }
    row
}

/// Whether there is a name at all.
pub fn named(symbol: &[u8]) -> bool {
    let function = cookie(symbol).map_or(symbol, |(_, function)| function);
    function.first().is_some_and(|byte| !matches!(byte, b'+' | b' '))
}

/// The cookie before a function: no function's name begins with a digit, and an address begins with `0x`.
pub fn cookie(symbol: &[u8]) -> Option<(i64, &[u8])> {
    let (cookie, rest) = number(symbol)?;
    rest.strip_prefix(b"_").map(|function| (cookie, function))
}

/// A call returned a value, after a length in nanoseconds.
pub fn returned_after(
    all: &mut Interpreter,
    stamp: &Stamp,
    symbol: &[u8],
    (value, length, figure): (i64, i64, Figure),
    evidence: &mut Evidence,
) {
    let task = task(stamp);
    let closed = all.pairs.close(SpanKind::Initcall, symbol, task);
    if closed.is_none() {
        all.initcalls.unpaired(stamp.line);
    }
    let level = all.initcalls.level.as_deref();
    let lone = |spans: &mut Spans| {
        let mut row = row(symbol, level, spans);
        row.track = task.map_or(Text::EMPTY, |task| track(task, spans));
        row
    };
    let number = end(closed, lone, (stamp.time_ns, length, figure), &mut all.trust, &mut evidence.spans);
    if value != 0 {
        evidence.spans.add_attribute(number, "returned", value.to_string().as_bytes());
    }
    all.initcalls.last = Some(number);
}
