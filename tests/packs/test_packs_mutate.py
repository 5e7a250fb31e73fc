"""Packs under other identifiers: the same tasks, for whoever can't have learnt them by heart."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stages.arms import Journal
from stages.arms.record import changed_pack, make_record
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.plan import slice_id
from stages.contract.study import read_files, read_manifest, read_params, read_plan
from stages.contract.trees import Entry, tree_digest
from stages.evidence.copies import copy_study
from stages.evidence.inner import _freeze, inner_study, read_outer
from stages.freeze import freeze
from stages.oracle import admit
from stages.packs import FrozenItem, build_plan, leaked_solution, read_pack, seeded
from stages.packs.mutate import Mutation, mutate_item, mutate_pack
from stages.packs.mutate_outside import outside_names
from stages.packs.mutate_write import write_mutated
from stages.preflight import preflight
from stages.sandbox import find
from tests.cli.refusals import Ended, call
from tests.packs.repositories import commit, git, pinned
from tests.packs.test_packs_mutate_names import mutated_task
from tests.support.mini import REPO, make_study, write, write_params

SEEDS = (0, 1, 7, 2026, 2**53 - 1)
TWO = ("repair-varint-boundary", "migration-weather-cache")


def bundled(root: Path, *items: str, budget: int | bool = True) -> Path:
    """A copy of the bundled study's pack, or of some of its items, in which every task has this budget."""
    shutil.copytree(REPO / "data/agents", root / "data/agents")
    shutil.copy(REPO / "params.yaml", root / "params.yaml")
    pack = root / "data/pack"
    (pack / "tasks").mkdir(parents=True)
    about = (REPO / "data/pack/pack.yaml").read_text(encoding="utf-8")
    write(pack / "pack.yaml", re.sub(r'revision: "\w+"', 'revision: "1"', about))
    for source in sorted((REPO / "data/pack/tasks").iterdir()):
        if not items or source.name in items:
            shutil.copytree(source, pack / "tasks" / source.name, ignore=shutil.ignore_patterns("__pycache__"))
            where = pack / "tasks" / source.name / "task.yaml"
            where.write_text(
                re.sub(r"rename_identifiers: \w+", f"rename_identifiers: {budget}".lower(), where.read_text())
            )
    return root


def everything(item: FrozenItem) -> list[tuple[str, Entry]]:
    """All files of a task, under the part that they belong to."""
    parts = {"workspace": item.tree, "oracle": item.oracle, "solution": item.solution, **item.wrong}
    statement = ("statement", Entry("statement.md", "100644", item.statement))
    return [statement, *((part, entry) for part, entries in parts.items() for entry in entries)]


def held(item: FrozenItem, done: Mutation, before: FrozenItem) -> None:
    """What must hold of every mutated task."""
    assert done.renamed, item.task.id
    assert [(part, e.path, e.mode) for part, e in everything(item)] == [
        (part, e.path, e.mode) for part, e in everything(before)
    ]
    old_words = {word for _, e in everything(before) for word in re.findall(r"\w+", e.content.decode())}
    new_words = {word for _, e in everything(item) for word in re.findall(r"\w+", e.content.decode())}
    private = {name for name in done.renamed if name.startswith("_")}
    assert not private & new_words, "an old private name is left"
    assert len(set(done.renamed.values())) == len(done.renamed)
    assert not set(done.renamed.values()) & old_words, "a new name stood somewhere before"
    for _, e in everything(item):
        if e.path.endswith(".py"):
            code = compile(e.content, e.path, "exec")
            assert not set(done.renamed) & {*code.co_names, *code.co_varnames}
    canaries = {c: sum(e.content.count(c.encode()) for _, e in everything(before)) for c in before.task.canaries}
    assert canaries == {c: sum(e.content.count(c.encode()) for _, e in everything(item)) for c in before.task.canaries}
    interface = item.task.interface
    assert interface == before.task.interface
    assert interface is not None
    assert not {interface.function, *interface.function.split("."), *interface.module.split(".")} & set(done.renamed)
    assert (item.task.id, item.task.stratum, item.task.allow) == (
        before.task.id,
        before.task.stratum,
        before.task.allow,
    )
    assert item.task.mutated is not None
    assert item.task.mutated.rev == before.task.rev


