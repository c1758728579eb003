"""Errors that reach the user: what was wrong, where, and what to do about it."""

from __future__ import annotations

import errno
import os
import re

#: The exit code where an option names a file that is not there or cannot be read: a matter of usage. A file that is
#: there and no good is a failure.
MISSING_INPUT = 2


class FirstlightError(Exception):
    """Something the user has to know, and can do something about.

    The command line prints it as ``error: WHERE: MESSAGE`` and, below, ``hint: HINT``, and ends with *exit_code*.

    :param message: what is wrong, in one sentence without a full stop; names stand in back quotes.
    :param where: the file, option or place that it is about.
    :param hint: what to do about it.
    :param exit_code: the exit code of the command; the class's own when not given.

    >>> from firstlight.errors import FirstlightError
    >>> print(FirstlightError("not a kernel", where="a.img", hint="give a bzImage").report())
    error: a.img: not a kernel
    hint: give a bzImage
    """

    #: The exit code where none is given.
    default_exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.exit_code = self.default_exit_code if exit_code is None else exit_code

    def __str__(self) -> str:
        """The message, after the place it is about."""
        return self.message if self.where is None else f"{self.where}: {self.message}"

    @property
    def code(self) -> str:
        """The kind of error, from the name of its class: a program distinguishes errors by it.

        >>> from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
        >>> UsageError("no").code, UnhealthyBootError("no").code, FirstlightError("no").code
        ('usage', 'unhealthy_boot', 'firstlight')
        """
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__.removesuffix("Error")).lower()

    def report(self) -> str:
        """The lines that the command line prints on standard error."""
        lines = [f"error: {self}"]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class UsageError(FirstlightError):
    """The command was used wrongly: an option that cannot be, or two that exclude each other."""

    default_exit_code = 2


class BundleError(FirstlightError):
    """A directory that is not a bundle, a damaged one, or one of a newer schema."""


class LabError(FirstlightError):
    """What boots could not be made or run: kernel, image, QEMU, disk space."""


class UnhealthyBootError(FirstlightError):
    """The boot was recorded, but it did not come up."""

    default_exit_code = 4


def is_full(error: BaseException) -> bool:
    """Whether an error says that a disk is full. The engine's errors, and the plugin's, have a text and no number."""
    full = (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "errno", None) in full or any(os.strerror(number) in str(error) for number in full)


#: The extra of the package that installs a module.
_EXTRAS = {
    "cryptography": "farm",
    "distributed": "dask",
    "duckdb": "history",
    "fsspec": "farm",
    "ibis": "fleet",
    "labgrid": "boards",
    "numpy": "statistics",
    "paramiko": "farm",
    "pydoe": "experiments",
    "scipy": "statistics",
    "starlette": "ui",
    "uvicorn": "ui",
}


def missing_extra(error: ModuleNotFoundError) -> FirstlightError | None:
    """The error to report where a package of an extra is not installed; none for any other module.

    >>> print(missing_extra(ModuleNotFoundError(name="scipy.stats")).report())
    error: `scipy` is needed for this, and not installed
    hint: `pip install "firstlight[statistics]"`
    """
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return None
    hint = f'`pip install "firstlight[{_EXTRAS[package]}]"`'
    return FirstlightError(f"`{package}` is needed for this, and not installed", hint=hint)
