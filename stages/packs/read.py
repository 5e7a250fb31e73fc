"""An authored pack as frozen bytes: tasks validated, sources resolved, every item digested."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from stages.contract import limits
from stages.contract.digest import digest, sha256
from stages.contract.errors import InputError, MissingInput
from stages.contract.plan import FrozenEnvironment, PlanItem
from stages.contract.task import Pack, Source, Task
from stages.contract.text import decode, read_bytes
from stages.contract.trees import Entry, git_tree_id, tree_digest
from stages.contract.types import check_id, plain, validate
from stages.contract.yamlfile import read_yaml
from stages.packs.folder import inside, read_folder
from stages.packs.hygiene import check_tree, refused_name
from stages.packs.wheels import read_wheels


@dataclass(frozen=True)
class FrozenItem:
    """One task with all of its bytes. `wrong` maps the name of a known-wrong solution to its overlay."""

    task: Task
    statement: bytes
    tree: list[Entry]
    oracle: list[Entry]
    solution: list[Entry]
    wrong: dict[str, list[Entry]]
    wheels: list[Entry] = field(default_factory=list)

    def planned(self, default_budget_s: int) -> PlanItem:
        """The item as it stands in the plan, all bytes named by digest."""
        task = self.task
        prompt, tree = sha256(self.statement), tree_digest(self.tree)
        oracle, solution = tree_digest(self.oracle), tree_digest(self.solution)
        parts = {
            "task": plain(task),
            "prompt": prompt,
            "tree": tree,
            "oracle": oracle,
            "solution": solution,
            "wrong": {name: tree_digest(files) for name, files in self.wrong.items()},
        }
        environment = None
        if task.environment is not None:
            named = {wheel.path: wheel.sha256 for wheel in self.wheels}
            environment = FrozenEnvironment(python=task.environment.python, wheels=named)
            parts["environment"] = plain(environment)
        source = {"git": task.source.git, "tag": task.source.tag, "commit": task.source.commit}
        return PlanItem(
            item_id=task.id,
            rev=task.rev,
            stratum=task.stratum,
            cluster=task.cluster,
            placebo=task.placebo,
            time_budget_s=task.time_budget_s or default_budget_s,
            prompt_path=f"tasks/{task.id}/{task.statement}",
            prompt_sha256=prompt,
            interface=task.interface,
            allow=task.allow,
            oracle=task.oracle,
            canaries=task.canaries,
            environment=environment,
            source={k: v for k, v in source.items() if v} or {"path": task.source.path or "workspace"},
            tree_sha256=tree,
            tree_git=git_tree_id(self.tree),
            oracle_sha256=oracle,
            solution_sha256=solution if self.solution else None,
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
    pack = validate(Pack, read_yaml(inside(root, "pack.yaml")), root / "pack.yaml")
    for child in sorted(root.iterdir()):
        if child.name not in ("pack.yaml", "tasks", "wheels", "README.md", "LICENSE"):
            raise InputError(
                child, "unknown in a pack", "pack.yaml, tasks/, wheels/, README.md, LICENSE", "move it out"
            )
    folder = inside(root, "tasks")
    if not folder.is_dir():
        raise MissingInput(folder, "isn't there", "a folder with one folder per task")
    children = sorted(folder.iterdir())
    if not children:
        raise InputError(folder, "holds no task", "at least one task folder")
    if len(children) > limits.MAX_ITEMS:
        raise InputError(folder, f"{len(children):,} tasks", f"at most {limits.MAX_ITEMS:,}")
    seen: dict[str, str] = {}
    for child in children:
        if refused_name(child.name) or not child.is_dir() or child.is_symlink():
            raise InputError(
                child, "is no task folder", "one folder per task, nothing else", "delete it or move it out"
            )
        # A task's id is its folder's name, so ids can be the same only in a file system that tells case apart.
        same = seen.setdefault(child.name.casefold(), child.name)
        if same != child.name:
            raise InputError(child, f"the id of {same}, but for case", "unique ids", "rename one")
    shelf: dict[str, Entry] = {}
    return FrozenPack(pack, sorted((read_task(child, shelf) for child in children), key=lambda item: item.task.id))


def read_task(folder: Path, shelf: dict[str, Entry] | None = None) -> FrozenItem:
    """Read and validate one task folder. `shelf`: wheels that were read for other tasks, by path in the pack."""
    where = folder / "task.yaml"
    task = validate(Task, read_yaml(inside(folder, "task.yaml")), where)
    if task.id != folder.name:
        raise InputError(f"{where}: id", f"found {task.id}", f"the name of its folder, {folder.name}")
    _check_children(folder, task)
    statement_file = inside(folder, task.statement)
    statement = read_bytes(statement_file, limits.MAX_STATEMENT_BYTES, "the statement")
    if not decode(statement_file, statement).strip():
        raise InputError(statement_file, "is empty", "a statement that a person could work from")
    if task.prompt_sha256 not in (None, sha256(statement)):
        raise InputError(
            f"{where}: prompt_sha256",
            f"pins {task.prompt_sha256}",
            f"{sha256(statement)}, the statement's",
            "pin it anew",
        )
    tree = _workspace(folder, task.source)
    oracle = _part(folder, task.oracle.path)
    if not oracle:
        raise MissingInput(folder / task.oracle.path, "no oracle there", "a folder with the hidden tests")
    solution = _part(folder, "solution")
    if task.placebo and solution:
        raise InputError(folder / "solution", "a placebo with a solution", "an impossible oracle and no solution")
    wheels: list[Entry] = []
    if task.environment is not None:
        wheels = read_wheels(folder.parent.parent, task.environment, str(where), {} if shelf is None else shelf)
    return FrozenItem(task, statement, tree, oracle, solution, _wrong(folder), wheels)


def _workspace(folder: Path, source: Source) -> list[Entry]:
    if source.git is None:
        name = source.path or "workspace"
        tree = read_folder(inside(folder, name))
        check_tree(str(folder / name), tree)
    else:
        from stages.packs.gitsource import read_tag  # GitPython is slow to import

        where = f"{folder / 'task.yaml'}: source"
        tree = read_tag(source, folder, where)
        check_tree(where, tree, authored=False)
        if git_tree_id(tree) != source.tree:
            raise InputError(where, "a tree that holds more than files and folders with files", "an ordinary tree")
    if not tree:
        raise InputError(folder, "its workspace is empty", "at least one file")
    return tree


def _part(folder: Path, name: str) -> list[Entry]:
    path = inside(folder, name)
    if not path.exists():
        return []
    found = read_folder(path)
    check_tree(str(path), found)
    return found


def _wrong(folder: Path) -> dict[str, list[Entry]]:
    """Known-wrong solutions: an overlay in a folder of its own for each."""
    root = inside(folder, "wrong")
    result: dict[str, list[Entry]] = {}
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        try:
            check_id(path.name)
        except ValueError as error:
            raise InputError(path, "the name of a known-wrong solution", str(error), "rename it") from None
        result[path.name] = _part(folder, f"wrong/{path.name}")
    return result


def _check_children(folder: Path, task: Task) -> None:
    known = {"task.yaml", "solution", "wrong", *(p.split("/")[0] for p in (task.statement, task.oracle.path))}
    if task.source.git is None:
        known.add((task.source.path or "workspace").split("/")[0])
    for child in sorted(folder.iterdir()):
        if child.name not in known:
            raise InputError(child, "unknown in a task folder", ", ".join(sorted(known)), "delete it or move it out")
