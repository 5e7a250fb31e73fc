"""The trial-budget article's two files: `task_pack.json`, which is frozen, and `outcomes.json`, which names its hash.

What comes out: a trial per outcome, items in the pack's order, strata and placebos as the pack has them; the pack's
plan; the log's exclusions. A trial is true (passed), false (failed) or null (no outcome). No errors, timeouts, times
or sessions stand in these files.

Refused here (InputError): files that aren't of this form, outcomes of another pack, outcomes of items that no pack
has. Left to our gate, since it has reasons for them: a placebo that passed, an exclusion that wasn't registered,
trials that are missing or beyond the budget. `legacy.trial_budget` is the article's object, or what it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stages.contract import limits
from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.text import kind, parse_json, read_bytes
from stages.ingest.lines import peek
from stages.ingest.model import Format, Notes, Options, Planned, Reading, Rows
from stages.ingest.trial_budget_rule import RULES, object_of

PACK, OUTCOMES = "a task pack (task_pack.json)", "the outcomes of a pack (outcomes.json)"
ARMS = ("candidate", "control")
FIELDS = ("pack_id", "trial_budget", "strata", "items", "exclusion_rules")
_MOST_TRIALS = 10_000_000
_LONGEST = 1000


def sniff(path: Path) -> bool:
    """Whether a file has the keys of a pack, or of the outcomes of one."""
    head = peek(path)
    return head.lstrip()[:1] == b"{" and (
        all(f'"{name}"'.encode() in head for name in ("pack_id", "trial_budget"))
        or all(mark in head for mark in (b'"manifest_sha256"', b'"candidate"', b'"control"', b'"items"'))
    )


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:  # noqa: ARG001
    """Both arms of a pack and its outcomes, given in either order. Raises InputError."""
    if len(paths) != 2:
        raise InputError("trial-budget", f"{len(paths)} files", "two: task_pack.json and outcomes.json")
    data = [read_bytes(path, limits.MAX_JSON_BYTES, "a JSON file") for path in paths]
    held = [parse_json(path, each) for path, each in zip(paths, data, strict=True)]
    first, second = (1, 0) if isinstance(held[0], dict) and "manifest_sha256" in held[0] else (0, 1)
    pack = _pack(paths[first], held[first])
    outcomes, excluded = _outcomes(paths[second], held[second], pack, sha256(data[first]))
    rows, unscored = Rows(), []
    places = {name: place for place, name in enumerate(outcomes, 1)}
    for item in pack["items"]:
        arms = outcomes.get(item["id"], {})
        for arm in ARMS:
            for repeat, passed in enumerate(arms.get(arm, ()), 1):
                if passed is None:
                    unscored.append(item["id"])
                rows.add(
                    item_id=item["id"],
                    stratum=item["stratum"],
                    placebo=item["placebo"],
                    arm=arm,
                    repeat=repeat,
                    status=None if passed is None else "passed" if passed else "failed",
                    reason="the log has null for its outcome" if passed is None else None,
                    source=second,
                    line=places[item["id"]],
                )
    if unscored:
        notes.add("not_scored", paths[second].name, f"{len(unscored)} trials are null", len(unscored), unscored)
    planned = Planned({item["id"]: (item["stratum"], item["placebo"]) for item in pack["items"]}, pack["trial_budget"])
    said = object_of(pack, sha256(data[first]), outcomes, [rule for _, rule, _ in excluded])
    registered = [rule for rule in pack["exclusion_rules"] if rule in RULES]
    return Reading(
        rows.table(), planned=planned, excluded=excluded, registered=registered, legacy={"trial_budget": said}
    )


def _pack(path: Path, value: Any) -> dict[str, Any]:
    """The pack with each item's id, stratum and placebo. Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(path, f"holds {kind(value)} at the top", PACK)
    missing = [name for name in FIELDS if name not in value]
    if missing:
        raise InputError(path, f"lacks {', '.join(missing)}", f"{PACK} with {', '.join(FIELDS)}")
    budget = value["trial_budget"]
    if not isinstance(budget, int) or isinstance(budget, bool) or not 1 <= budget <= limits.MAX_TRIAL_BUDGET:
        most = f"a whole number from 1 to {limits.MAX_TRIAL_BUDGET}, frozen before the first trial"
        raise InputError(f"{path}: trial_budget", f"found {budget!r}", most)
    texts = {name: _texts(f"{path}: {name}", value[name]) for name in ("strata", "exclusion_rules")}
    items = value["items"]
    if not isinstance(items, list) or not 1 <= len(items) <= limits.MAX_ITEMS:
        raise InputError(f"{path}: items", "no list of items", f"1 to {limits.MAX_ITEMS:,} items")
    if len(items) * budget > _MOST_TRIALS:
        raise InputError(f"{path}: items", f"{len(items):,} items of {budget} trials", f"{_MOST_TRIALS:,} at most")
    found: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(items, 1):
        where = f"{path}: item {number}"
        if not isinstance(item, dict):
            raise InputError(where, kind(item), "an object with id and stratum")
        name, stratum = (_text(f"{where}: {key}", item.get(key)) for key in ("id", "stratum"))
        placebo = item.get("placebo", False)
        if not isinstance(placebo, bool):
            raise InputError(f"{where}: placebo", f"found {placebo!r}", "true or false")
        if name in found:
            raise InputError(where, f"the id {name} a second time", "each id once", "give each item its own id")
        if stratum not in texts["strata"]:
            raise InputError(
                f"{where}: stratum", f"found {stratum}", f"one of the pack's: {', '.join(texts['strata'])}"
            )
        found[name] = {"id": name, "stratum": stratum, "placebo": placebo}
    name = _text(f"{path}: pack_id", value["pack_id"])
    return {"pack_id": name, "trial_budget": budget, "items": list(found.values()), **texts}


