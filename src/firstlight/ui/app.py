"""The application: an address for each page, each made from an entry of the folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from firstlight.bundle.contents import check_contents
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.open import read_manifest
from firstlight.errors import FirstlightError, missing_extra
from firstlight.escape import escape_html
from firstlight.ui.compare_page import choice_page
from firstlight.ui.fence import ENTER, Access, Fence, token_page
from firstlight.ui.folder import Entry, Folder, Sort
from firstlight.ui.frame import Page, error_page, message_page, ui_page
from firstlight.ui.listing_page import listing_page
from firstlight.ui.query import CSV_ROWS, run_query
from firstlight.ui.query_page import as_csv, query_page
from firstlight.ui.rendered import Rendered
from firstlight.ui.summary import Summaries

_LARGEST_FORM = 4_096
_ID = "{entry:str}"
_PLACE = '<div id="page">'


def application(folder: Folder, access: Access) -> Fence:
    """The browser over a folder, behind its fence.

    :param access: its port and its token.
    """
    pages = _Pages(folder, access)
    routes = [
        Route("/", pages.answer(pages.listing)),
        Route(ENTER, pages.enter, methods=["GET", "POST"]),
        Route("/compare", pages.answer(pages.choice)),
        Route("/compare/report", pages.answer(pages.pair)),
        Route(f"/boots/{_ID}", pages.answer(pages.boot)),
        Route(f"/boots/{_ID}/query", pages.answer(pages.query)),
        Route(f"/boots/{_ID}/query.csv", pages.answer(pages.query_csv)),
        Route(f"/histories/{_ID}", pages.answer(pages.history)),
        Route(f"/experiments/{_ID}", pages.answer(pages.experiment)),
        Route(f"/studies/{_ID}", pages.answer(pages.study)),
        Route(f"/fleets/{_ID}", pages.answer(pages.fleet)),
    ]
    made = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    # An address with a slash at its end is another one.
    made.router.redirect_slashes = False
    return Fence(made, access)


class _Pages:
    """What makes each page. Work is done in threads, so that a slow page keeps no other one waiting."""

    def __init__(self, folder: Folder, access: Access) -> None:
        self._folder = folder
        self._access = access
        self._summaries = Summaries()
        self._rendered = Rendered()

    def answer(self, make: Callable[[Request], Response]) -> Callable[[Request], object]:
        """A handler that makes a page in a thread, and makes a page of an error."""

        def safe(request: Request) -> Response:
            try:
                return make(request)
            except FirstlightError as error:
                return _html(error_page(error), 422)
            except ModuleNotFoundError as error:
                missing = missing_extra(error)
                if missing is None:
                    raise
                return _html(error_page(missing), 501)

        async def handler(request: Request) -> Response:
            try:
                return await run_in_threadpool(safe, request)
            except HTTPException:
                raise
            except Exception as error:  # a fault of ours: the browser goes on, and says so
                print(f"error: {request.url.path}: {type(error).__name__}: {error}", file=sys.stderr)
                text = f"This page could not be made: {type(error).__name__}."
                return _html(message_page("An error of Firstlight", text, hint="please report it"), 500)

        return handler

    async def enter(self, request: Request) -> Response:
        """Takes the token, from the first address or the form, and gives a cookie for it."""
        if request.method == "POST":
            body = b""
            async for chunk in request.stream():
                body += chunk
                if len(body) > _LARGEST_FORM:
                    return _html(token_page("The form is too large."), 413)
            token = parse_qs(body.decode("latin-1")).get("token", [""])[0].strip()
        else:
            token = request.query_params.get("token", "")
        if not self._access.admits(token):
            return _html(token_page("This is not the token of the server that runs now." if token else ""), 401)
        # No redirect: a browser that comes from a file would not send the cookie along with it.
        html, policy = ui_page("Welcome", '<section><p><a href="/">All boots</a></p></section>')
        response = _html((html, policy), 200)
        response.headers["refresh"] = "0; url=/"
        response.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="strict", path="/")
        return response

    def listing(self, request: Request) -> Response:
        """The list."""
        return _html(listing_page(self._folder, self._summaries, dict(request.query_params)))

    def choice(self, request: Request) -> Response:
        """Two boots, before they are compared."""
        chosen = request.query_params.getlist("boot")[:20]
        entries = [self._entry(each, Sort.BOOT) for each in chosen]
        boots = [open_boot(each.path) for each in entries] if len(entries) == 2 else []
        return _html(choice_page(entries, boots), 200 if len(entries) == 2 else 400)

    def pair(self, request: Request) -> Response:
        """The report page of two boots."""
        from firstlight.render.page.pair import pair_html

        a, b = (self._entry(request.query_params.get(side, ""), Sort.BOOT) for side in "ab")
        align = request.query_params.get("align") or None
        digests = [read_manifest(each.path).file_digest for each in (a, b)]
        html = self._rendered.page(
            ["pair", a.name, b.name, *digests, align or ""],
            lambda: pair_html(open_boot(a.path), open_boot(b.path), align),
        )
        links = [("/", "All boots"), (f"/compare?boot={a.id}&boot={b.id}", "Another mark")]
        return _report(html, links)

    def boot(self, request: Request) -> Response:
        """The report page of a boot."""
        from firstlight.render.page.html import page_html

        entry = self._entry(request.path_params["entry"], Sort.BOOT)
        digest = read_manifest(entry.path).file_digest
        html = self._rendered.page(["boot", entry.name, digest], lambda: page_html(open_boot(entry.path)))
        return _report(html, [("/", "All boots"), (f"/boots/{entry.id}/query", "Query")])

    def query(self, request: Request) -> Response:
        """The query box, with what the query yields."""
        entry = self._entry(request.path_params["entry"], Sort.BOOT)
        manifest, statement = read_manifest(entry.path), request.query_params.get("sql", "")
        found = error = None
        if statement.strip():
            try:
                found = run_query(entry.path, statement)
            except FirstlightError as problem:
                error = problem
        return _html(query_page(entry, manifest, statement, found, error), 200 if error is None else 422)

    def query_csv(self, request: Request) -> Response:
        """The rows of a query as a file."""
        entry = self._entry(request.path_params["entry"], Sort.BOOT)
        found = run_query(entry.path, request.query_params.get("sql", ""), rows=CSV_ROWS)
        headers = {"content-disposition": 'attachment; filename="query.csv"'}
        return Response(as_csv(found).encode("utf-8", "replace"), media_type="text/csv", headers=headers)

    def history(self, request: Request) -> Response:
        """A history."""
        from firstlight.ui.history_page import history_page

        entry = self._entry(request.path_params["entry"], Sort.HISTORY)
        return _html(history_page(entry, dict(request.query_params)))

    def experiment(self, request: Request) -> Response:
        """The page of an experiment."""
        from firstlight.experiment.results import read_results
        from firstlight.render.page.experiment import experiment_page_data
        from firstlight.render.page.html import filled

        entry = self._entry(request.path_params["entry"], Sort.EXPERIMENT)
        check_contents(entry.path)
        return _report(filled(experiment_page_data(read_results(entry.path))), [("/", "All boots")])

    def study(self, request: Request) -> Response:
        """The page of a study."""
        from firstlight.render.page.html import filled
        from firstlight.render.page.study import study_page_data
        from firstlight.ui.study_file import read_outcome

        entry = self._entry(request.path_params["entry"], Sort.STUDY)
        return _report(filled(study_page_data(read_outcome(entry.path))), [("/", "All boots")])

    def fleet(self, request: Request) -> Response:
        """The page of a fleet."""
        from firstlight.fleet.layout import open_fleet
        from firstlight.render.page.fleet import fleet_html

        entry = self._entry(request.path_params["entry"], Sort.FLEET)
        check_contents(entry.path)
        return _report(fleet_html(open_fleet(entry.path), request.query_params.get("where", "")), [("/", "All boots")])

    def _entry(self, entry_id: str, sort: Sort) -> Entry:
        entry = self._folder.find(entry_id, sort)
        if entry is None:
            raise HTTPException(404)
        return entry


def _html(page: Page, status: int = 200) -> HTMLResponse:
    html, policy = page
    response = HTMLResponse(html.encode("utf-8", "replace"), status)
    response.headers["content-security-policy"] = policy
    return response


def _report(html: str, links: list[tuple[str, str]]) -> HTMLResponse:
    """A page that Firstlight writes to files, with the way back above it; its own policy comes as a header, too."""
    way = " ".join(f'<a href="{escape_html(address)}">{text}</a>' for address, text in links)
    nav = f'<nav class="folder" aria-label="Folder">{way}</nav>\n'
    before, found, after = html.partition(_PLACE)
    policy = html.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    response = HTMLResponse((before + nav + found + after).encode("utf-8", "replace") if found else html)
    response.headers["content-security-policy"] = f"{policy}; frame-ancestors 'none'"
    return response


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = {
        404: "There is no such page, or what it showed is no longer in the folder.",
        405: "This cannot be done here.",
    }
    return _html(message_page("Not found" if status == 404 else "Refused", text.get(status, "Refused.")), status)
