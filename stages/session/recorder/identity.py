"""Who a server is that doesn't say it in its headers: vLLM and Ollama, by their version and the models they have."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import aiohttp
from yarl import URL

from stages.contract.digest import canonical
from stages.contract.stamp import Call

_ASKED = {"vllm": ("/version", "/v1/models"), "ollama": ("/api/version", "/api/tags")}
_TELLING = ("id", "root", "parent", "max_model_len", "name", "model", "digest")  # and no time of the answer
_SECONDS, _MAX_BYTES = 5.0, 4_000_000


async def identity(client: aiohttp.ClientSession, provider: str, upstream: str, headers: dict[str, str]) -> str | None:
    """12 hex digits of version and model list; None for other providers, and where they can't be read."""
    if provider not in _ASKED:
        return None
    try:
        async with asyncio.timeout(_SECONDS):
            told = [await _told(client, URL(upstream).with_path(path), headers) for path in _ASKED[provider]]
        return hashlib.sha256(canonical(told)).hexdigest()[:12]
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError):
        return None


async def _told(client: aiohttp.ClientSession, url: URL, headers: dict[str, str]) -> Any:
    async with client.get(url, headers=headers, allow_redirects=False) as answer:
        if answer.status != 200:
            raise ValueError(answer.status)
        body = b""
        async for piece in answer.content.iter_any():
            body += piece
            if len(body) > _MAX_BYTES:
                raise ValueError("too long")
    said = json.loads(body)
    models = said.get("data", said.get("models")) if isinstance(said, dict) else None
    if not isinstance(models, list):
        return {"version": str(said.get("version")) if isinstance(said, dict) else None}
    rows = [{k: str(one[k]) for k in _TELLING if k in one} for one in models if isinstance(one, dict)]
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def identified(calls: list[Call], before: str | None, after: str | None) -> list[Call]:
    """The calls with what their server was, in its id; one that was another at the end contradicts itself."""
    if before is None:
        return calls
    made = [c.model_copy(update={"server_id": f"{c.server_id}/{before}"}) if c.server_id else c for c in calls]
    if made and after != before:
        what = "the server's version or models changed" if after else "the server's version can't be read any more"
        made[-1] = made[-1].model_copy(update={"inconsistent": [*made[-1].inconsistent, what][:20]})
    return made
