//! In a user land with systemd: the unit that gives the ready mark, and what failed.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Context, Result};

/// Where the helper waits for its second part; `/run` is carried into the new root.
pub const HELPER: &str = "/run/firstlight/guest";
const UNITS: &str = "/run/systemd/system";
const UNIT: &str = "firstlight-ready.service";
/// How long systemd may take to say what failed, of the guest's clock.
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

/// The units that failed, as `systemctl` lists them; nothing where it cannot say.
pub fn failed_units() -> Option<Vec<u8>> {
    let answer = Path::new("/run/firstlight/failed");
    let mut child = Command::new("systemctl")
        .args(["list-units", "--failed", "--plain", "--no-legend", "--no-pager"])
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
    fn the_target_of_the_command_line_counts() {
        assert_eq!(target("systemd.unit=a.target systemd.unit=rescue.target"), "rescue.target");
        assert_eq!(target("systemd.unit=../evil systemd.unit="), "default.target");
    }
}
