//! What a boot loader leaves in EFI variables: `LoaderTimeInitUSec` and `LoaderTimeExecUSec`.

use super::plausible::{check, LONGEST_NS};
use crate::about::{About, Anchor, Origin, Traits};
use crate::evidence::{Clock, Evidence, Instant, Mark, ProblemKind, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use std::io::Read;

/// Reads such a variable as efivarfs gives it, or both as text.
pub struct EfiLoaderTimes;

/// As systemd takes it.
const ANCHOR: Anchor = Anchor {
    mark: Mark::LoaderEnd,
    assumption: ", as systemd does: the kernel's clock began when the boot loader handed over",
};

/// The variables, and the marks they stand for.
const VARIABLES: [(&str, Mark); 2] =
    [("LoaderTimeInitUSec", Mark::LoaderStart), ("LoaderTimeExecUSec", Mark::LoaderEnd)];

/// Far more than a variable of digits is long.
const MOST_BYTES: u64 = 64 << 10;

impl Format for EfiLoaderTimes {
    fn about(&self) -> &'static About {
        const {
            &About::of(
                FormatName::EfiLoaderTimes,
                Traits { anchor: Some(ANCHOR), single_values_ns: Some(1_000), ..Traits::of(Origin::Firmware) },
            )
        }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        if own(head.file_name()).is_some() {
            return Likelihood::of_signature(number(head.bytes).is_some());
        }
        let text = String::from_utf8_lossy(head.bytes.get(..1024).unwrap_or(head.bytes));
        Likelihood::of_rows(text.lines().filter(|line| row(line).is_some()).count())
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = Vec::new();
        input.bytes.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let mut evidence = Evidence { first_line: 1, step_ns: 1_000, ..Evidence::of(self.about(), Clock::Firmware) };
        let mut times = [None; VARIABLES.len()];
        let file = input.file_name();
        let found: Vec<(usize, i64)> = match own(file) {
            Some(place) => number(&bytes).map(|us| (place, us)).into_iter().collect(),
            None => String::from_utf8_lossy(&bytes).lines().filter_map(row).collect(),
        };
        for (place, us) in found {
            evidence.understood += 1;
            let Some((name, mark)) = VARIABLES.get(place).copied() else { continue };
            let Some(time_ns) = us.checked_mul(1000).filter(|time| *time > 0) else {
                evidence.problem(ProblemKind::Implausible, None, format!("{name} is {us}"));
                continue;
            };
            evidence.marks.push(Instant { mark, time_ns, detail: name.to_owned() });
            if let Some(slot) = times.get_mut(place) {
                *slot = Some((name, time_ns));
            }
        }
        if evidence.understood == 0 {
            return Err(self.not_this("it holds no number of microseconds"));
        }
        let instants: Vec<(&str, i64)> = times.into_iter().flatten().collect();
        check(&instants, &mut evidence);
        if let [Some((_, init)), Some((_, exec))] = times {
            if exec >= init && exec <= LONGEST_NS {
                evidence.spans.push(Span::new(SpanKind::Firmware, "loader").between(init, exec));
            }
        }
        Ok(vec![evidence])
    }
}

/// The variable a file holds: `LoaderTimeInitUSec-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f`.
fn own(file: &str) -> Option<usize> {
    VARIABLES.iter().position(|(name, _)| {
        file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    })
}

/// Digits as text, or in UTF-16 (the lower byte first) after four bytes of attributes, up to a NUL.
fn number(bytes: &[u8]) -> Option<i64> {
    let digits = |units: &mut dyn Iterator<Item = u16>| {
        let text: Option<String> =
            units.take_while(|unit| *unit != 0).map(|unit| u8::try_from(unit).ok().map(char::from)).collect();
        let text = text?;
        let text = text.trim();
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let wide =
        |bytes: &[u8]| {
            digits(&mut bytes.chunks_exact(2).map(|pair| {
                u16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)])
            }))
        };
    digits(&mut bytes.iter().map(|byte| u16::from(*byte)))
        .filter(|_| !bytes.iter().take(8).any(|byte| *byte == 0))
        .or_else(|| wide(bytes.get(4..)?))
        .or_else(|| wide(bytes))
}

/// `LoaderTimeInitUSec=1234`, with anything that is neither letter nor digit between.
fn row(line: &str) -> Option<(usize, i64)> {
    let at = VARIABLES.iter().position(|(name, _)| line.contains(name))?;
    let (name, _) = VARIABLES.get(at)?;
    let rest = line.split_once(name)?.1;
    let value = rest.rsplit([' ', '=', ':', '\t', '"']).find(|part| !part.is_empty())?;
    Some((at, value.parse().ok()?))
}
