"""The fence around the browser: what a request has to bring before anything looks at it.

Every request is checked here, in this order: the `Host` header (against DNS rebinding), the form of the path, where the
browser says that the request comes from (`Sec-Fetch-Site`, `Origin`), and the token. Every response gets the headers
that keep a page of this server from being framed, sniffed or stored.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from firstlight.ui.frame import message_page

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Where the token is handed over, and nothing else.
ENTER = "/enter"
#: All addresses of the browser have this form: nothing encoded, no `..`, no `//`.
_PATH = re.compile(rb"/|(?:/[a-z0-9-]{1,64}){1,4}(?:\.(?:csv|svg|css))?")
#: A policy for responses that bring none of their own: nothing loads, nothing runs.
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    # Forms need it: without a referrer their `Origin` is `null`.
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}


@dataclass(frozen=True)
class Access:
    """Who may use the browser: the port that it listens on, and the token."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers do not separate cookies by port."""
        return f"firstlight-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The values that `Host` may have."""
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def address(self) -> str:
        """The first address, with the token."""
        return f"http://127.0.0.1:{self.port}{ENTER}?token={self.token}"

    def admits(self, token: str) -> bool:
        """Whether a token is the right one; the time that this takes says nothing about it."""
        return hmac.compare_digest(token.encode(), self.token.encode())


class Fence:
    """Lets requests through to an application that pass every check."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on, or refuse it."""
        if scope["type"] != "http":
            return
        sender = _with_headers(send)
        refusal = self.refusal(scope)
        if refusal is None:
            await self._app(scope, receive, sender)
            return
        status, page, policy = refusal
        body = page.encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        if policy is not None:
            headers.append((b"content-security-policy", policy.encode()))
        await sender({"type": "http.response.start", "status": status, "headers": headers})
        await sender({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def refusal(self, scope: Scope) -> tuple[int, str, str | None] | None:
        """Why a request is refused: status, page and policy; nothing for one that may pass."""
        hosts, origins, sites = (_all(scope, name) for name in (b"host", b"origin", b"sec-fetch-site"))
        if len(hosts) != 1 or hosts[0] not in self._access.hosts:
            return _refused(421, "Wrong host", "This server answers only by its own address, http://127.0.0.1.")
        raw = scope.get("raw_path") or b""
        if _PATH.fullmatch(raw) is None or scope["path"].encode() != raw:
            return _refused(404, "Not found", "There is no such page.")
        if raw == ENTER.encode():
            # A link from a file or a terminal leads here; only the right token gets on.
            return None if not origins or self._is_own(origins) else _foreign()
        if (origins and not self._is_own(origins)) or any(site not in ("same-origin", "none") for site in sites):
            return _foreign()
        if not any(self._access.admits(value) for value in _cookies(scope, self._access.cookie)):
            return (401, *token_page())
        return None

    def _is_own(self, origins: list[str]) -> bool:
        return len(origins) == 1 and origins[0] in {f"http://{host}" for host in self._access.hosts}


def token_page(problem: str = "") -> tuple[str, str]:
    """The page that asks for the token, and its policy.

    >>> "Token" in token_page()[0]
    True
    """
    return message_page(
        "Token needed",
        problem or "Open the address that `firstlight ui` printed, or enter its token here.",
        form=f'<form method="post" action="{ENTER}"><label for="token">Token</label> '
        '<input id="token" name="token" type="password" autocomplete="off" required maxlength="200"> '
        '<button type="submit">Enter</button></form>',
    )


def _foreign() -> tuple[int, str, str | None]:
    text = "Another site asked for this page. Open it from the list, or enter its address in the address bar."
    return _refused(403, "Refused", text)


def _refused(status: int, title: str, text: str) -> tuple[int, str, str | None]:
    return (status, *message_page(title, text))


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _cookies(scope: Scope, name: str) -> list[str]:
    parts = [part.strip().partition("=") for header in _all(scope, b"cookie") for part in header.split(";")]
    return [value for key, _, value in parts if key == name]


def _with_headers(send: Send) -> Send:
    async def sender(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            there = {key.lower() for key, _ in headers}
            headers += [(key, value) for key, value in _HEADERS.items() if key not in there]
            if b"content-security-policy" not in there:
                headers.append((b"content-security-policy", NOTHING.encode()))
            message = {**message, "headers": headers}
        await send(message)

    return sender
