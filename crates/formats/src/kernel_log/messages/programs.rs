//! Which lines only userspace can have caused.

use crate::kernel_log::bytes::is_of_program;
use memchr::memmem;

/// How the first programs of Linux systems begin their lines.
const PROGRAMS: [&[u8]; 19] = [
    b"procd: ",
    b"init: ",
    b"init started: ",
    b"ueventd: ",
    b"kmodloader: ",
    b"mount_root: ",
    b"preinit: ",
    b"urandom-seed: ",
    b"INIT: version ",
    b"BusyBox v",
    b"systemd[1]: ",
    b"systemd-",
    b"udevd",
    b"dracut: ",
    b"upstart",
    b"Welcome to ",
    b"[  OK  ] ",
    b"Starting syslogd",
    b"Please press Enter to activate this console",
];

/// What the kernel prints of a module that has no signature or is not of its tree: only a program loads modules.
///
/// Source: <https://elixir.bootlin.com/linux/v6.12/source/kernel/module/main.c>, `load_module`.
const LOADED: [&[u8]; 2] = [b": loading out-of-tree module taints kernel", b": module verification failed: "];

/// Whether only a program prints such a line: `name[pid]: `, or the words of a known first program.
pub fn is_of_userspace(line: &[u8]) -> bool {
    is_of_first_program(line) || is_of_program(line.trim_ascii_start())
}

/// Whether a first program of a Linux system prints such a line, or one that it starts. Drivers number their devices as programs
/// their processes (`IOAPIC[0]: `): such a line is none.
pub fn is_of_first_program(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    PROGRAMS.iter().any(|words| line.starts_with(words))
}

/// Whether userspace ran when the line was printed: a program printed it, or the kernel did in a system call of one.
///
/// ```
/// use firstlight_formats::kernel_log::messages::programs::shows_userspace;
/// assert!(shows_userspace("systemd[1]: systemd 252 running in system mode"));
/// assert!(shows_userspace("Adding 998396k swap on /dev/vda5.  Priority:-2 extents:1 across:998396k"));
/// assert!(!shows_userspace("usb 1-1: new high-speed USB device number 2 using xhci_hcd"));
/// ```
pub fn shows_userspace(line: &str) -> bool {
    let line = line.as_bytes();
    let holds = |words: &[u8]| memmem::find(line, words).is_some();
    // https://elixir.bootlin.com/linux/v6.12/source/mm/swapfile.c, `swapon`.
    let swap = line.starts_with(b"Adding ") && holds(b"k swap on ");
    is_of_userspace(line) || swap || LOADED.iter().any(|words| holds(words))
}
