//! Files of pm-graph's `bootgraph.py`: a head of comments, then the kernel's log or the tracer's; and its table of results.

use crate::about::{About, Origin, Role, Traits};
use crate::evidence::{Clock, Evidence, Grade, Name, ProblemKind, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood, HEAD_BYTES};
use crate::kernel_log::bytes::{number, seconds, split, text};
use crate::kernel_log::text::Text;
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::io::{BufRead, Read};

/// The reader of logs.
pub struct PmGraph;

/// The reader of the table that `-result` writes.
pub struct PmGraphResult;

/// A line of the head is not longer than this.
const HEAD_LINE: u64 = 64 << 10;
/// Nor has it more lines.
const HEAD_LINES: u64 = 64;

/// `# boot-MMDDYY-HHMMSS HOST MODE KERNEL`: host, mode, kernel.
fn stamp(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let rest = line.strip_prefix(b"# ")?;
    let mut words = rest.trim_ascii_end().split(|&byte| byte == b' ');
    let mut name = words.next()?.split(|&byte| byte == b'-');
    let (kind, date, time) = (name.next()?, name.next()?, name.next()?);
    let digits = |word: &[u8]| word.len() == 6 && word.iter().all(u8::is_ascii_digit);
    if !kind.iter().all(u8::is_ascii_lowercase) || !digits(date) || !digits(time) || name.next().is_some() {
        return None;
    }
    Some((words.next()?, words.next()?, words.next()?))
}

fn of_head(line: &[u8]) -> bool {
    stamp(line).is_some()
        || [&b"# sysinfo | "[..], b"# command | ", b"# kparams | "].iter().any(|words| line.starts_with(words))
}

/// Reads the lines of the head; what follows is left.
fn head(input: &mut dyn BufRead, facts: &mut Vec<(Name, String)>) -> std::io::Result<u64> {
    let mut lines = 0;
    while lines < HEAD_LINES && input.fill_buf()?.first() == Some(&b'#') {
        // Only a line that lies in the buffer can be given back; a head is short.
        let buffer = input.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer).unwrap_or(buffer.len());
        if !of_head(&buffer[..end]) {
            break;
        }
        let mut line = Vec::new();
        (&mut *input).take(HEAD_LINE).read_until(b'\n', &mut line)?;
        lines += 1;
        take(line.trim_ascii_end(), facts);
    }
    Ok(lines)
}

fn take(line: &[u8], facts: &mut Vec<(Name, String)>) {
    let mut fact = |name: &'static str, value: &[u8]| {
        if !value.is_empty() {
            facts.push((Name::Borrowed(name), text(value)));
        }
    };
    if let Some((host, mode, kernel)) = stamp(line) {
        fact("host.name", host);
        fact("pm_graph.mode", mode);
        fact("kernel.release", kernel);
    } else if let Some(command) = line.strip_prefix(b"# command | ") {
        fact("pm_graph.command", command);
    } else if let Some(parameters) = line.strip_prefix(b"# kparams | ") {
        fact("kernel.command_line", parameters);
    } else if let Some(system) = line.strip_prefix(b"# sysinfo | ") {
        for part in system.split(|&byte| byte == b'|') {
            let Some((key, value)) = split(part.trim_ascii(), b":") else { continue };
            match key {
                b"man" => fact("system.manufacturer", value),
                b"plat" => fact("system.product", value),
                b"cpu" => fact("cpu.model", value),
                b"bios" => fact("firmware.version", value),
                b"biosdate" => fact("firmware.date", value),
                b"numcpu" => fact("cpu.count", value),
                b"memsz" => {
                    if let Some((kib, _)) = number(value) {
                        fact("memory.total_bytes", kib.saturating_mul(1024).to_string().as_bytes());
                    }
                }
                b"os" => fact("system.os", value),
                _ => {}
            }
        }
    }
}

