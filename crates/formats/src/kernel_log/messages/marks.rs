//! Marks and facts from the kernel's messages.

use super::hardware::hardware;
use super::programs::is_of_userspace;
use super::startup::{duration, stages};
use crate::evidence::{Evidence, Instant, Mark, Name, ProblemKind, Stamp, INFERRED};
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
    /// When the kernel had freed its init memory, by the last line about this work: then it runs the first program.
    freed_ns: Option<i64>,
    release: Option<(i64, i64)>,
    /// What the first line says that only one architecture's kernels print.
    architecture: Option<&'static str>,
    /// A line is of another machine's kernel.
    mixed: bool,
    /// When systemd printed its first line.
    systemd_ns: Option<i64>,
    /// The systemd that prints is the initramfs's.
    of_initramfs: bool,
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
            Some(b'B') if starts(b"Booting Linux on physical CPU") => {
                // arm64 prints ten hexadecimal digits and the processor's identification.
                let wide = line.get(30..).is_some_and(|cpu| cpu.starts_with(b"0x00000") && cpu.contains(&b'['));
                self.architecture(if wide { "arm64" } else { "arm" }, stamp, evidence);
                Mark::KernelStart
            }
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
            Some(b'R') if starts(b"Run ") && memmem::find(line, b" as init process").is_some() => {
                if FALLBACKS.iter().any(|program| line[4..].starts_with(program)) && !ran_before(line, evidence) {
                    // The program that it ran before is missing.
                    self.no_program(evidence);
                }
                Mark::UserStart
            }
            _ => {
                if let Some(architecture) = of_architecture(line) {
                    self.architecture(architecture, stamp, evidence);
                }
                self.after_freeing(stamp, line, evidence);
                let found = hardware(line);
                for (name, value) in &found {
                    self.fact(name, value.as_bytes(), evidence);
                }
                return !found.is_empty();
            }
        };
        if mark == Mark::FreeInitMemory || mark == Mark::WriteProtect {
            self.work_after_freeing(stamp, mark);
        }
        self.mark(mark, stamp, line, evidence);
        true
    }

    /// The first line that only one architecture's kernels print has the machine's; one of another is of another machine.
    fn architecture(&mut self, name: &'static str, stamp: &Stamp, evidence: &mut Evidence) {
        self.fact("system.architecture", name.as_bytes(), evidence);
        let known = *self.architecture.get_or_insert(name);
        // Early lines of both kinds of arm are alike.
        let other = known != name && !(known.starts_with("arm") && name.starts_with("arm"));
        if other && !self.mixed {
            self.mixed = true;
            let detail = format!(
                "a line of a kernel for {name} stands among those of one for {known}: lines of two machines are mixed"
            );
            evidence.problem(ProblemKind::Contradiction, Some(stamp.line), detail);
        }
    }

    fn work_after_freeing(&mut self, stamp: &Stamp, mark: Mark) {
        if mark == Mark::FreeInitMemory || self.freed_ns.is_some() {
            self.freed_ns = stamp.time_ns.max(self.freed_ns);
        }
    }

    /// A line after the kernel has freed its init memory: of this work, or a sign of userspace.
    fn after_freeing(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) {
        if is_without_program(line) {
            self.freed_ns = None;
            self.no_program(evidence);
        }
        if self.freed_ns.is_none() || self.given.contains(&Mark::UserStart) {
            return;
        }
        if is_work(line) {
            self.freed_ns = stamp.time_ns.max(self.freed_ns);
        } else {
            self.program(line, evidence);
        }
    }

    /// Takes back that a program ran.
    fn no_program(&mut self, evidence: &mut Evidence) {
        self.given.retain(|mark| *mark != Mark::UserStart);
        evidence.marks.retain(|mark| mark.mark != Mark::UserStart);
    }

    /// A line of a program, if it is one. Kernels before 4.15 do not print that they run the first program: it runs as soon as
    /// the init memory is freed.
    pub fn program(&mut self, line: &[u8], evidence: &mut Evidence) {
        let Some(time_ns) = self.freed_ns.filter(|_| !self.given.contains(&Mark::UserStart)) else { return };
        if is_of_userspace(line) {
            self.given.push(Mark::UserStart);
            let sign = text(&line[..line.len().min(SHOWN)]);
            let from = format!("the init memory is freed, and userspace runs: {sign}");
            evidence.marks.push(Instant::inferred(Mark::UserStart, time_ns, from));
        }
    }

    fn systemd(&mut self, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) -> bool {
        self.program(line, evidence);
        self.mark(Mark::SystemdStart, stamp, line, evidence);
        let message = &line[12..];
        self.systemd_ns = self.systemd_ns.or(stamp.time_ns);
        if is_in_initramfs(message) {
            self.of_initramfs = true;
            self.mark(Mark::InitramfsStart, &Stamp { time_ns: self.systemd_ns, ..*stamp }, line, evidence);
        } else if let Some(before_ns) = manager_starts(message).filter(|_| self.of_initramfs) {
            self.of_initramfs = false;
            let time_ns = stamp.time_ns.map(|at| at.saturating_sub(before_ns));
            self.mark(Mark::UserspaceStart, &Stamp { time_ns, ..*stamp }, line, evidence);
        }
        if message.starts_with(b"Startup finished in ") {
            if !self.given.contains(&Mark::StartupFinished) {
                evidence.spans.extend(stages(message));
            }
            self.mark(Mark::StartupFinished, stamp, line, evidence);
        } else if message.starts_with(b"Switching root") {
            self.mark(Mark::SwitchRoot, stamp, line, evidence);
        } else if message.starts_with(b"Set hostname to <") || message.starts_with(b"Hostname set to <") {
            if let Some((_, name)) =
                split(message, b"<").and_then(|(_, rest)| split(rest, b">").map(|(name, _)| ((), name)))
            {
                // An initramfs has a name of its own.
                self.facts.retain(|fact| *fact != "system.hostname");
                evidence.facts.retain(|(fact, _)| fact != "system.hostname");
                self.fact("system.hostname", name, evidence);
            }
        }
        true
    }

    fn mark(&mut self, mark: Mark, stamp: &Stamp, line: &[u8], evidence: &mut Evidence) {
        if self.given.contains(&mark) {
            // What the kernel says is better than what a program that another daemon logged among its lines lets infer.
            let inferred = |known: &Instant| known.mark == mark && known.detail.starts_with(INFERRED);
            if mark != Mark::UserStart || stamp.time_ns.is_none() || !evidence.marks.iter().any(inferred) {
                return;
            }
            evidence.marks.retain(|known| known.mark != mark);
        } else {
            self.given.push(mark);
        }
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

    /// Writes what only the last message shows. *last_ns*: when it was.
    pub fn finish(self, last_ns: Option<i64>, evidence: &mut Evidence) {
        // The log goes on behind the kernel's last step: its first program ran, whatever it printed.
        let freed = self.freed_ns.filter(|_| !self.given.contains(&Mark::UserStart));
        if let Some(time_ns) = freed.filter(|freed| last_ns.is_some_and(|last| last > *freed)) {
            let from = "the kernel's last step before its first program; no line shows the program".to_owned();
            evidence.marks.push(Instant::inferred(Mark::UserStart, time_ns, from));
        }
        if let Some(name) = self.clocksource {
            evidence.facts.push((Name::Borrowed("clocksource.current"), name));
        }
    }
}

