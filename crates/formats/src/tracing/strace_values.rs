//! Values as strace writes them: results, descriptors, command lines, and how a process ended.

use super::strace_line::{arguments, string};

/// What a call returned.
pub(super) struct Returned {
    pub(super) value: Option<i64>,
    pub(super) error: Option<String>,
}

impl Returned {
    /// `3`, `3</etc/passwd>`, `0x7f00`, `-1 ENOENT (No such file or directory)`, `? ERESTARTSYS (...)`, `?`
    pub(super) fn of(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let error = words.next().filter(|word| word.starts_with('E') && word.len() > 1).map(str::to_owned);
        let number = first.split('<').next().unwrap_or_default();
        let value = match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
            None => number.parse().ok(),
        };
        Self { value: value.filter(|_| error.is_none()), error }
    }
}

/// A number among arguments; what strace writes by name is not a descriptor, or the working directory.
pub(super) fn value(argument: &[u8]) -> u64 {
    let text = argument.split(|byte| *byte == b'<').next().unwrap_or_default();
    match text {
        b"AT_FDCWD" => -100_i64 as u64,
        b"F_DUPFD" => 0,
        b"F_DUPFD_CLOEXEC" => 1030,
        _ => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<i64>().ok())
            .map_or(u64::MAX, |value| value as u64),
    }
}

/// `["ls", "-l"]` as a command line.
pub(super) fn list_of(argument: &[u8]) -> Option<String> {
    let inside = argument.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let words: Vec<String> = arguments(inside, usize::MAX).into_iter().filter_map(string).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// A status as `wait` gives it: `exited with 3`, `killed by SIGSEGV (core dumped)`.
pub(super) fn status(how: &[u8]) -> Option<i64> {
    let how = std::str::from_utf8(how).ok()?;
    if let Some(code) = how.strip_prefix("exited with ") {
        return code.parse::<i64>().ok().map(|code| (code & 0xff) << 8);
    }
    let signal = how.strip_prefix("killed by ")?;
    let (name, dumped) = signal.split_once(' ').map_or((signal, false), |(name, _)| (name, true));
    let number = SIGNALS.iter().position(|known| *known == name)? as i64 + 1;
    Some(number | if dumped { 0x80 } else { 0 })
}

/// The signals that end a process, by number from 1 (asm-generic/signal.h).
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];
