//! An automount made by hand, which shows the program and the call that trigger it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{channel, Sender};
use std::thread;
use std::time::Duration;

use rustix::fs::{lstat, open, Mode, OFlags};
use rustix::mount::{mount, unmount, MountFlags, UnmountFlags};
use rustix::pipe::{pipe_with, PipeFlags};
use rustix::process::{getpid, setpgid};

use crate::error::{Context, Error, Result};
use crate::mount_points::device_text;
use crate::run::{append, find};

/// `struct autofs_v5_packet` of `linux/auto_fs.h`: so many bytes, and where in it the token and the process are.
const PACKET_BYTES: usize = 304;
const TYPE_AT: usize = 4;
const TOKEN_AT: usize = 8;
const PROCESS_AT: usize = 32;
/// A request for a direct mount.
const MISSING_DIRECT: u32 = 5;
/// `AUTOFS_IOC_READY`: `_IO(0x93, 0x60)`.
const READY: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(0x93, 0x60);
/// How often a process that is about to wait is looked at again.
const LOOKS: usize = 100;

/// Makes an automount at `point`, runs a program, and appends to `file` a line of tab-separated fields: name, `woken` or
/// `asleep`, number of requests, the first waiting call as `/proc/PID/syscall` has it (number and arguments; `-` where
/// there was none), device and inode of the point before and after as `lstat` has them, exit status.
///
/// The automount is a direct one, as those of systemd are; woken, it mounts a tmpfs there. Both are gone afterwards.
pub fn try_one(file: &Path, name: &str, point: &Path, program: &[OsString]) -> Result<()> {
    let Some((found, arguments)) = program.split_first().and_then(|(word, rest)| Some((find(word)?, rest))) else {
        return append(file, &format!("{name}\tmissing\t0\t-\t-\t-\t-\n"));
    };
    // Its own process group is the one that an automount lets through.
    setpgid(None, None).context("lead the group of", "this process")?;
    let (requests, kernel_side) = pipe_with(PipeFlags::CLOEXEC).context("open", "a pipe")?;
    let group = getpid().as_raw_nonzero();
    let data = format!("fd={},pgrp={group},minproto=5,maxproto=5,direct\0", kernel_side.as_raw_fd());
    let data = std::ffi::CStr::from_bytes_until_nul(data.as_bytes()).ok();
    mount("firstlight", point, "autofs", MountFlags::empty(), data).context("mount an automount at", point)?;
    drop(kernel_side);
    let outcome = serve_one(requests, point, &found, arguments);
    // What was mounted for each request lies on the automount.
    for _ in 0..=outcome.as_ref().map_or(0, |seen| seen.requests.len()) {
        unmount(point, UnmountFlags::DETACH).context("unmount", point)?;
    }
    let seen = outcome?;
    let first = seen.requests.first();
    let line = format!(
        "{name}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        if first.is_some() { "woken" } else { "asleep" },
        seen.requests.len(),
        first.map_or("-", String::as_str).escape_debug(),
        seen.before,
        seen.after,
        seen.status,
    );
    append(file, &line)
}

struct Seen {
    /// The call that waits, for each request.
    requests: Vec<String>,
    before: String,
    after: String,
    status: i32,
}

fn serve_one(requests: OwnedFd, point: &Path, program: &Path, arguments: &[OsString]) -> Result<Seen> {
    let trap = open(point, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).context("open", point)?;
    let before = identity(point);
    let (told, calls) = channel();
    let place = point.to_path_buf();
    thread::spawn(move || serve(requests, &trap, &place, &told));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let status = command.status().context("run", program)?;
    // Whoever asked was answered before the program could end.
    let requests: Vec<std::result::Result<String, Error>> = calls.try_iter().collect();
    Ok(Seen {
        requests: requests.into_iter().collect::<Result<_>>()?,
        before,
        after: identity(point),
        status: status.code().unwrap_or(-1),
    })
}

fn identity(point: &Path) -> String {
    lstat(point).map_or_else(|_| "-".to_owned(), |found| format!("{} {}", device_text(found.st_dev), found.st_ino))
}

/// Answers requests until the pipe's other end is closed.
fn serve(requests: OwnedFd, trap: &OwnedFd, point: &Path, told: &Sender<Result<String>>) {
    let mut requests = fs::File::from(requests);
    let mut packet = [0_u8; 2 * PACKET_BYTES];
    while let Ok(length @ 1..) = requests.read(&mut packet) {
        let answer = answer(&packet[..length], trap, point);
        let failed = answer.is_err();
        if told.send(answer).is_err() || failed {
            return;
        }
    }
}

fn answer(packet: &[u8], trap: &OwnedFd, point: &Path) -> Result<String> {
    let number = |at: usize| packet.get(at..at + 4).and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?)));
    let (Some(MISSING_DIRECT), Some(token), Some(process)) = (number(TYPE_AT), number(TOKEN_AT), number(PROCESS_AT))
    else {
        return Err(Error::Packet(packet.len()));
    };
    let call = waiting_call(process);
    let mounted = mount("none", point, "tmpfs", MountFlags::empty(), None).context("mount a tmpfs at", point);
    // The waiting program goes on whatever came of it.
    #[expect(unsafe_code, reason = "an ioctl that takes a number has no safe form")]
    // SAFETY: AUTOFS_IOC_READY takes the token itself, and touches no memory of this process.
    unsafe { rustix::ioctl::ioctl(trap, rustix::ioctl::IntegerSetter::<READY>::new_usize(token as usize)) }
        .context("answer the automount at", point)?;
    mounted.map(|()| call)
}

/// The call that a process waits in: it writes its request just before it does.
fn waiting_call(process: u32) -> String {
    let path = format!("/proc/{process}/syscall");
    for _ in 0..LOOKS {
        match fs::read_to_string(&path) {
            Ok(text) if !text.starts_with("running") => return text.trim().to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            _ => thread::sleep(Duration::from_millis(1)),
        }
    }
    "?".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_is_no_request_is_refused() {
        let trap = OwnedFd::from(fs::File::open("/").unwrap());
        for packet in [&[][..], &[0; 8], &[0; PACKET_BYTES]] {
            assert!(matches!(answer(packet, &trap, Path::new("/")), Err(Error::Packet(_))));
        }
    }
}
