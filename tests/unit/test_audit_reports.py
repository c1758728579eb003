"""What people read of an audit: the page, and the support matrix."""

from __future__ import annotations

import re

from firstlight.audit.agreement import AgreedShare, Measure, agreement
from firstlight.audit.boot import Audit
from firstlight.audit.causes import with_causes
from firstlight.audit.matrix.measure import MatrixRow, Named
from firstlight.audit.observed import Observation
from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables
from firstlight.render.markdown.support_matrix import matrix_markdown
from firstlight.render.page.audit import audit_html

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def audited(name: str) -> Audit:
    """An audit with an exception that has a cause, and one of *name* that has none."""
    one = Tables(20, {"f": AuditFigures(1, 4, 9), "g": AuditFigures(1, 5, 5), name: AuditFigures(3, 1, 1)})
    other = Tables(20, {"f": AuditFigures(1, 6, 9), "g": AuditFigures(1, 3, 5), name: AuditFigures(2, 1, 1)})
    evidence = AuditEvidence(elsewhere={("g", "f"): 2})
    agreed = agreement(one, other)
    return Audit(
        agreed,
        Observation(other, evidence, {}),
        one,
        tuple(with_causes(agreed, evidence, one, other)),
        "7.2",
        "q",
        "6.1",
    )


def test_the_page_tells_every_exception_with_its_cause() -> None:
    page = audit_html("a.boot", audited("h"))
    assert "3 exceptions, 1 without a known cause." in page
    assert "`g` jumped into its middle: 2 instructions" in page
    assert "not known" in page
    assert page == audit_html("a.boot", audited("h"))


def test_the_page_runs_nothing_and_loads_nothing_whatever_functions_are_called() -> None:
    page = audit_html(HOSTILE, audited(HOSTILE))
    body = page[page.index("</style>") :]
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;alert" in body
    assert not re.search(r"(src|href)=", body)
    assert "default-src 'none'; style-src 'sha256-" in page


def test_a_cell_of_the_matrix_tells_its_exceptions_and_names_their_causes() -> None:
    shares = (AgreedShare(Measure.TOTALS, 98, 100),)
    named = (
        Named(Measure.TOTALS, "switch", 9, 5, "2 new tasks"),
        Named(Measure.TOTALS, "f", 3, 2, None),
    )
    row = MatrixRow("6.1", "qemu64-v1", "default", "7.2.22", None, shares, named, {"totals": 2}, unexplained=1)
    document = matrix_markdown([row], "firstlight audit --matrix quick")
    assert "| 2, 1 not known | below: Totals |" in document
    assert "2 new tasks" in document
