"""`firstlight ui` in Chromium: by keyboard alone, on a phone, in the dark, and against pages of other sites."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Response

from firstlight.ui.fence import Access
from firstlight.ui.serve import running
from ui_folder import Client, make_folder, make_hostile_folder

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


@dataclass
class Shown:
    """An open browser page, and what went wrong in it."""

    page: Page
    access: Access
    wrong: list[str] = field(default_factory=list)

    def open(self, place: str) -> None:
        """Opens an address of the server."""
        self.page.goto(f"http://127.0.0.1:{self.access.port}{place}")

    def press(self, keys: str, times: int = 1) -> None:
        """Presses keys."""
        for _ in range(times):
            self.page.keyboard.press(keys)

    def tab_to(self, name: str, most: int = 60) -> None:
        """Presses Tab until the element of an accessible name has the focus."""
        script = """() => { const e = document.activeElement;
            return e.getAttribute('aria-label') || (e.labels && e.labels[0]?.textContent) || e.textContent; }"""
        for _ in range(most):
            self.press("Tab")
            if self.page.evaluate(script).strip() == name:
                return
        raise AssertionError(f"Tab does not reach {name}")


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with running(make_folder(tmp_path_factory.mktemp("ui"))) as access:
            yield access


@contextmanager
def shown(browser: Browser, access: Access, *, width: int = 1300, dark: bool = False) -> Iterator[Shown]:
    """A page that has entered; in the end nothing may have gone wrong in it, and nothing loaded from elsewhere."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    opened = Shown(context.new_page(), access)
    watch(context, opened)
    opened.page.goto(access.address)
    opened.page.wait_for_url(f"http://127.0.0.1:{access.port}/")
    yield opened
    assert opened.wrong == []
    context.close()


def watch(context: BrowserContext, opened: Shown) -> None:
    """Notes what a page must not do."""

    def dismiss(dialog: Dialog) -> None:
        opened.wrong.append(dialog.message)
        dialog.dismiss()

    def answered(response: Response) -> None:
        if not response.url.startswith(f"http://127.0.0.1:{opened.access.port}/"):
            opened.wrong.append(response.url)

    context.on("dialog", dismiss)
    context.on("console", lambda message: opened.wrong.append(message.text))
    context.on("response", answered)
    opened.page.on("pageerror", lambda error: opened.wrong.append(str(error)))


def test_the_first_address_leads_to_the_list_and_leaves_no_token(browser: Browser, access: Access) -> None:
    with shown(browser, access) as opened:
        assert opened.page.title() == "boots – Firstlight"
        assert access.token not in opened.page.url
        assert opened.page.evaluate("document.cookie") == ""
        opened.page.reload()
        assert opened.page.get_by_role("link", name="a.boot", exact=True).is_visible()


def test_a_file_opens_it_as_the_command_does(browser: Browser, access: Access, tmp_path: Path) -> None:
    file = tmp_path / "open.html"
    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={access.address}">')
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_url(f"http://127.0.0.1:{access.port}/")
    page.get_by_role("link", name="a.boot", exact=True).wait_for()
    context.close()


def test_without_the_token_it_asks_for_it(browser: Browser, access: Access) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{access.port}/")
    assert page.title() == "Token needed – Firstlight"
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Enter").click()
    assert "not the token" in page.get_by_role("alert").inner_text()
    page.get_by_label("Token").fill(access.token)
    page.get_by_role("button", name="Enter").click()
    page.get_by_role("link", name="a.boot", exact=True).wait_for()
    context.close()


def test_everything_is_done_with_the_keyboard_alone(browser: Browser, access: Access) -> None:
    with shown(browser, access) as opened:
        page = opened.page
        opened.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        opened.tab_to("Filter")
        page.keyboard.type("name~v")
        opened.press("Enter")
        page.wait_for_url("**filter=name**")
        assert "4 of " in page.get_by_role("status").inner_text()
        opened.tab_to("Time")
        opened.press("Enter")
        page.wait_for_url("**sort=-time")
        assert page.locator("th[aria-sort=descending]").inner_text().startswith("Time")
        for name in ("Compare v0.boot", "Compare v3.boot"):
            page.keyboard.press("Home")
            page.evaluate("document.activeElement.blur()")
            opened.tab_to(name)
            opened.press("Space")
        opened.tab_to("Compare the two that are ticked")
        opened.press("Enter")
        page.wait_for_url("**/compare?**")
        opened.tab_to("Align the timelines at")
        page.keyboard.type("user_start")
        opened.tab_to("Compare")
        opened.press("Enter")
        page.wait_for_selector("html[data-ready]")
        assert "aligned at the mark user start" in page.locator("#timeline").inner_text()
        page.evaluate("document.activeElement.blur()")
        opened.press("Tab", 2)
        assert page.evaluate("document.activeElement.textContent") == "All boots"
        opened.press("Enter")
        page.wait_for_url(f"http://127.0.0.1:{access.port}/")
        opened.tab_to("SQL: a.boot")
        opened.press("Enter")
        page.wait_for_url("**/query")
        opened.tab_to("SQL")
        page.keyboard.type("SELECT count(*) AS marks FROM marks")
        opened.tab_to("Run")
        opened.press("Enter")
        page.wait_for_url("**/query?sql=**")
        assert page.locator("#result td").inner_text() == "17"


