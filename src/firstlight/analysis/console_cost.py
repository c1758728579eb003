"""What the console cost: what its lines take on a serial line, and what was measured of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.interval_union import clipped, union_ns
from firstlight.analysis.spans import spans_of
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.schema.marks import Mark

#: Start bit, eight data bits, stop bit.
_BITS = 10
#: `[    0.123456] `, which the kernel puts before a line, and `[    T1]`, which `CONFIG_PRINTK_CALLER` adds.
_STAMP, _CALLER = 15, 8
#: Carriage return and line feed.
_LINE_END = 2
#: What the kernel's serial drivers take where the command line names no rate.
_USUAL_BAUD = 9600
#: `CONFIG_CONSOLE_LOGLEVEL_DEFAULT`: what is below it is printed; `quiet` makes it 4.
_USUAL_LEVEL, _QUIET_LEVEL, _DEBUG_LEVEL = 7, 4, 10

_SERIAL = re.compile(r"tty(?:S|AMA|O|mxc|PS|SC|SAC|LP|MSM|UL|HS|_?[A-Z]+)\d+|uart\w*|hvc\d+")
_DIAGNOSTIC = r"^(?:\[[^\]]*\] *)*(?:calling  |initcall |probe of |async_waiting |async_continuing )"


@dataclass(frozen=True)
class ConsoleCost:
    """The console of a boot; null is not known."""

    console: str | None
    """The serial console of the command line."""
    baud: int | None
    baud_known: bool
    """The command line names the rate; else it is the kernel's own default."""
    level: int
    """Lines of the kernel's below this level were printed."""
    lines: int
    """Lines that reached the console, as far as levels are known; not of boot loaders, journals and tracers."""
    characters: int
    """Of those lines, with the stamps and line ends that the console adds."""
    computed_ns: int | None
    """What they take on a line of that rate."""
    share: float | None
    """`computed_ns` of the whole boot."""
    diagnostic_lines: int
    """Lines of `initcall_debug` among them."""
    diagnostic_ns: int | None
    measured_ns: int | None
    """The union of what a capture shows of the kernel waiting for its console: by another machine's clock, or, at most,
    by the stamps around lines that a late console printed again."""
    behind_ns: int | None
    """By how much lines came later than the kernel stored them, at most, beside the one that came soonest."""
    costly: pl.DataFrame
    """Lines by their computed cost, the largest first: `line`, `time_ns`, `characters`, `cost_ns`, `text`."""