impl Format for PmGraph {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::PmGraph, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let first = head.bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mode = stamp(first.trim_ascii_end()).map(|(_, mode, _)| mode);
        let second =
            memchr::memmem::find(head.bytes, b"\n# sysinfo | ").or(memchr::memmem::find(head.bytes, b"\n# command | "));
        match (mode, second) {
            (Some(b"boot"), _) | (Some(_), Some(_)) => Likelihood::Certain,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut facts = Vec::new();
        let skipped = head(input.bytes, &mut facts)?;
        if skipped == 0 {
            return Err(self.not_this("it does not begin with `# boot-MMDDYY-HHMMSS HOST boot KERNEL`"));
        }
        let buffer = input.bytes.fill_buf()?;
        let start = buffer[..buffer.len().min(HEAD_BYTES)].to_vec();
        let trace = start.starts_with(b"# tracer: ");
        let mut boots = if trace { trace_of(input, &start)? } else { self.log(input.bytes, skipped)? };
        if boots.is_empty() {
            boots.push(Evidence::of(self.about(), Clock::Untimed));
        }
        if let Some(first) = boots.first_mut() {
            let own: Vec<Name> = first.facts.iter().map(|(name, _)| name.clone()).collect();
            // What the log itself says comes before what the head says.
            first.facts.extend(facts.into_iter().filter(|(name, _)| !own.contains(name)));
            first.understood = first.understood.saturating_add(skipped);
        }
        Ok(boots)
    }
}

impl PmGraph {
    fn log(&self, input: &mut dyn BufRead, skipped: u64) -> Result<Vec<Evidence>, FormatError> {
        let mut log = Text::new(self.about(), "", false);
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line()? {
            log.line(line.number + skipped, None, line.bytes);
        }
        let mut problems = lines.problems();
        for problem in &mut problems {
            problem.line = problem.line.map(|line| line + skipped);
        }
        match log.finish(self.title(), problems) {
            Err(FormatError::NotThis { .. }) => {
                let mut empty = Evidence::of(self.about(), Clock::Untimed);
                empty.problem(ProblemKind::LostTail, Some(skipped + 1), "nothing of a kernel's log follows the head");
                Ok(vec![empty])
            }
            other => other,
        }
    }
}

/// The rest is the tracer's and goes to its reader.
fn trace_of(input: Input<'_>, start: &[u8]) -> Result<Vec<Evidence>, FormatError> {
    let found = input.nested.recognise(&Head { name: input.name, bytes: start }).ok();
    let Some(reader) =
        found.or_else(|| input.nested.for_role(Role::FunctionGraph)).filter(|reader| reader.about() != PmGraph.about())
    else {
        let mut evidence = Evidence::of(PmGraph.about(), Clock::Untimed);
        evidence.problem(ProblemKind::Unrecognised, None, "the trace after the head is of no known kind");
        return Ok(vec![evidence]);
    };
    reader.read(Input { name: input.name, bytes: input.bytes, nested: input.nested })
}

impl Format for PmGraphResult {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::PmGraphResult, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let starts = head.bytes.starts_with(b"result: ");
        let boot = memchr::memmem::find(head.bytes, b"\nboot: ").is_some();
        match (starts, boot) {
            (true, true) => Likelihood::Certain,
            (true, false) if memchr::memmem::find(head.bytes, b"\nmode: boot").is_some() => Likelihood::Certain,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence::of(self.about(), Clock::Printk);
        evidence.first_line = 1;
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let Some((key, value)) = split(line.bytes, b": ") else { continue };
            evidence.understood += 1;
            match key {
                b"boot" | b"lastinit" => {
                    let Some((whole, _)) = seconds(value) else { continue };
                    // Milliseconds with three decimals.
                    let end = whole / 1000;
                    let (name, reason) = match key {
                        b"boot" => ("kernel", ReasonCode::UpToFreeing),
                        _ => ("last initcall", ReasonCode::UpToLastInitcall),
                    };
                    let span = Span::new(SpanKind::Stage, name).between(0, end);
                    evidence.spans.push(span.graded(Grade::Bounded, reason));
                }
                b"result" | b"mode" | b"error" => {
                    evidence.facts.push((Name::Owned(format!("pm_graph.{}", text(key))), text(value)));
                }
                _ => evidence.understood -= 1,
            }
        }
        evidence.problems = lines.problems();
        if evidence.understood == 0 {
            return Err(self.not_this("it has no line `result: ...`"));
        }
        Ok(vec![evidence])
    }
}
