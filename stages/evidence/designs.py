"""The design that is planned or calibrated: a study's own, or sizes from the command line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout, limits
from stages.contract.design import check_design, merged, shortfalls, summary_sizes, weights
from stages.contract.errors import InputError, MissingInput, UsageError
from stages.contract.predictions import digested
from stages.contract.protocol import Params, Protocol
from stages.contract.study import read_manifest, read_params, read_plan
from stages.contract.task import Pack, Task
from stages.contract.text import read_json
from stages.contract.types import check_id, validate
from stages.contract.yamlfile import read_yaml

if TYPE_CHECKING:
    from stages.stats import Layout, Scheme

MOST_LOOKS = 1_000
MOST_STRATA = 1_000


@dataclass(frozen=True)
class Asked:
    """A design: where it comes from, protocol, items per label, stratum and cluster of each item, and the look.

    `look_why` says where the look is from, `cannot` in a line each why the design can't publish whatever its outcomes.
    """

    source: str
    protocol: Protocol
    sizes: dict[str, int]
    items: Layout
    look: int
    look_why: str
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


def ask(root: Path, sizes: Sequence[str], repeats: int | None, cluster_size: int | None, look: int | None) -> Asked:
    """The design of the study in `root`, or of `NAME=N` sizes under its protocol (the default one without a study).

    `repeats`, `cluster_size` (items per cluster) and `look` replace what the study has. Raises UsageError, InputError
    or MissingInput.
    """
    from stages.stats import layout_of

    if look is not None:
        whole("--look", look, 1, MOST_LOOKS)
    if cluster_size is not None:
        whole("--cluster-size", cluster_size, 1, limits.MAX_ITEMS)
    given = _sizes(sizes)
    params = None if given and not (root / layout.PARAMS).is_file() else read_params(root)
    protocol, source = Protocol(), "the default protocol"
    if params is not None:
        protocol, source = params.protocol, str(layout.PARAMS)
    if repeats is not None:
        protocol = protocol.model_copy(update={"trial_budget": whole("--repeats", repeats, 1, limits.MAX_TRIAL_BUDGET)})
    placebos = {"": 1}  # those of a pack to come aren't known
    own = params is not None and not given and cluster_size is None and protocol == params.protocol
    if given:
        items, source = layout_of(given, cluster_size or 1), f"--size and {source}"
    else:
        assert params is not None
        items, placebos = _pack(root, params)
        given = dict(sorted(Counter(items.strata).items()))
        source = f"{source} and its pack"
        if cluster_size is not None:
            items = layout_of(given, cluster_size)
    check_design(protocol, given, "--size" if sizes else layout.PARAMS)
    units = _units(protocol, given, items)
    for name, count in units.items():
        if cluster_size is not None and cluster_size > 1 and count < 2:
            size = summary_sizes(protocol, given)[name]
            raise UsageError(
                "--cluster-size",
                f"{cluster_size:,}, which leaves stratum {name} of {many(size, 'item')} a single cluster",
                f"at most {max(size - 1, 1):,}, for two clusters or more",
            )
    if look is not None:
        number, why = look, "as --look says"
    else:
        number, why = (1, "the first, for a pack to come") if params is None or sizes else _look(root, params, own)
    return Asked(source, protocol, given, items, number, why, _cannot(protocol, given, placebos, units, number))


def many(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


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
        stratum_floor=protocol.min_stratum_items,
        floor=protocol.min_kept_items,
        proportional=protocol.strata_weights == "proportional",
    )


def names_of(asked: Asked) -> list[str]:
    """The label of each of the scheme's places."""
    inside = summary_sizes(asked.protocol, asked.sizes)
    return [name for name in asked.sizes if merged(asked.protocol, name) in inside]


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


def _units(protocol: Protocol, sizes: dict[str, int], items: Layout) -> dict[str, int]:
    """Units (clusters, or items without one) per stratum of the summary."""
    found: dict[str, set[object]] = {name: set() for name in summary_sizes(protocol, sizes)}
    for number, (label, cluster) in enumerate(zip(items.strata, items.clusters, strict=True)):
        if merged(protocol, label) in found:
            found[merged(protocol, label)].add(number if cluster is None else cluster)
    return {name: len(units) for name, units in found.items()}


def _cannot(
    protocol: Protocol, sizes: dict[str, int], placebos: dict[str, int], units: dict[str, int], look: int
) -> list[str]:
    from stages.gate.floors import below_floor
    from stages.stats import alpha_spent

    alone = [name for name, count in units.items() if count < 2]
    found = [
        *shortfalls(protocol, sizes, placebos),
        *(f"stratum {name} is a single unit, which shows no variance" for name in alone),
        *(f"protocol below the floor: {line}" for line in below_floor(protocol)),
    ]
    total, alpha = sum(units.values()), alpha_spent(protocol.alpha, look, protocol.family)
    if 2 * Fraction(1, 2**total) > alpha:
        least = f"{many(total, 'unit')}: the sign-flip test can't go below {2.0 ** (1 - total):.3g}"
        found.append(f"{least}, and alpha is {float(alpha):.3g}")
    return found


def _look(root: Path, params: Params, own: bool) -> tuple[int, str]:
    """The look that a campaign of this study would be, by the record of its last one, and why.

    `own` says that the design is the study's as its files have it. Raises InputError for a record that isn't one.
    """
    path = root / layout.CAMPAIGN
    if not path.is_file():
        return 1, f"no {layout.CAMPAIGN} yet"
    found = read_json(path)
    names = ("plan_sha256", "pack_id", "control", "candidate")
    look = found.get("look") if isinstance(found, dict) else None
    if not isinstance(look, int) or not 1 <= look < MOST_LOOKS or not all(isinstance(found.get(n), str) for n in names):
        raise InputError(layout.CAMPAIGN, "not the record of a campaign", "look, plan, pack and arms", "or say --look")
    if (found["control"], found["candidate"]) != (params.arms.control.name, params.arms.candidate.name):
        return 1, f"{layout.CAMPAIGN} is of other arms"
    frozen = read_plan(root) if (root / layout.PLAN).is_file() else None
    described = root / params.pack.path / "pack.yaml"
    pack = frozen.pack_id if frozen is not None else None
    if described.is_file():
        pack = validate(Pack, read_yaml(described), described).id
    if pack is not None and pack != found["pack_id"]:
        return 1, f"{layout.CAMPAIGN} is of another pack"
    same = frozen is not None and frozen.sha256() == found["plan_sha256"]
    if same and frozen is not None:
        same = frozen.arms == digested(root, params, (item.item_id for item in frozen.items)).arms
    if own and same and read_manifest(root).protocol == params.protocol:
        return look, f"that of {layout.CAMPAIGN}, whose plan this is"
    return look + 1, f"{layout.CAMPAIGN} of these arms was look {look}"
