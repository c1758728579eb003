//! `initcall_debug`: `calling  SYMBOL @ TASK`, `initcall SYMBOL returned N after N usecs`.

use super::pairs::end;
use super::{asynchronous, Interpreter};
use crate::evidence::{Caller, Evidence, Name, Problem, ProblemKind, Span, SpanKind, Stamp};
use crate::kernel_log::bytes::{self, number, split, text, unpadded};
use memchr::{memchr, memmem, memrchr};

/// What is known about initcalls beside the open ones.
#[derive(Debug, Default)]
pub struct Initcalls {
    level: Option<Name>,
    last: Option<usize>,
    blacklisted: String,
    unpaired: Option<(u64, u64)>,
}

impl Initcalls {
    /// `initcall_level: level=device`, which the tracer may print into the log.
    pub fn level(&mut self, line: &[u8]) {
        self.level = split(line, b"level=").map(|(_, level)| Name::Owned(text(level.trim_ascii_end())));
    }
}

/// The track of a task.
pub fn track(task: i64) -> Name {
    match task {
        1 => Name::Borrowed("task 1"),
        task => Name::Owned(format!("task {task}")),
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
fn parts(symbol: &[u8]) -> (String, Option<String>) {
    let plain = &symbol[..memchr(b'+', symbol).unwrap_or(symbol.len())];
    let module = symbol.strip_suffix(b"]").and_then(|inside| Some(&inside[memrchr(b'[', inside)? + 1..]));
    let plain = &plain[..memchr(b' ', plain).unwrap_or(plain.len())];
    (text(plain), module.map(text))
}

fn span(symbol: &[u8], level: Option<&Name>) -> Span {
    let (name, module) = parts(symbol);
    let mut span = Span::new(SpanKind::Initcall, name);
    span.level = if module.is_some() { Some(Name::Borrowed("module")) } else { level.cloned() };
    if let Some(module) = module {
        span.attributes.push((Name::Borrowed("module"), module));
    }
    span
}

/// Whether there is a name at all.
fn named(symbol: &[u8]) -> bool {
    let function = asynchronous::cookie(symbol).map_or(symbol, |(_, function)| function);
    function.first().is_some_and(|byte| !matches!(byte, b'+' | b' '))
}

/// Reads a `calling  ` line; no, if it is torn.
pub fn calling(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let rest = unpadded(&line[b"calling".len()..]);
    let Some(at) = memrchr(b'@', rest).filter(|&at| at > 1 && rest[at - 1] == b' ') else { return false };
    let symbol = &rest[..at - 1];
    if !named(symbol) {
        return false;
    }
    let Some((task, after)) = number(unpadded(&rest[at + 1..])) else { return false };
    if !after.trim_ascii_end().is_empty() {
        return false;
    }
    let mut span = match asynchronous::cookie(symbol) {
        Some((cookie, function)) => {
            let (name, _) = parts(function);
            Span::new(SpanKind::Async, name).with("cookie", cookie.to_string())
        }
        None => span(symbol, all.initcalls.level.as_ref()),
    };
    span.track = track(task);
    span.start_ns = stamp.time_ns;
    all.pairs.open(span, symbol, task, stamp.line, evidence);
    true
}

/// Reads an `initcall ` line; no, if it is torn.
pub fn returned(all: &mut Interpreter, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
    let rest = &line[b"initcall ".len()..];
    if let Some(name) = rest.strip_suffix(b" blacklisted") {
        if !all.initcalls.blacklisted.is_empty() {
            all.initcalls.blacklisted.push(' ');
        }
        all.initcalls.blacklisted.push_str(&parts(name).0);
        return true;
    }
    let Some((symbol, value, us)) = bytes::returned(rest).filter(|(symbol, ..)| named(symbol)) else {
        let Some(at) = memmem::rfind(rest, b" returned ") else { return false };
        let (symbol, rest) = (&rest[..at], &rest[at + b" returned ".len()..]);
        if let Some(warning) = rest.strip_prefix(b"with ") {
            return warned(all, symbol, warning, evidence);
        }
        let Some((cookie, function)) = asynchronous::cookie(symbol).filter(|_| named(symbol)) else { return false };
        return asynchronous::returned(all, stamp, (symbol, cookie, function), rest, evidence);
    };
    let task = task(stamp);
    let closed = all.pairs.close(SpanKind::Initcall, symbol, task);
    if closed.is_none() {
        all.initcalls.unpaired.get_or_insert((0, stamp.line)).0 += 1;
    }
    let level = all.initcalls.level.as_ref();
    let lone = || {
        let mut span = span(symbol, level);
        span.track = task.map_or(Name::Borrowed(""), track);
        span
    };
    let number = end(closed, lone, (stamp.time_ns, us.saturating_mul(1000)), &mut all.trust, evidence);
    if let Some(span) = evidence.spans.get_mut(number).filter(|_| value != 0) {
        span.attributes.push((Name::Borrowed("returned"), value.to_string()));
    }
    all.initcalls.last = Some(number);
    true
}

/// `initcall X returned with preemption imbalance`: a warning about the call that returned last.
fn warned(all: &mut Interpreter, symbol: &[u8], warning: &[u8], evidence: &mut Evidence) -> bool {
    let last = all.initcalls.last.and_then(|last| evidence.spans.get_mut(last));
    if let Some(span) = last.filter(|span| span.name == parts(symbol).0) {
        span.attributes.push((Name::Borrowed("warning"), text(warning.trim_ascii_end())));
    }
    true
}

/// Says what cannot be said of one call.
pub fn finish(all: &mut Interpreter, evidence: &mut Evidence) {
    if !all.initcalls.blacklisted.is_empty() {
        let names = std::mem::take(&mut all.initcalls.blacklisted);
        evidence.facts.push((Name::Borrowed("kernel.initcalls_blacklisted"), names));
    }
    if let Some((count, line)) = all.initcalls.unpaired {
        let detail = format!("{count} initcalls returned whose beginning is not in the log");
        evidence.problems.push(Problem { kind: ProblemKind::Unpaired, detail, line: Some(line), lost: None });
    }
}
