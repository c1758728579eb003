//! Files of `/proc` and `/sys`, and the collector's lists of them: facts, known by their names.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Link, LinkKind, Name, ProblemKind, SpanKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::HashMap;

/// Reads a file of `/proc` or `/sys` as it was copied.
pub struct SystemSnapshot;

/// More facts than any real file has.
const MOST_FACTS: usize = 200_000;

/// Takes a line and adds what it says; returns whether it is one of the file's.
type Reader = fn(&str, &mut Evidence) -> bool;

/// The ends of paths, and who reads them.
const FILES: [(&str, Reader); 22] = [
    ("proc/cmdline", command_line),
    ("proc/version", version),
    ("proc/uptime", uptime),
    ("proc/cpuinfo", processor),
    ("proc/meminfo", memory),
    ("proc/interrupts", interrupt),
    ("proc/filesystems", file_system),
    ("proc/partitions", partition),
    ("proc/iomem", address_range),
    ("proc/stat", statistic),
    ("proc/mounts", mount),
    ("proc/modules", module),
    ("kernel/attributes.tsv", attribute),
    ("kernel/devices.tsv", device),
    ("kernel/devlinks.txt", device_link),
    ("debug/devices_deferred", deferred),
    ("tracing/current_tracer", tracer),
    ("/trace_clock", trace_clock),
    ("/trace_options", trace_option),
    ("/set_event", trace_event),
    ("/buffer_size_kb", trace_buffer),
    ("systemd/failed.txt", failed_unit),
];

/// The attributes that have a name of their own among the facts.
const ATTRIBUTES: [(&str, &str); 14] = [
    ("dmi/id/sys_vendor", "system.vendor"),
    ("dmi/id/product_name", "system.product"),
    ("dmi/id/board_name", "system.board"),
    ("dmi/id/bios_vendor", "firmware.vendor"),
    ("dmi/id/bios_version", "firmware.version"),
    ("dmi/id/bios_date", "firmware.date"),
    ("proc/device-tree/model", "system.model"),
    ("clocksource0/current_clocksource", "clocksource.current"),
    ("clocksource0/available_clocksource", "clocksource.available"),
    ("kernel/random/boot_id", "boot.id"),
    ("sys/kernel/osrelease", "kernel.release"),
    ("sys/kernel/version", "kernel.version"),
    ("sys/kernel/tainted", "kernel.tainted"),
    ("system/cpu/online", "cpu.online"),
];

fn reader(name: &str) -> Option<Reader> {
    FILES.iter().find(|(end, _)| of(name, end)).map(|(_, reader)| *reader)
}

/// Whether a path ends so, at a border between folders.
fn of(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/') || end.starts_with('/'))
}

impl Format for SystemSnapshot {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::SystemSnapshot, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let Some(reader) = reader(head.name) else { return Likelihood::No };
        // The name alone could be anybody's.
        let mut scratch = Evidence::default();
        let text = String::from_utf8_lossy(head.bytes);
        let (mut known, mut all) = (0_u32, 0_u32);
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(20) {
            all += 1;
            known += u32::from(reader(line, &mut scratch));
        }
        Likelihood::of_signature(known > 0 && known * 4 >= all)
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let not = |what: String| FormatError::NotThis { format: self.title(), what };
        let Some(reader) = reader(input.name) else {
            let names: Vec<&str> = FILES.iter().map(|(end, _)| *end).collect();
            return Err(not(format!("such files are known by their names, which end in {}", names.join(", "))));
        };
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut lines = Lines::new(input.bytes);
        let mut unparsed = Unparsed::default();
        let mut skipped = 0_u64;
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() {
                continue;
            }
            if evidence.facts.len() + evidence.links.len() >= MOST_FACTS {
                skipped = skipped.saturating_add(1);
            } else if reader(text.trim_end(), &mut evidence) {
                evidence.understood += 1;
            } else {
                unparsed.add(line.number);
            }
        }
        if evidence.understood == 0 {
            return Err(not("no line has the shape that its name promises".to_owned()));
        }
        // A command line has no line end in some copies; that cuts nothing off.
        evidence.problems.extend(lines.problems().into_iter().filter(|problem| problem.kind != ProblemKind::Cut));
        unparsed.report("line[|s] [is|are] of another shape", &mut evidence);
        if skipped > 0 {
            evidence.problem(
                ProblemKind::Overlong,
                None,
                counted(skipped, &format!("# line[|s] beyond {MOST_FACTS} [was|were] passed over")),
            );
        }
        settle(&mut evidence);
        Ok(vec![evidence])
    }
}

