"""What a process is called in every boot: its command line, who started it, and which of several it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from firstlight.analysis.processes.processes import processes
from firstlight.bundle.boot import Boot

#: Longer arguments do not take part in a name.
_LONGEST = 100
#: The kernel's name of a process is cut there.
_COMM = 15
#: What a process without a name is called.
NAMELESS = "[?]"
#: Which of its workers does some work is up to the kernel.
_WORKER = re.compile(r"(?<=^\[kworker/)(u?\d+):\d+")


class ProcessName(NamedTuple):
    """What a process is matched by in other boots; no number of the kernel takes part."""

    program: str
    """The executable without its directory, or the kernel's name in brackets."""
    arguments: str
    parent: str
    """The program of the process that created it; empty for threads of the kernel and what the kernel starts."""
    place: int
    """Which of those with the same three, in order of their creation, from 1 on."""

    @property
    def text(self) -> str:
        """Program, arguments, and the place among several.

        >>> ProcessName("cat", "/etc/hosts", "sh", 1).text, ProcessName("sh", "", "init", 3).text
        ('cat /etc/hosts', 'sh (3)')
        """
        words = f"{self.program} {self.arguments}" if self.arguments else self.program
        return words if self.place == 1 else f"{words} ({self.place})"


def program_of(image: str | None, name: str | None, arguments: Sequence[str] = ()) -> str:
    """What a process was called as, or its executable, without a directory; else the kernel's name in brackets.

    The name in its arguments counts first: one executable may be many programs, as busybox is. So does a name in
    parentheses, which systemd and udev give to copies of themselves.

    :param image: path of the executable; none of a thread of the kernel.

    >>> program_of("/bin/busybox", "mount", ["mount", "-a"]), program_of("/usr/bin/udevadm", "udevadm")
    ('mount', 'udevadm')
    >>> program_of("/usr/bin/udevadm", "(udev-worker)", ["/lib/systemd/systemd-udevd"])
    '(udev-worker)'
    >>> program_of(None, "kworker/0:1H"), program_of(None, None)
    ('[kworker/0H]', '[?]')
    """
    if not image:
        return _WORKER.sub(r"\1", f"[{name}]") if name else NAMELESS
    if name and name.startswith("("):
        return name
    called = arguments[0].rpartition("/")[2].lstrip("-") if arguments else ""
    return called or image.rstrip("/").rpartition("/")[2] or image


def process_names_of(boot: Boot) -> dict[int, ProcessName]:
    """The name of every process of a boot, by its number; empty where processes were not followed.

    >>> import firstlight
    >>> process_names_of(firstlight.open(bundle))
    {}
    """
    columns = ("process", "parent", "image", "name", "arguments")
    followed = not boot.table("processes").is_empty()
    rows = (boot.table("processes") if followed else processes(boot)).select(columns).rows()
    # Records of other tools have the arguments with blanks between them.
    end = "\0" if followed else " "
    words = {process: (arguments or "").rstrip(end).split(end) for process, *_, arguments in rows}
    programs = {
        process: program_of(image, name, words[process]) if followed or image else name or "?"
        for process, _, image, name, _ in rows
    }
    ran = {process: (image, arguments) for process, _, image, _, arguments in rows}
    called = {process: name for process, *_, name, _ in rows}
    for process, parent, image, name, _ in rows:
        # A copy that runs nothing of its own and has another name, as busybox runs its small programs.
        copy = bool(image) and ran.get(parent) == ran[process]
        if copy and name and name not in (called.get(parent), programs[process][:_COMM]):
            programs[process], words[process] = name, []
    seen: Counter[tuple[str, str, str]] = Counter()
    names: dict[int, ProcessName] = {}
    for process, parent, image, *_ in rows:
        arguments = " ".join(words[process][1:]).strip() if image else ""
        starter = programs.get(parent, "") if image else ""
        key = (programs[process], arguments[:_LONGEST], "" if starter.startswith("[") else starter)
        seen[key] += 1
        names[process] = ProcessName(*key, seen[key])
    return names