def console_cost(boot: Boot) -> ConsoleCost:
    """What printing to the console takes.

    Computed: the characters of each line that reached the console, times ten bits, by the line's rate. It is what a
    real line of that rate takes; a virtual machine's may take nothing. The kernel waits for its console as it prints,
    unless it prints asynchronously.

    >>> import firstlight
    >>> cost = console_cost(firstlight.open(bundle))
    >>> cost.console, cost.baud, cost.baud_known, cost.lines
    ('ttyS0', 9600, False, 5)
    """
    line = boot.fact_values().get("kernel.command_line") or boot.manifest.recipe_text("command_line")
    console, baud = serial_console(line)
    level = console_level(line)
    rate = baud or _USUAL_BAUD
    # Of a recorded console the text is all that was printed; a record of the kernel's own leaves out the stamp.
    bare = (pl.col("source") != "console") & pl.col("time_ns").is_not_null() & ~pl.col("text").str.starts_with("[")
    stamped = bare & (pl.col("channel").is_null() | (pl.col("channel") == "printk"))
    prefix = pl.when(stamped).then(_STAMP + pl.when(pl.col("caller").is_null()).then(0).otherwise(_CALLER)).otherwise(0)
    printed = (
        _of_the_kernels_console(boot)
        .filter(pl.col("level").is_null() | (pl.col("level") < level))
        .with_columns(
            (pl.col("text").str.len_bytes().cast(pl.Int64) + _LINE_END + prefix).alias("characters")
        )
        .with_columns((pl.col("characters") * _BITS * 1_000_000_000 // rate).alias("cost_ns"))
    )  # fmt: skip
    diagnostic = printed.filter(pl.col("text").str.contains(_DIAGNOSTIC))
    whole = window(boot)
    known = console is not None
    computed = int(printed["cost_ns"].sum()) if known else None
    costly = printed.select("line", "time_ns", "characters", "cost_ns", "text")
    if not known:
        costly = costly.with_columns(pl.lit(None, pl.Int64).alias("cost_ns"))
    delays = boot.log().select((pl.col("host_ns") - pl.col("time_ns")).alias("delay"))["delay"].drop_nulls().to_list()
    waits = spans_of(boot, "console").select("start_ns", "end_ns").drop_nulls().rows()
    measured = union_ns(clipped(waits, whole.first_ns, whole.last_ns)) if waits else None
    return ConsoleCost(
        console=console,
        baud=rate if known else None,
        baud_known=baud is not None,
        level=level,
        lines=printed.height,
        characters=int(printed["characters"].sum()),
        computed_ns=computed,
        share=computed / whole.length_ns if computed is not None and whole.length_ns > 0 else None,
        diagnostic_lines=diagnostic.height,
        diagnostic_ns=int(diagnostic["cost_ns"].sum()) if known else None,
        measured_ns=measured,
        behind_ns=max(delays) - min(delays) if len(delays) > 1 else None,
        costly=costly.sort("characters", "line", descending=[True, False]),
    )


def _of_the_kernels_console(boot: Boot) -> pl.DataFrame:
    """The lines that the kernel prints, and what a capture shows beside them once the kernel runs."""
    channel, at = pl.col("channel"), pl.col("time_ns")
    begins = boot.marks().filter(pl.col("mark").is_in([Mark.KERNEL_START, Mark.KERNEL_CLOCK_START]))["time_ns"].min()
    loader = (channel == "console") & (at < begins) if begins is not None else pl.lit(False)
    return boot.log().filter(channel.is_null() | (channel.is_in(["printk", "console"]) & ~loader.fill_null(False)))


def serial_console(command_line: str | None) -> tuple[str | None, int | None]:
    """The last serial console of a command line and its rate in baud; none where it names none.

    >>> serial_console("quiet console=tty0 console=ttyS0,115200n8")
    ('ttyS0', 115200)
    >>> serial_console("console=ttyAMA0 earlycon"), serial_console("quiet")
    (('ttyAMA0', None), (None, None))
    """
    found: tuple[str | None, int | None] = (None, None)
    for word in (command_line or "").split():
        key, _, value = word.partition("=")
        if key not in ("console", "earlycon", "earlyprintk"):
            continue
        name, *options = value.split(",")
        if key == "earlyprintk" and name == "serial" and options:
            name, options = options[0], options[1:]
        if not _SERIAL.fullmatch(name) or (key != "console" and found[0] is not None):
            continue
        rates = [int(match[1]) for option in options if (match := re.match(r"(\d{3,8})(?![\dA-Fa-fxX])", option))]
        found = (name, rates[-1] if rates else None)
    return found


def console_level(command_line: str | None) -> int:
    """The level below which the kernel prints lines to its console, by its command line.

    >>> console_level("quiet"), console_level("loglevel=5 console=ttyS0"), console_level(None)
    (4, 5, 7)
    """
    level = _USUAL_LEVEL
    for word in (command_line or "").split():
        key, _, value = word.partition("=")
        if key == "quiet":
            level = _QUIET_LEVEL
        elif key == "debug":
            level = _DEBUG_LEVEL
        elif key == "loglevel" and value.isdecimal() and len(value) < 3:
            level = int(value)
        elif key == "ignore_loglevel" or (key == "printk.ignore_loglevel" and value.lower() in ("1", "y", "yes", "on")):
            return _DEBUG_LEVEL
    return level
