"""What the digests of a frozen study depend on, and what they don't."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.plan import Manifest
from stages.contract.study import read_plan
from stages.freeze import freeze
from stages.packs import build_plan, read_pack
from stages.packs.plan import draw_schedule
from tests.support import mini

JSON = (layout.PLAN, layout.MANIFEST)
TABLES = {layout.ITEMS: tables.ITEMS, layout.TREES: tables.TREES, layout.HIDDEN: tables.HIDDEN}
ONE = Path("data/pack/tasks/item-0")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = mini.make_study(tmp_path_factory.mktemp("identity") / "study")
    freeze(root)
    return root


@pytest.fixture
def study(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "study", symlinks=True))


def outputs(root: Path) -> dict[str, Any]:
    """Bytes of the JSON files, rows of the tables."""
    rows = {name.name: parquet.rows_sha256(parquet.read(root / name, schema)) for name, schema in TABLES.items()}
    return {**rows, **{name.name: (root / name).read_bytes() for name in JSON}}


def manifest(root: Path, **changes: Any) -> Manifest:
    """The study frozen with changed parameters."""
    mini.write_params(root, **changes)
    return freeze(root)


def test_the_same_pack_in_another_folder_in_another_order_and_at_other_times_freezes_alike(
    template: Path, tmp_path: Path
) -> None:
    files = [p.relative_to(template) for p in template.rglob("*") if p.is_file()]
    random.Random(7).shuffle(files)
    for number, name in enumerate(files):
        copy = tmp_path / "elsewhere/deeper" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((template / name).read_bytes())
        os.utime(copy, (number, 10**9 - number))
    shutil.rmtree(tmp_path / "elsewhere/deeper/data/frozen")
    freeze(tmp_path / "elsewhere/deeper")
    assert outputs(tmp_path / "elsewhere/deeper") == outputs(template)


@pytest.mark.parametrize(
    ("hash_seed", "zone", "locale", "mask"),
    [("0", "UTC", "C", 0o022), ("4242", "Pacific/Kiritimati", "tr_TR.UTF-8", 0o077)],
)
def test_hash_seed_time_zone_locale_and_umask_leave_no_trace(
    template: Path, study: Path, hash_seed: str, zone: str, locale: str, mask: int
) -> None:
    shutil.rmtree(study / "data/frozen")
    env = {"PYTHONHASHSEED": hash_seed, "TZ": zone, "LC_ALL": locale, "PYTHONPATH": str(mini.REPO)}
    subprocess.run(
        [sys.executable, "-m", "stages", "freeze"], cwd=study, env={**os.environ, **env}, umask=mask, check=True
    )
    assert outputs(study) == outputs(template)
    assert (study / layout.TREES).read_bytes() == (template / layout.TREES).read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        ONE / "oracle/test_oracle.py",
        ONE / "statement.md",
        ONE / "workspace/m_item_0.py",
        ONE / "workspace/tests/test_add.py",
        ONE / "solution/m_item_0.py",
        ONE / "wrong/constant/m_item_0.py",
        Path("data/pack/tasks/placebo-0/oracle/test_oracle.py"),
    ],
    ids=lambda path: "/".join(path.parts[3:]),
)
def test_one_byte_of_the_pack_gives_another_slice(study: Path, template: Path, name: Path) -> None:
    (study / name).write_bytes((study / name).read_bytes() + b"\n")
    assert freeze(study).slice_id != freeze(template).slice_id


def test_a_mode_a_name_and_a_link_are_part_of_the_slice(study: Path) -> None:
    slices = {freeze(study).slice_id}
    work = study / ONE / "workspace"
    (work / "m_item_0.py").chmod(0o755)
    slices.add(freeze(study).slice_id)
    (work / "tests/test_add.py").rename(work / "tests/test_sum.py")
    slices.add(freeze(study).slice_id)
    (work / "link").symlink_to("m_item_0.py")
    slices.add(freeze(study).slice_id)
    assert len(slices) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["allow"]["imports"].append("json"),
        lambda t: t["allow"].update(stdlib=True),
        lambda t: t.update(stratum="right"),
        lambda t: t.update(rev="2"),
        lambda t: t["oracle"].update(timeout_s=31),
        lambda t: t["interface"].update(signature="(a: int, b: int = 0) -> int"),
        lambda t: t.update(canaries=["canary-other"]),
    ],
    ids=["allowlist", "stdlib", "stratum", "revision", "timeout", "signature", "canary"],
)
def test_one_word_of_a_task_gives_another_slice(study: Path, template: Path, change: Callable[[Any], None]) -> None:
    path = study / ONE / "task.yaml"
    value = yaml.safe_load(path.read_text())
    change(value)
    path.write_text(yaml.safe_dump(value))
    assert freeze(study).slice_id != freeze(template).slice_id


def test_every_part_of_the_protocol_but_the_campaign_gives_another_slice(study: Path) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"envelope": {"max_queue_ms": 4001}},
        {"envelope": {"servers": ["local:*", "x"]}},
        {"strata_weights": {"left": 0.4, "right": 0.6}},
        {"strata_weights": {"left": 0.41, "right": 0.59}},
        {"alpha": 0.049},
        {"trial_budget": 3},
        {"exclusion_rules": ["lost"]},
        {"max_excluded_share": 0.04},
        {"max_surviving_mutants": 0.04},
        {"min_kept_items": 21},
        {"tools": {"mcp": ["x"]}},
    ]
    made = [manifest(study, protocol=change) for change in changes]
    assert len({m.slice_id for m in made}) == len(changes)
    other = manifest(study, protocol={"campaign": "2"})
    assert other.slice_id == made[0].slice_id
    assert other.study_id != made[0].study_id


def test_an_arm_changes_the_study_and_not_the_slice(study: Path, template: Path) -> None:
    before, after = freeze(template), manifest(study, arms={"candidate": {"version": "1.0.1"}})
    assert (after.slice_id, after.pack_sha256) == (before.slice_id, before.pack_sha256)
    assert after.study_id != before.study_id
    assert after.plan_sha256 != before.plan_sha256


def test_workers_comments_key_order_and_line_ends_change_nothing(study: Path, template: Path) -> None:
    value = mini.params(run={"workers": 17})
    text = yaml.safe_dump({key: value[key] for key in reversed(list(value))}, default_flow_style=True)
    (study / "params.yaml").write_bytes(f"# a comment\n{text}# another\n".replace("\n", "\r\n").encode())
    task = study / ONE / "task.yaml"
    turned = dict(reversed(yaml.safe_load(task.read_text()).items()))
    task.write_bytes(yaml.safe_dump(turned, sort_keys=False).replace("\n", "\r\n").encode())
    freeze(study)
    assert outputs(study) == outputs(template)


@pytest.mark.parametrize("spelling", ["0.05", "0.050", "5e-2", ".05", '"0.05"', "1/20", '" 5/100 "'])
def test_a_number_is_what_it_is_worth_however_it_is_spelt(study: Path, template: Path, spelling: str) -> None:
    path = study / "params.yaml"
    path.write_text(path.read_text().replace("min_detectable_effect: 0.05", f"min_detectable_effect: {spelling}"))
    assert f": {spelling}\n" in path.read_text()
    assert freeze(study).slice_id == freeze(template).slice_id


def test_frozen_again_every_byte_is_the_same(study: Path) -> None:
    before = {p.name: p.read_bytes() for p in (study / "data/frozen").iterdir()}
    freeze(study)
    assert {p.name: p.read_bytes() for p in (study / "data/frozen").iterdir()} == before


def test_the_schedule_holds_every_block_once_and_starts_with_either_arm(template: Path) -> None:
    plan = read_plan(template)
    blocks = [(b.item_id, b.repeat) for b in plan.schedule]
    assert sorted(blocks) == sorted((i.item_id, r) for i in plan.items for r in range(2))
    assert blocks != sorted(blocks)
    assert {b.first for b in plan.schedule} == {"candidate", "control"}
    assert draw_schedule(plan) == plan.schedule


def test_another_plan_draws_another_order_and_no_generator_is_touched(template: Path, study: Path) -> None:
    random.seed(1)
    before = random.getstate()
    manifest(study, protocol={"campaign": "2"})
    assert random.getstate() == before
    ours, theirs = read_plan(template), read_plan(study)
    assert [(b.item_id, b.repeat) for b in ours.schedule] != [(b.item_id, b.repeat) for b in theirs.schedule]
    assert len(ours.schedule) == len(theirs.schedule)


def test_either_arm_starts_about_half_of_many_blocks(study: Path) -> None:
    from stages.contract.study import read_params

    mini.write_params(study, protocol={"trial_budget": 500})
    plan = build_plan(read_pack(study / "data/pack"), read_params(study)).plan
    first = sum(b.first == "candidate" for b in plan.schedule)
    assert len(plan.schedule) == 3000
    assert abs(first - 1500) < 4 * (3000 / 4) ** 0.5
