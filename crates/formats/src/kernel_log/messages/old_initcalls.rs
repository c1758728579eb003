//! `initcall_debug` of kernels before 2.6.28, whose milliseconds have 1048576 ns, and which do not name the task.
//!
//! 2.6.25 to 2.6.27: `calling  SYMBOL`, `initcall SYMBOL returned N after N msecs`. Before: `Calling initcall 0xADDRESS: SYMBOL()`,
//! `initcall 0xADDRESS: SYMBOL() returned N.`, `initcall 0xADDRESS ran for N msecs: SYMBOL()`.

use super::figure::{Figure, MILLISECOND};
use super::pairs::end;
use super::rows::{named, returned_after, row};
use super::Interpreter;
use crate::evidence::{Evidence, SpanKind, Stamp};
use crate::kernel_log::bytes::{self, number, split};

/// All initcalls of the kernel itself are those of its first task.
const TASK: i64 = 1;

/// Whether a line without what later kernels print is whole: by the kernel's version, or by a line before.
fn old(all: &Interpreter) -> bool {
    all.initcalls.in_millis || all.marks.release().is_some_and(|release| release <= (2, 6))
}

/// Whether a symbol has its offset and size, and nothing behind them but a module.
fn whole(symbol: &[u8]) -> bool {
    let size = split(symbol, b"+0x").and_then(|(_, offset)| split(offset, b"/0x")).map(|(_, size)| size);
    named(symbol)
        && size.is_some_and(|size| {
            let digits = size.split(|&byte| byte == b' ').next().unwrap_or_default();
            !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
        })
}

/// `SYMBOL` after `calling  `; no, if the line is of a later kernel, and torn.
pub fn calling(all: &mut Interpreter, stamp: &Stamp, symbol: &[u8], evidence: &mut Evidence) -> bool {
    let symbol = symbol.trim_ascii_end();
    if !old(all) || !whole(symbol) {
        return false;
    }
    open(all, stamp, symbol, symbol, evidence);
    true
}

/// `0xADDRESS: SYMBOL()` after `Calling initcall `.
pub fn calling_address(all: &mut Interpreter, stamp: &Stamp, rest: &[u8], evidence: &mut Evidence) -> bool {
    let rest = rest.trim_ascii_end();
    let (address, symbol) = split(rest, b": ").unwrap_or((rest, rest));
    let digits = address.strip_prefix(b"0x").unwrap_or_default();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let symbol = symbol.strip_suffix(b"()").unwrap_or(symbol);
    if !named(symbol) {
        return false;
    }
    open(all, stamp, address, symbol, evidence);
    true
}

fn open(all: &mut Interpreter, stamp: &Stamp, key: &[u8], symbol: &[u8], evidence: &mut Evidence) {
    let key = all.pairs.key(key);
    let mut row = row(symbol, None, &mut evidence.spans);
    row.set_start_ns(stamp.time_ns);
    all.pairs.open(row, key, TASK, stamp.line, &mut evidence.spans);
}

/// What follows `initcall `, if it is of such a kernel.
pub fn returned(all: &mut Interpreter, stamp: &Stamp, rest: &[u8], evidence: &mut Evidence) -> bool {
    let rest = rest.trim_ascii_end();
    if let Some((symbol, value, units)) = bytes::returned_in_millis(rest).filter(|(symbol, ..)| whole(symbol)) {
        all.initcalls.in_millis = true;
        let length = units.saturating_mul(MILLISECOND);
        returned_after(all, stamp, symbol, (value, length, Figure::Millis), evidence);
        return true;
    }
    if !rest.starts_with(b"0x") {
        return false;
    }
    if let Some((address, (units, rest))) =
        split(rest, b" ran for ").and_then(|(address, rest)| Some((address, number(rest)?)))
    {
        let Some(symbol) = rest.strip_prefix(b" msecs: ") else { return false };
        let symbol = symbol.strip_suffix(b"()").unwrap_or(symbol);
        if !named(symbol) {
            return false;
        }
        all.initcalls.in_millis = true;
        let closed = all.pairs.close(SpanKind::Initcall, address, None);
        let length = units.saturating_mul(MILLISECOND);
        let measured = (stamp.time_ns, length, Figure::Millis);
        end(closed, |spans| row(symbol, None, spans), measured, &mut all.trust, &mut evidence.spans);
        return true;
    }
    let Some((address, value)) =
        split(rest, b": ").and_then(|(address, rest)| Some((address, split(rest, b" returned ")?.1)))
    else {
        return false;
    };
    let Some((size, b".")) = number(value.strip_prefix(b"-").unwrap_or(value)) else { return false };
    if let Some(span) = all.pairs.opened(SpanKind::Initcall, address).filter(|_| size != 0) {
        let value = &value[..value.len() - 1];
        evidence.spans.add_attribute(span, "returned", value);
    }
    true
}
