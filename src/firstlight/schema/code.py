"""Names of code. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."""

from __future__ import annotations

from enum import StrEnum


class CodeKind(StrEnum):
    """What code of user mode stands in."""

    FILE = "file"
    DELETED = "deleted"
    MEMFD = "memfd"
    ANONYMOUS = "anonymous"
    VDSO = "vdso"
    UNKNOWN = "unknown"


class FunctionSource(StrEnum):
    """What says where a function of user mode begins and how it is called."""

    SYMBOL_TABLE = "symbol_table"
    DYNAMIC_SYMBOLS = "dynamic_symbols"
    DEBUG_FILE = "debug_file"
    LINKAGE_TABLE = "linkage_table"
    FRAME_TABLE = "frame_table"
    BLOCK = "block"
    NONE = "none"
