"""The session over the campaign: whether it drifted, and what the arms sent."""

from __future__ import annotations

from typing import Any

from stages.render.cells import code, number, table, text

LOCAL = "Every attempt was a local program without a provider: no session that could drift.\n"
OTHER = "Every attempt of the other arm was a local program without a provider: no session that could drift.\n"
HEAD = [
    "third, started",
    "queue [ms] median, most: candidate",
    "control",
    "control passes",
    "excluded: candidate",
    "control",
]


def session_section(d: dict[str, Any]) -> str:
    """A row per third of the campaign, then what was sent otherwise than declared; a line where all was local."""
    session = d.get("session")
    replayed = "".join(_replayed(arm, d[arm]) for arm in ("candidate", "control"))
    if session is None:
        both = "replayed" in d["candidate"] and "replayed" in d["control"]
        return f"## Session\n\n{replayed}{'' if both else LOCAL if not replayed else OTHER}"
    rows: list[list[object]] = []
    for part in session["parts"]:
        one, two = part["candidate"], part["control"]
        passes = f"of {two['scored']}" if two["passes"] is None else f"{two['passes']} of {two['scored']}"
        span = f"{text(part['started_first'])} to {text(part['started_last'])}"
        rows.append([span, _delay(one), _delay(two), passes, _rules(one), _rules(two)])
    return f"## Session\n\n{replayed}{table(HEAD, rows)}\n{_sent(d['arms'] or {})}"


def _replayed(arm: str, runner: dict[str, Any]) -> str:
    if "replayed" not in runner:
        return ""
    file = runner["replayed"]
    return (
        f"The trials of {arm} were **replayed** from {code(file['patches'])} (sha256 {code(file['sha256'][:16])}): no "
        "agent ran, nobody saw its session, and its times are those of applying a patch.\n\n"
    )


def _delay(arm: dict[str, Any]) -> str:
    return f"{number(arm['queue_ms_median'], ',.0f')}, {number(arm['queue_ms_max'], ',.0f')}"


def _rules(arm: dict[str, Any]) -> str:
    return ", ".join(f"{code(rule)} {count}" for rule, count in arm["excluded"].items()) or "none"


def _sent(arms: dict[str, Any]) -> str:
    """A line of each arm that sent requests: what it asked for, what that cost; and one per difference."""
    lines = []
    for name, arm in arms.items():
        if "model_sent" not in arm:
            continue
        sent = [f"{field} {_values(arm[f'{field}_sent'])}" for field in ("model", "temperature", "seed")]
        tokens, cost = arm["tokens"], arm["cost"]
        sent.append(f"tokens {tokens['input']} in, {tokens['output']} out" if tokens else "tokens unknown")
        sent[-1] += "" if tokens else f" ({text(arm['tokens_why'])})"
        sent.append(f"cost {cost:g} USD" if cost is not None else f"cost unknown ({text(arm['cost_why'])})")
        lines.append(f"- {name} sent: {'; '.join(sent)}.\n")
        lines += [f"- **{name} differs from what it declares**: {text(said, 700)}.\n" for said in arm["sent_differs"]]
    return "".join(lines)


def _values(values: list[str] | None) -> str:
    shown = values or ["unknown"]
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return text(", ".join(shown[:5]), 300) + more
