"""Spellings of earlier schema versions. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping

ALIASES: Mapping[str, Mapping[str, str]] = {
    "marks.mark": {"initrd_start": "initramfs_start", "startup_over": "startup_settled"},
    "marks.source": {"no-operation": "instruction"},
    "log.channel": {"tracer": "ftrace"},
}
"""By ``table.column``, the old names and the present ones; `bundle.older` has those of phases."""

PHASE_ALIASES: Mapping[str, str] = {"initrd": "initramfs", "user_land": "userspace", "record": "before_first_mark"}
"""The old names of phases and the present ones."""

MARK_ALIASES: Mapping[str, str] = {"initrd_start": "initramfs_start", "startup_over": "startup_settled"}
"""The old names of marks and the present ones."""
