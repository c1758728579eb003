//! Files of `grab-boot-data.sh`: sections `== NAME ==` of facts, of systemd's figures, and of the kernel's messages.

use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Name, Problem, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood, Recognise, HEAD_BYTES};
use crate::kernel_log::bytes::{number, split, text};
use crate::kernel_log::text::Text;
use crate::lines::{Line, Lines};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct GrabBootData;

/// What is kept of a section that another reader reads.
const SECTION: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Info,
    Kernel,
    Os,
    Memory,
    Mounts,
    Cores,
    Config,
    Systemd,
    Messages,
    Other,
}

fn section(line: &[u8]) -> Option<Section> {
    let name = line.strip_prefix(b"== ")?.trim_ascii_end().strip_suffix(b" ==")?;
    Some(match name {
        b"GRAB-BOOT-DATA INFO" => Section::Info,
        b"Kernel Info" => Section::Kernel,
        b"OS" => Section::Os,
        b"MEMORY" => Section::Memory,
        b"MOUNTS" => Section::Mounts,
        b"CORES" => Section::Cores,
        b"CONFIG" => Section::Config,
        b"SYSTEMD INFO" => Section::Systemd,
        b"KERNEL MESSAGES" => Section::Messages,
        b"UPTIME" | b"DISK USAGE" | b"PROCESSES" | b"INTERRUPTS" => Section::Other,
        _ => return None,
    })
}

/// `KEY="VALUE"`.
fn assignment(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = split(line, b"=")?;
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    Some((key, value.strip_suffix(b"\"").unwrap_or(value)))
}

/// What the sections before the kernel's messages say.
#[derive(Default)]
struct Facts {
    facts: Vec<(Name, String)>,
    cores: u64,
    config: String,
    systemd: Vec<Vec<u8>>,
    understood: u64,
}

impl Facts {
    fn fact(&mut self, name: &'static str, value: &[u8]) {
        if !value.is_empty() && !self.facts.iter().any(|(known, _)| known == name) {
            self.facts.push((Name::Borrowed(name), text(value)));
            self.understood += 1;
        }
    }

    fn line(&mut self, section: Section, line: &[u8]) {
        match section {
            Section::Info | Section::Kernel | Section::Os => {
                let Some((key, value)) = assignment(line.strip_prefix(b"OS_RELEASE:").unwrap_or(line)) else { return };
                match key {
                    b"GBD_VERSION" => self.fact("grab_boot_data.version", value),
                    b"GBD_ARGS" => self.fact("grab_boot_data.arguments", value),
                    b"GBD_TIMESTAMP" => self.fact("grab_boot_data.timestamp", value),
                    b"GBD_LAB" => self.fact("grab_boot_data.lab", value),
                    b"GBD_MACHINE" => self.fact("grab_boot_data.machine", value),
                    b"KERNEL_CMDLINE" => self.fact("kernel.command_line", value),
                    b"KERNEL_VERSION" => {
                        let (release, version) = split(value, b" ").unwrap_or((value, b""));
                        self.fact("kernel.release", release);
                        self.fact("kernel.version", version);
                    }
                    b"PRETTY_NAME" => self.fact("system.os", value),
                    _ => {}
                }
            }
            Section::Memory => {
                if let Some((kib, _)) = line.strip_prefix(b"Mem:").and_then(|rest| number(rest.trim_ascii_start())) {
                    self.fact("memory.total_bytes", kib.saturating_mul(1024).to_string().as_bytes());
                }
            }
            Section::Mounts => self.mount(line),
            Section::Cores => {
                if line.starts_with(b"processor") {
                    self.cores += 1;
                } else if let Some((_, model)) = split(line, b"model name").and_then(|(_, rest)| split(rest, b": ")) {
                    self.fact("cpu.model", model);
                }
            }
            Section::Config => {
                if line.starts_with(b"CONFIG_") || line.starts_with(b"# CONFIG_") {
                    self.config.push_str(&text(line));
                    self.config.push('\n');
                }
            }
            Section::Systemd => {
                if line == b"-----" || self.systemd.is_empty() {
                    self.systemd.push(Vec::new());
                }
                if let Some(part) = self.systemd.last_mut().filter(|part| line != b"-----" && part.len() < SECTION) {
                    part.extend_from_slice(line);
                    part.push(b'\n');
                }
            }
            Section::Messages | Section::Other => {}
        }
    }