def _outcomes(
    path: Path, value: Any, pack: Mapping[str, Any], digest: str
) -> tuple[dict[str, dict[str, list[bool | None]]], list[tuple[str, str, str | None]]]:
    """Outcomes by item and arm, and the exclusions (item, rule, time). Raises InputError."""
    if not isinstance(value, dict):
        raise InputError(path, f"holds {kind(value)} at the top", OUTCOMES)
    if value.get("manifest_sha256") != digest:
        asked = f"{digest}, the pack's sha256"
        raise InputError(
            f"{path}: manifest_sha256",
            f"found {value.get('manifest_sha256')!r}",
            asked,
            "these files don't belong together",
        )
    items = value.get("items")
    if not isinstance(items, dict):
        raise InputError(f"{path}: items", kind(items), "an object of items, each with its arms")
    known = {item["id"] for item in pack["items"]}
    for name, arms in items.items():
        where = f"{path}: items.{name}"
        if name not in known:
            raise InputError(where, "an item that the pack doesn't have", "the pack's own items")
        if not isinstance(arms, dict) or set(arms) != set(ARMS):
            raise InputError(
                where, kind(arms) if not isinstance(arms, dict) else f"arms {sorted(arms)}", f"arms {', '.join(ARMS)}"
            )
        for arm in ARMS:
            trials = arms[arm]
            if not isinstance(trials, list) or any(not isinstance(one, bool | None) for one in trials):
                raise InputError(f"{where}.{arm}", "other values than true, false, null", "a list of outcomes")
    events = value.get("exclusions", [])
    if not isinstance(events, list):
        raise InputError(f"{path}: exclusions", kind(events), "a list")
    return items, [_event(f"{path}: exclusion {i}", event, known) for i, event in enumerate(events, 1)]


def _event(where: str, event: Any, known: set[str]) -> tuple[str, str, str | None]:
    if not isinstance(event, dict):
        raise InputError(where, kind(event), "an object with rule_id, item_id and timestamp")
    rule = _text(f"{where}: rule_id", event.get("rule_id"))
    item = _text(f"{where}: item_id", event.get("item_id", event.get("item")))
    if item not in known:
        raise InputError(f"{where}: item_id", f"found {item}, which the pack doesn't have", "one of the pack's items")
    at = event.get("timestamp", event.get("time"))
    if at is None:
        return item, rule, None
    try:
        moment = datetime.fromisoformat(at)
        stamped = moment.astimezone(UTC).isoformat(timespec="milliseconds") if moment.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: timestamp", f"found {at!r}", "a time such as 2026-01-31T12:00:00Z") from None
    return item, rule, stamped and stamped.replace("+00:00", "Z")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST:
        raise InputError(where, f"found {value!r}", f"one line of 1 to {_LONGEST} characters")
    return value


def _texts(where: str, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise InputError(where, kind(value), "a list of names")
    return [_text(where, one) for one in value]


FORMAT = Format("trial-budget", sniff, read, both_arms=True)
