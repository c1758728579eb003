//! Decimal numbers as records print them.

/// A decimal number with a point as a whole number of its `digits`-th decimals; further decimals are cut off.
///
/// ```
/// use firstlight_formats::decimal::scaled;
/// assert_eq!(scaled("12.345678", 9), Some(12_345_678_000));
/// assert_eq!(scaled("-0.5", 3), Some(-500));
/// assert_eq!(scaled("1,000", 0), None);
/// assert_eq!(scaled("99999999999999999999", 9), None);
/// ```
pub fn scaled(text: &str, digits: u32) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(decimals.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value: i64 = whole.parse().ok()?;
    let mut decimals = decimals.bytes();
    for _ in 0..digits {
        let digit = decimals.next().map_or(0, |byte| i64::from(byte - b'0'));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative { -value } else { value })
}

/// A whole number in groups of three: `120,500`.
///
/// ```
/// use firstlight_formats::decimal::grouped;
/// assert_eq!((grouped("1,120,500"), grouped("12"), grouped(",1"), grouped("1,2,3")), (Some(1_120_500), Some(12), None, None));
/// ```
pub fn grouped(text: &str) -> Option<i64> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    if first.is_empty() || !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value: i64 = first.parse().ok()?;
    for group in groups {
        if group.len() != 3 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        value = value.checked_mul(1000)?.checked_add(group.parse().ok()?)?;
    }
    Some(value)
}

/// Microseconds as nanoseconds; none where they do not fit.
pub fn microseconds(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|value| *value >= 0)?.checked_mul(1000)
}
