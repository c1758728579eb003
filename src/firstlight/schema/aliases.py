"""Spellings of earlier schema versions. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping

ALIASES: Mapping[str, Mapping[str, str]] = {}
"""By ``table.column``, the old names and the present ones."""
