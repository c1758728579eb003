"""An object store, by fsspec: S3 and what speaks its language, Google Cloud Storage, Azure Blob Storage.

An upload is one step for every reader: an object is there when it is complete. The store itself is asked to put an
object only where none is (`If-None-Match: *`, or the generation 0), which fsspec calls `mode="create"`. Credentials
come from where the library of each store looks for them, as its own tools do; none is in a location.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firstlight.errors import UsageError
from firstlight.farm.places.clock import PlaceClock
from firstlight.farm.places.place import Fill, filled

#: The package that speaks with each kind of store.
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "memory": "fsspec"}
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "created")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "already exists")
"""What libraries say of an object that is there, where they raise no `FileExistsError`."""


class Objects:
    """See :class:`firstlight.farm.places.place.Place`."""

    poll_s = 1.0

    def __init__(self, scheme: str, path: str) -> None:
        import fsspec

        try:
            self._files: Any = fsspec.filesystem(scheme, use_listings_cache=False)
        except ImportError as error:
            hint = f"`pip install {PACKAGES[scheme]}`"
            raise UsageError(f"a store at `{scheme}://` needs a package", where=path, hint=hint) from error
        self._root = path.rstrip("/")
        self.where = f"{scheme}://{self._root}"
        self._clock = PlaceClock(self._ask_clock)

    def make(self, folders: list[str]) -> None:
        """Nothing: an object store has no folders. Its bucket has to be there."""

    def is_empty(self) -> bool:
        """Whether no object is there."""
        with _as_os_errors():
            try:
                return not self._files.ls(self._root, detail=False, refresh=True)
            except FileNotFoundError:
                return True

    def is_there(self) -> bool:
        """Whether the store can be reached."""
        try:
            self.names("")
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def put(self, name: str, fill: Fill) -> bool:
        """Put an object by a conditional upload."""
        if self.has(name):
            return False
        with filled(fill) as made:
            try:
                with _as_os_errors():
                    # In memory `put_file` has no mode.
                    if "memory" in self._files.protocol:
                        self._files.pipe_file(self._of(name), made.read_bytes(), mode="create")
                    else:
                        self._files.put_file(str(made), self._of(name), mode="create")
            except FileExistsError:
                return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Upload an object."""
        with _as_os_errors():
            self._files.pipe_file(self._of(name), content)

    def read(self, name: str, most: int) -> bytes:
        """The first bytes of an object."""
        with _as_os_errors():
            found: bytes = self._files.cat_file(self._of(name))
        return found[:most]

    def fetch(self, name: str, target: Path) -> None:
        """Download an object."""
        with _as_os_errors():
            self._files.get_file(self._of(name), str(target))

    def has(self, name: str) -> bool:
        """Whether an object is there."""
        with _as_os_errors():
            try:
                self._files.info(self._of(name), refresh=True)
            except FileNotFoundError:
                return False
        return True

    def names(self, folder: str) -> list[str]:
        """The names of the objects below a prefix."""
        with _as_os_errors():
            try:
                found = self._files.ls(self._of(folder).rstrip("/"), detail=False, refresh=True)
            except FileNotFoundError:
                return []
        return [str(each).rstrip("/").rpartition("/")[2] for each in found]

    def remove(self, name: str) -> None:
        """Remove an object."""
        with _as_os_errors():
            self._files.rm_file(self._of(name))

    def age_s(self, name: str) -> float:
        """The difference of two times that the store itself gave."""
        return max(0.0, self._clock.now_s() - self._written(name))

    def _of(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _written(self, name: str) -> float:
        with _as_os_errors():
            about = self._files.info(self._of(name), refresh=True)
        found = next((about[each] for each in _TIMES if about.get(each) is not None), None)
        if isinstance(found, str):
            found = datetime.fromisoformat(found)
        if isinstance(found, datetime):
            return found.replace(tzinfo=found.tzinfo or UTC).timestamp()
        if not isinstance(found, int | float):
            raise OSError(f"the store does not report when `{name}` was written")
        return float(found)

    def _ask_clock(self) -> float:
        name = f"clock/{uuid.uuid4().hex}"
        self.replace(name, b"")
        try:
            return self._written(name)
        finally:
            self.remove(name)


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Turn the errors of the libraries into `OSError`. Their texts have no credentials, and are cut short."""
    try:
        yield
    except OSError as error:
        if any(each in str(error) for each in _TAKEN):
            raise FileExistsError(17, "an object is there") from error
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no answer'}"
        if any(each in text for each in _TAKEN):
            raise FileExistsError(17, "an object is there") from error
        raise OSError(5, text[:300]) from error
