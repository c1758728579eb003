//! What a health check asks of a system that is up: names, sockets, protections, processes, files.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::report::Writer;

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
const EXT4: &str = "/sys/fs/ext4";
/// Sockets of the network, as the kernel lists them.
const SOCKETS: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];
/// Files that hold one value each, which protects the system.
const POLICY: [&str; 13] = [
    "/proc/sys/fs/protected_hardlinks",
    "/proc/sys/fs/protected_symlinks",
    "/proc/sys/kernel/dmesg_restrict",
    "/proc/sys/kernel/kexec_load_disabled",
    "/proc/sys/kernel/kptr_restrict",
    "/proc/sys/kernel/modules_disabled",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/kernel/unprivileged_bpf_disabled",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/sys/kernel/security/lockdown",
    "/sys/kernel/security/lsm",
    "/sys/module/module/parameters/sig_enforce",
];
/// Lines of `/proc/PID/status` that say what a process may do.
const MAY: [&str; 4] = ["Uid", "CapEff", "NoNewPrivs", "Seccomp"];
/// Folders of the root whose files are listed; every other mounted block device is listed completely.
const LISTED: [&str; 6] = ["/etc", "/home", "/opt", "/root", "/srv", "/var/lib"];
const FILES_AT_MOST: usize = 20_000;

/// Writes every record about the state of the system.
pub fn write_all<W: Write>(report: &mut Writer<W>) -> io::Result<()> {
    for name in SOCKETS {
        if let Ok(bytes) = fs::read(format!("/proc/net/{name}")) {
            report.record(&format!("sockets.{name}"), &bytes)?;
        }
    }
    if let Ok(names) = names(Path::new(VULNERABILITIES)) {
        let paths: Vec<_> = names.iter().map(|name| format!("{VULNERABILITIES}/{name}")).collect();
        report.record("vulnerabilities", values(paths.iter().map(String::as_str)).as_bytes())?;
    }
    report.record("policy", values(POLICY.into_iter()).as_bytes())?;
    report.record("block", class(Path::new("/sys/class/block"), "size").as_bytes())?;
    report.record("network", class(Path::new("/sys/class/net"), "address").as_bytes())?;
    if let Ok(names) = names(Path::new(EXT4)) {
        let paths: Vec<_> = names.iter().map(|name| format!("{EXT4}/{name}/errors_count")).collect();
        report.record("filesystem.errors", values(paths.iter().map(String::as_str)).as_bytes())?;
    }
    report.record("processes", processes(Path::new("/proc")).as_bytes())?;
    report.record("files", files(&fs::read_to_string("/proc/mounts").unwrap_or_default()).as_bytes())
}

/// `PATH<TAB>VALUE`, a line for each file that there is.
fn values<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let mut lines = String::new();
    for path in paths {
        if let Ok(value) = fs::read_to_string(path) {
            let _ = writeln!(lines, "{path}\t{}", value.trim().replace('\n', " "));
        }
    }
    lines
}

/// `NAME<TAB>VALUE`, a line for each member of a class, with one of its attributes.
fn class(folder: &Path, attribute: &str) -> String {
    let mut lines = String::new();
    for name in names(folder).unwrap_or_default() {
        let value = fs::read_to_string(folder.join(&name).join(attribute)).unwrap_or_default();
        let _ = writeln!(lines, "{name}\t{}", value.trim());
    }
    lines
}

/// `NAME<TAB>Uid=…<TAB>…`, a line for each process with memory of its own, sorted.
fn processes(folder: &Path) -> String {
    let mut lines = Vec::new();
    for name in names(folder).unwrap_or_default() {
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(status) = fs::read_to_string(folder.join(&name).join("status")) else { continue };
        let value = |key: &str| {
            let found = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            found.unwrap_or_default().split_ascii_whitespace().next().unwrap_or_default()
        };
        if value("VmSize").is_empty() {
            continue;
        }
        let mut line = value("Name").to_owned();
        for key in MAY {
            let _ = write!(line, "\t{key}={}", value(key));
        }
        lines.push(line + "\n");
    }
    lines.sort_unstable();
    lines.concat()
}

/// `PATH<TAB>SIZE`, a line for each file on a mounted block device, sorted; of the root only some folders.
fn files(mounts: &str) -> String {
    let mut lines = Vec::new();
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(source), Some(point)) = (fields.next(), fields.next()) else { continue };
        if !source.starts_with("/dev/") {
            continue;
        }
        let folders = if point == "/" { LISTED.to_vec() } else { vec![point] };
        for folder in folders {
            if let Ok(about) = fs::symlink_metadata(folder) {
                list(Path::new(folder), about.dev(), &mut lines);
            }
        }
    }
    lines.sort_unstable();
    lines.dedup();
    lines.concat()
}

/// The files below a folder that are on the same device.
fn list(folder: &Path, device: u64, lines: &mut Vec<String>) {
    for name in names(folder).unwrap_or_default() {
        let path = folder.join(name);
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if lines.len() >= FILES_AT_MOST || about.dev() != device {
            continue;
        }
        if about.is_dir() {
            list(&path, device, lines);
        } else {
            lines.push(format!("{}\t{}\n", path.display(), about.len()));
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<_> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_listed_with_what_they_may_do_and_kernel_threads_are_not() {
        let folder = std::env::temp_dir().join(format!("firstlight-processes-{}", std::process::id()));
        for (pid, status) in [
            ("1", "Name:\tinit\nUid:\t0\t0\t0\t0\nVmSize:\t  900 kB\nCapEff:\t0f\nNoNewPrivs:\t0\nSeccomp:\t2\n"),
            ("2", "Name:\tkthreadd\nUid:\t0\t0\t0\t0\nCapEff:\t0f\nNoNewPrivs:\t0\nSeccomp:\t0\n"),
            ("self", ""),
        ] {
            fs::create_dir_all(folder.join(pid)).unwrap();
            fs::write(folder.join(pid).join("status"), status).unwrap();
        }
        let listed = processes(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(listed, "init\tUid=0\tCapEff=0f\tNoNewPrivs=0\tSeccomp=2\n");
    }

    #[test]
    fn files_of_a_mounted_device_are_listed_with_their_sizes() {
        let folder = std::env::temp_dir().join(format!("firstlight-files-{}", std::process::id()));
        fs::create_dir_all(folder.join("data")).unwrap();
        fs::write(folder.join("data/a"), "abc").unwrap();
        let mounts = format!("proc /proc proc rw 0 0\n/dev/vda {} ext4 rw 0 0\n", folder.display());
        let listed = files(&mounts);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(listed, format!("{}/data/a\t3\n", folder.display()));
    }
}
