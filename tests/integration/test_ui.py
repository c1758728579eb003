"""`firstlight ui` through HTTP: what it shows, and what it refuses."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import duckdb
import pytest

import firstlight
from bundles import HOSTILE, make_bundle, make_recorded
from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, UsageError
from firstlight.farm.packing import pack
from firstlight.farm.results import packed_name
from firstlight.farm.store import open_store
from firstlight.history.open_history import open_history
from firstlight.ui.fence import NOTHING, Access
from firstlight.ui.folder import Folder
from firstlight.ui.query import run_query
from firstlight.ui.serve import running, serve
from firstlight.ui.summary import Summaries
from hostile import CONTENTS, make_canaries, make_hostile
from imported_bundle import make_imported
from observer import observed
from ui_folder import Client, data_of, make_folder, make_hostile_folder, write_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("ui"))


@pytest.fixture(scope="module")
def client(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        with running(folder) as access:
            yield Client(access)


class TestPages:
    def test_the_list_has_everything_of_the_folder(self, client: Client) -> None:
        page = client.get("/").text
        assert {"a.boot", "log.boot", "v0.boot", "1.boot"} <= set(client.links("/boots/"))
        for place, name in (("histories", "boots.duckdb"), ("experiments", "arms"), ("studies", "study"),
                            ("fleets", "fleet")):  # fmt: skip
            assert name in client.links(f"/{place}/"), page

    def test_filter_and_order(self, client: Client) -> None:
        def names(query: str) -> list[str]:
            return [name for name in client.links("/boots/", f"/?{query}") if name != "SQL"]

        assert names("filter=mode:imported") == ["log.boot"]
        assert names("filter=mode:imported+-log") == []
        assert names("filter=time%3E2s") == ["log.boot"]
        assert names("filter=folder:more") == ["log.boot"]
        assert names("filter=name~v&sort=-time")[:2] == ["v3.boot", "v2.boot"]
        assert names("filter=name~v&sort=name") == ["v0.boot", "v1.boot", "v2.boot", "v3.boot"]
        assert names("filter=name~v&sort=-name") == ["v3.boot", "v2.boot", "v1.boot", "v0.boot"]
        assert "is not a filter term" in client.get("/?filter=size%3E3").text

    def test_a_boot_is_its_report_page(self, client: Client, folder: Path) -> None:
        page = client.get(client.boot("a.boot")).text
        written = firstlight.page(folder / "a.boot")
        assert data_of(page) == data_of(written)
        assert '<nav class="folder"' in page
        again = client.get(client.boot("a.boot")).text
        assert again == page

    def test_two_boots_are_compared_at_a_chosen_mark(self, client: Client) -> None:
        a, b = (client.boot(name).rpartition("/")[2] for name in ("v0.boot", "v3.boot"))
        choice = client.get(f"/compare?boot={a}&boot={b}").text
        assert "B minus A: +3.000 ms" in choice
        assert '<option value="user_start">' in choice
        assert f"/compare?boot={b}&amp;boot={a}" in choice
        data = data_of(client.get(f"/compare/report?a={a}&b={b}&align=user_start").text)
        assert [side["name"] for side in data["timelines"]] == ["v0.boot", "v3.boot"]
        assert data["align"] == "user_start"
        assert client.get(f"/compare/report?a={a}&b={b}&align=nothing").status == 422
        assert client.get(f"/compare?boot={a}").status == 400
        assert client.get("/compare").status == 400

    def test_a_history_shows_its_series_and_regressions(self, client: Client) -> None:
        (address,) = client.links("/histories/").values()
        page = client.get(address).text
        assert "v2" in page
        assert "phase initcalls_device" in page
        assert "initcalls_device" in client.get(f"{address}?kind=phase&name=initcalls_device").text
        assert client.get(f"{address}?kind=phase&name=nothing").status == 422

    def test_experiment_study_and_fleet(self, client: Client) -> None:
        (experiment,) = client.links("/experiments/").values()
        assert [cell["name"] for cell in data_of(client.get(experiment).text)["results"]["cells"]] == ["A", "B"]
        (study,) = client.links("/studies/").values()
        page = client.get(study).text
        assert data_of(page)["study"] == "root-filesystems"
        assert "a page of the folder" not in page
        (fleet,) = client.links("/fleets/").values()
        assert "5 boots" in client.get(fleet).text
        assert client.get(f"{fleet}?where=nonsense").status == 422

    def test_what_is_gone_is_not_found(self, client: Client, folder: Path) -> None:
        shutil.copytree(folder / "a.boot", folder / "short.boot")
        address = client.boot("short.boot")
        shutil.rmtree(folder / "short.boot")
        assert client.get(address).status == 404

    def test_a_page_that_cannot_be_made_says_so_and_the_server_goes_on(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError("a fault")

        monkeypatch.setattr("firstlight.ui.app.listing_page", fail)
        assert client.get("/").status == 500
        assert "ZeroDivisionError" in client.get("/").text
        monkeypatch.undo()
        assert client.get("/").status == 200


class TestQueries:
    def test_the_result_equals_the_table(self, client: Client, folder: Path) -> None:
        found = run_query(folder / "a.boot", "SELECT mark, time_ns FROM marks ORDER BY time_ns")
        assert list(found.rows) == firstlight.open(folder / "a.boot").marks().select("mark", "time_ns").rows()
        page = client.get(f"{client.boot('a.boot')}/query?sql={quote('SELECT count(*) AS marks FROM marks')}").text
        assert '<td class="number">17</td>' in page

    def test_analyses_are_tables(self, folder: Path) -> None:
        boot = firstlight.open(folder / "a.boot")
        found = run_query(folder / "a.boot", "select phase, duration_ns from phases")
        assert list(found.rows) == boot.phases().select("phase", "duration_ns").rows()
        assert run_query(folder / "a.boot", "select sum(self_ns) from functions").rows == ((829882107,),)
        names = run_query(folder / "a.boot", "select function from initcalls order by all")
        assert [row[0] for row in names.rows] == sorted(boot.initcalls()["function"].to_list())

    def test_csv(self, client: Client) -> None:
        sql = quote("SELECT '=1+1' AS a, 'ä' AS b, NULL AS c")
        answer = client.get(f"{client.boot('a.boot')}/query.csv?sql={sql}")
        assert answer.text == "a,b,c\r\n'=1+1,ä,\r\n"
        assert answer.headers["content-disposition"].startswith("attachment")

    def test_the_rows_are_limited(self, folder: Path) -> None:
        found = run_query(folder / "a.boot", "SELECT * FROM range(100000000)", rows=7)
        assert (len(found.rows), found.more) == (7, True)
        assert not run_query(folder / "a.boot", "SELECT 1", rows=7).more

    @pytest.mark.parametrize(
        "sql",
        ["SELECT count(*) FROM range(1000000000000)", "SELECT repeat('x', 2000000000)",
         "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"],
        ids=["rows", "one-value", "recursion"],
    )  # fmt: skip
    def test_time_and_memory_are_limited(self, folder: Path, sql: str) -> None:
        with pytest.raises(FirstlightError, match=r"took longer|too much memory|Out of Memory"):
            run_query(folder / "a.boot", sql, seconds=4)

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM read_csv('{0}/secret')", "SELECT * FROM '{0}/facts.parquet'",
            "SELECT content FROM read_text('{0}/secret')", "SELECT * FROM glob('{0}/*')",
            "SELECT * FROM parquet_metadata('{0}/facts.parquet')", "SELECT * FROM read_duckdb('{0}/facts.parquet')",
            "SELECT * FROM query('COPY (SELECT 1) TO ''{0}/new''')", "COPY marks TO '{0}/new'", "ATTACH '{0}/new'",
            "EXPORT DATABASE '{0}/folder'", "IMPORT DATABASE '{0}/folder'", "INSTALL httpfs", "LOAD httpfs",
            "SELECT * FROM read_csv('http://127.0.0.1:1/x')", "SET enable_external_access = true",
            "RESET lock_configuration", "PRAGMA enable_profiling", "CALL enable_logging(storage_path = '{0}/new')",
            "SELECT * FROM enable_logging(storage = 'file', storage_path = '{0}/new')",
            "SELECT * FROM enable_profiling(save_location = '{0}/new')", "CREATE SECRET (TYPE http)",
            "CREATE TABLE t AS SELECT 1", "DELETE FROM marks", "DROP VIEW marks", "SELECT 1; SELECT 2", "",
            "SELECT * FROM job", "SELECT * FROM frame", "SELECT * FROM duckdb_secrets()", "SELECT getenv('HOME')",
            "PREPARE x AS SELECT 1", "VACUUM", "CHECKPOINT", "SELECT * FROM json_execute_serialized_sql('x')",
        ],
    )  # fmt: skip
    def test_nothing_but_the_tables_is_reached(self, folder: Path, tmp_path: Path, sql: str) -> None:
        canaries = tmp_path / "canaries"
        make_canaries(canaries)
        with observed([folder, tmp_path], canaries, [sys.executable]) as seen, pytest.raises(FirstlightError):
            run_query(folder / "a.boot", sql.replace("{0}", str(canaries)))
        assert seen.touched == []
        assert seen.executed == []

    def test_no_module_is_taken_from_where_the_server_was_started(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("duckdb", "polars", "firstlight", "json"):
            (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        monkeypatch.chdir(tmp_path)
        assert run_query(folder / "a.boot", "SELECT 1").rows == ((1,),)
        assert not (tmp_path / "ran").exists()

    def test_values_of_every_kind(self, folder: Path) -> None:
        sql = """SELECT 1 AS a, 2 AS a, 'NaN'::DOUBLE, 9007199254740993, true, NULL, 'a'::BLOB, [1, 2], {'x': 1},
                 repeat('y', 3000), DATE '2026-01-01'"""
        (row,) = run_query(folder / "a.boot", sql).rows
        assert row[:5] == (1, 2, "nan", "9007199254740993", True)
        assert row[5:9] == (None, "a", "[1, 2]", "{'x': 1}")
        assert row[9] == "y" * 2_000 + "…"
        assert row[10] == "2026-01-01"


class TestFence:
    def test_without_the_token_nothing_is_shown(self, client: Client) -> None:
        for target in ("/", client.boot("a.boot"), f"{client.boot('a.boot')}/query?sql=SELECT+1", "/nothing"):
            answer = client.get(target, token=False)
            assert answer.status == 401
            assert "a.boot" not in answer.text
        for wrong in ("", "x", client.access.token[:-1], client.access.token + "x", "é"):
            assert client.get("/", {"Cookie": f"{client.access.cookie}={wrong}".encode().decode("latin-1")},
                              token=False).status == 401  # fmt: skip

    def test_the_token_is_handed_over_once_and_becomes_a_cookie(self, client: Client) -> None:
        answer = client.get(f"/enter?token={client.access.token}", token=False)
        assert answer.status == 200
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
        assert client.access.token not in answer.text
        posted = client.get("/enter", method="POST", body=f"token={client.access.token}", token=False)
        assert posted.status == 200
        for body in ("token=wrong", "token=", "x", "token=" + "a" * 10_000):
            refused = client.get("/enter", method="POST", body=body, token=False)
            assert refused.status in (401, 413)
            assert "set-cookie" not in refused.headers

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example", "",
         "localhost", "[::1]:{port}", "127.0.0.1:{port}\0evil.example", "2130706433:{port}", "127.1:{port}",
         "evil@127.0.0.1:{port}", "LOCALHOST.evil:{port}"],
    )  # fmt: skip
    def test_only_its_own_host(self, client: Client, host: str) -> None:
        answer = client.get("/", {"Host": host.format(port=client.access.port)})
        assert answer.status in (400, 421)
        assert "a.boot" not in answer.text
        entered = client.get(f"/enter?token={client.access.token}", {"Host": host.format(port=client.access.port)})
        assert entered.status in (400, 421)
        assert "set-cookie" not in entered.headers

    def test_localhost_is_its_own_host(self, client: Client) -> None:
        assert client.get("/", {"Host": f"localhost:{client.access.port}"}).status == 200

    @pytest.mark.parametrize(
        "headers",
        [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
         {"Origin": "https://127.0.0.1:{port}"}, {"Origin": "http://127.0.0.1:{port}\0http://evil.example"},
         {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none\0cross-site"},
         {"Sec-Fetch-Site": "nonsense"}],
    )  # fmt: skip
    def test_other_origins_are_refused(self, client: Client, headers: dict[str, str]) -> None:
        sent = {name: value.format(port=client.access.port) for name, value in headers.items()}
        answer = client.get("/", sent)
        assert answer.status == 403
        assert "a.boot" not in answer.text
        if "Origin" in headers:
            entered = client.get("/enter", sent, method="POST", body=f"token={client.access.token}", token=False)
            assert entered.status == 403
            assert "set-cookie" not in entered.headers

    @pytest.mark.parametrize("headers", [{"Origin": "http://127.0.0.1:{port}"}, {"Sec-Fetch-Site": "none"}])
    def test_its_own_origin_and_the_address_bar_are_let_in(self, client: Client, headers: dict[str, str]) -> None:
        sent = {name: value.format(port=client.access.port) for name, value in headers.items()}
        assert client.get("/", sent).status == 200

    @pytest.mark.parametrize(
        "path",
        ["/../../etc/passwd", "/boots/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc/passwd",
         "/boots/%00", "/boots/..", "//etc/passwd", "/\\etc\\passwd", "/boots/..%5c..%5cetc",
         "/%c0%ae%c0%ae/etc/passwd", "/%252e%252e/etc/passwd", "/boots/a.boot", "/a.boot/manifest.json",
         "/boots/./x", "/;/etc/passwd", "/boots/",
         "/.git/config", "/boots/\u2215etc", "/study/study.html",
         "/boots/" + "a" * 5_000, "http://evil.example/etc/passwd",
         "/a/b/c/d/e/f", "/favicon.ico", "*", "/studies/../studies", "/boots/x/query.html"],
    )  # fmt: skip
    def test_odd_paths_lead_nowhere(self, client: Client, path: str) -> None:
        answer = client.get(path.encode().decode("latin-1"))
        assert answer.status in (400, 404, 431)
        assert "root:x" not in answer.text
        assert "schema_version" not in answer.text

    def test_methods_that_change_are_refused(self, client: Client) -> None:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            assert client.get("/", method=method).status == 405
        assert client.get("/", method="HEAD").text == ""
        for name in ("access-control-allow-origin", "access-control-allow-credentials"):
            assert name not in client.get("/", {"Origin": f"http://127.0.0.1:{client.access.port}"}).headers

    def test_every_page_has_a_policy_and_is_not_framed_or_stored(self, client: Client) -> None:
        pages = ["/", "/compare", "/nothing", client.boot("a.boot"), f"{client.boot('a.boot')}/query?sql=SELECT+1"]
        pages += [each for place in ("histories", "experiments", "studies", "fleets")
                  for each in client.links(f"/{place}/").values()]  # fmt: skip
        answers = [client.get(page) for page in pages]
        answers += [client.get("/", token=False), client.get("/", {"Host": "evil"}), client.get("/..")]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "base-uri 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert "server" not in answer.headers
        assert (
            client.get(f"{client.boot('a.boot')}/query.csv?sql=SELECT+1").headers["content-security-policy"] == NOTHING
        )

    def test_it_listens_on_loopback_alone(self, client: Client) -> None:
        listening = Path("/proc/net/tcp").read_text().splitlines()[1:]
        port = f":{client.access.port:04X}"
        places = [line.split()[1] for line in listening if line.split()[1].endswith(port) and line.split()[3] == "0A"]
        assert places == [f"0100007F{port}"]
        assert not any(port in line and " 0A " in line for line in Path("/proc/net/tcp6").read_text().splitlines())

    def test_garbage_does_not_end_the_server(self, client: Client) -> None:
        for sent in (b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 200_000, b"GET / HTTP/9.9\r\n\r\n",
                     b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n"):  # fmt: skip
            answer = b""
            # A server that refuses early may close before the rest of the request is sent or its answer is read.
            with (
                socket.create_connection(("127.0.0.1", client.access.port), timeout=10) as peer,
                contextlib.suppress(OSError),
            ):
                peer.sendall(sent)
                peer.shutdown(socket.SHUT_WR)
                answer = peer.recv(100)
            assert b" 200 " not in answer
        assert client.get("/").status == 200


class TestHostileFolders:
    @pytest.fixture
    def outside(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        outside = tmp_path / "outside"
        outside.mkdir()
        make_bundle(outside, name="secret.boot")
        write_study(outside / "study")
        shutil.copy(make_history(tmp_path / "private.duckdb"), outside / "private.duckdb")
        return outside

    def test_links_out_of_the_folder_are_not_followed(self, tmp_path: Path, outside: Path) -> None:
        folder = tmp_path / "folder"
        make_bundle(folder / "in", name="in.boot")
        for name in ("secret.boot", "study", "private.duckdb"):
            (folder / name).symlink_to(outside / name)
        (folder / "all").symlink_to(outside)
        (folder / "up").symlink_to("..")
        with running(folder) as access:
            client = Client(access)
            assert client.links("/boots/") == {
                "in.boot": client.boot("in.boot"),
                "SQL": f"{client.boot('in.boot')}/query",
            }
            assert client.links("/studies/") == client.links("/histories/") == {}

    def test_what_becomes_a_link_later_is_not_followed(self, tmp_path: Path, outside: Path) -> None:
        folder = tmp_path / "folder"
        make_bundle(folder / "in", name="in.boot")
        shutil.copytree(outside / "study", folder / "study")
        with running(folder) as access:
            client = Client(access)
            boot, study = client.boot("in.boot"), client.links("/studies/")["study"]
            shutil.rmtree(folder / "in")
            shutil.rmtree(folder / "study")
            (outside / "secret.boot").rename(outside / "in.boot")
            (folder / "in").symlink_to(outside)
            (folder / "study").symlink_to(outside / "study")
            for target in (boot, f"{boot}/query?sql=SELECT+1", study):
                assert client.get(target).status == 404

    def test_links_in_experiments_and_fleets_are_refused(self, tmp_path: Path, outside: Path) -> None:
        folder = make_folder(tmp_path)
        bundle = next(iter((folder / "arms").glob("*/1.boot")))
        shutil.rmtree(bundle)
        bundle.symlink_to(outside / "secret.boot")
        spans = next((folder / "fleet").rglob("*.parquet"))
        shutil.move(spans, outside / "spans.parquet")
        spans.symlink_to(outside / "spans.parquet")
        with running(folder) as access:
            client = Client(access)
            for place in ("experiments", "fleets"):
                (address,) = client.links(f"/{place}/").values()
                answer = client.get(address)
                assert answer.status == 422
                assert "symbolic link" in answer.text

    @pytest.mark.parametrize("kind", sorted(CONTENTS))
    def test_hostile_bundles_reach_nothing_outside(
        self, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        folder = tmp_path / "work"
        folder.mkdir()
        make_recorded(make_bundle(folder, name="good.boot"))
        canaries = tmp_path / "canaries"
        make_canaries(canaries)
        bad = make_hostile(kind, folder, canaries).rename(folder / "bad.boot")
        with running(folder) as access, observed([folder, tmp_path / "cache"], canaries, [sys.executable]) as seen:
            client = Client(access)
            assert client.get("/").status == 200
            addresses = client.links("/boots/")
            good = addresses["good.boot"].rpartition("/")[2]
            if "bad.boot" in addresses:
                own = addresses["bad.boot"].rpartition("/")[2]
                for target in (f"/boots/{own}", f"/boots/{own}/query?sql=SELECT+*+FROM+facts,+marks,+spans,+calls",
                               f"/compare?boot={good}&boot={own}", f"/compare/report?a={good}&b={own}"):  # fmt: skip
                    answer = client.get(target)
                    assert answer.status in (200, 422), target
                    assert "a secret" not in answer.text
        # The server itself accepts connections of this process.
        assert [each for each in seen.touched if not each.startswith("socket.connect (('127.0.0.1'")] == []
        assert seen.executed == []
        assert bad.exists()

    def test_hostile_names_are_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        folder = make_hostile_folder(tmp_path)
        with running(folder) as access:
            client = Client(access)
            page = client.get("/").text
            for sign in ("<img", "<script", "\x1b", "\u202e"):
                assert sign not in page
            for address in [*client.links("/boots/").values(), *client.links("/studies/").values()]:
                text = client.get(address).text
                assert "<img src=x" not in text
                assert "alert(" not in text
            for term in HOSTILE:
                text = client.get(f"/?filter={quote(term[:400])}&sort={quote(term[:50])}").text
                assert "<img src=x" not in text
                assert "<script" not in text
            sql = quote(f"SELECT '{HOSTILE[0]}' AS \"{HOSTILE[1]}\"")
            text = client.get(f"{next(iter(client.links('/boots/').values()))}/query?sql={sql}").text
            assert "&lt;img src=x" in text
            assert "<img" not in text
            assert "<script" not in text

    def test_views_of_a_history_reach_no_other_file(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("a secret")
        file = make_history(tmp_path / "h.duckdb", f"SELECT content FROM read_text('{secret}')")
        with pytest.raises(FirstlightError, match="disabled by configuration"), open_history(file) as history:
            history.names("total")


def make_history(path: Path, names: str = "SELECT 'total'") -> Path:
    """A history whose measures are a view."""
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE about (format VARCHAR)")
    connection.execute("INSERT INTO about VALUES ('firstlight history 1')")
    connection.execute(
        f"CREATE VIEW measures AS SELECT 1 AS number, 'total' AS kind, ({names}) AS name, 5::BIGINT AS ns"
    )
    columns = "label boot mode testbed manifest_sha256 inputs recorded_at added_at missing recipe_key".split()
    listed = ", ".join(f"{name} VARCHAR" for name in columns)
    connection.execute(f"CREATE TABLE boots (number INTEGER, {listed})")
    connection.close()
    return path


class TestCommand:
    def test_it_prints_its_address_and_ends_at_an_interrupt(self, folder: Path) -> None:
        command = [sys.executable, "-m", "firstlight", "ui", str(folder), "--no-browser", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        assert "Traceback" not in said
        assert process.returncode in (0, 130)

    def test_the_browser_gets_a_file_that_only_its_user_can_read(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[tuple[str, int, str]] = []

        def look(address: str) -> bool:
            path = Path(address.removeprefix("file://"))
            modes = path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777
            opened.append((path.read_text(), modes[0] | modes[1] & 0o077, address))
            os.kill(os.getpid(), signal.SIGINT)
            return True

        monkeypatch.setattr("webbrowser.open", look)
        kept = []
        with pytest.raises(KeyboardInterrupt):
            serve(folder, 0, ready=lambda access: kept.append(access))
        ((text, mode, address),) = opened
        assert kept[0].token in text
        assert kept[0].token not in address
        assert mode & 0o077 == 0
        assert not Path(address.removeprefix("file://")).exists()

    def test_a_port_that_is_taken(self, folder: Path) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            with pytest.raises(FirstlightError, match="is taken"):
                serve(folder, other.getsockname()[1], browser=False)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no such directory"):
            serve(tmp_path / "nothing", browser=False)
        make_imported(tmp_path, name="a.boot")
        with pytest.raises(UsageError, match="not a directory"):
            serve(tmp_path / "a.boot" / "manifest.json", browser=False)

    def test_a_bundle_is_a_folder_of_one(self, tmp_path: Path) -> None:
        with running(make_bundle(tmp_path)) as access:
            assert "a.boot" in Client(access).links("/boots/")


def test_the_boots_of_a_farms_store_are_shown_and_nothing_of_them_is_left(tmp_path: Path) -> None:
    store = open_store(tmp_path / "farm", make=True)
    good, other = "ab" * 32, "cd" * 32
    packed = tmp_path / "packed.tar"
    pack(make_bundle(tmp_path, name="made.boot"), packed)
    digest = file_digest(packed)
    store.put("results", packed_name(good, digest), lambda made: shutil.copyfile(packed, made))
    store.put_text("results", f"{good}.json", {"key": good, "worker": "w", "packed": digest})
    store.put_text("results", f"{other}.json", {"key": other, "worker": "w", "packed": digest})
    (temporary := tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "firstlight", "ui", f"store://{tmp_path / 'farm'}", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(tmp_path / "cache")},
    ) as server:  # fmt: skip
        assert server.stdout is not None
        assert server.stderr is not None
        address = urlsplit(server.stdout.readline().strip())
        assert address.port is not None
        client = Client(Access(address.port, address.query.removeprefix("token=")))
        assert client.links("/boots/").keys() == {good[:12] + ".boot", "SQL"}
        assert len(list(temporary.iterdir())) == 1
        server.terminate()
        said = server.stderr.read()
    assert f"{other}.json: its bundle is missing" in said.replace("\n", "")
    assert list(temporary.iterdir()) == []


def test_a_boot_that_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    manifest = make_bundle(tmp_path) / "manifest.json"
    times, sound = manifest.stat(), manifest.read_bytes()
    (entry,) = Folder(tmp_path).entries()
    summaries = Summaries()
    for content, opens in ((sound[:-3] + b"x" * 3, False), (sound, True)):
        # An archive that is unpacked over it restores time and size as well.
        manifest.write_bytes(content)
        os.utime(manifest, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert (summaries.of(entry).problem is None) is opens


def test_an_imported_boot_has_the_kernel_of_its_records(tmp_path: Path) -> None:
    log = tmp_path / "dmesg.txt"
    log.write_text("[    0.000000] Linux version 6.9.3-test (a@b)\n[    1.500000] Run /init as init process\n")
    (tmp_path / "folder").mkdir()
    firstlight.import_(log, output=tmp_path / "folder/a.boot")
    (entry,) = Folder(tmp_path / "folder").entries()
    assert Summaries().of(entry).kernel == "6.9.3-test"
