"""Tables as files: the same rows are the same bytes and the same digest."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.contract import parquet, tables
from stages.contract.columns import column
from stages.contract.errors import InputError, MissingInput

SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("share", pa.float64(), metadata={"unit": "1"}),
        pa.field("flag", pa.bool_()),
        pa.field("count", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("data", pa.binary()),
    ],
    metadata={"table": "test/1", "key": "name,number"},
)
_WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
_ROW = st.fixed_dictionaries(
    {
        "name": _WORDS,
        "number": st.integers(-(2**63), 2**63 - 1),
        "share": st.none() | st.floats(allow_nan=False),
        "flag": st.none() | st.booleans(),
        "count": st.none() | st.integers(-(2**63), 2**63 - 1),
        "text": st.none() | _WORDS,
        "data": st.none() | st.binary(max_size=6),
    }
)
ROWS = st.lists(_ROW, max_size=30, unique_by=lambda row: (row["name"], row["number"]))


def some_rows(count: int = 300) -> list[dict[str, Any]]:
    draw = random.Random(3)
    return [
        {
            "name": f"n{number % 7}",
            "number": number,
            "share": draw.choice([None, 0.5, draw.random()]),
            "flag": draw.choice([None, True, False]),
            "count": draw.choice([None, number]),
            "text": draw.choice([None, "", "é" * (number % 5)]),
            "data": draw.choice([None, b"", bytes([number % 256]) * 3]),
        }
        for number in range(count)
    ]


@settings(deadline=None)
@given(ROWS)
def test_columns_made_from_buffers_are_those_that_pyarrow_makes(rows: list[dict[str, Any]]) -> None:
    for field in SCHEMA:
        values = [row[field.name] for row in rows]
        made = column(values, field.type)
        made.validate(full=True)
        assert made.equals(pa.array(values, type=field.type))


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, pa.string()), (b"x", pa.string()), ("x", pa.binary()), (1.0, pa.int64()), (True, pa.int64()), (2**63, pa.int64()), ("\ud800", pa.string()), (1, pa.bool_()), (True, pa.float64()), ("1", pa.float64())],
)  # fmt: skip
def test_a_value_of_another_type_makes_no_column(value: object, kind: pa.DataType) -> None:
    with pytest.raises(ValueError):
        column([value], kind)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_rows_keep_their_digest_and_bytes_in_any_order_and_through_a_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], draw: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("t")
    made = parquet.table(SCHEMA, rows)
    shuffled = list(rows)
    draw.shuffle(shuffled)
    other = parquet.table(SCHEMA, shuffled)
    parquet.write(folder / "a", made)
    parquet.write(folder / "b", other)
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    back = parquet.read(folder / "a", SCHEMA)
    assert parquet.rows_sha256(back) == parquet.rows_sha256(made) == parquet.rows_sha256(other)
    key = lambda row: (row["name"].encode(), row["number"])  # noqa: E731
    assert back.to_pylist() == sorted(rows, key=key)


def test_chunks_and_slices_leave_no_trace(tmp_path: Path) -> None:
    rows = some_rows()
    whole = parquet.table(SCHEMA, rows)
    pieces = pa.concat_tables([whole.slice(at, 13) for at in range(0, 300, 13)])
    longer = parquet.table(SCHEMA, [*some_rows(1), *rows[1:], *({**r, "name": "z"} for r in rows)]).slice(0, 300)
    assert pieces.column("text").num_chunks > 1
    parquet.write(tmp_path / "a", whole)
    for number, other in enumerate((pieces, longer)):
        parquet.write(tmp_path / f"{number}", other)
        assert (tmp_path / f"{number}").read_bytes() == (tmp_path / "a").read_bytes()
        assert parquet.rows_sha256(other) == parquet.rows_sha256(whole)


def test_bytes_under_a_null_are_not_part_of_the_digest() -> None:
    schema = pa.schema(
        [SCHEMA.field("number"), SCHEMA.field("text"), SCHEMA.field("count")], metadata={"key": "number"}
    )
    mask = pa.py_buffer(b"\x02")  # the second of two values is there

    def made(under_text: bytes, under_count: bytes) -> pa.Table:
        ends = b"".join(n.to_bytes(4, "little") for n in (0, len(under_text), len(under_text) + 1))
        text = pa.Array.from_buffers(pa.string(), 2, [mask, pa.py_buffer(ends), pa.py_buffer(under_text + b"x")])
        count = pa.Array.from_buffers(pa.int64(), 2, [mask, pa.py_buffer(under_count + b"\x05" + b"\0" * 7)])
        return pa.Table.from_arrays([column([1, 2], pa.int64()), text, count], schema=schema)

    clean, dirty = made(b"", b"\0" * 8), made(b"left over", b"\xff" * 8)
    assert dirty.to_pylist() == [{"number": 1, "text": None, "count": None}, {"number": 2, "text": "x", "count": 5}]
    assert parquet.rows_sha256(clean) == parquet.rows_sha256(dirty)


def test_null_and_empty_are_different_rows() -> None:
    row = some_rows(1)[0]
    digests = {
        parquet.rows_sha256(parquet.table(SCHEMA, [{**row, "text": text, "data": data, "count": count}]))
        for text, data, count in [(None, None, None), ("", None, None), (None, b"", None), (None, None, 0)]
    }
    assert len(digests) == 4


def test_the_digest_doesnt_depend_on_this_files_metadata() -> None:
    made = parquet.table(SCHEMA, some_rows())
    fields = [pa.field(f.name, f.type, nullable=f.nullable) for f in SCHEMA]
    bare = made.cast(pa.schema(fields, metadata={"key": "name,number", "made by": "another version"}))
    assert parquet.rows_sha256(bare) == parquet.rows_sha256(made)


def test_this_table_has_this_digest_in_every_version() -> None:
    rows = [{"name": "a", "number": 1, "share": 0.5, "flag": True, "count": None, "text": "é", "data": b"\0"}]
    found = parquet.rows_sha256(parquet.table(SCHEMA, rows))
    assert found == "1603985a21c8cde41ee00f8aaf8488efecd8a675084640a72a811345d0f568ac"


@pytest.mark.parametrize("change", [{"extra": 1}, {"name": None}, {"number": None}], ids=str)
def test_a_row_that_isnt_the_schemas_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, InputError)):
        parquet.table(SCHEMA, [{**some_rows(1)[0], **change}])
    row = some_rows(1)[0]
    del row["text"]
    with pytest.raises(ValueError, match="text"):
        parquet.table(SCHEMA, [row])


def test_two_rows_of_one_key_are_refused_on_every_way(tmp_path: Path) -> None:
    rows = some_rows(20)
    twice = parquet.table(SCHEMA, [*rows, {**rows[4], "text": "another"}])
    for act in (lambda: parquet.rows_sha256(twice), lambda: parquet.write(tmp_path / "a", twice)):
        with pytest.raises(InputError, match="n4, 4: two rows with the same key; expected unique name, number"):
            act()
    pq.write_table(twice, tmp_path / "b")
    with pytest.raises(InputError, match="n4, 4: two rows with the same key"):
        parquet.read(tmp_path / "b", SCHEMA)


def test_a_missing_a_strange_and_a_reordered_column_are_refused(tmp_path: Path) -> None:
    made = parquet.table(SCHEMA, some_rows(3))
    for name, other in {
        "missing": made.drop_columns(["data"]),
        "strange": made.append_column("more", pa.array([1, 2, 3])),
        "reordered": made.select(list(reversed(made.column_names))),
    }.items():
        pq.write_table(other, tmp_path / name)
        with pytest.raises(InputError, match="columns"):
            parquet.read(tmp_path / name, SCHEMA)
    with pytest.raises(MissingInput, match="dvc pull"):
        parquet.read(tmp_path / "none", SCHEMA)


@pytest.mark.parametrize("name", sorted(tables.ALL))
def test_every_table_of_the_contract_has_a_key_of_its_own_columns(name: str, tmp_path: Path) -> None:
    schema = tables.ALL[name]
    key = parquet.key_of(schema)
    assert set(key) <= set(schema.names)
    assert not any(schema.field(part).nullable for part in key)
    parquet.write(tmp_path / "empty", parquet.table(schema, []))
    assert parquet.read(tmp_path / "empty", schema).num_rows == 0
    assert schema.metadata[b"table"] == f"weighbridge.{name}/1".encode()
    for field in schema:
        if field.name.endswith("_s"):
            assert field.metadata == {b"unit": b"s"}