/// Messages that only one architecture's kernels print early, and it.
const ARCHITECTURES: [(&[u8], &str); 12] = [
    (b"BIOS-provided physical RAM map", "x86"),
    (b"BIOS-e820: ", "x86"),
    (b"e820: ", "x86"),
    (b"x86/", "x86"),
    (b"CPU: ARMv", "arm"),
    (b"CPU: AArch64", "arm64"),
    (b"CPU0 revision is: ", "mips"),
    (b"SBI specification v", "riscv"),
    (b"riscv: ", "riscv"),
    (b"Hardware name: PowerNV", "powerpc"),
    (b"Using pSeries machine description", "powerpc"),
    (b"LoongArch", "loongarch"),
];

fn of_architecture(line: &[u8]) -> Option<&'static str> {
    if !matches!(line.first()?, b'B' | b'e' | b'x' | b'C' | b'S' | b'r' | b'H' | b'U' | b'L') {
        return None;
    }
    ARCHITECTURES.iter().find(|(words, _)| line.starts_with(words)).map(|(_, name)| *name)
}

/// What the kernel runs where the program that it ran before is missing, and what it runs first without an initramfs.
///
/// Source: <https://elixir.bootlin.com/linux/v6.12/source/init/main.c>, `kernel_init`.
const FALLBACKS: [&[u8]; 4] = [b"/sbin/init ", b"/etc/init ", b"/bin/init ", b"/bin/sh "];

/// Whether the kernel's line about the program that it ran is there already: it runs none twice, and the line is pasted back.
fn ran_before(line: &[u8], evidence: &Evidence) -> bool {
    let shown = &line[..line.len().min(SHOWN)];
    evidence.marks.iter().any(|known| known.mark == Mark::UserStart && known.detail.as_bytes() == shown)
}

/// Whether the kernel gives up because it has no program to run.
fn is_without_program(line: &[u8]) -> bool {
    let Some(why) = line.strip_prefix(b"Kernel panic - not syncing: ") else { return false };
    why.starts_with(b"Requested init ") || memmem::find(why, b"init found").is_some()
}

/// Whether systemd says that it is the one of an initramfs; its words changed in version 255.
///
/// Source: <https://github.com/systemd/systemd/blob/v255/src/core/main.c>, `initialize_runtime` and `main`.
fn is_in_initramfs(message: &[u8]) -> bool {
    message.starts_with(b"Running in initial RAM disk") || message.starts_with(b"Running in initrd")
}

/// What systemd prints once, early: behind the initramfs's it is of the one of the root file system. How long before the line it began,
/// as far as the line says it: it loads the policy of SELinux first.
fn manager_starts(message: &[u8]) -> Option<i64> {
    if let Some(took) = message.strip_prefix(b"Successfully loaded SELinux policy in ") {
        return Some(duration(took.strip_suffix(b".").unwrap_or(took)).unwrap_or(0));
    }
    let begins = [&b"Inserted module '"[..], b"RTC configured in ", b"System time before build time"];
    let runs = message.starts_with(b"systemd ") && memmem::find(message, b" running in system mode").is_some();
    (runs || begins.iter().any(|words| message.starts_with(words))).then_some(0)
}

/// What the kernel says between freeing its init memory and running the first program.
const WORK: [&[u8]; 8] = [
    b"Freeing ",
    b"Write protecting",
    b"This architecture does not have kernel memory protection",
    b"Kernel memory protection",
    b"x86/mm: Checked W+X mappings",
    b"Checked W+X mappings",
    b"rodata_test: ",
    b"Warning: unable to open an initial console",
];

fn is_work(line: &[u8]) -> bool {
    WORK.iter().any(|words| line.starts_with(words))
}
