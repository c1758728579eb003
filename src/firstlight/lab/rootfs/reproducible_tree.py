"""A copy of a directory whose files have the same numbers and the same order on every host.

Some programs that make a file system write what the host's own happens to have: `genromfs` the order in which it lists
a directory, `mkfs.btrfs` the numbers of its files. A file system in memory that is filled in a fixed order gives both:
it numbers files as they come, from 2 (`shmem_reserve_inode` in mm/shmem.c), and lists them last to first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# It is mounted in a name space of its own, which ends with the command. Directories get their times at last: what is
# put into them changes these.
_FILL = """
set -e
tree=$1 place=$2
shift 2
mount -t tmpfs -o mode=0755 tree "$place"
(
	cd "$tree"
	find . -print0 | LC_ALL=C sort -z | cpio --quiet -0pdmu "$place"
	find . -depth -type d -exec touch -r {} "$place/{}" ";"
)
exec "$@"
"""


@contextmanager
def ordered_tree(tree: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Where a copy of a directory will be in memory, and what stands before the command that reads it there.

    :param tree: the directory; nothing in it is changed.
    :yields: the copy's path, and the words. Where the host lets nobody mount for himself (in many containers), the
        tree itself and no words.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "gizmo").touch()
    ...     with ordered_tree(Path(folder)) as (copy, words):
    ...         subprocess.run([*words, "ls", str(copy)], capture_output=True, text=True).stdout
    'gizmo\\n'
    """
    own = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")
    with tempfile.TemporaryDirectory(prefix="firstlight-tree-") as place:
        if shutil.which("cpio") is not None and _works([*own, "mount", "-t", "tmpfs", "tree", place]):
            yield Path(place), (*own, "sh", "-c", _FILL, "sh", str(tree), place)
        else:
            yield tree, ()


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False
