//! Asynchronous bodies, `calling  COOKIE_SYMBOL @ TASK`, and those who wait for them, `async_waiting @ TASK`.

use super::initcalls::{task, track};
use super::pairs::end;
use super::Interpreter;
use crate::evidence::{Evidence, Span, SpanKind, Stamp};
use crate::kernel_log::bytes::{number, text};
use memchr::memchr;

/// Every version of the kernel shifts these by ten bits where it means to divide by 1000.
const NS_PER_UNIT: i64 = 1024;

/// The cookie before a function: no function's name begins with a digit, and an address begins with `0x`.
pub fn cookie(symbol: &[u8]) -> Option<(i64, &[u8])> {
    let (cookie, rest) = number(symbol)?;
    rest.strip_prefix(b"_").map(|function| (cookie, function))
}

/// `initcall COOKIE_SYMBOL returned after N usecs`; *rest* is what follows `returned `.
pub fn returned(
    all: &mut Interpreter,
    stamp: &Stamp,
    (symbol, cookie, function): (&[u8], i64, &[u8]),
    rest: &[u8],
    evidence: &mut Evidence,
) -> bool {
    let Some((units, rest)) = rest.strip_prefix(b"after ").and_then(number) else { return false };
    if !rest.starts_with(b" usec") {
        return false;
    }
    let closed = all.pairs.close(SpanKind::Async, symbol, task(stamp));
    let lone = || {
        let name = text(&function[..memchr(b'+', function).unwrap_or(function.len())]);
        Span::new(SpanKind::Async, name).with("cookie", cookie.to_string())
    };
    end(closed, lone, (stamp.time_ns, units.saturating_mul(NS_PER_UNIT)), &mut all.trust, evidence);
    all.trust.shifted_bodies(stamp.line);
    true
}

/// Reads a line that begins with `async_`.
pub fn line(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    if let Some((task, _)) = line.strip_prefix(b"async_waiting @ ").and_then(number) {
        let mut span = Span::new(SpanKind::AsyncWait, "waiting for asynchronous bodies");
        span.track = track(task);
        span.start_ns = stamp.time_ns;
        all.pairs.open(span, &task.to_le_bytes(), task, stamp.line, evidence);
        return true;
    }
    let Some((task, rest)) = line.strip_prefix(b"async_continuing @ ").and_then(number) else { return false };
    let Some((units, rest)) = rest.strip_prefix(b" after ").and_then(number) else { return false };
    if !rest.starts_with(b" usec") {
        return false;
    }
    let closed = all.pairs.close(SpanKind::AsyncWait, &task.to_le_bytes(), Some(task));
    let lone = || {
        let mut span = Span::new(SpanKind::AsyncWait, "waiting for asynchronous bodies");
        span.track = track(task);
        span
    };
    end(closed, lone, (stamp.time_ns, units.saturating_mul(NS_PER_UNIT)), &mut all.trust, evidence);
    all.trust.shifted_bodies(stamp.line);
    true
}
