//! Asynchronous bodies, `calling  COOKIE_SYMBOL @ TASK`, and those who wait for them, `async_waiting @ TASK`.

use super::figure::Figure;
use super::pairs::end;
use super::rows::{task, track};
use super::Interpreter;
use crate::evidence::spans::Row;
use crate::evidence::{Evidence, SpanKind, Spans, Stamp};
use crate::kernel_log::bytes::number;
use memchr::memchr;

/// Every version of the kernel shifts these by ten bits where it means to divide by 1000.
const NS_PER_UNIT: i64 = 1024;

/// A body by its function and cookie.
pub fn row(function: &[u8], cookie: i64, spans: &mut Spans) -> Row {
    let mut row = Row::new(SpanKind::Async, spans.texts.number(function));
    spans.attach(&mut row, "cookie", cookie.to_string().as_bytes());
    row
}

/// Somebody who waits.
fn waiting(task: i64, spans: &mut Spans) -> Row {
    let mut row = Row::new(SpanKind::AsyncWait, spans.texts.number(b"waiting for asynchronous bodies"));
    row.track = track(task, spans);
    row
}

/// `initcall COOKIE_SYMBOL returned after N usecs`; *rest* is what follows `returned `.
pub fn returned(
    all: &mut Interpreter,
    stamp: &Stamp,
    (symbol, cookie, function): (&[u8], i64, &[u8]),
    rest: &[u8],
    evidence: &mut Evidence,
) -> bool {
    let Some(length_ns) = length(rest) else { return false };
    let closed = all.pairs.close(SpanKind::Async, symbol, task(stamp));
    let name = &function[..memchr(b'+', function).unwrap_or(function.len())];
    let lone = |spans: &mut Spans| row(name, cookie, spans);
    end(closed, lone, (stamp.time_ns, length_ns, Figure::Micros), &mut all.trust, &mut evidence.spans);
    all.trust.shifted_bodies(stamp.line);
    true
}

/// The length of `after N usecs`, in nanoseconds.
fn length(text: &[u8]) -> Option<i64> {
    let (units, rest) = text.strip_prefix(b"after ").and_then(number)?;
    rest.starts_with(b" usec").then(|| units.saturating_mul(NS_PER_UNIT))
}

/// Reads a line that begins with `async_`.
pub fn line(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    if let Some((task, _)) = line.strip_prefix(b"async_waiting @ ").and_then(number) {
        let mut row = waiting(task, &mut evidence.spans);
        row.set_start_ns(stamp.time_ns);
        let key = all.pairs.key(task.to_string().as_bytes());
        all.pairs.open(row, key, task, stamp.line, &mut evidence.spans);
        return true;
    }
    let Some((task, rest)) = line.strip_prefix(b"async_continuing @ ").and_then(number) else { return false };
    let Some(length_ns) = rest.strip_prefix(b" ").and_then(length) else { return false };
    let closed = all.pairs.close(SpanKind::AsyncWait, task.to_string().as_bytes(), Some(task));
    let lone = |spans: &mut Spans| waiting(task, spans);
    end(closed, lone, (stamp.time_ns, length_ns, Figure::Micros), &mut all.trust, &mut evidence.spans);
    all.trust.shifted_bodies(stamp.line);
    true
}