/// Puts sums and lists in the place of what was gathered line by line, and leaves one fact of each name.
fn settle(evidence: &mut Evidence) {
    let processors = evidence.facts.iter().filter(|(name, _)| name == "cpu.number").count();
    if processors > 0 {
        evidence.facts.retain(|(name, _)| name != "cpu.number");
        evidence.facts.push(("cpu.count".into(), processors.to_string()));
    }
    for name in ["kernel.filesystems", "systemd.failed", "trace.options", "trace.events"] {
        join(name, evidence);
    }
    let mut places = HashMap::new();
    let mut facts: Vec<(Name, String)> = Vec::with_capacity(evidence.facts.len());
    for (name, value) in std::mem::take(&mut evidence.facts) {
        let place = *places.entry(name.clone()).or_insert(facts.len());
        match facts.get_mut(place) {
            // Of several mounts on one point the last is the one that is seen.
            Some(known) if name.starts_with("mount.") => known.1 = value,
            Some(_) => {}
            None => facts.push((name, value)),
        }
    }
    evidence.facts = facts;
}

/// Makes one fact of many.
fn join(name: &'static str, evidence: &mut Evidence) {
    let of = |fact: &&(Name, String)| fact.0 == name;
    let values: Vec<&str> = evidence.facts.iter().filter(of).map(|fact| fact.1.as_str()).collect();
    if values.len() > 1 {
        let joined = values.join(" ");
        evidence.facts.retain(|fact| fact.0 != name);
        evidence.facts.push((name.into(), joined));
    }
}

fn fact(evidence: &mut Evidence, name: impl Into<Name>, value: &str) -> bool {
    evidence.facts.push((name.into(), value.to_owned()));
    true
}

fn command_line(line: &str, evidence: &mut Evidence) -> bool {
    // It is one line; a second line belongs to another file.
    evidence.facts.is_empty() && fact(evidence, "kernel.command_line", line.trim())
}

fn version(line: &str, evidence: &mut Evidence) -> bool {
    let Some(rest) = line.strip_prefix("Linux version ") else { return false };
    let (release, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if let Some((_, version)) = rest.split_once(" #") {
        fact(evidence, "kernel.version", &format!("#{version}"));
    }
    fact(evidence, "kernel.release", release)
}

fn uptime(line: &str, evidence: &mut Evidence) -> bool {
    let Some((up, idle)) = line.split_once(' ') else { return false };
    let number = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number(up) && number(idle) && fact(evidence, "collected.uptime_s", up) && fact(evidence, "collected.idle_s", idle)
}

fn processor(line: &str, evidence: &mut Evidence) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    match (key.trim(), value.trim()) {
        ("processor", number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            fact(evidence, "cpu.number", number)
        }
        ("model name" | "cpu model" | "uarch", model) => fact(evidence, "cpu.model", model),
        ("Hardware" | "Model" | "machine", model) => fact(evidence, "system.model", model),
        _ => true,
    }
}

fn memory(line: &str, evidence: &mut Evidence) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let number = value.trim().strip_suffix(" kB").unwrap_or(value).trim();
    let Ok(kibibytes) = number.parse::<u64>() else { return false };
    match key {
        "MemTotal" => fact(evidence, "memory.total_bytes", &kibibytes.saturating_mul(1024).to_string()),
        "MemFree" => fact(evidence, "memory.free_bytes", &kibibytes.saturating_mul(1024).to_string()),
        _ => true,
    }
}

fn interrupt(line: &str, evidence: &mut Evidence) -> bool {
    let mut columns = line.split_whitespace();
    if line.trim_start().starts_with("CPU") {
        return columns.all(|column| column.starts_with("CPU"));
    }
    let Some((name, rest)) = line.split_once(':') else { return false };
    let number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counts = words.iter().take_while(|word| number(word)).count();
    let total = words.iter().take(counts).filter_map(|word| word.parse::<u64>().ok()).fold(0, u64::saturating_add);
    let what = words.get(counts..).unwrap_or_default().join(" ");
    counts > 0 && fact(evidence, format!("interrupt.{}", name.trim()), format!("{total} {what}").trim_end())
}

fn file_system(line: &str, evidence: &mut Evidence) -> bool {
    let name = line.strip_prefix("nodev").unwrap_or(line).trim();
    !name.is_empty() && !name.contains(char::is_whitespace) && fact(evidence, "kernel.filesystems", name)
}

fn partition(line: &str, evidence: &mut Evidence) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["major", "minor", "#blocks", "name"] => true,
        [_, _, blocks, name] => {
            let Ok(blocks) = blocks.parse::<u64>() else { return false };
            fact(evidence, format!("block.{name}.size_bytes"), &blocks.saturating_mul(1024).to_string())
        }
        _ => false,
    }
}

