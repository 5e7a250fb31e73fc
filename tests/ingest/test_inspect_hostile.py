"""Inspect logs that are broken, or meant to break a reader: one line of an error that people can act on, no more."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import WeighbridgeError
from stages.ingest import inspect_zip
from stages.ingest.inspect_log import FORMAT
from stages.ingest.model import Notes, Options, Reading
from tests.support.inspect_logs import call, header, members_of, sample, write_eval, write_json, zipped


def read(path: Path) -> Reading:
    return FORMAT.read([path], Options(), Notes())


def _members(**extra: bytes) -> list[tuple[str, bytes]]:
    return [*members_of([sample()]).items(), *((name, data) for name, data in extra.items())]


def _named(name: str, data: bytes = b"{}", **lies: int) -> bytes:
    return zipped([*_members(), (name, data)], **lies)


def _without(*names: str) -> bytes:
    return zipped([(name, data) for name, data in _members() if name not in names])


def _shared_bytes() -> bytes:
    return zipped([*_members(), ("extra.json", b"{}")], offset=0)


ZIPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "is empty"),
    "text": (lambda: b"no zip at all", "no whole zip"),
    "cut in half": (lambda: zipped(_members())[:600], "no whole zip .*inspect log recover"),
    "a directory larger than the file": (lambda: zipped(_members(), directory=60_000_000), "no whole zip"),
    "a huge directory": (lambda: zipped(_members(), directory=0x7FFFFFFF), "its directory has 2,147,483,647 bytes"),
    "a name that climbs out": (lambda: _named("../../etc/x.json"), "leads out of the zip"),
    "an absolute name": (lambda: _named("/etc/x.json"), "leads out of the zip"),
    "a name of another system": (lambda: _named("C:\\x.json"), "leads out of the zip"),
    "a long name": (lambda: _named("n" * 2_000), "a name of 2,000 characters"),
    "a symbolic link": (lambda: _named("link", attributes=0o120777 << 16), "a symbolic link"),
    "an encrypted member": (lambda: _named("extra.json", flags=0x801), "is encrypted"),
    "a method nobody has": (lambda: zipped(_members(), 14), "compression method 14"),
    "a member of a gigabyte": (lambda: _named("extra.json", size=1 << 30), "1,073,741,824 bytes; expected at most"),
    "members that share bytes": (_shared_bytes, "shares bytes"),
    "a member beyond the end": (lambda: _named("extra.json", offset=0x7FFFFFFF), "lies outside of the file"),
    "a header twice": (lambda: _named("header.json"), "stands twice"),
    "a wrong checksum": (lambda: _named("samples/b_epoch_1.json", b"{}", crc=1), "length or checksum differs"),
    "more bytes than were said": (lambda: _named("samples/b_epoch_1.json", b"{}" * 99, size=5), "length or checksum"),
    "fewer bytes than were said": (lambda: _named("samples/b_epoch_1.json", b"{}", size=5), "length or checksum"),
    "no header at all": (lambda: _without("header.json", "_journal/start.json"), "neither header.json nor"),
    "another thing among the samples": (lambda: _named("samples/notes.txt"), "no sample by its name"),
    "a sample under another's name": (
        lambda: _named("samples/b_epoch_1.json", json.dumps(sample("a")).encode()),
        "holds a, epoch 1; expected the sample of its name",
    ),
    "a sample that is a list": (lambda: _named("samples/b_epoch_1.json", b"[]"), "no object"),
    "a sample that isn't JSON": (lambda: _named("samples/b_epoch_1.json", b"{"), "can't be read as JSON"),
    "a sample that isn't UTF-8": (lambda: _named("samples/b_epoch_1.json", b'{"id": "\xff"}'), "can't be read as JSON"),
    "a mark before a sample": (lambda: _named("samples/b_epoch_1.json", b"\xef\xbb\xbf{}"), "can't be read as JSON"),
    "a key twice": (lambda: _named("samples/b_epoch_1.json", b'{"id": "b", "id": "b"}'), "a key stands twice"),
    "depth": (lambda: _named("samples/b_epoch_1.json", b"[" * 200_000), "can't be read as JSON"),
    "a summary that is a number": (lambda: _named("summaries.json", b"7"), "a number; expected a list"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_a_broken_zip_is_one_line(tmp_path: Path, name: str) -> None:
    make, said = ZIPS[name]
    (tmp_path / "x.eval").write_bytes(make())
    with pytest.raises(WeighbridgeError, match=said) as caught:
        read(tmp_path / "x.eval")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


BAD_SAMPLES: dict[str, Any] = {
    "no id": sample(id=None),
    "an id of lines": sample("a\nb"),
    "an id that is half of a pair": sample("\ud800"),
    "a number with a point as id": sample(id=1.5),
    "a flag as id": sample(id=True),
    "no epoch": sample(epoch=None),
    "epoch 0": sample(epoch=0),
    "an epoch as text": sample(epoch="1"),
    "an epoch too large": sample(epoch=2**70),
    "scores in a list": sample(scores=["C"]),
    "a score alone": sample(scores={"verdict": "C"}),
    "a word nobody knows": sample(value="Correct-ish"),
    "a list as value": sample(value=["C"]),
    "a time before zero": sample(total_time=-1),
    "no number as time": sample(working_time=float("nan")),
    "an endless time": sample(total_time=float("inf")),
    "a time as text": sample(total_time="3"),
    "a start that is no time": sample(started_at="yesterday"),
    "a start far away": sample(started_at="9999-12-31T23:59:59-10:00"),
    "tokens below zero": sample(model_usage={"lab/model-1": {"input_tokens": -1}}),
    "tokens as a huge integer": sample(model_usage={"lab/model-1": {"input_tokens": 10**300}}),
    "usage as a list": sample(model_usage=[1]),
    "metadata as text": sample(metadata="x"),
    "a stratum with parts": sample(metadata={"stratum": {"a": 1}}),
    "an error in a list": sample(error=["boom"]),
    "an error without text": sample(error={"message": 7}),
    "a limit without a name": sample(limit={"type": 4}),
    "retries that are no list": sample(error_retries=3),
    "events that are no list": sample(events={"event": "model"}),
    "an event that is text": sample(events=["model"]),
    "retries below zero": sample(events=[call(retries=-1)]),
    "an output as text": sample(output="done"),
    "a fallback as text": sample(model_fallbacks=["m"]),
    "a trial id with parts": sample(uuid={}),
    "no object": 7,
}


@pytest.mark.parametrize("name", BAD_SAMPLES)
def test_a_value_of_another_kind_is_named_with_its_place(tmp_path: Path, name: str) -> None:
    path = write_json(tmp_path / "x.json", [sample(), BAD_SAMPLES[name]])
    with pytest.raises(WeighbridgeError, match=r"x\.json: sample 2") as caught:
        read(path)
    assert "\n" not in str(caught.value)


BAD_HEADERS: dict[str, Any] = {
    "an old version": header(version=1),
    "a version to come": header(version=9),
    "a flag as version": header(version=True),
    "no task": header(spec={"task": None}),
    "epochs as text": header(spec={"config": {"epochs": "3"}}),
    "endless epochs": header(spec={"config": {"epochs": 10**12}}),
    "too many in all": header([f"i{n}" for n in range(2_000)], 1_000_000),
    "ids that are no list": header(spec={"dataset": {"sample_ids": "abc"}}),
    "an id with parts": header(spec={"dataset": {"sample_ids": [{}]}}),
    "a model with parts": header(spec={"model": {}}),
    "a config in a list": header(spec={"config": []}),
    "a plan in a list": header(plan=[1]),
    "results in a list": header(results=[1]),
    "a total as text": header(results={"total_samples": "3"}),
    "an eval in a list": {"version": 2, "eval": []},
    "nothing": {},
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_a_header_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**BAD_HEADERS[name], "samples": [sample()]}))
    with pytest.raises(WeighbridgeError, match=r"x\.json") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_folders_and_links_are_not_logs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd" / "x.eval").mkdir(parents=True)
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(tmp_path / "loop")
    write_eval(tmp_path / "apart.eval", [sample()])
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "x.eval").symlink_to(tmp_path / "apart.eval")
    for name, said in (
        ("linked", r"x\.eval: is a symbolic link"),
        ("empty", "a folder without a log"),
        ("odd", r"x\.eval: is a folder"),
        ("loop", "is a symbolic link to a folder"),
        ("missing", "doesn't exist"),
    ):
        with pytest.raises(WeighbridgeError, match=said):
            read(tmp_path / name)
        assert not FORMAT.sniff(tmp_path / name)


def test_zeros_that_unpack_to_gigabytes_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    size = inspect_zip.MAX_MEMBER.to_bytes(4, "little")
    lying = bytearray(zipped([*_members(), *((f"m{n}.json", b"") for n in range(9))]))
    for n in range(9):  # the size stands 22 bytes before the name in the directory, which comes last
        at = lying.rfind(f"m{n}.json".encode())
        lying[at - 22 : at - 18] = size
    (tmp_path / "x.eval").write_bytes(lying)
    with pytest.raises(WeighbridgeError, match=r"unpacks from [\d,]+ to 1,207,9"):  # 9 times 134,217,728, and a log
        read(tmp_path / "x.eval")


def test_a_member_that_unpacks_to_more_than_it_says_is_stopped_there(tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(_named("samples/z_epoch_1.json", b"0" * 64_000_000, size=10))
    with pytest.raises(WeighbridgeError, match="length or checksum"):
        read(tmp_path / "x.eval")


def _harmless(path: Path) -> bool:
    """Whether a log gives a reading of at most one row, or one line of an error."""
    try:
        return read(path).rows.num_rows <= 1
    except WeighbridgeError as error:
        return "\n" not in str(error)


NASTY: list[Any] = [None, True, -1, 0.5, 1e308, 10**400, float("nan"), "", "\ud800", "a\nb", "x" * 2_000, [], {}]
NASTY += [[[]], {"a": {}}, [None], {"": None}, "2026-01-31", "time", ["C", 1]]


def _everywhere(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of each value below one, however deep."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _everywhere(value[key])


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.heavy)])
def test_any_value_anywhere_gives_a_reading_or_one_line(tmp_path: Path, step: int) -> None:
    full = sample(
        events=[call(retries=1, cache="read", role=None)],
        error={"message": "m"},
        limit={"type": "token", "limit": 1},
        invalidation={"reason": "r"},
        model_fallbacks=[{"model": "a", "fallback_model": "b", "count": 1}],
        choices=["x"],
        scores={"verdict": {"value": "C", "history": [{"value": "I"}], "reason": "r"}},
    )
    metric = {"name": "verdict", "scorer": "verdict", "reducer": "mean", "metrics": {"accuracy": {"value": 1.0}}}
    spec = {"model_args": {"a": 1}, "model_base_url": "http://h:1/", "revision": {"commit": "c", "dirty": True}}
    spec["sandbox"] = {"type": "docker"}
    head = header(spec=spec, results={"total_samples": 1, "completed_samples": 1, "scores": [metric]})
    failed = []
    for without in ((), ("invalidation",), ("invalidation", "error"), ("invalidation", "error", "limit")):
        log = {**head, "samples": [{key: value for key, value in full.items() if key not in without}]}
        for at, (box, key) in enumerate(list(_everywhere(log))):
            old = box[key]
            for nasty in NASTY[at % step :: step]:
                box[key] = nasty
                (tmp_path / "x.json").write_text(json.dumps(log))
                if not _harmless(tmp_path / "x.json"):
                    failed.append((key, nasty))
            box[key] = old
    assert failed == []


SOUND = zipped(_members())
SOUND_JSON = json.dumps({**header(), "samples": [sample(events=[call(retries=1)])]}).encode()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), name=st.sampled_from(["x.eval", "x.json"]), cut=st.booleans())
def test_bytes_cut_or_flipped_anywhere_give_a_reading_or_one_line(
    tmp_path: Path, seed: int, name: str, cut: bool
) -> None:
    chance = random.Random(seed)
    data = bytearray(SOUND if name == "x.eval" else SOUND_JSON)
    if cut:
        del data[chance.randrange(len(data)) :]
    else:
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    (tmp_path / name).write_bytes(bytes(data))
    assert _harmless(tmp_path / name)


def test_a_large_log_is_read_sample_by_sample(tmp_path: Path) -> None:
    filler = "x" * 400_000
    path = write_eval(tmp_path / "x.eval", [sample(n, store={"x": filler}) for n in range(60)], header(range(60)))
    tracemalloc.start()
    assert read(path).rows.num_rows == 60
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(filler)  # all samples together are 60 times as long
