//! Firstlight's guest helper: first process of the initramfs, and the program behind the ready unit.
//!
//! `docs/reference/formats/guest-report.md` says what it does and what it writes; `docs/design/guest.md` says why.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod clocks;
mod config;
mod error;
mod facts;
mod kept;
mod modules;
mod mounts;
mod port;
mod report;
mod state;
mod switch_root;
mod systemd;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::system::{reboot, RebootCommand};

use crate::config::{Action, Config};
use crate::error::{Context, Error, Result};
use crate::port::Port;
use crate::report::Writer;
use firstlight_isa::guest::{self as mark, give, Mark};

const CONFIG: &str = "/firstlight.conf";
const PATH: &str = "/bin:/sbin:/usr/bin:/usr/sbin";
/// Run after the ready mark, where the user land has it.
const AFTER_READY: &str = "/etc/firstlight/after-ready";
const USAGE: &str = "usage: firstlight-guest ready [PORT] | stamp NAME\n\
                     Without a subcommand it is the first process of a guest, and nothing else.\n";

fn main() -> ExitCode {
    let now = mark::counter();
    if rustix::process::getpid().is_init() {
        // The kernel hands words of its command line that it does not know to the first process: they mean nothing.
        give(Mark::GuestStart);
        first_process();
    }
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(verb), port, None) if verb == "ready" => {
            ready(&port.map_or_else(|| Config::default().report, PathBuf::from), None, false);
            power_off()
        }
        (Some(verb), Some(name), None) if verb == "stamp" => {
            match kept::stamp(now, &name.to_string_lossy(), Path::new(kept::FOLDER)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    let _ = writeln!(io::stderr(), "error: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => {
            let _ = io::stderr().write_all(USAGE.as_bytes());
            ExitCode::from(2)
        }
    }
}

/// Does what the configuration says, and powers off.
fn first_process() -> ! {
    let mut config = Config::default();
    if let Err(error) = run(&mut config) {
        say(&format!("error: {error}"));
        let outcome = write_report(&config.report, |report| report.record("error", error.to_string().as_bytes()));
        tell(outcome);
    }
    power_off()
}

fn run(config: &mut Config) -> Result<()> {
    let read = std::fs::read_to_string(CONFIG).context("read", CONFIG).and_then(|text| Config::parse(&text));
    // Whoever comes after the helper expects the kernel's file systems; a small user land can be asked to do without.
    let small = read.as_ref().is_ok_and(|config| config.action == Action::Boot && config.root.is_none());
    let late = small && mounts::late();
    if late {
        mounts::mount_devices_and_run()?;
    } else {
        mounts::mount_kernel_file_systems()?;
    }
    *config = read?;
    if config.action == Action::Symbols {
        let symbols = std::fs::read("/proc/kallsyms").context("read", "/proc/kallsyms")?;
        return write_report(&config.report, |report| report.record("kallsyms", &symbols));
    }
    modules::load_all(&config.modules)?;
    if let Some(device) = &config.root {
        if let Some(script) = &config.before_root {
            run_script(script)?;
        }
        return Err(switch_root::switch(config, device));
    }
    let failure = config.script.as_deref().and_then(|script| run_script(script).err());
    ready(&config.report, failure.as_ref(), late);
    Ok(())
}

/// The user land of an initramfs is one shell script, and so is what comes before a root.
fn run_script(script: &Path) -> Result<()> {
    let mut shell = Command::new("/bin/sh");
    let status = shell.arg(script).env("PATH", PATH).status().context("run", script)?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Script { path: script.to_owned(), status })
    }
}

/// Says so, gives the ready mark, then reports: all of the report is outside the recorded boot, and so is mounting what
/// only the report reads.
fn ready(port: &Path, failure: Option<&Error>, mount: bool) {
    say("ready");
    let stamp = mark::ready();
    if mount {
        tell(mounts::mount_proc_and_sysfs());
    }
    if let Some(error) = failure {
        say(&format!("error: {error}"));
    }
    let clock_ns = clocks::monotonic_ns();
    let mut clocks = clocks::both();
    systemd::wait_for_udev();
    let gathered = after_ready(Path::new(AFTER_READY)).err();
    if let Some(error) = &gathered {
        say(&format!("error: {error}"));
    }
    let outcome = write_report(port, |report| {
        facts::write_all(report, stamp, clock_ns)?;
        state::write_all(report)?;
        kept::write_all(report, Path::new(kept::FOLDER))?;
        if let Some(units) = systemd::failed_units() {
            report.record("systemd.failed", &units)?;
        }
        if let Some(shown) = systemd::shown() {
            clocks.push_str(&clocks::both());
            report.record("systemd.show", &shown)?;
            report.record("clocks", clocks.as_bytes())?;
        }
        failure.or(gathered.as_ref()).map_or(Ok(()), |error| report.record("error", error.to_string().as_bytes()))
    });
    tell(outcome);
}

/// What a user land has to say once the recorded boot is over: it gathers that by itself, for the report.
fn after_ready(script: &Path) -> Result<()> {
    if script.exists() {
        run_script(script)
    } else {
        Ok(())
    }
}

fn write_report(port: &Path, records: impl FnOnce(&mut Writer<Port>) -> io::Result<()>) -> Result<()> {
    let write = |port: Port| {
        let mut report = Writer::new(port)?;
        records(&mut report)?;
        report.end()?.finish()
    };
    write(Port::open(port)?).context("write the report to", port)
}

/// A report that could not be written can only be told on the console.
fn tell(outcome: Result<()>) {
    if let Err(error) = outcome {
        say(&format!("error: {error}"));
    }
}

/// One line on the console. Standard output is the console only for the first process, so it is opened by name.
fn say(line: &str) {
    if let Ok(mut console) = OpenOptions::new().write(true).open("/dev/console") {
        let _ = console.write_all(format!("firstlight: {line}\n").as_bytes());
    }
}

/// Directly, without asking an init: the boot is over, and a shutdown is not what is recorded.
fn power_off() -> ! {
    if let Ok(console) = OpenOptions::new().write(true).open("/dev/console") {
        let _ = rustix::termios::tcdrain(&console);
    }
    rustix::fs::sync();
    loop {
        if let Err(error) = reboot(RebootCommand::PowerOff) {
            say(&format!("error: cannot power off: {error}"));
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
