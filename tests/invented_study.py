"""An invented study: every kind of value, chart and verdict, and a gap."""

from __future__ import annotations

from firstlight.study.outcome import Finding, MissingArm, Outcome, Verdict
from firstlight.study.table import Chart, Field, MissingValue, Series, Table

NO_TOOL = "`mkfs.cramfs` is missing (package `util-linux-extra`)"


def invented_outcome(name: str = "cramfs") -> Outcome:
    """A study of three root file systems, one of which has no image.

    :param name: of the first arm, which may be hostile.
    """
    fields: tuple[Field, ...] = (
        Field("Arm"),
        Field("Boot", "time"),
        Field("Change", "change"),
        Field("Image", "bytes"),
    )
    fields += (Field("Share", "share"), Field("Slower", "percent"), Field("Files", "count"))
    rows = (
        (name, 842_789_100, 0, 3_145_728, 0.5, 0.0, 1_234),
        ("ext4", 900_000_000, 57_210_900, 8_388_608, 0.25, 0.0679, None),
        ("romfs", MissingValue(NO_TOOL), MissingValue(NO_TOOL), 512, 0.125, -0.01, 7),
    )
    return Outcome(
        study="root-filesystems",
        title="How root file systems compare",
        question="What does the root file system decide?",
        quick=True,
        recipe=("firstlight study root-filesystems --quick", "kernel 6.1.192-firstlight"),
        tables=(Table("boot", "Boot by file system", fields, rows, ("Between kernel_start and ready.",)),),
        historical=(
            Table("then", "Then", (Field("Arm"), Field("KFI", "seconds")), (("CRAMFS", 0.842789), ("JFFS2", 1.24))),
        ),
        findings=(
            Finding("execute in place wins", "0.76 s", "0.70 s", Verdict.HOLDS, "less is copied"),
            Finding("JFFS2 is slowest", "1.24 s", "btrfs is", Verdict.NO_LONGER),
            Finding("an LED turns red", "", "there is no LED", Verdict.NOT_TESTABLE),
        ),
        charts=(
            Chart(
                "bars", "Bars", "bars", "arm", "boot", "time",
                (Series("boot", ((name, 842_789_100), ("ext4", 9e8))),),
            ),
            Chart(
                "stacked", "Stacked", "stacked", "arm", "time", "time",
                (Series("kernel", (("a", 3e6), ("b", 4e6))), Series("user", (("a", 1e6), ("b", 2e6)))),
            ),
            Chart(
                "lines", "Lines", "lines", "N", "time", "time",
                (Series("x", ((1, 10), (10, 95), (100, 990))),), True,
            ),
            Chart(
                "histogram", "Histogram", "histogram", "ms", "events", "count",
                (Series("", ((0, 3), (5, 9), (10, 1))),),
            ),
        ),
        missing=(MissingArm("romfs", NO_TOOL),),
        notes=("Virtual time: one nanosecond for each instruction.",),
    )  # fmt: skip
