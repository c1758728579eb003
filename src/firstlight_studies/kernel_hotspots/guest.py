"""What every arm's guest does before it is ready, so that what a remedy broke can be seen; and what it left."""

from __future__ import annotations

import re
from dataclasses import dataclass

from firstlight.study import LOAD_MODULES, Boot, MissingValue, kept_text, stamps_of

#: How long the guest asks to sleep, in nanoseconds: a clock that runs wrong sleeps wrong.
SLEEP_NS = 100_000_000

_KEEP = "/run/firstlight/export"

#: The same in every arm, and all of it after the first instruction of user mode.
PROBES = (
    f"mkdir -p {_KEEP}",
    "for name in sysctl processes devices; do wc -l </var/log/$name; done >" + f"{_KEEP}/read",
    "/init stamp sleep; sleep 0.1 && /init stamp slept; true",
    # An event's format has names of enumerations in it until the kernel has put in their values.
    "mkdir /t; mount -t tracefs t /t && grep -c WB_REASON /t/events/writeback/writeback_queue/format "
    f">{_KEEP}/names-in-format; umount /t; true",
    # What is on no bus, and what ticks.
    "{ for class in block tty; do [ -d /sys/class/$class ] && echo $class $(ls /sys/class/$class | wc -l); done; "
    "echo clockevent $(cat /sys/devices/system/clockevents/clockevent0/current_device); "
    "grep -m 1 hres_active /proc/timer_list; } " + f">{_KEEP}/machine; true",
)

#: Adds every block of memory that the firmware reported and the kernel was kept from, then uses it.
ADD_MEMORY = rf"""
memory=/sys/devices/system/memory
grep MemTotal /proc/meminfo >{_KEEP}/memory-before
if [ ! -e $memory/probe ]; then echo none >{_KEEP}/memory-added; exit 0; fi
size=$((0x$(cat $memory/block_size_bytes)))
added=0; refused=0
/init stamp add
for range in $(dmesg | sed -n 's/.*BIOS-e820: \[mem \(0x[0-9a-f]*\)-\(0x[0-9a-f]*\)\] usable/\1,\2/p'); do
  from=$((${{range%,*}})); to=$((${{range#*,}}))
  block=$(((from + size - 1) / size * size))
  while [ $((block + size - 1)) -le $to ]; do
    if [ ! -e $memory/memory$((block / size)) ]; then
      if echo $(printf 0x%x $block) >$memory/probe; then added=$((added + 1)); else refused=$((refused + 1)); fi
    fi
    block=$((block + size))
  done
done 2>/dev/null
/init stamp online
for state in $memory/memory*/state; do
  read -r now <$state
  [ "$now" = online ] || echo online >$state
done
/init stamp added
echo $added $refused $size >{_KEEP}/memory-added
"""

#: A RAM disk for early writes, an overlay into it, and flash of 4 MiB as late as possible: JFFS2 mounts only what is
#: erased to its end.
LAYERS = """
cd /run; /init stamp layers
mkdir rw root flash; mount -t tmpfs -o size=4m tmpfs rw; mkdir rw/upper rw/work
mount -t overlay -o lowerdir=/,upperdir=rw/upper,workdir=rw/work overlay root
/init stamp layered
tr '\\0' '\\377' </dev/zero 2>/dev/null | head -c 4194304 >/dev/ram1
echo /dev/ram1,64KiB >/sys/module/block2mtd/parameters/block2mtd
/init stamp late; mount -t jffs2 mtd0 flash && /init stamp flash
true
"""
LOAD = f"/init stamp module; {LOAD_MODULES}; /init stamp loaded"


@dataclass(frozen=True)
class Probed:
    """What the guest of one arm found; what is not there could not be found."""

    slept_ns: int | None
    """What a sleep of :data:`SLEEP_NS` took, with the programs that noted it."""
    reads: tuple[int, ...]
    """How many settings and buses userspace found, and 1 where it found processes: their number varies."""
    names_in_format: int | None
    """Lines with names of an enumeration in an event's format."""
    block_devices: int | None = None
    terminals: int | None = None
    """Entries of the class `tty`: consoles, ports, pseudo-terminals."""
    clock_event: str | None = None
    """The device that makes the first processor's ticks."""
    high_resolution: bool | None = None
    """Whether timers end between two ticks."""


@dataclass(frozen=True)
class AddedMemory:
    """Memory that came later."""

    blocks: int
    refused: int
    block_size: int
    adding_ns: int
    """Of all blocks: the kernel makes what describes their pages."""
    online_ns: int
    """Of all blocks: their pages are handed out."""


def probed(boot: Boot) -> Probed:
    """Read what :data:`PROBES` left."""
    stamps = stamps_of(boot)
    sleep, slept = stamps.get("sleep"), stamps.get("slept")
    counts = [int(count) for count in re.findall(r"\d+", kept_text(boot, "read"))]
    names = kept_text(boot, "names-in-format").strip()
    machine = machine_of(kept_text(boot, "machine"))
    return Probed(
        slept - sleep if sleep is not None and slept is not None else None,
        tuple(counts[:1] + [min(count, 1) for count in counts[1:2]] + counts[2:]),
        int(names) if names.isdecimal() else None,
        _count(machine.get("block")),
        _count(machine.get("tty")),
        machine.get("clockevent"),
        None if (active := _count(machine.get("hres_active"))) is None else active == 1,
    )


def machine_of(text: str) -> dict[str, str]:
    """What the guest reported of its machine, by name; what has no value is left out.

    >>> machine_of("block 28\\nclockevent\\n  .hres_active    : 1\\n")
    {'block': '28', 'hres_active': '1'}
    """
    pairs = (line.replace(":", " ").split() for line in text.splitlines())
    return {words[0].lstrip("."): words[1] for words in pairs if len(words) == 2}


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def added_memory(boot: Boot | MissingValue) -> AddedMemory | MissingValue:
    """Read what :data:`ADD_MEMORY` left, or why there is nothing."""
    if isinstance(boot, MissingValue):
        return boot
    added = kept_text(boot, "memory-added").split()
    if added == ["none"]:
        return MissingValue("this kernel takes no memory by its address (CONFIG_ARCH_MEMORY_PROBE)")
    stamps = stamps_of(boot)
    if len(added) != 3 or not all(map(str.isdecimal, added)) or not {"add", "online", "added"} <= stamps.keys():
        return MissingValue("the guest did not say what it added")
    blocks, refused, size = map(int, added)
    return AddedMemory(blocks, refused, size, stamps["online"] - stamps["add"], stamps["added"] - stamps["online"])
