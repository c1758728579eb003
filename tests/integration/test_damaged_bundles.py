"""No file of a bundle, whatever it holds, ends a verb in a traceback: edited manifests, tables cut and changed."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bundles import make_bundle, make_recorded
from firstlight.bundle.open import read_manifest
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError

VERBS = [
    "show BAD", "show BAD --json", "functions BAD --json", "initcalls BAD", "devices BAD", "units BAD", "path BAD",
    "log BAD", "compare GOOD BAD --json", "report BAD -o page.html --force", "export BAD --to perfetto -o p --force",
    "export BAD --to csv -o c --force", "export BAD --to svg -o s --force", "verify BAD", "bless BAD --because it",
    "gate BAD --baseline good", "calibrate BAD", "history show .", "try --append quiet --against BAD",
]  # fmt: skip

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3.5, 1 << 62, 1 << 64, -(1 << 63), 1 << 400, "", "a", "512M", "\0", "\ud800", "/",
    "../x", "x" * 100_000, [], [1], ["a"], {}, {"a": 1}, [[[]]], [None], {"": {}},
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a recorded boot, an imported one's like, and a good one with its baseline; a cache of its own."""

    def none(_architecture: object) -> None:
        raise LabError("this machine has no kernel")

    work = tmp_path_factory.mktemp("damaged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(work / "cache"))
        patch.setattr("firstlight.lab.run.resolve.default_kernel", none)
        patch.chdir(work)
        make_recorded(make_bundle(work, name="good.boot"))
        make_bundle(work, name="described.boot")
        assert run(["bless", "good.boot", "--as", "good", "--because", "first"]) == 0
        yield work


def fields(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every field, and of every member of a list."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name)
        yield from fields(member, (*path, name))


def changed(manifest: Any, path: tuple[str | int, ...], value: object, *, gone: bool) -> Any:
    """A copy with another value at a place, or without it."""
    copy = json.loads(json.dumps(manifest))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    if gone:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


def bad_bundle(place: Path, source: str) -> Path:
    bad = place / "bad.boot"
    shutil.rmtree(bad, ignore_errors=True)
    shutil.copytree(place / source, bad)
    return bad


def check(verb: str) -> None:
    """Any way to end but a traceback, which `run` would let through."""
    assert run(verb.replace("BAD", "bad.boot").replace("GOOD", "good.boot").split()) in (0, 1, 2, 3, 4, 5)


def opened(bundle: Path) -> None:
    """A bundle opens, or its error names the manifest, and says what to do."""
    error: FirstlightError | None = None
    try:
        read_manifest(bundle)
    except FirstlightError as raised:
        error = raised
    if error is not None:
        assert str(error.where).startswith(str(bundle))
        assert error.hint is not None


@pytest.mark.parametrize("source", ["good.boot", "described.boot"])
@settings(
    max_examples=int(os.environ.get("EXAMPLES", "40")), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_a_manifest_edited_by_hand(place: Path, source: str, data: st.DataObject) -> None:
    bad = bad_bundle(place, source)
    manifest = json.loads((bad / "manifest.json").read_text())
    path = data.draw(st.sampled_from(list(fields(manifest))), label="field")
    value = data.draw(st.sampled_from(VALUES), label="value")
    gone = data.draw(st.booleans() if value is None else st.just(False), label="gone")
    (bad / "manifest.json").write_text(json.dumps(changed(manifest, path, value, gone=gone)))
    check(data.draw(st.sampled_from(VERBS), label="verb"))


def test_every_field_of_a_manifest_with_every_kind_of_value_opens_or_is_reported(place: Path) -> None:
    bad = bad_bundle(place, "good.boot")
    manifest = json.loads((bad / "manifest.json").read_text())
    for path in fields(manifest):
        for value in VALUES:
            (bad / "manifest.json").write_text(json.dumps(changed(manifest, path, value, gone=False)))
            opened(bad)
        (bad / "manifest.json").write_text(json.dumps(changed(manifest, path, None, gone=True)))
        opened(bad)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "missing", "promised otherwise"])
def test_tables_that_are_damaged(place: Path, verb: str, damage: str) -> None:
    draw = random.Random(f"{verb} {damage}")
    tables = sorted(path.name for path in (place / "good.boot").glob("*.parquet"))
    for _ in range(int(os.environ.get("TABLES", "1"))):
        bad = bad_bundle(place, "good.boot")
        table = bad / draw.choice(tables)
        content = bytearray(table.read_bytes())
        if damage == "cut":
            table.write_bytes(content[: draw.randrange(len(content))])
        elif damage == "empty":
            table.write_bytes(b"")
        elif damage == "missing":
            table.unlink()
        else:
            for _ in range(draw.choice([1, 8, 64])):
                content[draw.randrange(len(content))] = draw.randrange(256)
            table.write_bytes(content)
        if damage == "promised otherwise":
            # With a digest that fits nobody stops before the content is read.
            manifest = json.loads((bad / "manifest.json").read_text())
            del manifest["tables"][table.stem]
            (bad / "manifest.json").write_text(json.dumps(manifest))
        check(verb)
