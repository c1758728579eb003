"""What a recipe of another machine may not name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from firstlight.errors import FirstlightError
from firstlight.lab.run.options_from_manifest import check_untrusted
from firstlight.recipe.choices import Choices

PATHS = [name for name, kind in get_type_hints(Choices).items() if Path in get_args(kind) and name != "qemu"]


@pytest.mark.parametrize("name", PATHS)
def test_a_stranger_names_no_path_of_this_machine(name: str) -> None:
    given: dict[str, Any] = {name: Path("/home/a/secret")}
    option = name.replace("_", "-")
    with pytest.raises(FirstlightError, match=f"needs `--{option} /home/a/secret`"):
        check_untrusted(Choices(**given), "a.boot", trust=False)


def test_the_qemu_of_a_stranger_is_never_used() -> None:
    assert check_untrusted(Choices(qemu=Path("/home/a/qemu")), "a.boot", trust=False).qemu is None
    assert check_untrusted(Choices(qemu=Path("/home/a/qemu")), "a.boot", trust=True).qemu is None
