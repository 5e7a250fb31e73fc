"""Which headers go on in either direction, and where a request may go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote, urlsplit

from multidict import CIMultiDict

from stages.session.providers import Provider
from stages.session.recorder.redact import secret, without

_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade", "expect")
)  # fmt: skip
_KEYS = frozenset(("authorization", "x-api-key", "api-key", "x-goog-api-key"))
# A part of an answer, and a packed one, could hold the key where it isn't seen.
_REQUEST = _HOP | _KEYS | {"host", "content-length", "cookie", "range", "if-range"}
_ANSWER = _HOP | {"content-length", "set-cookie", "set-cookie2", "alt-svc", "strict-transport-security"}


def _named(headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Headers that `Connection` names: of this hop, too."""
    lines = [value for name, value in headers if name.lower() == "connection"]
    return frozenset(word.strip().lower() for line in lines for word in line.split(","))


def onward(headers: list[tuple[str, str]], provider: Provider, key: str | None) -> CIMultiDict[str]:
    """A request's headers for the provider: as sent, with the recorder's key in place of any other, and no cookie."""
    left_out = _REQUEST | _named(headers)
    made = CIMultiDict((name, value) for name, value in headers if name.lower() not in left_out)
    if key is not None:
        made[provider.header] = provider.scheme + key
        if secret(key):
            made["Accept-Encoding"] = "identity"
    return made


def texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Headers as text that is sent as the same bytes, if they are UTF-8, and else as UTF-8 of Latin-1."""
    return [(_text(name), _text(value)) for name, value in headers]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def back(headers: list[tuple[str, str]], key: str | None) -> list[tuple[str, str]]:
    """An answer's headers for the agent: as they came, without cookies and without the key."""
    left_out = _ANSWER | _named(headers)
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in left_out and (without(name, key), without(value, key)) == (name, value)
    ]


def unfit(status: int, headers: Mapping[str, str], key: str | None) -> str | None:
    """Why an answer can't go on to the agent, or None."""
    if status == 101:
        return "the provider changed the protocol, which nobody asked for"
    packed = headers.get("Content-Encoding", "identity").strip().lower()
    if secret(key) and packed not in ("identity", ""):
        return f"the provider packed its answer ({packed[:20]!r}), though asked not to: a key in it couldn't be seen"
    return None


def target(raw: str, upstream: str, provider: Provider, key: str | None) -> str | None:
    """The URL of the provider for a request's path and query as sent, or None where it would lead elsewhere."""
    path, _, query = raw.partition("?")
    prefix = urlsplit(upstream).path.rstrip("/")
    if not path.startswith("/") or path.startswith("//") or "#" in raw or "\\" in path:
        return None
    if not (path == prefix or path.startswith(f"{prefix}/")):
        return None
    plain = path
    for _ in range(3 if "%" in path else 0):
        plain = unquote(plain)
    if any(part.partition(";")[0] in (".", "..") for part in plain.replace("\\", "/").split("/")):
        return None
    if query and provider.query is not None and key is not None:
        parts = query.split("&")
        for place, part in enumerate(parts):
            if unquote(part.partition("=")[0]).lower() == provider.query:
                parts[place] = f"{provider.query}={quote(key, safe='')}"
        query = "&".join(parts)
    return f"{origin(upstream)}{path}" + (f"?{query}" if query else "")


def origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    base = urlsplit(url)
    return f"{base.scheme}://{base.netloc}"
