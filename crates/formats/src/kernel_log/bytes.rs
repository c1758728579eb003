//! Small steps through a line of bytes.

/// The number at the beginning, at most 18 digits of it, and what comes after.
pub fn number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut value: i64 = 0;
    let mut at = 0;
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        if at == 18 {
            return None;
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    if at == 0 {
        return None;
    }
    Some((value, &bytes[at..]))
}

/// `SECONDS.FRACTION` in nanoseconds, with one to nine digits after the point (`,` serves as one), and what comes after.
pub fn seconds(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (whole, rest) = number(bytes)?;
    let (b'.' | b',', digits) = rest.split_first()? else { return None };
    let (fraction, rest) = fraction(digits)?;
    Some((whole.checked_mul(1_000_000_000)?.checked_add(fraction)?, rest))
}

/// One to nine digits after a decimal point, in billionths.
pub fn fraction(digits: &[u8]) -> Option<(i64, &[u8])> {
    let (fraction, rest) = number(digits)?;
    let length = digits.len() - rest.len();
    let scale = 10_i64.checked_pow(u32::try_from(9_usize.checked_sub(length)?).ok()?)?;
    Some((fraction * scale, rest))
}

/// Without the blanks and tabs at the beginning.
pub fn unpadded(mut bytes: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t', rest)) = bytes.split_first() {
        bytes = rest;
    }
    bytes
}

/// What stands before a separator, and what after it.
pub fn split<'a>(bytes: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memchr::memmem::find(bytes, separator)?;
    Some((&bytes[..at], &bytes[at + separator.len()..]))
}

/// As text; what is not UTF-8 is replaced.
pub fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// What stands before ` returned VALUE after N usecs`, the value and N: read from the end, because a name may hold anything.
#[inline]
pub fn returned(line: &[u8]) -> Option<(&[u8], i64, i64)> {
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(b" usecs").or_else(|| line.strip_suffix(b" usec"))?;
    let (line, us) = last_number(line)?;
    let (line, value) = last_number(line.strip_suffix(b" after ")?)?;
    let (line, value) = match line.strip_suffix(b"-") {
        Some(line) => (line, -value),
        None => (line, value),
    };
    Some((line.strip_suffix(b" returned ")?, value, us))
}

fn last_number(line: &[u8]) -> Option<(&[u8], i64)> {
    let digits = line.iter().rev().take(19).take_while(|byte| byte.is_ascii_digit()).count();
    let at = line.len() - digits;
    let (value, _) = number(&line[at..])?;
    Some((&line[..at], value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_every_digit() {
        assert_eq!(seconds(b"12.345678] x"), Some((12_345_678_000, &b"] x"[..])));
        assert_eq!(seconds(b"0.000000001"), Some((1, &b""[..])));
        assert_eq!(seconds(b"1.2"), Some((1_200_000_000, &b""[..])));
        for odd in [&b""[..], b".5", b"1.", b"1", b"99999999999.0", b"1.1234567890", b"9999999999999999999.1"] {
            assert_eq!(seconds(odd), None, "{odd:?}");
        }
    }
}
