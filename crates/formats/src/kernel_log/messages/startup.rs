//! `Startup finished in 1.204s (kernel) + 1min 2.5s (userspace) = 1min 3.704s.`, as systemd logs it.

use crate::evidence::{Name, Span, SpanKind, Stage};
use crate::kernel_log::bytes::{number, split};

/// A span of time in systemd's words, in nanoseconds: `1min 2.5s`, `804ms`.
pub fn duration(words: &[u8]) -> Option<i64> {
    let mut total: i64 = 0;
    let mut any = false;
    for word in words.split(|&byte| byte == b' ').filter(|word| !word.is_empty()) {
        let (whole, rest) = number(word)?;
        let (fraction, unit) = match rest.split_first() {
            Some((b'.', digits)) => crate::kernel_log::bytes::fraction(digits)?,
            _ => (0, rest),
        };
        let scale: i64 = match unit {
            b"us" => 1_000,
            b"ms" => 1_000_000,
            b"s" => 1_000_000_000,
            b"min" => 60_000_000_000,
            b"h" => 3_600_000_000_000,
            b"d" => 86_400_000_000_000,
            _ => return None,
        };
        let part = whole.checked_mul(scale)?;
        let fraction = i64::try_from(i128::from(fraction) * i128::from(scale) / 1_000_000_000).ok()?;
        total = total.checked_add(part)?.checked_add(fraction)?;
        any = true;
    }
    any.then_some(total)
}

/// The stages that the message names; their instants it does not give.
pub fn stages(message: &[u8]) -> Vec<Span> {
    let Some(rest) = message.strip_prefix(b"Startup finished in ") else { return Vec::new() };
    let (parts, _) = split(rest, b" = ").unwrap_or((rest, b""));
    let mut stages = Vec::new();
    for part in parts.split(|&byte| byte == b'+') {
        let Some((length, name)) = split(part.trim_ascii(), b" (") else { continue };
        let name = std::str::from_utf8(name.strip_suffix(b")").unwrap_or(name)).ok().and_then(Stage::parse);
        let Some(name) = name.filter(|stage| *stage != Stage::SoftReboot) else { continue };
        if let Some(length) = duration(length) {
            let mut stage = Span::new(SpanKind::Stage, name.name());
            stage.track = Name::Borrowed("systemd");
            stage.duration_ns = Some(length);
            stages.push(stage);
        }
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_systemd_are_nanoseconds() {
        assert_eq!(duration(b"1min 2.5s"), Some(62_500_000_000));
        assert_eq!(duration(b"804ms"), Some(804_000_000));
        for odd in [&b""[..], b"5", b"s", b"1.s", b"999999999999999999d"] {
            assert_eq!(duration(odd), None, "{odd:?}");
        }
    }
}
