//! One line of a function graph, with whatever columns it has.

use memchr::{memchr, memmem, memrchr};

/// What stands in the last column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body<'l> {
    /// `name() {`
    Open(&'l [u8]),
    /// `name();`
    Leaf(&'l [u8]),
    /// `}`, perhaps with the name.
    Close(Option<&'l [u8]>),
    /// `/* event: ... */`
    Comment(&'l [u8]),
    /// `==========>`
    InterruptEntry,
    /// `<==========`
    InterruptReturn,
    /// `task-1 => other-2`: comm and number of the one that comes.
    Switch(&'l [u8], u32),
    /// Nothing that is known.
    Torn,
}

/// The columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GraphLine<'l> {
    pub(crate) time_ns: Option<i64>,
    pub(crate) cpu: Option<u32>,
    pub(crate) task: Option<(&'l [u8], u32)>,
    pub(crate) duration_ns: Option<i64>,
    pub(crate) depth: u32,
    pub(crate) body: Body<'l>,
}

/// What the header says about columns that look alike.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Columns {
    /// `REL TIME`: microseconds since the trace began.
    pub(crate) relative: bool,
}

/// Splits a line that is not a comment of the file.
pub(crate) fn parse<'l>(line: &'l [u8], columns: Columns) -> Option<GraphLine<'l>> {
    let mut found = GraphLine { time_ns: None, cpu: None, task: None, duration_ns: None, depth: 0, body: Body::Torn };
    let mut at = blanks(line, 0);
    // The numbers at the front: stamps end at a bar, the processor at a parenthesis.
    while line.get(at).is_some_and(u8::is_ascii_digit) {
        let (number, next) = digits(line, at)?;
        match line.get(next) {
            Some(b')') if found.cpu.is_none() => {
                found.cpu = Some(u32::try_from(number).ok()?);
                at = next + 1;
                break;
            }
            Some(b'.') => {
                let (fraction, end) = digits(line, next + 1)?;
                let bar = blanks(line, end);
                if line.get(bar) != Some(&b'|') || found.time_ns.is_some() {
                    break;
                }
                found.time_ns = Some(seconds(number, fraction, end - next - 1)?);
                at = bar + 1;
            }
            Some(b' ') if columns.relative && found.time_ns.is_none() => {
                let unit = blanks(line, next);
                let bar = blanks(line, unit + 2);
                if line.get(unit..unit + 2) != Some(b"us") || line.get(bar) != Some(&b'|') {
                    break;
                }
                found.time_ns = Some(i64::try_from(number).ok()?.checked_mul(1000)?);
                at = bar + 1;
            }
            _ => break,
        }
        let next = blanks(line, at);
        if !line.get(next).is_some_and(u8::is_ascii_digit) {
            break;
        }
        at = next;
    }
    // Then task, flags and duration, each before a bar of its own.
    let mut rest = line.get(at..)?;
    while let Some(bar) = memchr(b'|', rest) {
        let field = trim(&rest[..bar]);
        let after = &rest[bar + 1..];
        match field {
            [] => {}
            [.., b'u', b's'] if field.len() > 2 => {
                found.duration_ns = Some(duration(field).or_else(|| duration(without_flags(field)?))?);
            }
            [b'=', .., b'>'] => {
                found.body = Body::InterruptEntry;
                return Some(found);
            }
            [b'<', .., b'='] => {
                found.body = Body::InterruptReturn;
                return Some(found);
            }
            [.., last] if last.is_ascii_digit() && found.task.is_none() => match task(field) {
                Some(task) => {
                    found.task = Some(task);
                    rest = after;
                    continue;
                }
                None => break,
            },
            _ if is_flags(field) => {
                rest = after;
                continue;
            }
            _ => break,
        }
        rest = after;
        break;
    }
    let start = blanks(rest, 0);
    found.depth = (start / 2) as u32;
    found.body = body(&rest[start..]);
    Some(found)
}

#[inline]
pub(super) fn body(text: &[u8]) -> Body<'_> {
    match text.first() {
        Some(b'}') => return Body::Close(tail(&text[1..])),
        Some(b'/') => return comment(text),
        _ => {}
    }
    let text = trim_end(text);
    let Some(parenthesis) = memchr(b'(', text) else { return switch(text) };
    let name = text[..parenthesis].trim_ascii_end();
    if name.is_empty() || text.starts_with(b"-") {
        return Body::Torn;
    }
    match &text[parenthesis..] {
        b"();" => return Body::Leaf(name),
        b"() {" => return Body::Open(name),
        _ => {}
    }
    // Arguments within the parentheses, or a comment after them.
    let mut end = text;
    if end.ends_with(b"*/") {
        if let Some(start) = memmem::rfind(end, b"/*") {
            end = end[..start].trim_ascii_end();
        }
    }
    match end {
        [.., b')', b';'] => Body::Leaf(name),
        [.., b')', b' ', b'{'] => Body::Open(name),
        _ => switch(text),
    }
}

