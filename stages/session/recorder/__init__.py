"""The recording proxy: stands between an agent and its provider, passes bytes on, and notes what was served.

It needs aiohttp, the extra `proxy`, which nothing else here imports.
"""

from stages.contract.errors import UsageError

try:
    import aiohttp as _aiohttp
except ImportError:
    raise UsageError(
        "the session recorder", "aiohttp isn't installed", "the extra `proxy`", "pip install 'weighbridge[proxy]'"
    ) from None

from stages.session.recorder.listener import Listener
from stages.session.recorder.recorder import Recorder
from stages.session.recorder.standing import HOW, Standing
from stages.session.recorder.terms import read_terms

__all__ = ["HOW", "Listener", "Recorder", "Standing", "read_terms"]
del _aiohttp
