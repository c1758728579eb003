"""Mount points and automounts: whose inode a listing gives, and which call of which program wakes what sleeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstlight.study import Boot, Field, MissingValue, Table, Value
from firstlight_studies.tree_walk.guest import POINTS, WAKES
from firstlight_studies.tree_walk.measured import architecture_name, kept_rows, why_nothing
from firstlight_studies.tree_walk.path_calls import PathCalls, path_calls
from firstlight_studies.tree_walk.trap_script import TRAP, WOKEN_POINTS
from firstlight_studies.tree_walk.unit_script import UNIT_WAKES

_UNKNOWN = "-"
_POINT_FIELDS, _WAKE_FIELDS, _UNIT_FIELDS = 8, 7, 3


@dataclass(frozen=True)
class Point:
    """A mount point, or a plain file beside it."""

    path: str
    kind: str | None
    """Of file system; nothing for what is not a mount point."""
    listed: int | None
    """Inode in the listing of its directory."""
    inode: int | None
    """Inode by stat."""
    device: str | None
    parent_device: str | None
    mount_root: bool | None
    """What statx says; nothing where the kernel does not report it."""
    automount: bool | None

    @property
    def differs(self) -> bool | None:
        """Whether the listing gives another inode than stat."""
        return None if self.listed is None or self.inode is None else self.listed != self.inode


@dataclass(frozen=True)
class Wake:
    """One call, or one program, on an automount that sleeps."""

    name: str
    woken: bool
    call: str
    """The call that waited for the mount, with the flags that matter; empty when it slept on."""
    before: str
    """Device and inode of the point."""
    after: str
    status: int


@dataclass(frozen=True)
class Audit:
    """What one boot shows of mount points and automounts."""

    points: tuple[Point, ...]
    woken_points: tuple[Point, ...]
    wakes: tuple[Wake, ...]
    missing: tuple[str, ...]
    """Programs that the guest has not."""

    def wake(self, name: str) -> Wake | None:
        """What a call or a program did."""
        return next((wake for wake in self.wakes if wake.name == name), None)

    @property
    def sleeping(self) -> Point | None:
        """The automount as it sleeps, in the audit."""
        return next((point for point in self.points if point.path == TRAP), None)


def audit_of(boot: Boot | MissingValue) -> Audit | MissingValue:
    """Read what a guest noted."""
    if isinstance(boot, MissingValue):
        return boot
    points = _points(kept_rows(boot, POINTS))
    rows = [row for row in kept_rows(boot, WAKES) if len(row) == _WAKE_FIELDS]
    calls = path_calls(architecture_name(boot))
    wakes = tuple(_wake(row, calls) for row in rows if row[1] in ("woken", "asleep"))
    if not points and not wakes:
        return why_nothing(boot)
    missing = tuple(row[0] for row in rows if row[1] == "missing")
    return Audit(points, _points(kept_rows(boot, WOKEN_POINTS)), wakes, missing)


def _wake(row: Sequence[str], calls: PathCalls) -> Wake:
    status = int(row[6]) if row[6].lstrip("-").isdecimal() else -1
    return Wake(row[0], row[1] == "woken", "" if row[3] == _UNKNOWN else calls.text(row[3]), row[4], row[5], status)


def _points(rows: Sequence[Sequence[str]]) -> tuple[Point, ...]:
    return tuple(_point(row) for row in rows if len(row) == _POINT_FIELDS)


def _point(row: Sequence[str]) -> Point:
    known = [None if field == _UNKNOWN else field for field in row]
    listed, inode = (int(field) if field and field.isdecimal() else None for field in known[2:4])
    root, automount = (field == "1" if field is not None else None for field in known[6:8])
    return Point(row[0], known[1], listed, inode, known[4], known[5], root, automount)


def points_table(audit: Audit) -> Table:
    """Every mount point of the guest, and some plain files."""
    fields = (
        Field("Path"), Field("What it is"), Field("Inode in the listing", "number"), Field("Inode by stat", "number"),
        Field("Same inode"), Field("Device"), Field("Device of its directory"), Field("statx: root of a mount"),
        Field("statx: automount"),
    )  # fmt: skip
    rows = [_point_row(point, "") for point in audit.points]
    rows += [_point_row(point, ", woken") for point in audit.woken_points if point.path == TRAP]
    below = (
        "Every line of the guest's mount table except `/`, and plain files. One of them is an automount, which the "
        "audit does not trigger.",
    )
    return Table("mount-points", "Inodes at mount points, by listing and by stat", fields, tuple(rows), below)


def _point_row(point: Point, more: str) -> tuple[Value, ...]:
    what = "no mount point" if point.kind is None else f"mount: {point.kind}{more}"
    if point.kind == "autofs":
        what = "automount, asleep"
    lost = MissingValue("the path cannot be looked at")
    same = lost if point.differs is None else "no" if point.differs else "yes"
    return (
        point.path, what, _else(point.listed, lost), _else(point.inode, lost), same, _else(point.device, lost),
        _else(point.parent_device, lost), _yes_or_no(point.mount_root), _yes_or_no(point.automount),
    )  # fmt: skip


def _else(value: int | str | None, gap: MissingValue) -> Value:
    return gap if value is None else value


def _yes_or_no(value: bool | None) -> Value:
    return MissingValue("this kernel's statx does not report it") if value is None else "yes" if value else "no"


def wakes_table(audit: Audit) -> Table:
    """Which call and which program wakes an automount."""
    fields = (
        Field("Call or program"), Field("Automount"), Field("Woken by"), Field("Device and inode before"),
        Field("Device and inode after"),
    )  # fmt: skip
    rows = tuple(
        (wake.name, "woken" if wake.woken else "asleep", wake.call, wake.before, wake.after) for wake in audit.wakes
    )
    below = [
        "A direct automount of systemd's kind, mounted anew for each row. `call` is one system call on it by the "
        "study's own program. Woken by: the call in which the program waited, with its flags, as the kernel shows it.",
    ]
    if audit.missing:
        below.append(f"Not in the guest: {', '.join(audit.missing)}.")
    return Table("automounts", "What triggers an automount", fields, rows, tuple(below))


def unit_table(boot: Boot | MissingValue) -> Table | MissingValue:
    """What triggers an automount of systemd, in Debian."""
    if isinstance(boot, MissingValue):
        return boot
    tried = [row for row in kept_rows(boot, UNIT_WAKES) if len(row) == _UNIT_FIELDS]
    if not tried:
        return why_nothing(boot)
    unarmed = MissingValue("systemd did not arm the automount")
    fields = (Field("Program"), Field("Automount"))
    rows = tuple(
        (name, unarmed if armed != "1" else "woken" if woken == "1" else "asleep") for name, armed, woken in tried
    )
    below = ("Debian with a line `x-systemd.automount` in its fstab; the automount is stopped after each program.",)
    return Table("automount-unit", "What triggers an automount of systemd", fields, rows, below)