fn address_range(line: &str, evidence: &mut Evidence) -> bool {
    let Some((range, what)) = line.split_once(" : ") else { return false };
    let Some((first, last)) = range.trim().split_once('-') else { return false };
    let (Ok(first), Ok(last)) = (u64::from_str_radix(first, 16), u64::from_str_radix(last, 16)) else { return false };
    // For everybody but root all addresses are zero.
    if !range.starts_with(' ') && last > first {
        fact(evidence, format!("iomem.{first:x}-{last:x}"), what);
    }
    true
}

fn statistic(line: &str, evidence: &mut Evidence) -> bool {
    let mut words = line.split_whitespace();
    let (Some(key), Some(value)) = (words.next(), words.next()) else { return false };
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    match key {
        "btime" => fact(evidence, "clock.boot_time_s", value),
        "intr" => fact(evidence, "collected.interrupts", value),
        "ctxt" => fact(evidence, "collected.context_switches", value),
        "processes" => fact(evidence, "collected.forks", value),
        _ => true,
    }
}

fn mount(line: &str, evidence: &mut Evidence) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        [device, point, kind, options, ..] if point.starts_with('/') => {
            fact(evidence, format!("mount.{point}"), &format!("{device} {kind} {options}"))
        }
        _ => false,
    }
}

fn module(line: &str, evidence: &mut Evidence) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        [name, size, users, ..] if size.parse::<u64>().is_ok() && users.parse::<i64>().is_ok() => {
            fact(evidence, format!("module.{name}"), size)
        }
        _ => false,
    }
}

fn attribute(line: &str, evidence: &mut Evidence) -> bool {
    let Some((path, value)) = line.split_once('\t') else { return false };
    if !path.starts_with('/') {
        return false;
    }
    match ATTRIBUTES.iter().find(|(end, _)| of(path, end)) {
        Some((_, name)) => fact(evidence, *name, value),
        None => fact(evidence, format!("attribute.{}", path.trim_start_matches('/')), value),
    }
}

fn device(line: &str, evidence: &mut Evidence) -> bool {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields.as_slice() {
        [bus, device, driver] => fact(evidence, format!("device.{bus}/{device}"), driver),
        // The last field of a device without a driver is empty, and may have been trimmed.
        [bus, device] => fact(evidence, format!("device.{bus}/{device}"), ""),
        _ => false,
    }
}

/// `BUS:SUPPLIER--BUS:CONSUMER`.
fn device_link(line: &str, evidence: &mut Evidence) -> bool {
    let Some((supplier, consumer)) = line.split_once("--") else { return false };
    let (Some((_, supplier)), Some((_, consumer))) = (supplier.split_once(':'), consumer.split_once(':')) else {
        return false;
    };
    let (from, to) = ((SpanKind::Probe, consumer.to_owned()), (SpanKind::Probe, supplier.to_owned()));
    evidence.links.push(Link { kind: LinkKind::Supplier, from, to });
    true
}

fn deferred(line: &str, evidence: &mut Evidence) -> bool {
    let (device, reason) = line.split_once('\t').unwrap_or((line, ""));
    !device.contains(' ') && fact(evidence, format!("kernel.deferred_probe.{device}"), reason.trim())
}

fn tracer(line: &str, evidence: &mut Evidence) -> bool {
    word(line) && fact(evidence, "trace.tracer", line)
}

/// All clocks on one line, the one in use in brackets.
fn trace_clock(line: &str, evidence: &mut Evidence) -> bool {
    let used = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    used.is_some_and(|(clock, _)| word(clock) && fact(evidence, "trace.clock", clock))
}

fn trace_option(line: &str, evidence: &mut Evidence) -> bool {
    word(line) && fact(evidence, "trace.options", line)
}

fn trace_event(line: &str, evidence: &mut Evidence) -> bool {
    line.contains(':') && word(&line.replace(':', "_")) && fact(evidence, "trace.events", line)
}

fn trace_buffer(line: &str, evidence: &mut Evidence) -> bool {
    // `7 (expanded: 1408)`: what it will have once something is traced.
    let number = line.split(' ').next().unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && fact(evidence, "trace.buffer_kib", number)
}

fn word(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*' | b'.'))
}

fn failed_unit(line: &str, evidence: &mut Evidence) -> bool {
    let unit = line.trim_start_matches("● ").split_whitespace().next().unwrap_or_default();
    let named = unit.rsplit_once('.').is_some_and(|(stem, kind)| !stem.is_empty() && !kind.contains('/'));
    named && fact(evidence, "systemd.failed", unit)
}
