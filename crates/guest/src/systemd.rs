//! systemd in the guest: the unit that gives the ready mark, and the failed units.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Context, Result};

/// Where the helper waits for its second part; `/run` is carried into the new root.
pub const HELPER: &str = "/run/firstlight/guest";
const UNITS: &str = "/run/systemd/system";
const UNIT: &str = "firstlight-ready.service";
/// What is asked of each unit: when it started, what it waited for, how it ended. What comes after another unit is told by
/// either of them, so that `Before=` would say everything twice.
const PROPERTIES: [&str; 21] = [
    "Id",
    "Type",
    "ActiveState",
    "SubState",
    "Result",
    "InactiveExitTimestampMonotonic",
    "ActiveEnterTimestampMonotonic",
    "ActiveExitTimestampMonotonic",
    "InactiveEnterTimestampMonotonic",
    "ConditionTimestampMonotonic",
    "ConditionResult",
    "AssertTimestampMonotonic",
    "ExecMainStartTimestampMonotonic",
    "ExecMainExitTimestampMonotonic",
    "ExecMainStatus",
    "CPUUsageNSec",
    "NRestarts",
    "After",
    "Requires",
    "Requisite",
    "BindsTo",
];
/// Exists while udev has events to handle.
const UDEV_QUEUE: &str = "/run/udev/queue";
/// How long systemd or udev may take to answer, of the guest's clock.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Puts the helper and its unit into `/run`: no file of the image is changed.
pub fn prepare(report: &Path, command_line: &str) -> Result<()> {
    let target = target(command_line);
    let wants = format!("{UNITS}/{target}.wants");
    fs::create_dir_all(&wants).context("create", &wants)?;
    let unit = format!("{UNITS}/{UNIT}");
    fs::write(&unit, unit_text(target, report)).context("write", &unit)?;
    let link = format!("{wants}/{UNIT}");
    std::os::unix::fs::symlink(&unit, &link).context("link", &link)
}

/// The target that the boot shall reach: the last `systemd.unit=` of the command line counts, as for systemd.
fn target(command_line: &str) -> &str {
    let mut asked = command_line.split_ascii_whitespace().filter_map(|word| word.strip_prefix("systemd.unit="));
    asked.next_back().filter(|name| !name.is_empty() && !name.contains('/')).unwrap_or("default.target")
}

/// Without default dependencies a target does not wait for the units it wants; so this one can wait for the target.
fn unit_text(target: &str, report: &Path) -> String {
    format!(
        "[Unit]\nDescription=Firstlight ready mark\nDefaultDependencies=no\nAfter={target}\n\n\
         [Service]\nType=oneshot\nExecStart={HELPER} ready {}\n",
        report.display()
    )
}

/// Waits until udev has handled its events, so that the report shows the devices and modules of a boot that was ready early,
/// too. It is over after a while in any case.
pub fn wait_for_udev() {
    let start = Instant::now();
    while Path::new(UDEV_QUEUE).exists() && start.elapsed() < ANSWER_WITHIN {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The units that failed, as `systemctl` lists them; nothing where it cannot say.
pub fn failed_units() -> Option<Vec<u8>> {
    ask(&["list-units", "--failed", "--plain", "--no-legend", "--no-pager"])
}

/// What `systemctl show` says of the manager and of every unit, as far as it says something: lines with a value, and
/// units that began to start or were up. Nothing where it cannot say.
pub fn shown() -> Option<Vec<u8>> {
    let manager = ask(&["show", "--no-pager"])?;
    let wanted = PROPERTIES.join(",");
    let units = ask(&["show", "*", "--all", "--no-pager", "--property", &wanted])?;
    let mut kept = told(&manager).unwrap_or_default();
    for block in String::from_utf8_lossy(&units).split("\n\n").filter_map(|block| told(block.as_bytes())) {
        kept.push('\n');
        kept.push_str(&block);
    }
    Some(kept.into_bytes())
}

/// The lines of a block that say something, and nothing of a block without an instant.
fn told(block: &[u8]) -> Option<String> {
    let mut lines = String::new();
    let mut instants = false;
    for line in String::from_utf8_lossy(block).lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        if value.is_empty() || value == "0" || value == "[not set]" {
            continue;
        }
        instants |= key.ends_with("TimestampMonotonic");
        lines.push_str(line);
        lines.push('\n');
    }
    instants.then_some(lines)
}

/// Asks `systemctl`, and gives up after a while.
fn ask(arguments: &[&str]) -> Option<Vec<u8>> {
    let answer = Path::new("/run/firstlight/answer");
    let mut child = Command::new("systemctl")
        .args(arguments)
        .env("SYSTEMD_COLORS", "0")
        .stdin(Stdio::null())
        .stdout(File::create(answer).ok()?)
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let start = Instant::now();
    while start.elapsed() < ANSWER_WITHIN {
        match child.try_wait() {
            Ok(Some(status)) => return if status.success() { fs::read(answer).ok() } else { None },
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return None,
        }
    }
    let _ = child.kill();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_waits_for_the_default_target() {
        let text = unit_text(target("console=ttyS0 quiet"), Path::new("/dev/ttyS1"));
        assert!(text.contains("\nDefaultDependencies=no\nAfter=default.target\n"), "{text}");
        assert!(text.ends_with("ExecStart=/run/firstlight/guest ready /dev/ttyS1\n"), "{text}");
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let block = b"Id=a.service\nResult=success\nExecMainStatus=0\nAfter=\nCPUUsageNSec=[not set]\n\
                      ActiveEnterTimestampMonotonic=2063\nActiveExitTimestampMonotonic=0\n";
        let kept = "Id=a.service\nResult=success\nActiveEnterTimestampMonotonic=2063\n";
        assert_eq!(told(block).as_deref(), Some(kept));
        assert_eq!(told(b"Id=never.service\nActiveEnterTimestampMonotonic=0\n"), None);
    }

    #[test]
    fn the_target_of_the_command_line_counts() {
        assert_eq!(target("systemd.unit=a.target systemd.unit=rescue.target"), "rescue.target");
        assert_eq!(target("systemd.unit=../evil systemd.unit="), "default.target");
    }
}
