//! The files of a bootchart archive that are not samples: what was booted, and who was whose child.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Grade, ProblemKind, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::names::one_line;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::io::Read;

/// Reads `header`.
pub struct BootchartHeader;
/// Reads `cmdline2.log` and `paternity.log`.
pub struct BootchartProcesses;
/// Reads `kernel_pacct`: the kernel's process accounting, version 3.
pub struct BootchartAccounting;

impl Format for BootchartHeader {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::BootchartHeader, Traits::of(Origin::Sampler)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..4096).unwrap_or(head.bytes));
        let known = text.lines().filter(|line| line.starts_with("system.") || line.starts_with("title = Boot chart"));
        match (known.count(), head.file_name() == "header") {
            (2.., _) | (1, true) => Likelihood::Certain,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut lines = Lines::new(input.bytes);
        let mut entries: Vec<(String, String)> = Vec::new();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            match text.split_once('=') {
                Some((key, value)) if !key.trim().contains(' ') => {
                    entries.push((key.trim().to_owned(), value.trim().to_owned()));
                }
                // A line without a key goes on with the value before.
                _ => {
                    if let Some((_, value)) = entries.last_mut().filter(|_| !text.trim().is_empty()) {
                        value.push(' ');
                        value.push_str(text.trim());
                    }
                }
            }
        }
        if !entries.iter().any(|(key, _)| key == "title" || key.starts_with("system.")) {
            return Err(self.not_this("it names no system"));
        }
        for (key, value) in entries {
            evidence.understood += 1;
            match key.as_str() {
                "system.uname" => {
                    // Android's init writes `/proc/version`, other collectors `uname -srvm`.
                    let mut words = value.split_ascii_whitespace().filter(|word| *word != "version");
                    if let ("Linux", Some(release)) = (words.next().unwrap_or_default(), words.next()) {
                        evidence.facts.push(("kernel.release".into(), release.to_owned()));
                    }
                    evidence.facts.push(("kernel.uname".into(), value.clone()));
                }
                "system.kernel.options" => evidence.facts.push(("kernel.command_line".into(), value)),
                "system.release" => evidence.facts.push(("system.release".into(), value)),
                "system.cpu" => processor(&value, &mut evidence),
                "system.cpu.num" => evidence.facts.push(("cpu.count".into(), value)),
                "system.memory" => evidence.facts.push(("memory.text".into(), value)),
                _ => evidence.facts.push((format!("bootchart.{key}").into(), value)),
            }
        }
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

/// `model name : Some CPU (4)`: the number of processors stands in the last parentheses.
fn processor(value: &str, evidence: &mut Evidence) {
    let model = value.split_once(':').map_or(value, |(_, model)| model).trim();
    let count = model.strip_suffix(')').and_then(|model| model.rsplit_once('('));
    match count.filter(|(_, count)| count.parse::<u32>().is_ok()) {
        Some((model, count)) => {
            evidence.facts.push(("cpu.model".into(), model.trim().to_owned()));
            evidence.facts.push(("cpu.count".into(), count.to_owned()));
        }
        None => evidence.facts.push(("cpu.model".into(), model.to_owned())),
    }
}

/// More than any boot's: what lies beyond is not read.
const MOST_BYTES: u64 = 64 << 20;

impl Format for BootchartProcesses {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::BootchartProcesses, Traits::of(Origin::Sampler)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        match head.file_name() {
            "cmdline2.log" if commands(head.bytes).next().is_some() => Likelihood::Certain,
            "paternity.log" if parents(head.bytes).next().is_some() => Likelihood::Certain,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut bytes = Vec::new();
        input.bytes.take(MOST_BYTES).read_to_end(&mut bytes)?;
        if input.name.ends_with("paternity.log") {
            for (child, parent) in parents(&bytes) {
                evidence.facts.push((format!("process.parent.{child}").into(), parent.to_string()));
            }
        } else {
            for (pid, command) in commands(&bytes) {
                evidence.facts.push((format!("process.command.{pid}").into(), command));
            }
        }
        evidence.understood = evidence.facts.len() as u64;
        if evidence.understood == 0 {
            return Err(self.not_this("it names no process"));
        }
        Ok(vec![evidence])
    }
}