@pytest.mark.parametrize("name", [TWO[0], *(pytest.param(name, marks=pytest.mark.heavy) for name in TWO[1:])])
def test_the_mutated_oracle_passes_the_mutated_solution_and_fails_all_else(tmp_path: Path, name: str) -> None:
    root = bundled(tmp_path, name)
    write(root / "params.yaml", (root / "params.yaml").read_text().replace("mutation_seed: null", "mutation_seed: 7"))
    before = read_pack(root / "data/pack").items[0]
    item, done = mutate_item(before, 7)
    held(item, done, before)
    freeze(root)
    plan = read_plan(root)
    files = read_files(root, plan)
    assert files[(name, "oracle")] == item.oracle
    judged = admit(
        plan.items[0],
        files,
        lambda: leaked_solution(item.solution, item.tree, item.statement),
        find("auto"),
    )
    assert judged.rule is None, judged.why()
    assert {row["check"] for row in judged.rows} >= {"reference", "baseline"}


def test_a_mutated_pack_is_the_same_whoever_makes_it(tmp_path: Path) -> None:
    root = bundled(tmp_path, *TWO)
    made = {}
    for salt in ("0", "4242"):
        out = tmp_path / f"out-{salt}"
        command = [sys.executable, "-m", "stages", "mutate", "-C", str(root), "--seed", "7", "--out", str(out)]
        subprocess.run(command, check=True, cwd=REPO, env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True)
        made[salt] = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert made["0"] == made["4242"]
    assert sha256(b"".join(made["0"][path] for path in sorted(made["0"]))) == PINNED


PINNED = "593656f68c1bf029b98a8ad3b0ef4118f43e8e57aab61e96e31feedcf0239c91"
"""Digest of two bundled tasks under seed 7: no library or Python version may give another one."""


def test_seeds_give_other_slices_and_budgets_bound_what_is_renamed(tmp_path: Path) -> None:
    root = bundled(tmp_path / "a", TWO[0], budget=3)
    pack, params = read_pack(root / "data/pack"), read_params(root)

    def slice_of(seed: int | None) -> str:
        return slice_id(build_plan(seeded(pack, seed), params).plan.pack_sha256, params.protocol, params.oracle)

    assert len({slice_of(seed) for seed in (None, 0, 7)}) == 3
    assert slice_of(7) == slice_of(7)
    for seed in SEEDS:
        _, (done,) = mutate_pack(pack, seed)
        assert list(done.renamed) == ["WireError", "pack", "unpack"], "the same names whatever the seed"
        assert "budget" in done.kept.values()


def test_the_seed_in_params_freezes_what_mutate_writes(tmp_path: Path) -> None:
    root = bundled(tmp_path / "study", *TWO)
    found = write_mutated(root / "data/pack", 7, tmp_path / "study/data/pack-7")
    ways = {}
    for path, seed in (("data/pack", 7), ("data/pack-7", None)):
        params = yaml.safe_load((REPO / "params.yaml").read_text())
        params["pack"] |= {"path": path, "mutation_seed": seed}
        write(root / "params.yaml", yaml.safe_dump(params))
        ways[path] = freeze(root)
    a, b = ways.values()
    assert (a.pack_sha256, a.slice_id, a.study_id) == (b.pack_sha256, b.slice_id, b.study_id)
    assert a.mutation_seed == b.mutation_seed == 7 == read_manifest(root).mutation_seed
    assert (a.pack_id, a.pack_revision) == ("weighbridge-example", "1-m7"), "its looks count with its ancestor's"
    assert found["revision"] == "1-m7"
    with pytest.raises(InputError, match=r"a pack that seed 7 made.*its ancestor"):
        seeded(read_pack(root / "data/pack-7"), 8)


