"""What a person chose, checked before any file is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstlight.errors import UsageError
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "matches every line"),
        (".*", "matches every line"),
        ("(login)?", "matches every line"),
        ("(", "is not a regular expression"),
        ("(?=a)b", "uses look-around or back references"),
    ],
)
def test_a_pattern_that_cannot_end_a_boot_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        check_choices(RecordOptions(Path("a.boot"), ready=pattern), X86_64)
    assert caught.value.where == "--ready"


@pytest.mark.parametrize("pattern", ["login:", "^$", "a|b", r"\[ +[0-9.]+\] Run /init"])
def test_a_pattern_that_some_lines_match_is_taken(pattern: str) -> None:
    check_choices(RecordOptions(Path("a.boot"), ready=pattern), X86_64)


@pytest.mark.parametrize("option", ["rootfs", "memory", "cpu", "machine"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_option_is_refused(option: str, value: str) -> None:
    chosen: dict[str, Any] = {option: value}
    with pytest.raises(UsageError, match=f"^--{option}: the option is empty$") as caught:
        check_choices(RecordOptions(Path("a.boot"), **chosen), X86_64)
    assert caught.value.exit_code == 2
    assert caught.value.hint is not None