def test_a_link_into_a_report_shows_the_same_place(browser: Browser, access: Access) -> None:
    with shown(browser, access) as opened:
        opened.page.get_by_role("link", name="a.boot", exact=True).click()
        opened.page.wait_for_selector("html[data-ready]")
        address = opened.page.url
        opened.page.goto("about:blank")
        opened.page.goto(f"{address}#v=100000000-200000000")
        opened.page.wait_for_selector("html[data-ready]")
        assert opened.page.locator("nav.folder a").all_inner_texts() == ["All boots", "Query"]
        assert opened.page.locator("main > section").first.get_attribute("id") == "timeline"


PLACES = ["/", "/compare", "/nothing", "boot", "query", "error", "choice", "history", "experiment", "study", "fleet"]


def address_of(place: str, access: Access) -> str:
    """The address of a kind of page."""
    client = Client(access)
    if place.startswith("/"):
        return place
    if place == "choice":
        a, b = (client.boot(name).rpartition("/")[2] for name in ("v0.boot", "v3.boot"))
        return f"/compare?boot={a}&boot={b}"
    boot = client.boot("a.boot")
    named = {
        "boot": boot,
        "query": f"{boot}/query?sql=SELECT+*+FROM+marks",
        "error": f"{boot}/query?sql=SELECT+*+FROM+nothing",
    }
    plural = {"history": "histories", "experiment": "experiments", "study": "studies", "fleet": "fleets"}
    return named[place] if place in named else next(iter(client.links(f"/{plural[place]}/").values()))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_the_accessibility_checker_finds_nothing_and_a_phone_does_not_scroll_sideways(
    browser: Browser, access: Access, place: str, dark: bool
) -> None:
    with shown(browser, access, width=390 if dark else 1300, dark=dark) as opened:
        opened.open(address_of(place, access))
        if place in ("boot", "experiment", "study"):
            opened.page.wait_for_selector("html[data-ready]")
        opened.wrong[:] = [each for each in opened.wrong if "Failed to load resource" not in each]
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= (390 if dark else 1300)
        opened.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = opened.page.evaluate("axe.run()")
        assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with running(make_hostile_folder(tmp_path)) as access, shown(browser, access) as opened:
        client = Client(access)
        for address in ["/", *client.links("/boots/").values(), *client.links("/studies/").values()]:
            opened.open(address)
            opened.page.wait_for_timeout(100)
            assert opened.page.locator("img, iframe, object, embed, base, link").count() == 0
            assert opened.page.locator("script").count() <= 1


class _Evil(BaseHTTPRequestHandler):
    """A page of another server on the same host: cookies go along, for browsers do not separate them by port."""

    def __init__(self, port: int, *arguments: object) -> None:
        self.port = port
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Tries to read, frame and embed the list, and to send it a form."""
        target = f"http://127.0.0.1:{self.port}"
        body = f"""<!doctype html><title>trying</title>
            <iframe src="{target}/" onload="document.title += ' framed'"></iframe><img src="{target}/">
            <form method="post" action="{target}/enter" target="f"><input name="token" value="x"></form>
            <iframe name="f"></iframe><script>
            (async () => {{
              const found = [];
              for (const mode of ["cors", "no-cors"])
                try {{
                  const got = await fetch("{target}/", {{mode, credentials: "include"}});
                  found.push(`${{mode}} ${{got.type}} ${{(await got.text()).length}}`);
                }} catch (error) {{ found.push(`${{mode}} refused`); }}
              document.forms[0].submit();
              document.body.dataset.found = found.join("; ");
            }})();
            </script><script src="{target}/"></script>"""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


def test_a_page_of_another_port_gets_nothing(browser: Browser, access: Access) -> None:
    evil = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Evil, access.port))
    threading.Thread(target=evil.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = context.new_page()
    page.goto(access.address)
    page.wait_for_url(f"http://127.0.0.1:{access.port}/")
    statuses: list[int] = []
    page.on("response", lambda got: statuses.append(got.status) if f":{access.port}/" in got.url else None)
    page.goto(f"http://127.0.0.1:{evil.server_port}/")
    page.wait_for_selector("body[data-found]")
    page.wait_for_timeout(500)
    assert page.locator("body").get_attribute("data-found") in (
        "cors refused; no-cors opaque 0",
        "cors refused; no-cors refused",
    )
    assert statuses
    assert set(statuses) == {403}
    # A link of that page does not get on either.
    page.evaluate(f"location.href = 'http://127.0.0.1:{access.port}/'")
    page.wait_for_url(f"http://127.0.0.1:{access.port}/")
    assert page.title() == "Refused – Firstlight"
    context.close()
    evil.shutdown()
    evil.server_close()
