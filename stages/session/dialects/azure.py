"""Azure OpenAI: deployments in the path, regions in a header, resets in milliseconds, limits that may be negative."""

from __future__ import annotations

import re
from urllib.parse import unquote

from stages.session.dialects.model import Chunk, Dialect

_DEPLOYMENT = re.compile(r"/deployments/([^/?]{1,200})/")


def _place(_: str, path: str) -> dict[str, str]:
    found = _DEPLOYMENT.search(path)
    return {"deployment": unquote(found[1])} if found else {}


def _marks(chunk: Chunk) -> bool:
    return "prompt_filter_results" in chunk


AZURE = Dialect(
    name="azure",
    hosts=("*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"),
    marks=_marks,
    place=_place,
    identity=("server", "via", "x-ms-region"),
    region=("x-ms-region",),
    deployment=("x-ms-deployment-name",),
    reset_s=0.001,  # 500 for one of 120 requests a minute
    claimed=(
        ("openai-processing-ms", 1.0),
        ("ms-azureml-model-time", 1.0),
        ("cmp-upstream-response-duration", 1.0),
        ("x-envoy-upstream-service-time", 1.0),
    ),
    exhausted=frozenset({"insufficient_quota", "quotaexceeded"}),
)
