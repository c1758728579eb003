"""The records that a boot was made of, as the report page carries them, and where they exclude one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.bundle.manifest import Manifest, Source, SourceProblem
from firstlight.render.page.text import TEXT, shortened
from firstlight.render.views.sources import differing, fit_text

#: So many records, problems of one, and contradictions go into a page.
_RECORDS = 500
_PROBLEMS = 50

Json = dict[str, Any]


def page_records(manifest: Manifest) -> Json:
    """What was read of each record, what was not understood, and what is wrong; nothing of a recorded boot.

    >>> page_records(firstlight.open(bundle).manifest)
    {'records': 0, 'sources': [], 'contradictions': []}
    """
    return {
        "records": len(manifest.sources),
        "sources": [_source(source) for source in manifest.sources[:_RECORDS]],
        "contradictions": [
            {
                "what": shortened(each.subject, TEXT),
                "statements": [[shortened(of, TEXT), shortened(value, TEXT)] for of, value in differing(each)],
            }
            for each in manifest.contradictions[:_RECORDS]
        ],
    }


def _source(source: Source) -> Json:
    """One record; its problems and notes are sentences, with the line where each was met first."""
    return {
        "file": shortened(source.file + (f" ({source.part})" if source.part else ""), TEXT),
        "format": source.format,
        "understood": source.parsed,
        "not_understood": source.unparsed,
        "clock": source.clock,
        "fit": shortened("" if source.format is None else fit_text(source), TEXT),
        "problems": _sentences([problem for problem in source.problems if not problem.is_note]),
        "notes": _sentences([problem for problem in source.problems if problem.is_note]),
    }


def _sentences(problems: Sequence[SourceProblem]) -> list[str]:
    shown = [
        shortened(problem.detail if problem.line is None else f"line {problem.line}: {problem.detail}", TEXT)
        for problem in problems[:_PROBLEMS]
    ]
    more = len(problems) - len(shown)
    return [*shown, *([f"and {more:,} more"] if more > 0 else [])]
