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

/// Eight bytes at once, the first of them lowest.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Whether each of eight bytes is at most 9.
#[inline]
pub fn are_digits(bytes: u64) -> bool {
    (bytes.wrapping_add(0x76 * EACH) | bytes) & (0x80 * EACH) == 0
}

/// The number that eight bytes of at most 9 make, the lowest the first digit: pairs, then fours, then all.
#[inline]
pub fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff
}

/// The number in the bytes 1 to 5, when blanks may stand before its digits and the bytes 0 and 6 are 0. Each byte is
/// by its difference from `0`: a digit is its value, a blank 0x10.
#[inline]
pub fn padded_digits(bytes: u64) -> Option<u64> {
    let bytes = bytes & 0x00ff_ffff_ffff_ffff;
    let blanks = (bytes >> 4 & EACH) * 0xff;
    let digits = bytes & !(0x10 * EACH);
    // Blanks stand only before the first digit, and the last place has one.
    let leading = blanks >> 8;
    let sound = bytes & 0xff == 0
        && bytes >> 48 == 0
        && leading & leading.wrapping_add(1) == 0
        && leading >> 32 == 0
        && digits & blanks == 0
        && are_digits(digits);
    sound.then(|| eight_digits(digits << 16))
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

/// The first process of a system has number 1, and one of these names, or `init` in its name.
const FIRST_PROGRAMS: [&[u8]; 9] =
    [b"systemd", b"procd", b"upstart", b"linuxrc", b"busybox", b"shepherd", b"s6-svscan", b"runit", b"sh"];

/// Whether a line begins as programs begin theirs: `cloud-init[523]: `. Drivers number their devices so, too (`mmc[1]: `): no
/// program has the number 0, none but an init has 1, and 2 is the kernel's own thread that makes all others.
pub fn is_of_program(line: &[u8]) -> bool {
    let name = line.iter().take(64).take_while(|byte| byte.is_ascii_alphanumeric() || b"-_./@".contains(byte)).count();
    let Some(inside) = line.get(name..).and_then(|rest| rest.strip_prefix(b"[")).filter(|_| name > 0) else {
        return false;
    };
    let name = line.get(..name).unwrap_or_default();
    let is_init =
        || FIRST_PROGRAMS.contains(&name) || memchr::memmem::find(&name.to_ascii_lowercase(), b"init").is_some();
    number(inside).is_some_and(|(number, rest)| match number {
        0 | 2 => false,
        1 => rest.starts_with(b"]: ") && is_init(),
        _ => rest.starts_with(b"]: "),
    })
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
    returned_after(line.strip_suffix(b" usecs").or_else(|| line.strip_suffix(b" usec"))?)
}

/// The same of ` returned VALUE after N msecs`.
pub fn returned_in_millis(line: &[u8]) -> Option<(&[u8], i64, i64)> {
    returned_after(line.strip_suffix(b" msecs")?)
}

#[inline]
fn returned_after(line: &[u8]) -> Option<(&[u8], i64, i64)> {
    let (line, us) = last_number(line)?;
    let (line, value) = last_number(line.strip_suffix(b" after ")?)?;
    let (line, value) = match line.strip_suffix(b"-") {
        Some(line) => (line, -value),
        None => (line, value),
    };
    Some((line.strip_suffix(b" returned ")?, value, us))
}

/// The number at the end, of at most 18 digits, and what stands before it.
#[inline]
fn last_number(line: &[u8]) -> Option<(&[u8], i64)> {
    let (mut value, mut scale) = (0_i64, 1_i64);
    let mut before = line;
    while let Some((digit, rest)) = before.split_last().filter(|(byte, _)| byte.is_ascii_digit()) {
        if line.len() - before.len() == 18 {
            return None;
        }
        value += i64::from(digit - b'0') * scale;
        scale = scale.saturating_mul(10);
        before = rest;
    }
    (before.len() < line.len()).then_some((before, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_eight_at_a_time() {
        assert_eq!(eight_digits(u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8])), 12_345_678);
        assert_eq!(eight_digits(u64::from_le_bytes([9; 8])), 99_999_999);
        for byte in 0..=255 {
            assert_eq!(are_digits(u64::from_le_bytes([3, 9, 0, byte, 0, 9, 9, 0])), byte < 10, "{byte}");
        }
    }

    #[test]
    fn a_number_that_no_program_has_is_of_a_device() {
        for program in ["cloud-init[523]: a", "systemd[1]: a", "init[1]: a", "/sbin/init[1]: a", "udevd[84]: a"] {
            assert!(is_of_program(program.as_bytes()), "{program}");
        }
        for device in ["mmc[1]: new high speed card", "IOAPIC[0]: a", "phy[2]: a", "[1]: a", "a[x]: b", "a[3] b"] {
            assert!(!is_of_program(device.as_bytes()), "{device}");
        }
    }

    #[test]
    fn blanks_stand_before_digits_only() {
        let read = |text: &[u8; 8]| padded_digits(u64::from_le_bytes(*text) ^ u64::from_le_bytes(*b"[00000.0"));
        assert_eq!(read(b"[    0.x"), Some(0));
        assert_eq!(read(b"[  412.4"), Some(412));
        assert_eq!(read(b"[99999.\xff"), Some(99_999));
        for odd in [
            b"[     .0",
            b"[ 1 23.0",
            b"[   4 .0",
            b"     1.0",
            b"[   12,0",
            b"[   !2.0",
            b"[\x00\x00\x00 1.0",
            b"[   \xb31.0",
        ] {
            assert_eq!(read(odd), None, "{odd:?}");
        }
    }

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
