"""System calls that take a path, by the numbers of an architecture, with the flags that matter to an automount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_AT_FLAGS = {
    0x100: "AT_SYMLINK_NOFOLLOW",
    0x800: "AT_NO_AUTOMOUNT",
    0x1000: "AT_EMPTY_PATH",
    0x2000: "AT_STATX_FORCE_SYNC",
}
_PATH_ONLY = {0x200000: "O_PATH"}
#: The latest calls have one number everywhere.
_EVERYWHERE = {437: ("openat2", None), 439: ("faccessat2", 3)}


@dataclass(frozen=True)
class PathCalls:
    """The calls of one architecture."""

    calls: Mapping[int, tuple[str, int | None]]
    """By number: the name, and the place of the flags among the arguments."""
    open_flags: Mapping[int, str]

    def text(self, waiting: str) -> str:
        """The call that `/proc/PID/syscall` names.

        >>> calls = path_calls("x86_64")
        >>> calls.text("332 0xffffff9c 0x7ffd 0x2100 0xfff 0x0 0x0 0x7ffe 0x7fff")
        'statx (AT_SYMLINK_NOFOLLOW, AT_STATX_FORCE_SYNC)'
        >>> calls.text("257 0x4 0x5555 0xb0900 0x0 0x0 0x0 0x7ffe 0x7fff")
        'openat (O_DIRECTORY, O_NOFOLLOW)'
        >>> path_calls("aarch64").text("56 0x4 0x5555 0xac900 0x0 0x0 0x0 0x7ffe 0x7fff")
        'openat (O_DIRECTORY, O_NOFOLLOW)'
        """
        words = waiting.split()
        if len(words) < 2 or not words[0].isdecimal():
            return waiting
        name, place = self.calls.get(int(words[0]), (f"system call {words[0]}", None))
        if place is None:
            return name
        try:
            value = int(words[1 + place], 16)
        except (IndexError, ValueError):
            return name
        names = self.open_flags if name.startswith("open") else _AT_FLAGS
        flags = ", ".join(text for bit, text in names.items() if value & bit)
        return f"{name} ({flags or 'no flags'})" if name == "statx" or flags else name


_BY_ARCHITECTURE = {
    # arch/x86/entry/syscalls/syscall_64.tbl of the kernel.
    "x86_64": PathCalls(
        {
            2: ("open", 1), 4: ("stat", None), 6: ("lstat", None), 21: ("access", None), 80: ("chdir", None),
            89: ("readlink", None), 90: ("chmod", None), 92: ("chown", None), 94: ("lchown", None),
            137: ("statfs", None), 191: ("getxattr", None), 192: ("lgetxattr", None), 194: ("listxattr", None),
            195: ("llistxattr", None), 254: ("inotify_add_watch", None), 257: ("openat", 2), 260: ("fchownat", 4),
            262: ("newfstatat", 3), 267: ("readlinkat", None), 268: ("fchmodat", None), 269: ("faccessat", None),
            280: ("utimensat", 3), 303: ("name_to_handle_at", 4), 332: ("statx", 2), **_EVERYWHERE,
        },
        {0x10000: "O_DIRECTORY", 0x20000: "O_NOFOLLOW", **_PATH_ONLY},
    ),
    # include/uapi/asm-generic/unistd.h and arch/arm64/include/uapi/asm/fcntl.h of the kernel.
    "aarch64": PathCalls(
        {
            8: ("getxattr", None), 9: ("lgetxattr", None), 11: ("listxattr", None), 12: ("llistxattr", None),
            27: ("inotify_add_watch", None), 43: ("statfs", None), 48: ("faccessat", None), 49: ("chdir", None),
            53: ("fchmodat", None), 54: ("fchownat", 4), 56: ("openat", 2), 78: ("readlinkat", None),
            79: ("newfstatat", 3), 88: ("utimensat", 3), 264: ("name_to_handle_at", 4), 291: ("statx", 2),
            **_EVERYWHERE,
        },
        {0x4000: "O_DIRECTORY", 0x8000: "O_NOFOLLOW", **_PATH_ONLY},
    ),
}  # fmt: skip


def path_calls(architecture: str) -> PathCalls:
    """Those of an architecture; of another one every call is shown by its number.

    >>> path_calls("mips64el").text("5079 0x1")
    'system call 5079'
    """
    return _BY_ARCHITECTURE.get(architecture, PathCalls({}, {}))
