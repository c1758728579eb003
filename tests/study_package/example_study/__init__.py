"""A study of one's own, in a package of its own: what a quiet console saves.

`example_study-1.0.dist-info/entry_points.txt` is what an installer writes for

    [project.entry-points."firstlight.studies"]
    quiet-console = "example_study:QUIET_CONSOLE"

    [project.entry-points."firstlight.commands"]
    quiet = "example_study.command:quiet"
"""

from firstlight.study import Study

QUIET_CONSOLE = Study(
    "quiet-console",
    "What a quiet console saves",
    "How much of a boot is the printing of the kernel's log?",
    (),
    "example_study.run",
)
