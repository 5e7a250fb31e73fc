"""An authored pack as frozen bytes: tasks validated, sources resolved, every item digested."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stages.contract import limits
from stages.contract.digest import digest, sha256
from stages.contract.errors import InputError, MissingInput
from stages.contract.plan import PlanItem
from stages.contract.task import Pack, Task
from stages.contract.text import decode, read_bytes, read_yaml
from stages.contract.trees import Entry, git_tree_id, tree_digest
from stages.contract.types import plain, validate
from stages.packs.folder import read_folder
from stages.packs.gitsource import read_tag
from stages.packs.hygiene import check_tree, refused_name


@dataclass(frozen=True)
class FrozenItem:
    """One task with all of its bytes. `wrong` maps the name of a known-wrong solution to its overlay."""

    task: Task
    statement: bytes
    tree: list[Entry]
    oracle: list[Entry]
    solution: list[Entry]
    wrong: dict[str, list[Entry]]

    def planned(self, default_budget_s: int) -> PlanItem:
        """The item as it stands in the plan, all bytes named by digest."""
        task = self.task
        parts = {
            "task": plain(task),
            "prompt": sha256(self.statement),
            "tree": tree_digest(self.tree),
            "oracle": tree_digest(self.oracle),
            "solution": tree_digest(self.solution),
            "wrong": {name: tree_digest(files) for name, files in self.wrong.items()},
        }
        source = {"git": task.source.git, "tag": task.source.tag, "commit": task.source.commit}
        return PlanItem(
            item_id=task.id,
            rev=task.rev,
            stratum=task.stratum,
            cluster=task.cluster,
            placebo=task.placebo,
            time_budget_s=task.time_budget_s or default_budget_s,
            prompt_path=f"tasks/{task.id}/{task.statement}",
            prompt_sha256=sha256(self.statement),
            interface=task.interface,
            allow=task.allow,
            oracle=task.oracle,
            canaries=task.canaries,
            source={k: v for k, v in source.items() if v} or {"path": task.source.path or "workspace"},
            tree_sha256=tree_digest(self.tree),
            tree_git=git_tree_id(self.tree),
            oracle_sha256=tree_digest(self.oracle),
            solution_sha256=tree_digest(self.solution) if self.solution else None,
            item_sha256=digest(parts),
        )


@dataclass(frozen=True)
class FrozenPack:
    """A pack with its items, sorted by id."""

    pack: Pack
    items: list[FrozenItem]


def read_pack(root: Path) -> FrozenPack:
    """Read and validate a whole pack folder. Raises InputError at the first thing that can't be frozen."""
    if not root.is_dir():
        raise MissingInput(root, "is no folder", "a pack: pack.yaml and tasks/", "set pack.path in params.yaml")
    pack = validate(Pack, read_yaml(root / "pack.yaml"), root / "pack.yaml")
    for child in sorted(root.iterdir()):
        if child.name not in ("pack.yaml", "tasks", "README.md", "LICENSE"):
            raise InputError(child, "unknown in a pack", "pack.yaml, tasks/, README.md, LICENSE", "move it out")
    folder = root / "tasks"
    if not folder.is_dir():
        raise MissingInput(folder, "isn't there", "a folder with one folder per task")
    items: list[FrozenItem] = []
    seen: dict[str, str] = {}
    for child in sorted(folder.iterdir()):
        if refused_name(child.name) or not child.is_dir() or child.is_symlink():
            raise InputError(
                child, "is no task folder", "one folder per task, nothing else", "delete it or move it out"
            )
        item = read_task(child)
        folded = item.task.id.casefold()
        if folded in seen:
            raise InputError(child / "task.yaml", f"id {item.task.id} as in {seen[folded]}", "unique ids")
        seen[folded] = child.name
        items.append(item)
    if not items:
        raise InputError(folder, "holds no task", "at least one task folder", "see `weighbridge task --help`")
    if len(items) > limits.MAX_ITEMS:
        raise InputError(folder, f"{len(items):,} tasks", f"at most {limits.MAX_ITEMS:,}")
    return FrozenPack(pack, sorted(items, key=lambda item: item.task.id))


def read_task(folder: Path) -> FrozenItem:
    """Read and validate one task folder."""
    where = folder / "task.yaml"
    task = validate(Task, read_yaml(where), where)
    if task.id != folder.name:
        raise InputError(f"{where}: id", f"found {task.id}", f"the name of its folder, {folder.name}")
    if task.environment is not None:
        raise InputError(f"{where}: environment", "frozen environments are not built yet", "no such key")
    _check_children(folder, task)
    statement = read_bytes(folder / task.statement, limits.MAX_STATEMENT_BYTES, "the statement")
    if not decode(folder / task.statement, statement).strip():
        raise InputError(folder / task.statement, "is empty", "a statement that a person could work from")
    if task.prompt_sha256 not in (None, sha256(statement)):
        raise InputError(
            f"{where}: prompt_sha256",
            f"pins {task.prompt_sha256}",
            f"{sha256(statement)}, the statement's",
            "pin it anew",
        )
    source = task.source
    if source.git:
        tree = read_tag(source, folder, f"{where}: source")
    else:
        tree = read_folder(folder / (source.path or "workspace"), str(folder / (source.path or "workspace")))
    check_tree(str(folder / "workspace"), tree, caches=source.git is None)
    if not tree:
        raise InputError(folder, "its workspace is empty", "at least one file")
    oracle = _part(folder, task.oracle.path)
    if not oracle:
        raise MissingInput(folder / task.oracle.path, "no oracle there", "a folder with the hidden tests")
    solution = _part(folder, "solution")
    if task.placebo and solution:
        raise InputError(folder / "solution", "a placebo with a solution", "an impossible oracle and no solution")
    wrong_root = folder / "wrong"
    names = sorted(p.name for p in wrong_root.iterdir()) if wrong_root.is_dir() else []
    return FrozenItem(task, statement, tree, oracle, solution, {name: _part(folder, f"wrong/{name}") for name in names})


def _part(folder: Path, name: str) -> list[Entry]:
    path = folder / name
    if not path.exists() and not path.is_symlink():
        return []
    found = read_folder(path, str(path))
    check_tree(str(path), found)
    return found


def _check_children(folder: Path, task: Task) -> None:
    known = {"task.yaml", "solution", "wrong", *(p.split("/")[0] for p in (task.statement, task.oracle.path))}
    if task.source.git is None:
        known.add((task.source.path or "workspace").split("/")[0])
    for child in sorted(folder.iterdir()):
        if child.name not in known:
            raise InputError(child, "unknown in a task folder", ", ".join(sorted(known)), "delete it or move it out")
