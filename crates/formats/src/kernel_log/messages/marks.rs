//! Named instants and facts that the kernel's messages tell.

use super::startup::stages;
use crate::evidence::{Evidence, Mark, Name, Stamp};
use crate::kernel_log::bytes::{number, split, text};
use memchr::{memchr, memmem};

/// A mark's detail is the message, up to here.
const SHOWN: usize = 120;

/// Which marks and facts a boot has so far; each is given by the first message that tells it.
#[derive(Debug, Default)]
pub struct Marks {
    given: Vec<&'static str>,
    facts: Vec<&'static str>,
    clocksource: Option<String>,
    release: Option<(i64, i64)>,
}

impl Marks {
    /// The kernel's version.
    pub fn release(&self) -> Option<(i64, i64)> {
        self.release
    }

    /// Reads a message; no, if it tells nothing.
    #[inline]
    pub fn line(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
        let starts = |words: &[u8]| line.starts_with(words);
        let mark = match line.first() {
            Some(b'L') if starts(b"Linux version ") && line.get(14).is_some_and(u8::is_ascii_digit) => {
                self.version(line, evidence);
                "kernel_start"
            }
            Some(b'B') if starts(b"Booting Linux on physical CPU") => "kernel_start",
            Some(b'C') if starts(b"Command line: ") => return self.fact("kernel.command_line", &line[14..], evidence),
            Some(b'K') if starts(b"Kernel command line: ") => {
                // What the boot loader gave comes before; this is all of it, as /proc/cmdline has it.
                if self.given.contains(&"Kernel command line") {
                    return true;
                }
                self.given.push("Kernel command line");
                self.facts.retain(|fact| *fact != "kernel.command_line");
                evidence.facts.retain(|(fact, _)| fact != "kernel.command_line");
                return self.fact("kernel.command_line", &line[21..], evidence);
            }
            Some(b'C') if starts(b"Calibrating delay loop") => {
                if let Some((lpj, _)) = split(line, b"(lpj=").and_then(|(_, rest)| number(rest)) {
                    self.fact("kernel.lpj", lpj.to_string().as_bytes(), evidence);
                }
                "calibrate_delay"
            }
            Some(b'M') if starts(b"Memory: ") => {
                let present =
                    split(line, b"K/").and_then(|(_, rest)| number(rest)).filter(|(_, rest)| rest.starts_with(b"K "));
                let Some((kib, _)) = present else { return false };
                return self.fact("memory.present_bytes", kib.saturating_mul(1024).to_string().as_bytes(), evidence);
            }
            Some(b'c') if starts(b"clocksource: Switched to clocksource ") => {
                self.clocksource = Some(text(line[37..].trim_ascii()));
                "clocksource_switch"
            }
            // Up to 4.0, and up to 3.9.
            Some(b'S') if starts(b"Switched to clocksource ") || starts(b"Switching to clocksource ") => {
                self.clocksource = split(line, b"clocksource ").map(|(_, name)| text(name.trim_ascii()));
                "clocksource_switch"
            }
            Some(b's') if starts(b"sched_clock: ") => "sched_clock",
            Some(b's') if starts(b"smp: Brought up") => "smp_up",
            Some(b's') if starts(b"systemd[1]: ") => return self.systemd(stamp, line, evidence),
            // ARM said so up to 3.9.
            Some(b'F') if starts(b"Freeing unused kernel") || starts(b"Freeing init memory: ") => "free_init_memory",
            Some(b'f') if starts(b"firstlight: ready") => "ready",
            Some(b'W') if starts(b"Write protecting the") => "write_protect",
            Some(b'R') if starts(b"Run ") && memmem::find(line, b" as init process").is_some() => "user_start",
            _ => return false,
        };
        self.mark(mark, stamp, line, evidence);
        true
    }

    fn systemd(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
        self.mark("systemd_start", stamp, line, evidence);
        let message = &line[12..];
        if message.starts_with(b"Startup finished in ") {
            if !self.given.contains(&"startup_finished") {
                evidence.spans.extend(stages(message));
            }
            self.mark("startup_finished", stamp, line, evidence);
        } else if message.starts_with(b"Switching root") {
            self.mark("switch_root", stamp, line, evidence);
        }
        true
    }

    fn mark(&mut self, name: &'static str, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) {
        if self.given.contains(&name) {
            return;
        }
        self.given.push(name);
        if let Some(time_ns) = stamp.time_ns {
            evidence.marks.push(Mark {
                name: Name::Borrowed(name),
                time_ns,
                detail: text(&line[..line.len().min(SHOWN)]),
            });
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

    /// Writes what only the last message tells.
    pub fn finish(self, evidence: &mut Evidence) {
        if let Some(name) = self.clocksource {
            evidence.facts.push((Name::Borrowed("clocksource.current"), name));
        }
    }
}
