"""Small Inspect logs written by hand: samples, headers, and zips with any method, flag or lie in them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
MODEL = "lab/model-1"


def sample(item: str | int = "a", epoch: int = 1, value: Any = "C", **over: Any) -> dict[str, Any]:
    """A finished sample with one score; keys that are given replace, those given as None are left out."""
    made = {
        "id": item,
        "epoch": epoch,
        "input": f"do {item}",
        "target": "ok",
        "messages": [],
        "output": {"model": "model-1-2026-01-01", "choices": [{"message": {"content": "done", "role": "assistant"}}]},
        "scores": {"verdict": {"value": value}},
        "metadata": {"stratum": "parser"},
        "events": [],
        "model_usage": {MODEL: {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}},
        "started_at": "2026-01-31T13:00:00+01:00",
        "total_time": 3.5,
        "working_time": 3.0,
        "uuid": f"u-{item}-{epoch}",
        "error_retries": [],
        **over,
    }
    return {key: one for key, one in made.items() if one is not None}


def header(
    ids: Sequence[str | int] | None = ("a",), epochs: int = 1, status: str = "success", spec: Any = None, **over: Any
) -> dict[str, Any]:
    """A header; `spec` replaces keys of its `eval`."""
    return {
        "version": 2,
        "status": status,
        "eval": {
            "eval_id": "e1",
            "run_id": "r1",
            "task_id": "t1",
            "task": "toolfix",
            "task_version": 3,
            "dataset": {
                "name": "toolfix",
                "samples": len(ids or ()),
                **({} if ids is None else {"sample_ids": list(ids)}),
            },
            "model": MODEL,
            "config": {"epochs": epochs},
            "packages": {"inspect_ai": "0.3.285"},
            "scorers": [{"name": "verdict"}],
            **(spec or {}),
        },
        "plan": {"steps": [{"solver": "work", "params": {"prompt": "a prompt that stays"}}], "config": {}},
        **over,
    }


def call(model: str = MODEL, served: str | None = "model-1-2026-01-01", **over: Any) -> dict[str, Any]:
    """A model event."""
    output = {"model": served, "choices": [{}]} if served is not None else {"model": model, "choices": []}
    return {"event": "model", "timestamp": "2026-01-31T12:00:01Z", "model": model, "output": output, **over}


def write_json(path: Path, samples: Sequence[Any], head: Mapping[str, Any] | None = None) -> Path:
    """A `.json` log; NaN becomes the bare constant, as Inspect writes it."""
    path.write_text(json.dumps({**(head or header()), "samples": list(samples)}))
    return path


def members_of(samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    """The members of a finished `.eval` log."""
    start = {key: one for key, one in (head or header()).items() if key in ("version", "eval", "plan")}
    made = {"_journal/start.json": json.dumps(start).encode()}
    made |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": json.dumps(one).encode() for one in samples}
    return {**made, "header.json": json.dumps(head or header()).encode()}


def write_eval(
    path: Path,
    samples: Sequence[Mapping[str, Any]],
    head: Mapping[str, Any] | None = None,
    method: int = ZSTANDARD,
) -> Path:
    """A finished `.eval` log."""
    path.write_bytes(zipped(list(members_of(samples, head).items()), method))
    return path


def packed(data: bytes, method: int) -> bytes:
    """Bytes by a method of the zip format; of an unknown one as they are."""
    if method == DEFLATED:
        deflate = zlib.compressobj(wbits=-15)
        return deflate.compress(data) + deflate.flush()
    return bytes(pa.Codec("zstd").compress(data)) if method == ZSTANDARD else data


def zipped(members: Sequence[tuple[str, bytes]], method: int = ZSTANDARD, **lies: int) -> bytes:
    """A zip. `lies` about the last member: `size`, `crc`, `flags`, `attributes`, `offset`; or of the whole: `directory`."""
    body, listed = b"", b""
    for number, (name, data) in enumerate(members, 1):
        told = lies if number == len(members) else {}
        raw, small = name.encode(), packed(data, method)
        size, crc, flags = told.get("size", len(data)), told.get("crc", zlib.crc32(data)), told.get("flags", 0x800)
        both = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 33, crc, len(small), size, len(raw), 0)
        listed += b"PK\x01\x02" + struct.pack("<H", 20) + both
        listed += struct.pack("<HHHII", 0, 0, 0, told.get("attributes", 0), told.get("offset", len(body))) + raw
        body += b"PK\x03\x04" + both + raw + small
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), lies.get("directory", len(listed)), len(body), 0)
    return body + listed + b"PK\x05\x06" + end