/// The name in `/* name */`, `/* name [module] ret=0x0 */`, `/* = 0x0 */`.
#[inline]
fn tail(text: &[u8]) -> Option<&[u8]> {
    let text = trim(text);
    let text = trim(text.strip_prefix(b"/*")?.strip_suffix(b"*/")?);
    let Some(mut end) = memchr(b' ', text) else { return named(text) };
    if text.get(end + 1) == Some(&b'[') {
        end = memchr(b']', text).map_or(end, |bracket| bracket + 1);
    }
    named(text.get(..end)?)
}

fn named(word: &[u8]) -> Option<&[u8]> {
    let other = matches!(word, [] | [b'=' | b'<', ..]) || word.starts_with(b"ret=");
    (!other).then_some(word)
}

fn comment(text: &[u8]) -> Body<'_> {
    match text.strip_prefix(b"/*") {
        Some(rest) => Body::Comment(trim(rest.trim_ascii_end().strip_suffix(b"*/").unwrap_or(rest))),
        None => Body::Torn,
    }
}

fn switch(text: &[u8]) -> Body<'_> {
    let coming = memmem::find(text, b" => ").and_then(|arrow| task(trim(&text[arrow + 4..])));
    coming.map_or(Body::Torn, |(comm, pid)| Body::Switch(comm, pid))
}

/// `comm-pid`; a comm may hold dashes itself.
#[inline]
pub(crate) fn task(field: &[u8]) -> Option<(&[u8], u32)> {
    let dash = memrchr(b'-', field)?;
    let (pid, end) = digits(field, dash + 1)?;
    (end == field.len() && end > dash + 1).then_some((&field[..dash], u32::try_from(pid).ok()?))
}

/// Latency flags: `d..1.`, `dNh2.`, with a few more in newer kernels.
fn is_flags(field: &[u8]) -> bool {
    field.len() <= 8
        && field.iter().all(|byte| matches!(byte, b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'#' | b'*'))
        && field.iter().any(|byte| matches!(byte, b'.' | b'0'..=b'9'))
}

/// Older kernels put no bar between flags and duration: `d..1.   0.412 us`.
#[cold]
fn without_flags(field: &[u8]) -> Option<&[u8]> {
    let blank = memchr(b' ', field).filter(|&blank| is_flags(&field[..blank]))?;
    Some(trim(&field[blank..]))
}

/// `[$@*#!+ ] 12.345 us` in nanoseconds.
#[inline]
pub(crate) fn duration(field: &[u8]) -> Option<i64> {
    let start = if matches!(field.first()?, b'$' | b'@' | b'*' | b'#' | b'!' | b'+') { blanks(field, 1) } else { 0 };
    let (whole, next) = digits(field, start)?;
    let (fraction, end) = if field.get(next) == Some(&b'.') { digits(field, next + 1)? } else { (0, next + 1) };
    let micro = i64::try_from(whole).ok()?.checked_mul(1000)?;
    let scale = [1000, 100, 10, 1].get(end - next - 1)?;
    (field.get(blanks(field, end)) == Some(&b'u') && next > start)
        .then(|| micro.saturating_add(i64::try_from(fraction).unwrap_or(0) * scale))
}

/// The place of the next byte that is not a blank.
#[inline]
pub(crate) fn blanks(line: &[u8], mut at: usize) -> usize {
    if line.get(at).is_some_and(|byte| !matches!(byte, b' ' | b'\t')) {
        return at;
    }
    // Deep calls are indented by a hundred blanks.
    while let Some(eight) = line.get(at..at + 8) {
        let differs = u64::from_le_bytes(eight.try_into().unwrap_or_default()) ^ 0x2020_2020_2020_2020;
        if differs != 0 {
            at += differs.trailing_zeros() as usize / 8;
            if line[at] != b'\t' {
                return at;
            }
            at += 1;
        } else {
            at += 8;
        }
    }
    while matches!(line.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The number at a place, and the place after it.
#[inline]
pub(crate) fn digits(line: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let (mut number, start) = (0_u64, at);
    while let Some(digit) = line.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        // Eighteen digits always fit.
        number = match at - start {
            0..18 => number * 10 + u64::from(digit),
            _ => number.checked_mul(10)?.checked_add(u64::from(digit))?,
        };
        at += 1;
    }
    Some((number, at))
}

/// Seconds with a fraction of so many digits, in nanoseconds.
#[inline]
pub(crate) fn seconds(whole: u64, fraction: u64, places: usize) -> Option<i64> {
    const POWERS: [u64; 10] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    let scale = POWERS.get(9_usize.checked_sub(places)?)?;
    i64::try_from(whole.checked_mul(1_000_000_000)?.checked_add(fraction.checked_mul(*scale)?)?).ok()
}

#[inline]
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    trim_end(text.get(blanks(text, 0)..).unwrap_or_default())
}

