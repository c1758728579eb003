//! Runs a program and records its start, its end and the guest's accounting of it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use firstlight_isa::guest::counter;
use nix::sys::resource::{getrusage, UsageWho};

use crate::error::{Context, Error, Result};

/// Where programs get the names under which they are run, and what they complain of.
const NAMES: &str = "/run/walk";
/// The kernel keeps so many bytes of a program's name.
const LONGEST_NAME: usize = 15;
const FOUND_NOT: u8 = 127;

/// Runs a program under a name of its own: the kernel calls the process so, and whoever profiles the guest can tell it
/// from all others. While it runs, this process is called by the name with `+` in front.
///
/// Appends to `file` a line of tab-separated fields: name, time stamp counter before and after (from before the fork to
/// after the wait), user and system time in µs as `getrusage` has them, minor and major faults, voluntary and
/// involuntary context switches, exit status, first line of standard error. Standard output goes nowhere.
pub fn run(file: &Path, name: &str, program: &[OsString]) -> Result<u8> {
    if name.len() >= LONGEST_NAME || name.contains(['/', '\t', '\n']) || name.is_empty() {
        return Err(Error::Word(name.escape_debug().to_string()));
    }
    let Some((word, arguments)) = program.split_first() else {
        return Err(Error::Word(String::new()));
    };
    fs::create_dir_all(NAMES).context("create", NAMES)?;
    let link = Path::new(NAMES).join(name);
    let complaints = link.with_extension("complaints");
    let _ = fs::remove_file(&link);
    let found = find(word);
    if let Some(found) = &found {
        symlink(found, &link).context("create", &link)?;
    }
    let mut command = Command::new(&link);
    command.arg0(word).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(&complaints).context("create", &complaints)?);

    let own_name = std::ffi::CString::new(format!("+{name}")).unwrap_or_default();
    rustix::thread::set_name(&own_name).context("name", &link)?;
    let before = counter();
    let ended = command.status();
    let after = counter();
    let _ = rustix::thread::set_name(c"walk");

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(std::io::Error::from).context("account for", &link)?;
    let (status, complaint) = match (ended, found) {
        (_, None) => (i32::from(FOUND_NOT), format!("there is no `{}` in the guest", word.to_string_lossy())),
        (Err(error), _) => (i32::from(FOUND_NOT), error.to_string()),
        (Ok(ended), _) => {
            let said = fs::read(&complaints).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
            (ended.code().unwrap_or_else(|| 128 + ended.signal().unwrap_or(0)), said)
        }
    };
    let microseconds = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let line = format!(
        "{name}\t{before}\t{after}\t{}\t{}\t{}\t{}\t{}\t{}\t{status}\t{}\n",
        microseconds(usage.user_time()),
        microseconds(usage.system_time()),
        usage.minor_page_faults(),
        usage.major_page_faults(),
        usage.voluntary_context_switches(),
        usage.involuntary_context_switches(),
        complaint.escape_debug(),
    );
    append(file, &line)?;
    Ok(u8::try_from(status).unwrap_or(1))
}

/// Adds a line to a file of the folder that the report carries.
pub fn append(file: &Path, line: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).context("create", folder)?;
    }
    let mut opened = OpenOptions::new().append(true).create(true).open(file).context("open", file)?;
    opened.write_all(line.as_bytes()).context("write", file)
}

/// The file of a program: as given when there is a `/` in it, else the first one in PATH.
pub fn find(word: &OsString) -> Option<PathBuf> {
    if word.as_encoded_bytes().contains(&b'/') {
        return Path::new(word).is_file().then(|| PathBuf::from(word));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file())
}
