"""The provider's terms of access as they stand: where, when, and a digest of the text."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime

import aiohttp

from stages.contract.errors import InputError
from stages.contract.stamp import AccessTerms

MAX_BYTES = 8_000_000
_SECONDS = 30.0


def read_terms(url: str) -> AccessTerms:
    """Fetch the terms. Raises InputError where they can't be had: nothing is recorded that wasn't read."""
    try:
        body = asyncio.run(_fetch(url))
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise InputError("session.access_terms", f"{url} can't be read ({type(error).__name__})", "a page") from None
    return AccessTerms(text_sha256=hashlib.sha256(body).hexdigest(), source=url, read_at=datetime.now(UTC))


async def _fetch(url: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
        if answer.status != 200:
            raise ValueError(f"HTTP {answer.status}")
        found = await answer.content.read(MAX_BYTES + 1)
        while len(found) <= MAX_BYTES and (more := await answer.content.read(MAX_BYTES + 1 - len(found))):
            found += more
        if len(found) > MAX_BYTES:
            raise ValueError("too long")
        return found
