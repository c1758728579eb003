"""What was concluded about the kernel's own start, and what the figures say now."""

from __future__ import annotations

from firstlight.study import BAUD, Finding, Mark, MissingValue, missing_in, on_the_line_ns, time_text, verdict
from firstlight_studies.root_filesystems.arms import Way, arm_name
from firstlight_studies.root_filesystems.findings.figures import STARTED, RootFigures, less_text, missing
from firstlight_studies.root_filesystems.measures import FilesystemTimings


def preset_lpj(figures: RootFigures) -> Finding:
    """What a preset `lpj=` saves."""
    claim = "A preset lpj saves a quarter of the kernel's start"
    then = "764,141 to 551,735 µs from start_kernel (-28 %)"
    lpj = figures.lpj
    way = Way(lpj=lpj if isinstance(lpj, int) else 0)
    kind = next((each for each in STARTED if isinstance(figures.start(arm_name(each, way)), int)), STARTED[0])
    plain = figures.start(kind)
    if isinstance(lpj, MissingValue):
        return missing(claim, then, lpj)
    preset = figures.start(arm_name(kind, way))
    if (gap := missing_in(plain, preset)) is not None:
        return missing(claim, then, gap)
    assert isinstance(plain, int)
    assert isinstance(preset, int)
    measured = figures.arms[kind]
    spent = 0 if isinstance(measured, MissingValue) else measured.total("calibrate_delay")
    now = f"{kind}: {less_text(preset, plain)}; calibrate_delay takes {time_text(spent)}"
    holds = (plain - preset) / plain >= 0.1
    why = (
        "the loops are counted, for some ticks"
        if holds
        else "the rate of the time stamp counter is known before, and the loops are computed from it"
    )
    return Finding(claim, then, now, verdict(holds), why)


def quiet(figures: RootFigures) -> Finding:
    """What `quiet` saves, with a serial line added in thought."""
    claim = "`quiet` halves the kernel's start"
    then = "551,735 to 280,676 µs from start_kernel (-49 %)"
    way = Way(quiet=True)
    kind = next((each for each in STARTED if isinstance(figures.start(arm_name(each, way)), int)), STARTED[0])
    plain, quiet = figures.arms.get(kind), figures.arms.get(arm_name(kind, way))
    one, other = figures.start(kind), figures.start(arm_name(kind, way))
    if isinstance(one, MissingValue) or isinstance(other, MissingValue) or not isinstance(plain, FilesystemTimings):
        return missing(claim, then, missing_in(one, other) or MissingValue("the plain arm is missing"))
    assert isinstance(quiet, FilesystemTimings)
    printed = plain.console_bytes - quiet.console_bytes
    line_ns = on_the_line_ns(printed, BAUD)
    share = (one - other + line_ns) / (one + line_ns)
    now = (
        f"{kind}: {less_text(other, one)} on a port that takes no time; {printed:,} bytes fewer are "
        f"{time_text(line_ns)} at {BAUD:,} Bd, and with them `quiet` saves {share * 100:.0f} %"
    )
    why = (
        "a byte takes the same time on the line as then, and the rest of the start has become short"
        if share >= 0.4
        else "the kernel prints too little for it"
    )
    return Finding(claim, then, now, verdict(share >= 0.4), why)


def instrumented(figures: RootFigures) -> Finding:
    """What recording every function changes."""
    claim = "Recording every function changes the recorded start"
    then = "4.325 s with the instrumentation, 3.639 s without (+19 %)"
    plain = figures.arms.get("initramfs", MissingValue("not booted"))
    if isinstance(plain, MissingValue) or isinstance(figures.unprofiled, MissingValue):
        return missing(claim, then, missing_in(plain, figures.unprofiled) or MissingValue(""))
    recorded = plain.between(Mark.POWER_ON, Mark.READY)
    if isinstance(recorded, MissingValue):
        return missing(claim, then, recorded)
    change = abs(recorded - figures.unprofiled)
    now = f"{time_text(recorded)} with, {time_text(figures.unprofiled)} without: {change:,} ns apart"
    holds = change / recorded >= 0.001
    why = "" if holds else "the functions are watched from outside the machine, without using its virtual time"
    return Finding(claim, then, now, verdict(holds), why)


def _plain(figures: RootFigures) -> FilesystemTimings | MissingValue:
    """A boot as plain as that of the old study."""
    measured = figures.arms.get("cramfs", MissingValue("not booted"))
    return figures.arms.get("initramfs", MissingValue("not booted")) if isinstance(measured, MissingValue) else measured


def pages(figures: RootFigures) -> Finding:
    """What it costs to free every page of memory."""
    claim = "Freeing every page of memory is the largest single part of the early start"
    then = "free_all_bootmem_core 109 ms of 843 ms (13 %)"
    measured = _plain(figures)
    if isinstance(measured, MissingValue) or isinstance(measured.from_start_kernel, MissingValue):
        return missing(claim, then, missing_in(measured) or MissingValue("the boot has no marks"))
    spent = measured.total("memblock_free_all")
    share = spent / measured.from_start_kernel
    now = f"memblock_free_all {time_text(spent)} of {time_text(measured.from_start_kernel)} ({share:.1%})".replace(
        "%", " %"
    )
    why = "" if share >= 0.1 else "pages are freed in the largest possible blocks"
    return Finding(claim, then, now, verdict(share >= 0.1), why)


def tables(figures: RootFigures) -> Finding:
    """What it costs to register settings and devices."""
    claim = "Registering tables of settings and devices costs tens of milliseconds"
    then = "register_proc_table 39 ms in 22 calls, device_register 22 ms in 11"
    measured = _plain(figures)
    if isinstance(measured, MissingValue) or isinstance(measured.from_start_kernel, MissingValue):
        return missing(claim, then, missing_in(measured) or MissingValue("the boot has no marks"))
    settings, devices = measured.total("__register_sysctl_table"), measured.total("device_register")
    share = (settings + devices) / measured.from_start_kernel
    now = (
        f"__register_sysctl_table {time_text(settings)} in {measured.count('__register_sysctl_table')} calls, "
        f"device_register {time_text(devices)} in {measured.count('device_register')}: {share:.1%} of the start"
    ).replace("%", " %")
    why = "" if share >= 0.05 else "a table is one sorted tree, and a device a few links"
    return Finding(claim, then, now, verdict(share >= 0.05), why)
