//! Which path each descriptor stands for: followed from call to call, as the kernel does.

use std::collections::BTreeMap;

/// `AT_FDCWD` of linux/fcntl.h: the working directory instead of a descriptor.
const WORKING_DIRECTORY: i64 = -100;
/// `F_DUPFD` and `F_DUPFD_CLOEXEC` of the same file.
const DUPLICATES: [u64; 2] = [0, 1030];

const OPENS: &[&str] = &["creat", "open", "openat", "openat2"];
/// Calls that work on the descriptor that is their first argument.
const OF_DESCRIPTORS: &[&str] = &[
    "close",
    "copy_file_range",
    "dup",
    "dup2",
    "dup3",
    "fadvise64",
    "fallocate",
    "fchdir",
    "fchmod",
    "fchown",
    "fcntl",
    "fdatasync",
    "fgetxattr",
    "finit_module",
    "flistxattr",
    "flock",
    "fremovexattr",
    "fsetxattr",
    "fstat",
    "fstatfs",
    "fsync",
    "ftruncate",
    "getdents",
    "getdents64",
    "ioctl",
    "lseek",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readahead",
    "readv",
    "sync_file_range",
    "syncfs",
    "write",
    "writev",
];

/// A call, as far as descriptors are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// Its name.
    pub name: &'c str,
    /// Its first two arguments.
    pub arguments: [u64; 2],
    /// What it returned; nothing where that is not known.
    pub result: Option<i64>,
    /// The path that was passed.
    pub path: Option<&'c str>,
}

/// The descriptors and the working directory of one process.
#[derive(Debug, Clone, Default)]
pub struct Descriptors {
    paths: BTreeMap<i64, String>,
    directory: Option<String>,
}

impl Descriptors {
    /// Those of the first process: nothing is open, and it works in `/`.
    pub fn first() -> Self {
        Self { paths: BTreeMap::new(), directory: Some("/".to_owned()) }
    }

    /// The whole path that a call works on, and what the call changes. Paths are joined as texts: a link in them is not resolved.
    ///
    /// ```
    /// use firstlight_isa::system_calls::{Call, Descriptors};
    /// let mut process = Descriptors::first();
    /// let open = Call { name: "openat", arguments: [-100_i64 as u64, 0], result: Some(3), path: Some("/sys") };
    /// assert_eq!(process.follow(open).as_deref(), Some("/sys"));
    /// let open = Call { name: "openat", arguments: [3, 0], result: Some(4), path: Some("devices") };
    /// assert_eq!(process.follow(open).as_deref(), Some("/sys/devices"));
    /// let read = Call { name: "read", arguments: [4, 0], result: Some(10), path: None };
    /// assert_eq!(process.follow(read).as_deref(), Some("/sys/devices"));
    /// ```
    pub fn follow(&mut self, call: Call<'_>) -> Option<String> {
        let path = self.path(call);
        let done = call.result.filter(|result| *result >= 0);
        let [first, second] = call.arguments.map(descriptor);
        match (call.name, done) {
            (_, None) => {}
            (name, Some(opened)) if OPENS.contains(&name) => self.set(opened, path.clone()),
            ("dup" | "dup2" | "dup3", Some(made)) => self.set(made, path.clone()),
            ("fcntl", Some(made)) if DUPLICATES.contains(&(second as u64)) => self.set(made, path.clone()),
            ("close", Some(_)) => self.set(first, None),
            ("chdir" | "fchdir", Some(_)) => self.directory.clone_from(&path),
            _ => {}
        }
        path
    }

    fn set(&mut self, descriptor: i64, path: Option<String>) {
        match path {
            Some(path) => self.paths.insert(descriptor, path),
            None => self.paths.remove(&descriptor),
        };
    }

    fn path(&self, call: Call<'_>) -> Option<String> {
        let of = |descriptor: i64| self.paths.get(&descriptor).map(String::as_str);
        let first = descriptor(call.arguments[0]);
        let Some(path) = call.path else {
            return OF_DESCRIPTORS.contains(&call.name).then(|| of(first).map(str::to_owned)).flatten();
        };
        if path.starts_with('/') {
            return Some(path.to_owned());
        }
        let base = match first {
            _ if !is_at(call.name) => self.directory.as_deref(),
            WORKING_DIRECTORY => self.directory.as_deref(),
            descriptor => of(descriptor),
        };
        Some(base.map_or_else(|| path.to_owned(), |base| joined(base, path)))
    }
}

// Descriptors are `int`s; the rest of the register means nothing.
fn descriptor(argument: u64) -> i64 {
    i64::from(argument as u32 as i32)
}

// Whether a relative path begins at the descriptor that is the first argument.
fn is_at(name: &str) -> bool {
    name.ends_with("at") && name != "stat" && name != "lstat"
        || matches!(
            name,
            "openat2" | "statx" | "faccessat2" | "renameat2" | "fchmodat2" | "open_tree" | "name_to_handle_at"
        )
}

fn joined(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{}{}", if base.starts_with('/') { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'c>(name: &'c str, arguments: [i64; 2], result: i64, path: Option<&'c str>) -> Call<'c> {
        Call { name, arguments: arguments.map(|argument| argument as u64), result: Some(result), path }
    }

    fn follow(calls: &[Call<'_>]) -> Vec<Option<String>> {
        let mut process = Descriptors::first();
        calls.iter().map(|call| process.follow(*call)).collect()
    }

    fn last(calls: &[Call<'_>]) -> Option<String> {
        follow(calls).pop().flatten()
    }

    #[test]
    fn a_relative_path_begins_at_the_working_directory() {
        let moved = call("chdir", [0, 0], 0, Some("/etc"));
        assert_eq!(last(&[moved, call("stat", [0, 0], 0, Some("passwd"))]).as_deref(), Some("/etc/passwd"));
        assert_eq!(last(&[moved, call("openat", [-100, 0], 3, Some("../run/x"))]).as_deref(), Some("/run/x"));
    }

    #[test]
    fn a_failed_call_changes_nothing() {
        let failed = call("chdir", [0, 0], -2, Some("/none"));
        assert_eq!(last(&[failed, call("stat", [0, 0], 0, Some("a"))]).as_deref(), Some("/a"));
    }

    #[test]
    fn a_duplicate_stands_for_the_same_path_until_it_is_closed() {
        let begin =
            [call("open", [0, 0], 3, Some("/a")), call("dup2", [3, 7], 7, None), call("close", [3, 0], 0, None)];
        let with = |more: Call<'static>| last(&[&begin[..], &[more]].concat());
        assert_eq!(with(call("read", [7, 0], 1, None)).as_deref(), Some("/a"));
        assert_eq!(with(call("read", [3, 0], -9, None)), None);
        assert_eq!(
            last(&[begin[0], call("fcntl", [3, 1030], 10, None), call("fstat", [10, 0], 0, None)]).as_deref(),
            Some("/a")
        );
    }

    #[test]
    fn an_empty_path_is_the_descriptors_own() {
        let open = call("openat", [-100, 0], 5, Some("/sys/class"));
        assert_eq!(last(&[open, call("newfstatat", [5, 0], 0, Some(""))]).as_deref(), Some("/sys/class"));
    }

    #[test]
    fn what_is_below_an_unknown_descriptor_stays_as_it_was_passed() {
        assert_eq!(last(&[call("openat", [9, 0], 3, Some("x"))]).as_deref(), Some("x"));
        assert_eq!(last(&[call("write", [1, 0], 4, None)]), None);
    }
}
