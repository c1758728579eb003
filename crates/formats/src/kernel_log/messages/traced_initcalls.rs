//! The events of initcalls, which `tp_printk` has the kernel print: `initcall_start: func=SYMBOL`, `initcall_finish: func=SYMBOL
//! ret=N`, `initcall_level: level=device`. Where `initcall_debug` prints them as well, its lines are taken.

use super::figure::Figure;
use super::pairs::end;
use super::rows::{named, row, task, track};
use super::Interpreter;
use crate::evidence::texts::Text;
use crate::evidence::{Evidence, SpanKind, Stamp};
use crate::kernel_log::bytes::{number, split};

/// The initcalls of the kernel itself are those of its first task.
const TASK: i64 = 1;

/// Reads what follows `initcall_`.
pub fn line(all: &mut Interpreter, stamp: &Stamp, rest: &[u8], evidence: &mut Evidence) -> bool {
    let rest = rest.trim_ascii_end();
    if let Some(level) = rest.strip_prefix(b"level: level=") {
        all.initcalls.level(level);
        true
    } else if let Some(symbol) = rest.strip_prefix(b"start: func=").filter(|symbol| named(symbol)) {
        started(all, stamp, symbol, evidence);
        true
    } else if let Some((symbol, value)) = finish(rest) {
        finished(all, stamp, symbol, value, evidence);
        true
    } else {
        false
    }
}

/// Symbol and value; nothing of an event that is torn.
fn finish(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let (symbol, value) = split(rest.strip_prefix(b"finish: func=")?, b" ret=")?;
    let whole = number(value.strip_prefix(b"-").unwrap_or(value)).is_some_and(|(_, after)| after.is_empty());
    (whole && named(symbol)).then_some((symbol, value))
}

fn started(all: &mut Interpreter, stamp: &Stamp, symbol: &[u8], evidence: &mut Evidence) {
    if all.initcalls.debugged {
        return;
    }
    let key = all.pairs.key(symbol);
    let mut row = row(symbol, all.initcalls.of_level(), &mut evidence.spans);
    row.set_start_ns(stamp.time_ns);
    let of = task(stamp);
    row.track = of.map_or(Text::EMPTY, |of| track(of, &mut evidence.spans));
    all.initcalls.traced = Some((key, evidence.spans.len()));
    all.pairs.open(row, key, of.unwrap_or(TASK), stamp.line, &mut evidence.spans);
}

fn finished(all: &mut Interpreter, stamp: &Stamp, symbol: &[u8], value: &[u8], evidence: &mut Evidence) {
    if all.initcalls.debugged {
        return;
    }
    let closed = all.pairs.close(SpanKind::Initcall, symbol, task(stamp));
    let spans = &mut evidence.spans;
    let began = closed.as_ref().and_then(|closed| spans.row(closed.span)).and_then(|row| row.start_ns());
    if closed.is_none() {
        all.initcalls.unpaired(stamp.line);
    }
    // What has no two stamps in order gets no length when it is judged.
    let length = stamp.time_ns.zip(began).map_or(0, |(end, start)| end.saturating_sub(start).max(0));
    let level = all.initcalls.of_level();
    let lone = |spans: &mut crate::evidence::Spans| row(symbol, level, spans);
    let number = end(closed, lone, (stamp.time_ns, length, Figure::Stamps), &mut all.trust, spans);
    if value != b"0" {
        spans.add_attribute(number, "returned", value);
    }
}
