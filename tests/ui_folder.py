"""A folder for `firstlight ui` with something of each sort in it, and raw requests to its server."""

from __future__ import annotations

import http.client
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundles import HOSTILE, make_bundle
from experiments import make_experiment
from firstlight.api.automate import add_to_history
from firstlight.render.study_json import outcome_data
from firstlight.ui.fence import Access
from gate_boots import slower
from imported_bundle import make_imported
from invented_fleet import Group, make_fleet
from invented_study import invented_outcome

_PLAN = """mode = "exact"
[[arm]]
name = "A"
[[arm]]
name = "B"
append = "quiet"
"""


def make_folder(directory: Path) -> Path:
    """A folder with boots at two depths, a history, an experiment, a study and a fleet; below *directory*."""
    folder = directory / "boots"
    (folder / "more").mkdir(parents=True)
    make_bundle(folder)
    make_imported(folder / "more", name="log.boot")
    for number, by in enumerate((0, 0, 3_000_000, 3_000_000)):
        slower(folder, f"v{number}.boot", "initcalls_device", by)
        add_to_history(folder / "boots.duckdb", [folder / f"v{number}.boot"], at=f"v{number}")
    lengths: dict[str, int | None] = {"A": 829_882_107, "B": 835_882_108}
    made = make_experiment(directory, _PLAN, lambda levels, name, repeat: lengths[name], name="arms")
    made.rename(folder / "arms")
    write_study(folder / "study")
    make_fleet(folder / "fleet", [Group({"model": "A", "kernel": "6.6"}, 5, {})])
    return folder


def write_study(folder: Path, name: str = "cramfs") -> Path:
    """The folder of a finished study; the page in it is not one of ours."""
    folder.mkdir()
    (folder / "study.json").write_text(json.dumps(outcome_data(invented_outcome(name))))
    (folder / "study.html").write_text("<script>alert('a page of the folder')</script>")
    return folder


def make_hostile_folder(directory: Path) -> Path:
    """A folder in which names and contents attack the browser."""
    folder = directory / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    for number, name in enumerate(HOSTILE[:6]):
        plain = name.replace("/", "∕").replace("\x00", "")
        make_imported(folder, name=f"{plain}{number}.boot", hostile=True)
    bad = folder / "broken.boot"
    bad.mkdir()
    (bad / "manifest.json").write_text(json.dumps({"schema_version": 4, "<script>alert(3)</script>": 1}))
    write_study(folder / '"><script>alert(4)', HOSTILE[0])
    return folder


@dataclass
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Client:
    """A client that sends what it is given, unchanged."""

    access: Access

    def get(self, target: str, headers: dict[str, str] | None = None, *, method: str = "GET", body: str = "",
            token: bool = True) -> Answer:  # fmt: skip
        """Sends one request.

        :param target: as it stands in the request line.
        :param headers: in place of `Host` and the cookie, or more.
        :param token: whether the cookie goes along.
        """
        sent = {"Host": f"127.0.0.1:{self.access.port}"}
        if token:
            sent["Cookie"] = f"{self.access.cookie}={self.access.token}"
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=60)
        # The paths of these tests are not paths: what the client would reject is what the server has to.
        connection._validate_path = lambda path: None  # type: ignore[attr-defined]
        connection._encode_request = lambda line: line.encode("latin-1")  # type: ignore[attr-defined]
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            for each in value.split("\0"):
                connection.putheader(name, each)
        if body:
            connection.putheader("Content-Length", str(len(body)))
            connection.putheader("Content-Type", "application/x-www-form-urlencoded")
        connection.endheaders(body.encode() or None)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return Answer(answer.status, found, text)

    def links(self, place: str, page: str = "/") -> dict[str, str]:
        """The addresses of a page that begin with a place, by their texts."""
        pattern = rf'<a[^>]* href="({re.escape(place)}[^"]*)"[^>]*>([^<]*)</a>'
        return {name: address for address, name in re.findall(pattern, self.get(page).text)}

    def boot(self, name: str) -> str:
        """The address of a boot."""
        return self.links("/boots/")[name]


def data_of(page: str) -> Any:
    """What a report page carries."""
    from firstlight.render.page.html import unpacked

    text = page.split('id="firstlight-data">', 1)[1].split("<", 1)[0]
    return json.loads(unpacked(text))