#[inline]
pub(crate) fn trim_end(mut text: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t' | b'\r', before)) = text.split_last() {
        text = before;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> GraphLine<'_> {
        parse(text.as_bytes(), Columns::default()).unwrap()
    }

    #[test]
    fn every_column_is_found() {
        let all = line("    1.003100 |   0)  swapper-1    | # 1097.012 us |    } /* gizmo_init [gizmo] */");
        assert_eq!(all.time_ns, Some(1_003_100_000));
        assert_eq!(all.cpu, Some(0));
        assert_eq!(all.task, Some((&b"swapper"[..], 1)));
        assert_eq!(all.duration_ns, Some(1_097_012));
        assert_eq!(all.depth, 2);
        assert_eq!(all.body, Body::Close(Some(b"gizmo_init [gizmo]")));
    }

    #[test]
    fn columns_may_be_missing() {
        assert_eq!(line(" 1)               |  a() {").body, Body::Open(b"a"));
        assert_eq!(line("   0.412 us    |    b();").duration_ns, Some(412));
        assert_eq!(line("   0.412 us    |    b();").depth, 2);
        assert_eq!(line("    1.002003 |   0)    a [m]() {").body, Body::Open(b"a [m]"));
        let long = line(" 0) $ 12345678 us |  }");
        assert_eq!((long.duration_ns, long.body), (Some(12_345_678_000), Body::Close(None)));
    }

    #[test]
    fn newer_kernels_say_more() {
        assert_eq!(line(" 0)   1.5 us      |  a(x=1, y=(2)); /* <-caller+0x10/0x20 ret=0x0 */").body, Body::Leaf(b"a"));
        assert_eq!(line(" 0)               |  a(x=0x1 | 2) {").body, Body::Open(b"a"));
        assert_eq!(line(" 0)   1.5 us      |  } /* a ret=0x0 */").body, Body::Close(Some(b"a")));
        assert_eq!(line(" 0)   1.5 us      |  } /* = 0x0 */").body, Body::Close(None));
        assert_eq!(line(" 0)   1.5 us      |  } /* a = 0x0 */").body, Body::Close(Some(b"a")));
    }

    #[test]
    fn a_name_of_a_task_may_hold_anything() {
        assert_eq!(line(" 0)  (sd-pam)-12  |   1.5 us      |  a();").task, Some((&b"(sd-pam)"[..], 12)));
        assert_eq!(line(" 0)  a b-c-12     |   1.5 us      |  a();").task, Some((&b"a b-c"[..], 12)));
        assert_eq!(line(" 0)   <idle>-0    =>   kworker-12  ").body, Body::Switch(b"kworker", 12));
    }

    #[test]
    fn flags_may_share_the_column_of_the_duration() {
        let both = line("    1.002005 |   0)   swapper-1    | d..1.   0.412 us    |    take_lock();");
        assert_eq!((both.duration_ns, both.depth, both.body), (Some(412), 2, Body::Leaf(b"take_lock")));
        let long = line("    1.003103 |   0)   swapper-1    | ..... # 1100.000 us |  }");
        assert_eq!((long.duration_ns, long.body), (Some(1_100_000), Body::Close(None)));
        let open = line("    1.002003 |   0)   swapper-1    | .....               |  gizmo_init() {");
        assert_eq!((open.duration_ns, open.depth, open.body), (None, 1, Body::Open(b"gizmo_init")));
    }

    #[test]
    fn interrupts_and_events_are_no_functions() {
        assert_eq!(line(" 0)   ==========> |").body, Body::InterruptEntry);
        assert_eq!(line(" 0)   <========== |").body, Body::InterruptReturn);
        assert_eq!(line(" 0)               |  /* gizmo: a() { */").body, Body::Comment(b"gizmo: a() {"));
        assert_eq!(line(" 0)               |  gar").body, Body::Torn);
    }
}
