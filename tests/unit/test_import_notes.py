"""What a reader resolved is a note, not a problem."""

from __future__ import annotations

from pathlib import Path

from firstlight.bundle.manifest import SourceProblem
from firstlight.escape import printable
from firstlight.render.views.sources import trust_report
from firstlight.schema.records import ProblemKind
from imported_records import imported


def test_what_was_resolved_stands_under_notes(tmp_path: Path) -> None:
    boot = imported(tmp_path, {"dmesg.txt": "[    0.0] Linux version 6.12\n[    1.5] Run /init as init process\n"})
    problems = [
        SourceProblem(kind=kind, detail=f"it is {kind}", line=None, lost=None)
        for kind in (ProblemKind.CLAMPED, ProblemKind.EMBEDDED, ProblemKind.TORN, ProblemKind.IMPLAUSIBLE)
    ]
    source = boot.manifest.sources[0].model_copy(update={"problems": problems})
    manifest = boot.manifest.model_copy(update={"sources": [source]})
    lines = [printable(str(getattr(block, "text", "")), 200) for block in trust_report(manifest)]
    heads = [line for line in lines if line in ("Problems:", "Notes:")]
    assert heads == ["Problems:", "Notes:"]
    problems_at, notes_at = lines.index("Problems:"), lines.index("Notes:")
    assert [line.endswith(("torn", "implausible")) for line in lines[problems_at + 1 : notes_at]] == [True, True]
    assert [line.endswith(("clamped", "embedded")) for line in lines[notes_at + 1 :]] == [True, True]
