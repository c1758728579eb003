"""Lines of OpenMetrics 1.0 text: https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.escape import printable

Labels = Sequence[tuple[str, str]]


def family(name: str, kind: str, unit: str, text: str) -> Iterator[str]:
    """The header of a family of samples.

    :param unit: the suffix of the name; empty for none.

    >>> list(family("boot_seconds", "gauge", "seconds", "Boot time."))[1]
    '# UNIT boot_seconds seconds'
    """
    yield f"# TYPE {name} {kind}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {escape(text)}"


def sample(name: str, labels: Labels, value: str) -> str:
    r"""One sample; the texts of labels may be hostile.

    >>> sample("boot_seconds", [("phase", 'a"b')], "1.5")
    'boot_seconds{phase="a\\"b"} 1.5'
    """
    return f"{name}{{{','.join(f'{label}={chr(34)}{escape(text)}{chr(34)}' for label, text in labels)}}} {value}"


def escape(text: str) -> str:
    r"""A text, escaped for the value of a label or a help text.

    >>> escape('a\\b"')
    'a\\\\b\\"'
    """
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
