//! Which argument of a system call is a path.

const FIRST: &[&str] = &[
    "access",
    "acct",
    "chdir",
    "chmod",
    "chown",
    "chroot",
    "creat",
    "execve",
    "getxattr",
    "lchown",
    "lgetxattr",
    "link",
    "listxattr",
    "llistxattr",
    "lremovexattr",
    "lsetxattr",
    "lstat",
    "mkdir",
    "mknod",
    "open",
    "readlink",
    "removexattr",
    "rename",
    "rmdir",
    "setxattr",
    "stat",
    "statfs",
    "swapoff",
    "swapon",
    "truncate",
    "umount2",
    "unlink",
    "uselib",
    "utime",
    "utimes",
];
const SECOND: &[&str] = &[
    "execveat",
    "faccessat",
    "faccessat2",
    "fchmodat",
    "fchmodat2",
    "fchownat",
    "futimesat",
    "inotify_add_watch",
    "linkat",
    "mkdirat",
    "mknodat",
    "mount",
    "move_mount",
    "name_to_handle_at",
    "newfstatat",
    "open_tree",
    "openat",
    "openat2",
    "pivot_root",
    "readlinkat",
    "renameat",
    "renameat2",
    "statx",
    "symlink",
    "unlinkat",
    "utimensat",
];

/// The place of the argument with the path of what a system call of this name works on (`man 2`); nothing for others.
///
/// ```
/// use firstlight_isa::system_calls::path_argument;
/// assert_eq!(["open", "openat", "read"].map(path_argument), [Some(0), Some(1), None]);
/// ```
pub fn path_argument(call: &str) -> Option<usize> {
    match call {
        "symlinkat" => Some(2),
        _ if FIRST.contains(&call) => Some(0),
        _ if SECOND.contains(&call) => Some(1),
        _ => None,
    }
}
