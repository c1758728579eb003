//! Marks and facts from the kernel's messages.

use super::startup::stages;
use crate::evidence::{Evidence, Instant, Mark, Name, Stamp};
use crate::kernel_log::bytes::{number, split, text};
use memchr::{memchr, memmem};

/// A mark's detail is the message, up to here.
const SHOWN: usize = 120;

/// Which marks and facts a boot has so far; each comes from the first message that has it.
#[derive(Debug, Default)]
pub struct Marks {
    given: Vec<Mark>,
    /// Whether the kernel has printed its whole command line.
    command_line: bool,
    facts: Vec<&'static str>,
    clocksource: Option<String>,
    release: Option<(i64, i64)>,
}

impl Marks {
    /// The kernel's version.
    pub fn release(&self) -> Option<(i64, i64)> {
        self.release
    }

    /// Reads a message; returns false if it has no mark or fact.
    #[inline]
    pub fn line(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
        let starts = |words: &[u8]| line.starts_with(words);
        let mark = match line.first() {
            Some(b'L') if starts(b"Linux version ") && line.get(14).is_some_and(u8::is_ascii_digit) => {
                self.version(line, evidence);
                Mark::KernelStart
            }
            Some(b'B') if starts(b"Booting Linux on physical CPU") => Mark::KernelStart,
            Some(b'C') if starts(b"Command line: ") => return self.fact("kernel.command_line", &line[14..], evidence),
            Some(b'K') if starts(b"Kernel command line: ") => {
                // What the boot loader gave comes before; this is all of it, as /proc/cmdline has it.
                if self.command_line {
                    return true;
                }
                self.command_line = true;
                self.facts.retain(|fact| *fact != "kernel.command_line");
                evidence.facts.retain(|(fact, _)| fact != "kernel.command_line");
                return self.fact("kernel.command_line", &line[21..], evidence);
            }
            Some(b'C') if starts(b"Calibrating delay loop") => {
                if let Some((lpj, _)) = split(line, b"(lpj=").and_then(|(_, rest)| number(rest)) {
                    self.fact("kernel.lpj", lpj.to_string().as_bytes(), evidence);
                }
                Mark::CalibrateDelay
            }
            Some(b'M') if starts(b"Memory: ") => {
                let present =
                    split(line, b"K/").and_then(|(_, rest)| number(rest)).filter(|(_, rest)| rest.starts_with(b"K "));
                let Some((kib, _)) = present else { return false };
                return self.fact("memory.present_bytes", kib.saturating_mul(1024).to_string().as_bytes(), evidence);
            }
            Some(b'c') if starts(b"clocksource: Switched to clocksource ") => {
                self.clocksource = Some(text(line[37..].trim_ascii()));
                Mark::ClocksourceSwitch
            }
            // Up to 4.0, and up to 3.9.
            Some(b'S') if starts(b"Switched to clocksource ") || starts(b"Switching to clocksource ") => {
                self.clocksource = split(line, b"clocksource ").map(|(_, name)| text(name.trim_ascii()));
                Mark::ClocksourceSwitch
            }
            Some(b's') if starts(b"sched_clock: ") => Mark::SchedClock,
            Some(b's') if starts(b"smp: Brought up") => Mark::SmpUp,
            Some(b's') if starts(b"systemd[1]: ") => return self.systemd(stamp, line, evidence),
            // ARM said so up to 3.9.
            Some(b'F') if starts(b"Freeing unused kernel") || starts(b"Freeing init memory: ") => Mark::FreeInitMemory,
            Some(b'f') if starts(b"firstlight: ready") => Mark::Ready,
            Some(b'W') if starts(b"Write protecting the") => Mark::WriteProtect,
            Some(b'R') if starts(b"Run ") && memmem::find(line, b" as init process").is_some() => Mark::UserStart,
            _ => return false,
        };
        self.mark(mark, stamp, line, evidence);
        true
    }

    fn systemd(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
        self.mark(Mark::SystemdStart, stamp, line, evidence);
        let message = &line[12..];
        if message.starts_with(b"Startup finished in ") {
            if !self.given.contains(&Mark::StartupFinished) {
                evidence.spans.extend(stages(message));
            }
            self.mark(Mark::StartupFinished, stamp, line, evidence);
        } else if message.starts_with(b"Switching root") {
            self.mark(Mark::SwitchRoot, stamp, line, evidence);
        }
        true
    }

    fn mark(&mut self, mark: Mark, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) {
        if self.given.contains(&mark) {
            return;
        }
        self.given.push(mark);
        if let Some(time_ns) = stamp.time_ns {
            evidence.marks.push(Instant { mark, time_ns, detail: text(&line[..line.len().min(SHOWN)]) });
        }
    }

    fn fact(&mut self, name: &'static str, value: &[u8], evidence: &mut Evidence) -> bool {
        if !self.facts.contains(&name) {
            self.facts.push(name);
            evidence.facts.push((Name::Borrowed(name), text(value.trim_ascii())));
        }
        true
    }

    /// `Linux version RELEASE (BUILDER) (COMPILER) VERSION`.
    fn version(&mut self, line: &[u8], evidence: &mut Evidence) {
        let rest = &line[14..];
        let release = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
        self.fact("kernel.release", release, evidence);
        if let Some((_, version)) = split(rest, b") #") {
            let version = [b"#", version].concat();
            self.fact("kernel.version", &version, evidence);
        }
        let numbers = number(release).and_then(|(major, rest)| Some((major, number(rest.strip_prefix(b".")?)?.0)));
        self.release = self.release.or(numbers);
    }

    /// Writes what only the last message shows.
    pub fn finish(self, evidence: &mut Evidence) {
        if let Some(name) = self.clocksource {
            evidence.facts.push((Name::Borrowed("clocksource.current"), name));
        }
    }
}
