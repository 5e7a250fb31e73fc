"""Pairs and exclusions of a study that was read from logs, by the same registered rules, column by column.

A rule asks for what the log has: a session field that no row has excludes no trial (the decision says that the evidence
is missing), one that other rows have is a failure where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from stages.contract import tables
from stages.contract.imported import Imported
from stages.contract.protocol import Envelope, Protocol
from stages.gate.evidence import ARMS
from stages.gate.exclude import Excluded
from stages.session import allowed_server

SESSION = ("server_id", "queue_ms", "retries", "quota_state", "route_changed")
THIN = "too_few_pairs"


def import_pairs(
    manifest: Imported,
    items: pd.DataFrame,
    trials: pd.DataFrame,
    ledger: pd.DataFrame,
    excluded: Sequence[tuple[str, str, str | None]],
    registered: Iterable[str] | None,
) -> tuple[pa.Table, list[dict[str, Any]]]:
    """(pairs table, exclusion rows). Every planned pair of a real item has a row.

    `excluded` are (item, rule, time) by the log itself; one that isn't registered is refused.
    """
    out = Excluded()
    gone = _by_log(manifest.protocol, excluded, registered, out)
    real = items[~items["placebo"]].sort_values("item_id", ignore_index=True)
    code = pd.Index(real["item_id"])
    merged = trials[["item_id", "arm", "repeat"]].assign(at=np.arange(len(trials)))
    merged["item"] = code.get_indexer(pd.Index(merged["item_id"]))
    merged = merged[merged["item"] >= 0]
    planned = _planned(merged, len(real), manifest.repeats)
    scored = ledger[["item_id", "arm", "repeat", "status", "passed", "late_pass"]].assign(
        item=code.get_indexer(pd.Index(ledger["item_id"]))
    )
    rules = _rules(trials, manifest.protocol, out)
    sides = {}
    for arm in ARMS:
        mine = scored[(scored["arm"] == arm) & (scored["item"] >= 0)]
        side = planned.merge(
            mine[["item", "repeat", "status", "passed", "late_pass"]], on=["item", "repeat"], how="left"
        )
        at = planned.merge(merged[merged["arm"] == arm][["item", "repeat", "at"]], on=["item", "repeat"], how="left")[
            "at"
        ]
        side["rule"] = _taken(rules, at)
        side.loc[side["status"].isna(), "rule"] = None
        sides[arm] = side
    item_rule = pd.Series({item: rule for item, rule in gone.items() if rule is not None}, dtype=object)
    whole = real["item_id"].iloc[planned["item"]].reset_index(drop=True)
    by_item = whole.map(item_rule).to_numpy(object) if len(item_rule) else None
    own = {arm: sides[arm]["rule"].to_numpy(object) for arm in ARMS}
    there = {arm: sides[arm]["status"].notna().to_numpy() for arm in ARMS}
    final = {arm: own[arm].copy() for arm in ARMS}
    for arm in ARMS:
        if by_item is not None:
            final[arm] = np.where(pd.notna(by_item) & there[arm], by_item, final[arm])
    for arm, other in (ARMS, ARMS[::-1]):
        partner = there[arm] & pd.isna(final[arm]) & (~there[other] | pd.notna(own[other]))
        _partners(out, whole, planned, arm, other, partner, own[other], there[other])
        final[arm] = np.where(partner, "pair_partner", final[arm])
    kept = there["candidate"] & there["control"] & pd.isna(final["candidate"]) & pd.isna(final["control"])
    _thin(out, whole, planned, kept, final)
    columns: dict[str, Any] = {
        "item_id": whole,
        "repeat": planned["repeat"],
        "stratum": real["stratum"].iloc[planned["item"]],
        "cluster": real["cluster"].iloc[planned["item"]],
        "first": pa.repeat(pa.scalar("none"), len(planned)),
        "kept": kept,
    }
    for arm in ARMS:
        status = sides[arm]["status"]
        outcome = sides[arm]["passed"].astype("Int64")
        columns[arm] = outcome.mask(final[arm] == "lost")
        columns[f"{arm}_status"] = status.fillna("missing")
        columns[f"{arm}_late"] = sides[arm]["late_pass"].eq(True)
        columns[f"{arm}_beside"] = np.zeros(len(planned), dtype=bool)
        columns[f"{arm}_rule"] = pd.Series(final[arm], dtype=object)
    made = [_array(columns[f.name], f) for f in tables.PAIRS]
    return pa.table(made, schema=tables.PAIRS), out.numbered()


def _array(values: Any, field: pa.Field) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    made = pa.array(values, from_pandas=True)
    return made.cast(field.type)


def _planned(merged: pd.DataFrame, items: int, repeats: int) -> pd.DataFrame:
    """(item, repeat) of every planned pair: the repeats that a log has of an item, filled up to what was planned."""
    seen = merged[["item", "repeat"]].drop_duplicates()
    counts = np.bincount(seen["item"], minlength=items)
    short = np.flatnonzero(counts < repeats)
    if len(short):
        held = seen[seen["item"].isin(short)].groupby("item")["repeat"].agg(set).to_dict()
        more = []
        for item in short.tolist():
            own = held.get(item, set())
            free = (r for r in range(len(own) + repeats) if r not in own)
            more += [(item, next(free)) for _ in range(repeats - len(own))]
        seen = pd.concat([seen, pd.DataFrame(more, columns=["item", "repeat"])])
    return seen.sort_values(["item", "repeat"], ignore_index=True)


def _by_log(
    protocol: Protocol,
    excluded: Sequence[tuple[str, str, str | None]],
    registered: Iterable[str] | None,
    out: Excluded,
) -> dict[str, str]:
    known = set(protocol.exclusion_rules) & (set(protocol.exclusion_rules) if registered is None else set(registered))
    gone: dict[str, str] = {}
    for item, rule, time in excluded:
        why = None if rule in known else "the rule wasn't registered"
        out.add(rule, "event", item, "as the log says", time=time, accepted=why is None, refused_why=why)
        if why is None:
            gone.setdefault(item, rule)
    return gone


def _rules(trials: pd.DataFrame, protocol: Protocol, out: Excluded) -> dict[int, str]:
    """Row number of a trial to the first registered rule that excludes it; each written down with what was found."""
    found: dict[int, tuple[str, str]] = {}
    scored = trials["ended"].notna().to_numpy()
    if "evidence" in trials:
        evident = (trials["evidence"].notna() & (trials["evidence"] != "asserted")).to_numpy() & scored
        for rule, which, said in _broken(trials, evident, protocol.envelope):
            if rule in protocol.exclusion_rules:
                new = np.asarray([at for at in np.flatnonzero(which & evident).tolist() if at not in found], dtype=int)
                rows = trials.iloc[new].to_dict("records")
                found |= {int(at): (rule, said(row)) for at, row in zip(new, rows, strict=True)}
    if "lost" in protocol.exclusion_rules:
        twice = (trials["attempts"] >= 2).fillna(False).to_numpy() if "attempts" in trials else False
        for at in np.flatnonzero((trials["ended"] == "lost").to_numpy() & ~np.asarray(twice)):
            found[int(at)] = ("lost", str(trials["reason"].iloc[int(at)] if "reason" in trials else "lost"))
    listed = list(found.items())
    known = trials.iloc[[at for at, _ in listed]].to_dict("records")
    for (_, (rule, evidence)), row in zip(listed, known, strict=True):
        time = row["started_at"] if isinstance(row.get("started_at"), str) else None
        out.add(rule, "trial", row["item_id"], evidence, arm=row["arm"], repeat=int(row["repeat"]), time=time)
    return {at: rule for at, (rule, _) in found.items()}


def _broken(trials: pd.DataFrame, evident: Any, envelope: Envelope) -> Iterable[tuple[str, Any, Any]]:
    """(rule, rows that break it, what to say of a row), in the order in which rules are asked."""

    def flags(found: pd.Series) -> Any:
        return found.fillna(False).to_numpy(bool)

    held = [name for name in SESSION if name in trials and (trials[name].notna().to_numpy() & evident).any()]
    if held:
        lacking = trials[held].isna().any(axis=1).to_numpy()
        yield "stamp_unavailable", lacking, lambda row: f"{next(n for n in held if pd.isna(row[n]))} isn't in the log"
    if "server_id" in trials:
        servers = {s: not allowed_server(s, envelope.servers) for s in trials["server_id"].dropna().unique()}
        wrong = flags(trials["server_id"].map(servers).astype("boolean"))
        yield "foreign_server", wrong, lambda row: f"server_id {row['server_id']}"[:300]
    if "queue_ms" in trials:
        most = envelope.max_queue_ms
        yield (
            "queue_delay",
            flags(trials["queue_ms"] > most),
            lambda row: f"queue_ms {row['queue_ms']:g}, at most {most}",
        )
    if "retries" in trials:
        limit = envelope.max_retries
        yield "retries", flags(trials["retries"] > limit), lambda row: f"retries {row['retries']:g}, at most {limit}"
    if "quota_state" in trials:
        quota = trials["quota_state"]
        outside = (quota.notna() & ~quota.isin(envelope.quota_states)).to_numpy()
        yield "quota_state", outside, lambda row: f"quota_state {row['quota_state']}"
    if not envelope.allow_route_change:
        yield "route_change", _rerouted(trials, envelope), _route


def _rerouted(trials: pd.DataFrame, envelope: Envelope) -> Any:
    """Whether the log says that the route changed, or another model served than was asked for, without an alias."""
    changed = np.zeros(len(trials), dtype=bool)
    if "route_changed" in trials:
        changed |= trials["route_changed"].eq(True).fillna(False).to_numpy(bool)
    if "requested_model" in trials and "served_model" in trials:
        pairs = zip(trials["requested_model"], trials["served_model"], strict=True)
        changed |= np.fromiter(
            (isinstance(a, str) and isinstance(s, str) and a != s and envelope.aliases.get(a) != s for a, s in pairs),
            dtype=bool,
            count=len(trials),
        )
    return changed


def _route(row: Any) -> str:
    if isinstance(row.get("route_what"), str):
        return str(row["route_what"])[:300]
    if isinstance(row.get("requested_model"), str) and row["requested_model"] != row.get("served_model"):
        return f"asked for {row['requested_model']}, served {row['served_model']}"[:300]
    return "the log says that the route changed"


def _taken(rules: dict[int, str], at: pd.Series) -> Any:
    made = np.full(len(at), None, dtype=object)
    if rules:
        made[:] = at.map(rules).to_numpy(object)
        made[pd.isna(made)] = None
    return made


def _partners(
    out: Excluded,
    whole: pd.Series,
    planned: pd.DataFrame,
    arm: str,
    other: str,
    partner: Any,
    rules: Any,
    there: Any,
) -> None:
    where = np.flatnonzero(partner)
    names, repeats = whole.iloc[where].tolist(), planned["repeat"].iloc[where].tolist()
    for at, name, repeat in zip(where, names, repeats, strict=True):
        what = f"was excluded by {rules[at]}" if there[at] else "is missing"
        out.add("pair_partner", "pair", name, f"{other} {what}", arm=arm, repeat=int(repeat))


def _thin(out: Excluded, whole: pd.Series, planned: pd.DataFrame, kept: Any, final: Any) -> None:
    """An item with fewer than half of its pairs kept is dropped whole, by a rule of its own."""
    items = planned["item"].to_numpy()
    counts = np.bincount(items[kept], minlength=int(items.max(initial=-1)) + 1)
    sizes = np.bincount(items, minlength=len(counts))
    thin = (counts > 0) & (counts < (sizes + 1) // 2)
    for item in np.flatnonzero(thin):
        at = int(np.flatnonzero(items == item)[0])
        out.add(THIN, "item", str(whole.iloc[at]), f"{counts[item]} of {sizes[item]} pairs kept")
    gone = thin[items] & kept
    kept &= ~gone
    for arm in ARMS:
        final[arm][gone] = THIN