    /// `/dev/vda1 on / type ext4 (rw)`.
    fn mount(&mut self, line: &[u8]) {
        let Some((device, rest)) = split(line, b" on ") else { return };
        let Some((point, rest)) = split(rest, b" type ") else { return };
        let Some((kind, options)) = split(rest, b" (") else { return };
        let options = options.strip_suffix(b")").unwrap_or(options);
        let value = format!("{} {} {}", text(device), text(kind), text(options));
        self.facts.push((Name::Owned(format!("mount.{}", text(point))), value));
        self.understood += 1;
    }

    fn finish(&mut self) {
        if self.cores > 0 {
            let cores = self.cores.to_string();
            self.fact("cpu.count", cores.as_bytes());
        }
        if !self.config.is_empty() {
            let config = std::mem::take(&mut self.config);
            self.facts.push((Name::Borrowed("kernel.config"), config));
        }
    }
}

impl Format for GrabBootData {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::GrabBootData, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let machine = head.bytes.starts_with(b"=== Machine Info ==");
        let info = memchr::memmem::find(head.bytes, b"== GRAB-BOOT-DATA INFO ==").is_some();
        match (machine, info) {
            (true, true) | (false, true) => Likelihood::Certain,
            (true, false) => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut facts = Facts::default();
        let mut messages = Text::new(self.about(), "KERNEL MESSAGES", false);
        let (mut at, mut sections, mut begins) = (Section::Other, 0_u64, None);
        let mut lines = Lines::new(input.bytes);
        while let Some(Line { number, bytes }) = lines.next_line()? {
            if let Some(next) = section(bytes) {
                sections += 1;
                at = next;
                if next == Section::Messages {
                    begins = Some(number + 1);
                }
            } else if at == Section::Messages {
                if !bytes.is_empty() {
                    messages.line(number, None, bytes);
                }
            } else {
                facts.line(at, bytes);
            }
        }
        if sections == 0 {
            return Err(self.not_this("it has no section `== NAME ==`"));
        }
        facts.finish();
        let mut read = self.messages(messages, begins, lines.problems());
        if let Some(first) = read.first_mut() {
            let own: Vec<Name> = first.facts.iter().map(|(name, _)| name.clone()).collect();
            first.facts.extend(facts.facts.drain(..).filter(|(name, _)| !own.contains(name)));
            first.understood = first.understood.saturating_add(facts.understood);
        }
        for part in &facts.systemd {
            systemd(input.name, part, input.nested, &mut read);
        }
        Ok(read)
    }
}

impl GrabBootData {
    fn messages(&self, messages: Text, begins: Option<u64>, problems: Vec<Problem>) -> Vec<Evidence> {
        match messages.finish(self.title(), problems) {
            Ok(mut read) => {
                if let (Some(first), Some(line)) = (read.first_mut(), begins) {
                    first.first_line = line;
                }
                read
            }
            Err(error) => {
                let mut empty = Evidence::of(self.about(), Clock::Untimed);
                empty.first_line = 1;
                let detail = match begins {
                    Some(_) => format!("the section KERNEL MESSAGES could not be read: {error}"),
                    None => "it has no section KERNEL MESSAGES: the file was cut off, or dmesg was refused".to_owned(),
                };
                empty.problem(ProblemKind::LostTail, begins, detail);
                vec![empty]
            }
        }
    }
}

/// The output of `systemd-analyze` goes to its own reader.
fn systemd(name: &str, part: &[u8], nested: &dyn Recognise, read: &mut Vec<Evidence>) {
    if part.trim_ascii().is_empty() || part.starts_with(b"NOTE:") {
        return;
    }
    let head = Head { name, bytes: &part[..part.len().min(HEAD_BYTES)] };
    let mut bytes = part;
    let found = nested.recognise(&head).and_then(|reader| reader.read(Input { name, bytes: &mut bytes, nested }));
    match found {
        Ok(found) => read.extend(found.into_iter().map(|mut evidence| {
            "SYSTEMD INFO".clone_into(&mut evidence.part);
            evidence
        })),
        Err(error) => {
            if let Some(first) = read.first_mut() {
                let detail = format!("a part of the section SYSTEMD INFO was not read: {error}");
                first.problem(ProblemKind::Unrecognised, None, detail);
            }
        }
    }
}