def test_looks_are_counted_on_the_lineage(tmp_path: Path) -> None:
    root = bundled(tmp_path, TWO[0])
    journal = Journal(tmp_path / "journal")
    looks, isolation = [], find("none")
    for seed in ("null", "1", "2"):
        write(
            root / "params.yaml",
            re.sub("mutation_seed: \\w+", f"mutation_seed: {seed}", (root / "params.yaml").read_text()),
        )
        manifest, plan = freeze(root), read_plan(root)
        assert changed_pack(root, plan, journal) is None, "another seed is no edit under the same name"
        record = make_record(root, plan, manifest, journal, isolation, {"events": [], "pack_path": "data/pack"}, print)
        looks.append((record["look"], record["pack_id"], record["pack_revision"]))
        row = {"plan": plan.sha256(), "slice": manifest.slice_id, "record": record}
        journal.open_campaign({**record, **row})
    journal.close()
    assert looks == [(look, "weighbridge-example", rev) for look, rev in ((1, "1"), (2, "1-m1"), (3, "1-m2"))]


def test_a_part_of_a_mutated_study_freezes_to_the_same_items(tmp_path: Path) -> None:
    root = make_study(tmp_path / "study", items=2, placebos=1, pack={"mutation_seed": 7})
    folder = root / "data/pack/tasks/item-0"
    with (folder / "task.yaml").open("a") as stream:
        stream.write("mutation_budget: {rename_identifiers: 3}\n")
    with (folder / "workspace/m_item_0.py").open("a") as stream:
        stream.write("\n\ndef _helper() -> int:\n    return 1\n")
    outer = read_outer(root)
    for number, changes in ((0, True), (1, False)):
        (item,) = (i for i in outer.plan.items if i.item_id == f"item-{number}")
        inner = inner_study(outer, "pilot", outer.params, [item])
        copy_study(root, outer.params, outer.pack, inner.items, inner.root)
        _freeze(inner)  # raises where it isn't what the outer study would freeze
        assert read_plan(inner.root).items == [item]
        assert (item.rev == "1-m7") is changes


def test_a_pack_that_was_never_mutated_keeps_every_digest() -> None:
    pack, plan = read_pack(REPO / "data/pack"), read_plan(REPO)
    assert build_plan(pack, read_params(REPO)).plan.pack_sha256 == plan.pack_sha256
    assert "mutation_seed" not in (REPO / "data/frozen/manifest.json").read_text()
    assert read_manifest(REPO).mutation_seed is None


def test_a_git_task_becomes_a_folder_and_a_pinned_prompt_is_pinned_anew(tmp_path: Path) -> None:
    root = make_study(tmp_path / "study", items=2, placebos=1)
    folder, source = root / "data/pack/tasks/item-0", tmp_path / "source"
    shutil.copytree(folder / "workspace", source)
    code = "_OFFSET = 0\n\n\ndef add(a: int, b: int) -> int:\n    return a - b + _OFFSET\n"
    write(source / "m_item_0.py", code)
    git(source, "init", "--quiet", "--initial-branch=main")
    commit(source)
    git(source, "tag", "v1")
    shutil.rmtree(folder / "workspace")
    statement = "`add` subtracts `_OFFSET`.\n"
    task = yaml.safe_load((folder / "task.yaml").read_text())
    task |= {"source": pinned(source), "prompt_sha256": sha256(statement.encode())}
    task["mutation_budget"] = {"rename_identifiers": 5}
    write(folder / "task.yaml", yaml.safe_dump(task))
    write(folder / "statement.md", statement)
    write_mutated(root / "data/pack", 3, tmp_path / "out")
    item = next(i for i in read_pack(tmp_path / "out").items if i.task.id == "item-0")
    assert item.task.source.git is None
    assert item.task.prompt_sha256 == sha256(item.statement)
    assert b"_OFFSET" not in item.statement + item.tree[0].content
    assert b"a - b + _" in item.tree[0].content


def test_names_from_outside_are_in_the_table_that_every_machine_shares() -> None:
    code = "from tests.packs.outside import names_here; print(*sorted(names_here()))"  # afresh: what is loaded counts
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert not sorted(set(done.stdout.split()) - outside_names()), "run `python -m tests.packs.outside`"


