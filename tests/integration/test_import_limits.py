"""An import reports what it leaves out of a record that exceeds a limit."""

from __future__ import annotations

from pathlib import Path

import firstlight
from firstlight.cli.main import run


def test_of_more_dependencies_than_are_kept_the_first_are_kept_and_the_rest_is_told(tmp_path: Path) -> None:
    units = [f"u{number}.service" for number in range(501)]
    record, bundle = tmp_path / "show.txt", tmp_path / "a.boot"
    blocks = (
        f"Id={unit}\nActiveState=active\nActiveEnterTimestampMonotonic={10_000 + number}\n"
        f"After={' '.join(units[number + 1 :] + units[:number])}\n"
        for number, unit in enumerate(units)
    )
    record.write_text("\n".join(blocks))
    assert run(["import", str(record), "-o", str(bundle)]) == 0
    boot = firstlight.open(bundle)
    assert len(boot.links()) == 200_000 < len(units) * (len(units) - 1)
    assert any("more than 200000 dependencies" in reason for reason in boot.manifest.completeness.missing)
