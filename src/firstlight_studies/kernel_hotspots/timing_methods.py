"""The arms that show what each way of timing costs the boot that it times."""

from __future__ import annotations

from dataclasses import dataclass

_TRACE = "/run/firstlight/export/trace"
_EVENTS = "trace_event=initcall:initcall_start,initcall:initcall_finish"
_LONG_RING = "log_buf_len=4M"
_KEEP_TRACE = f"mkdir /t; mount -t tracefs t /t && cat /t/trace >{_TRACE}; umount /t"

#: The boot that all four ways time.
ALL = "all-ways"


@dataclass(frozen=True)
class Way:
    """A way of timing, as the words that it needs on the command line."""

    arm: str
    title: str
    words: str = ""
    against: str = "plain"
    """The boot that lacks it."""
    commands: tuple[str, ...] = ()
    profile: bool = True
    takes_away: bool = False
    """The arm lacks the way, which the boot beside it has."""
    quick: bool = True


_WAYS = (
    Way("no-profile", "function profile (against a boot without it)", profile=False, takes_away=True),
    Way(
        "no-stamps", "printk stamps alone (against lines without stamps)", "printk.time=0", takes_away=True, quick=False
    ),
    Way("long-ring", "room for more stamps, nothing timed: a ring of 4 MiB", f"{_LONG_RING} quiet", "quiet"),
    Way("ring", "printk stamps of every initcall, in such a ring", f"initcall_debug {_LONG_RING} quiet", "long-ring"),
    Way("port", "port writes of every initcall's lines", "initcall_debug loglevel=8"),
    Way("events", "kernel tracer, events of initcalls", _EVENTS, commands=(_KEEP_TRACE,)),
    Way(
        "graph",
        "kernel tracer, function graph of the initcalls",
        "ftrace=function_graph ftrace_graph_filter=do_one_initcall ftrace_graph_max_depth=4",
        quick=False,
    ),
    Way("graph-all", "kernel tracer, function graph of everything", "ftrace=function_graph", quick=False),
    Way(ALL, "all of them in one boot", f"initcall_debug loglevel=8 {_EVENTS}", commands=(_KEEP_TRACE,)),
)


def ways_on(*, quick: bool) -> tuple[Way, ...]:
    """The arms of the ways of timing.

    >>> [each.arm for each in ways_on(quick=True)]
    ['no-profile', 'long-ring', 'ring', 'port', 'events', 'all-ways']
    """
    return tuple(each for each in _WAYS if each.quick or not quick)