def test_mutate_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = bundled(tmp_path / "study", TWO[0])

    def said(options: str) -> Ended:
        return call(monkeypatch, capfd, root, f"mutate {options}")

    assert "Example: weighbridge mutate --seed 7" in said("--help").out
    found = json.loads(said("--seed 7 --out out --json").out)
    (task,) = found["tasks"]
    assert task["renamed"].keys() >= {"WireError", "decode_all"}
    assert set(task["kept"]) <= set(found["why"])
    assert "value" in task["kept"]["pinned"]
    shown = said("--seed 8 --out out-8").out
    assert f"{TWO[0]}: {len(task['renamed'])} renamed; kept: " in shown
    assert "files that aren't Python are never changed" in shown
    for options, words in {
        "--out x": ("--seed", "missing", "a whole number"),
        "--seed -1 --out x": ("--seed", "-1"),
        "--seed x --out x": ("--seed", "valid integer"),
        "--seed 7": ("--out", "missing"),
        "--seed 7 --out out": ("is there already", "delete it"),
        "--seed 7 --out data/pack/x": ("lies in the pack",),
        "--seed 7 --out x -C elsewhere": ("params.yaml",),
        "--seed 7 --out params.yaml/x": ("can't be written",),
    }.items():
        done = said(options)
        assert (done.code, len(done.err.splitlines())) == (2, 1), (options, done.err)
        assert all(word in done.err for word in words), done.err
    assert sorted(path.name for path in root.iterdir()) == ["data", "out", "out-8", "params.yaml"]


def test_a_pack_without_budgets_says_that_nothing_would_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = make_study(tmp_path / "study", items=2, placebos=1)
    write_params(root, pack={"mutation_seed": 7})
    for command in ("mutate --seed 7 --out out", "freeze"):
        done = call(monkeypatch, capfd, root, command)
        assert done.code == 2
        assert "no task has a mutation_budget.rename_identifiers, so nothing would change" in done.err
    for item in ("item-0", "item-1"):
        with (root / f"data/pack/tasks/{item}/task.yaml").open("a") as stream:
            stream.write("mutation_budget: {rename_identifiers: 3}\n")
    done = call(monkeypatch, capfd, root, "mutate --seed 7 --out out")
    assert "no task with a mutation_budget has an identifier that could be renamed" in done.err
    assert sorted(path.name for path in root.iterdir()) == ["data", "params.yaml"]


def test_what_can_be_written_reads_back_as_it_was(tmp_path: Path) -> None:
    task = mutated_task({"mod.py": "def _kept_back(): return 1\n"}, links={"alias.py": "mod.py"}, tool="print(1)\n")
    assert [e.mode for e in task.item.tree] == ["120000", "100644", "100755"]
    root = make_study(tmp_path / "study", items=1, placebos=0)
    folder = root / "data/pack/tasks/item-0"
    (folder / "workspace/alias.py").symlink_to("m_item_0.py")
    (folder / "workspace/m_item_0.py").chmod(0o755)
    (folder / "wrong/nothing").mkdir()
    body = (folder / "workspace/m_item_0.py").read_text()
    write(folder / "workspace/m_item_0.py", body + "\n\ndef _helper() -> int:\n    return 1\n")
    with (folder / "task.yaml").open("a") as stream:
        stream.write("mutation_budget: {rename_identifiers: true}\n")
    write_mutated(root / "data/pack", 1, tmp_path / "out")
    made, ours = read_pack(tmp_path / "out").items[0], seeded(read_pack(root / "data/pack"), 1).items[0]
    assert tree_digest(made.tree) == tree_digest(ours.tree)
    assert made == ours


@pytest.mark.heavy
@pytest.mark.parametrize("seed", SEEDS)
def test_every_bundled_task_is_sound_under_a_seed(tmp_path: Path, seed: int) -> None:
    root = bundled(tmp_path)
    params = (root / "params.yaml").read_text().replace("mutation_seed: null", f"mutation_seed: {seed}")
    write(root / "params.yaml", params)
    before = read_pack(root / "data/pack")
    made, done = mutate_pack(before, seed)
    for item, each, old in zip(made.items, done, before.items, strict=True):
        held(item, each, old)
    freeze(root)
    assert preflight(root, lambda _: None) == []
    assert mutate_pack(before, seed)[0] == made
