"""A model of a disk: what each request costs on the guest's clock (`docs/reference/formats/storage-model.md`)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from firstlight.errors import MISSING_INPUT, UsageError
from firstlight.frozen import StrictModel
from firstlight.quantities import parse_size
from firstlight.suggest import one_of
from firstlight.toml import Duration, parse_checked, read_text

_MODELS = Path(__file__).with_name("models")
_LARGEST_FILE = 64 << 10
_RATES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_LONGEST_NS = 60 * 10**9


def bandwidth(value: object) -> object:
    """Read bytes per second from a rate with its unit.

    :raises ValueError: when it has no unit, or is zero or no rate.

    >>> bandwidth("250 MB/s"), bandwidth("1.5 MiB/s")
    (250000000, 1572864)
    """
    units = "|".join(_RATES)
    match = (
        re.fullmatch(rf"\s*(\d{{1,12}}(?:\.\d{{1,6}})?)\s*({units})/s\s*", value) if isinstance(value, str) else None
    )
    rate = round(float(match[1]) * _RATES[match[2]]) if match is not None else 0
    if rate <= 0:
        raise ValueError(
            'write a rate with its unit, such as "25 MB/s"; there are ' + ", ".join(_RATES) + " per second"
        )
    return rate


def _size(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError('write a size with its unit, such as "128K"')
    if value.strip() == "0":
        return 0
    try:
        return parse_size(value)
    except UsageError as error:
        raise ValueError(error.message) from error


Rate = Annotated[int, BeforeValidator(bandwidth)]
Latency = Annotated[Duration, Field(le=_LONGEST_NS)]


class _Table(StrictModel):
    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True)


class Transfer(_Table):
    """What reads, or writes, cost."""

    latency: Latency = Field(description="from the request to its first byte")
    sequential_latency: Latency | None = Field(
        default=None, description="the same of a request that continues the one before; by default `latency`"
    )
    bandwidth: Rate = Field(description="bandwidth of the data, from the first byte to the last")

    @classmethod
    def of(cls, latency_ns: int, bandwidth: int, sequential_latency_ns: int | None = None) -> Transfer:
        """The cost with these figures, in nanoseconds and bytes per second."""
        sequential = None if sequential_latency_ns is None else f"{sequential_latency_ns} ns"
        figures = {"latency": f"{latency_ns} ns", "sequential-latency": sequential, "bandwidth": f"{bandwidth} B/s"}
        return cls.model_validate({name: value for name, value in figures.items() if value is not None})

    def in_plugin(self) -> dict[str, int]:
        """As the plugin's configuration has it."""
        sequential = self.latency if self.sequential_latency is None else self.sequential_latency
        return {
            "latency_ns": self.latency, "sequential_latency_ns": sequential, "bandwidth": self.bandwidth,
        }  # fmt: skip


class Flush(_Table):
    """What it costs to make sure that what was written is safe."""

    latency: Latency = 0


class ReadAhead(_Table):
    """What the disk reads behind a read by itself, while it waits for the next request."""

    size: Annotated[int, BeforeValidator(_size)] = Field(ge=0, description="bytes at most")
    bandwidth: Rate = Field(description="of data that was read ahead")


class StorageModel(_Table):
    """A disk that serves one request after the other."""

    name: str = Field(min_length=1, max_length=80)
    title: str = Field(default="", max_length=200)
    source: str = Field(default="", max_length=4000, description="where the figures come from")
    read: Transfer
    write: Transfer
    flush: Flush = Flush()
    read_ahead: ReadAhead | None = None

    @model_validator(mode="after")
    def _is_printable(self) -> StorageModel:
        if not self.name.isprintable() or not self.title.isprintable():
            raise ValueError("name and title have to be printable")
        return self

    def in_plugin(self) -> dict[str, object]:
        """As the plugin's configuration has it: nanoseconds, and bytes per second."""
        ahead = self.read_ahead
        return {
            "read": self.read.in_plugin(),
            "write": self.write.in_plugin(),
            "flush_ns": self.flush.latency,
            "read_ahead": 0 if ahead is None else ahead.size,
            "interface": self.read.bandwidth if ahead is None else ahead.bandwidth,
        }


def models() -> list[str]:
    """The models that Firstlight has, by name.

    >>> models()
    ['emmc', 'sata', 'sd', 'spi-nor']
    """
    return sorted(path.stem for path in _MODELS.glob("*.toml"))


def find_model(name: str) -> Path:
    """The file of a model.

    :param name: one of :func:`models`, or a file.
    :raises UsageError: when there is none.

    >>> find_model("emmc").name
    'emmc.toml'
    """
    if name in models():
        return _MODELS / f"{name}.toml"
    path = Path(name)
    if path.is_file():
        return path.absolute()
    where = f"--storage {name}"
    if "/" in name or path.suffix == ".toml":
        raise UsageError("there is no such file", where=where, exit_code=MISSING_INPUT)
    raise UsageError("there is no model of this name, and no such file", where=where, hint=one_of(name, models()))


def read_model(path: Path) -> StorageModel:
    """Read a model.

    :raises UsageError: when the file cannot be read, or something in it is wrong, which is named.

    >>> read_model(find_model("sd")).read.bandwidth
    25000000
    """
    return parse_checked(read_text(path, largest=_LARGEST_FILE), StorageModel, str(path))


def model_text(model: StorageModel) -> str:
    """A model as the text of its file.

    >>> print(model_text(read_model(find_model("spi-nor"))).partition("[read]")[2], end="")
    <BLANKLINE>
    latency = "192 ns"
    bandwidth = "52000000 B/s"
    <BLANKLINE>
    [write]
    latency = "0 ns"
    bandwidth = "79689 B/s"
    <BLANKLINE>
    [flush]
    latency = "0 ns"
    """
    lines = [f"{key} = {json.dumps(getattr(model, key), ensure_ascii=False)}" for key in ("name", "title", "source")]
    for key, transfer in (("read", model.read), ("write", model.write)):
        lines += ["", f"[{key}]", f'latency = "{transfer.latency} ns"']
        if transfer.sequential_latency is not None:
            lines.append(f'sequential-latency = "{transfer.sequential_latency} ns"')
        lines.append(f'bandwidth = "{transfer.bandwidth} B/s"')
    lines += ["", "[flush]", f'latency = "{model.flush.latency} ns"']
    if model.read_ahead is not None:
        lines += [
            "",
            "[read-ahead]",
            f'size = "{model.read_ahead.size}B"',
            f'bandwidth = "{model.read_ahead.bandwidth} B/s"',
        ]
    return "\n".join(lines) + "\n"
