"""The design that is planned or calibrated: a study's own, or sizes from the command line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout, limits
from stages.contract.design import check_design, merged, shortfalls, summary_sizes, weights
from stages.contract.errors import InputError, MissingInput, UsageError
from stages.contract.protocol import Params, Protocol
from stages.contract.study import read_manifest, read_params, read_plan
from stages.contract.task import Task
from stages.contract.types import check_id, validate
from stages.contract.yamlfile import read_yaml

if TYPE_CHECKING:
    from stages.stats import Layout, Scheme

MOST_LOOKS = 1_000
MOST_STRATA = 1_000


@dataclass(frozen=True)
class Asked:
    """A design: where it comes from, protocol, items per label, stratum and cluster of each item, and the look.

    `cannot` says in a line each why it can't publish whatever its outcomes are.
    """

    source: str
    protocol: Protocol
    sizes: dict[str, int]
    items: Layout
    look: int
    cannot: list[str]

    @property
    def clustered(self) -> bool:
        """Whether any item lies in a cluster."""
        return any(cluster is not None for cluster in self.items.clusters)


def whole(option: str, value: int, low: int, high: int) -> int:
    """A whole number of the command line. Raises UsageError outside of its bounds."""
    if not low <= value <= high:
        raise UsageError(option, value, f"a whole number from {low:,} to {high:,}")
    return value


def real(option: str, value: float, low: float, high: float, *, ends: bool = True) -> float:
    """A number of the command line. Raises UsageError outside of its bounds; the ends may be out of bounds too."""
    if not (low <= value <= high if ends else low < value < high):
        raise UsageError(
            option, value, f"a number {'from' if ends else 'between'} {low:g} {'to' if ends else 'and'} {high:g}"
        )
    return value


def ask(root: Path, sizes: Sequence[str], repeats: int | None, clusters: int | None, look: int) -> Asked:
    """The design of the study in `root`, or of `NAME=N` sizes under its protocol (the default one without a study).

    `repeats` and `clusters` (items per cluster) replace what the study has. Raises UsageError, InputError
    or MissingInput.
    """
    from stages.stats import layout_of

    whole("--look", look, 1, MOST_LOOKS)
    if clusters is not None:
        whole("--clusters", clusters, 1, limits.MAX_ITEMS)
    given = _sizes(sizes)
    if given and not (root / layout.PARAMS).is_file():
        protocol, source = Protocol(), "the default protocol"
    else:
        params = read_params(root)
        protocol, source = params.protocol, str(layout.PARAMS)
    if repeats is not None:
        protocol = protocol.model_copy(update={"trial_budget": whole("--repeats", repeats, 1, limits.MAX_TRIAL_BUDGET)})
    placebos = {"": 1}  # those of a pack to come aren't known
    if given:
        items, source = layout_of(given, clusters or 1), f"--size and {source}"
    else:
        items, placebos = _pack(root, params)
        given = dict(sorted(Counter(items.strata).items()))
        source = f"{source} and its pack"
        if clusters is not None:
            items = layout_of(given, clusters)
    check_design(protocol, given, "--size" if sizes else layout.PARAMS)
    return Asked(source, protocol, given, items, look, _cannot(protocol, given, placebos))


def scheme_of(asked: Asked) -> Scheme:
    """The registered rule and the design's labels, for the normal model."""
    from stages.stats import Label, Scheme, alpha_spent

    protocol, labels = asked.protocol, []
    inside = summary_sizes(protocol, asked.sizes)
    members: dict[str, Counter[str | None]] = {name: Counter() for name in asked.sizes}
    for stratum, cluster in zip(asked.items.strata, asked.items.clusters, strict=True):
        members[stratum][cluster] += 1
    for name, size in asked.sizes.items():
        if merged(protocol, name) not in inside:
            continue
        alone = members[name].pop(None, 0)
        crowd = (alone + math.fsum(m * m for m in members[name].values())) / size
        labels.append(Label(merged(protocol, name), size, alone + len(members[name]), crowd))
    return Scheme(
        labels=tuple(labels),
        weights=weights(protocol, asked.sizes),
        alpha=alpha_spent(protocol.alpha, asked.look, protocol.family),
        minimum=float(protocol.min_detectable_effect),
        margin=None if protocol.margin is None else float(protocol.margin),
    )


def _sizes(sizes: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in sizes:
        name, equals, count = text.rpartition("=")
        try:
            check_id(name)
        except ValueError:
            equals = ""
        if not equals or not (count.isascii() and count.isdigit()) or len(count) > 9 or not int(count):
            raise UsageError("--size", repr(text), "NAME=N, such as repair=40, with N of at least 1")
        if name in found:
            raise UsageError("--size", f"{name} twice", "each stratum once")
        found[name] = int(count)
    if sum(found.values()) > limits.MAX_ITEMS or len(found) > MOST_STRATA:
        said = f"{sum(found.values()):,} items in {len(found):,} strata"
        raise UsageError("--size", said, f"at most {limits.MAX_ITEMS:,} items in {MOST_STRATA:,} strata")
    return found


def _pack(root: Path, params: Params) -> tuple[Layout, dict[str, int]]:
    """Stratum and cluster of the pack's items, from their task.yaml alone, and placebos per stratum.

    Where the pack isn't there (a study that was sent), the frozen plan says the same.
    """
    from stages.stats import Layout

    folder = root / params.pack.path / "tasks"
    if folder.is_dir():
        tasks = [_task(path) for path in sorted(folder.iterdir()) if path.is_dir()]
        rows = [(t.stratum, t.cluster, t.placebo) for t in tasks]
    elif (root / layout.PLAN).is_file():
        if read_manifest(root).protocol != params.protocol:
            raise InputError(
                layout.MANIFEST, "another protocol than in params.yaml", "the pack, or the frozen protocol"
            )
        rows = [(i.stratum, i.cluster, i.placebo) for i in read_plan(root).items]
    else:
        raise MissingInput(
            folder, "isn't there", "a folder with one folder per task", "or say the sizes: --size NAME=N"
        )
    real_items = sorted((stratum, cluster or "") for stratum, cluster, placebo in rows if not placebo)
    if not real_items:
        raise InputError(folder, "no task but placebos", "at least one item", "or say the sizes: --size NAME=N")
    made = Layout(tuple(s for s, _ in real_items), tuple(c or None for _, c in real_items))
    return made, dict(Counter(stratum for stratum, _, placebo in rows if placebo))


def _task(folder: Path) -> Task:
    return validate(Task, read_yaml(folder / "task.yaml"), folder / "task.yaml")


def _cannot(protocol: Protocol, sizes: dict[str, int], placebos: dict[str, int]) -> list[str]:
    from stages.gate.floors import below_floor

    return [
        *shortfalls(protocol, sizes, placebos),
        *(f"protocol below the floor: {line}" for line in below_floor(protocol)),
    ]
