"""vLLM: OpenAI's forms from a server of one's own. No header says who it is; newer ones sign their fingerprint."""

from __future__ import annotations

from stages.session.dialects.model import Chunk, Dialect


def _marks(chunk: Chunk) -> bool:
    signed = chunk.get("system_fingerprint")
    return isinstance(signed, str) and signed.startswith("vllm-")


VLLM = Dialect(name="vllm", marks=_marks, identity=("server",), quota=())
