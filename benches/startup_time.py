"""CPU time of commands that should answer at once: `--version`, `--help`, and an import of two lines."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring.figures import arguments, line, spread, title

LOG = "[    0.000000] Linux version 6.12\n[    1.500000] Run /init as init process\n"


def cpu_s(*words: str) -> float:
    """User and system time of one run, in seconds."""
    # An installed package has its bytecode; a machine that forbids writing it would compile every module in each run.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "firstlight", *words], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run each command several times; the median is what counts."""
    runs = 3 if arguments(__doc__ or "").quick else 10
    title("CPU time of commands that should answer at once")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        log = Path(directory) / "dmesg.txt"
        log.write_text(LOG, encoding="utf-8")
        commands = {
            "--version": (["--version"], "at most 0.15 s"),
            "--help": (["--help"], ""),
            "import of two lines": (["import", str(log), "-o", f"{directory}/a.boot", "--force"], "at most 0.5 s"),
        }
        for name, (words, wanted) in commands.items():
            cpu_s(*words)
            line(name, spread([cpu_s(*words) for _ in range(runs)]), wanted)


if __name__ == "__main__":
    main()