/// Blocks of a number, `:PROGRAM` and `:` with the arguments, each ended by a NUL; an empty line between.
fn commands(bytes: &[u8]) -> impl Iterator<Item = (u32, String)> + '_ {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    std::iter::from_fn(move || loop {
        let pid = lines.next()?;
        let Some(pid) = std::str::from_utf8(pid).ok().and_then(|pid| pid.parse().ok()) else { continue };
        let (program, arguments) = (lines.next()?, lines.next().unwrap_or_default());
        let Some(program) = program.strip_prefix(b":") else { continue };
        let arguments: Vec<_> = arguments
            .strip_prefix(b":")
            .unwrap_or_default()
            .split(|byte| *byte == 0)
            .filter(|argument| !argument.is_empty())
            .map(String::from_utf8_lossy)
            .collect();
        let command =
            if arguments.is_empty() { String::from_utf8_lossy(program).into_owned() } else { arguments.join(" ") };
        return Some((pid, command));
    })
}

/// Lines of `CHILD PARENT`.
fn parents(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| {
        let (child, parent) = std::str::from_utf8(line).ok()?.trim().split_once(' ')?;
        Some((child.parse().ok()?, parent.parse().ok()?))
    })
}

/// What `struct acct_v3` is long.
const RECORD_BYTES: usize = 64;

impl Format for BootchartAccounting {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::BootchartAccounting, Traits::of(Origin::Sampler)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let good = head.bytes.chunks_exact(RECORD_BYTES).take(16).filter(|record| Record::of(record).is_some()).count();
        let all = head.bytes.chunks_exact(RECORD_BYTES).take(16).count();
        match head.file_name() {
            "kernel_pacct" | "pacct" if good > 0 && good == all => Likelihood::Certain,
            _ if good >= 4 && good == all => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = Vec::new();
        input.bytes.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let mut evidence = Evidence { step_ns: 1_000_000_000, ..Evidence::of(self.about(), Clock::Realtime) };
        let mut odd = 0_u64;
        for record in bytes.chunks(RECORD_BYTES) {
            let Some(record) = Record::of(record) else {
                odd += 1;
                continue;
            };
            evidence.understood += 1;
            let mut span = Span::new(SpanKind::Process, record.name).with("pid", record.pid.to_string());
            span = span.with("parent_pid", record.parent.to_string());
            span.track = format!("process {}", record.pid).into();
            span.start_ns = Some(record.start_ns);
            span.end_ns = Some(record.start_ns.saturating_add(record.elapsed_ns));
            span.duration_ns = Some(record.elapsed_ns);
            if record.exit_code != 0 {
                span = span.with("exit_status", record.exit_code.to_string());
            }
            evidence.spans.push(span.graded(Grade::Coarse, ReasonCode::AccountingSteps));
        }
        if evidence.understood == 0 {
            return Err(self.not_this("it holds no record of version 3"));
        }
        if odd > 0 {
            let detail = counted(odd, "# record[|s] [is|are] cut off or of another version");
            evidence.problem(ProblemKind::Torn, None, detail);
            evidence.not_understood = odd;
        }
        Ok(vec![evidence])
    }
}

struct Record {
    name: String,
    pid: u32,
    parent: u32,
    exit_code: u32,
    start_ns: i64,
    elapsed_ns: i64,
}

impl Record {
    /// `struct acct_v3` of `include/uapi/linux/acct.h`; the highest bit of the version is the order of the bytes.
    fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != RECORD_BYTES {
            return None;
        }
        let version = *bytes.get(1)?;
        if version & 0x7f != 3 {
            return None;
        }
        let word = |at: usize| {
            let four = <[u8; 4]>::try_from(bytes.get(at..at + 4)?).ok()?;
            Some(if version & 0x80 == 0 { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
        };
        let elapsed = f64::from(f32::from_bits(word(28)?));
        if !(0.0..1e9).contains(&elapsed) {
            return None;
        }
        let name = bytes.get(48..64)?.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(Self {
            name: one_line(&String::from_utf8_lossy(name), "<unknown>"),
            pid: word(16)?,
            parent: word(20)?,
            exit_code: word(4)?,
            start_ns: i64::from(word(24)?) * 1_000_000_000,
            // In hundredths of a second.
            elapsed_ns: (elapsed as i64).saturating_mul(10_000_000),
        })
    }
}
