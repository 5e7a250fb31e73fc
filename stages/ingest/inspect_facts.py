"""What the header of an Inspect log says of its arm and its plan. No prompt, address or key of it is copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from stages.contract.errors import InputError
from stages.ingest.inspect_text import clean, count, label, listed, mapping, name, settings, text

MAX_PLANNED = 10_000_000
VERSIONS = (2, 3)  # of the log's format
_LIMITS = ("time_limit", "working_limit", "message_limit", "token_limit", "turn_limit", "cost_limit")
_EFFORT = ("retry_on_error", "fail_on_error", "continue_on_fail", "score_on_error")
_MAX_FACT = 1_000


@dataclass(frozen=True)
class Head:
    """A header that was read. `planned`: ids of the data set as the log lists them, None where it doesn't."""

    status: str
    task: str
    model: str | None
    served_by: str | None
    epochs: int
    planned: tuple[str, ...] | None
    facts: Mapping[str, str]
    reducer: str | None

    @property
    def trials(self) -> int | None:
        """How many samples were planned, epochs and all."""
        return None if self.planned is None else len(set(self.planned)) * self.epochs


def head_of(header: Mapping[str, Any], retuned: bool, where: object) -> Head:
    """What a header says. Raises InputError."""
    version = header.get("version")
    if isinstance(version, bool) or version not in VERSIONS:
        raise InputError(f"{where}: version", f"{version!r:.40}", "2 or 3", "rewrite it with `inspect log convert`")
    spec = mapping(header.get("eval"), f"{where}: eval")
    config = mapping(spec.get("config"), f"{where}: eval: config")
    dataset = mapping(spec.get("dataset"), f"{where}: eval: dataset")
    task = name(spec.get("task"), f"{where}: eval: task")
    model = label(spec.get("model"), f"{where}: eval: model")
    epochs = count(config.get("epochs"), f"{where}: eval: config: epochs", 1) or 1
    place = f"{where}: eval: dataset: sample_ids"
    ids = dataset.get("sample_ids")
    planned = None if ids is None else tuple(name(one, place) for one in listed(ids, place))
    if epochs * max(len(planned or ()), 1) > MAX_PLANNED:
        raise InputError(f"{where}: eval", f"{epochs:,} epochs of {len(planned or ()):,} samples", f"{MAX_PLANNED:,}")
    reducers = listed(config.get("epochs_reducer"), f"{where}: eval: config: epochs_reducer")
    return Head(
        label(header.get("status"), f"{where}: status") or "started",
        task,
        model,
        _served_by(spec, model, where),
        epochs,
        planned,
        _facts(header, spec, config, task, model, retuned, where),
        clean(str(reducers[0]), 40) if len(reducers) == 1 else None if not reducers else "several",
    )


def _facts(
    header: Mapping[str, Any],
    spec: Mapping[str, Any],
    config: Mapping[str, Any],
    task: str,
    model: str | None,
    retuned: bool,
    where: object,
) -> dict[str, str]:
    plan = mapping(header.get("plan"), f"{where}: plan")
    generate = {
        **mapping(spec.get("model_generate_config"), f"{where}: eval: model_generate_config"),
        **mapping(plan.get("config"), f"{where}: plan: config"),
    }
    solver = _solver(spec, plan, where)
    asked = {**generate, **mapping(spec.get("model_args"), f"{where}: eval: model_args")}
    arguments = settings({key: value for key, value in asked.items() if key != "max_connections"})
    temperature = generate.get("temperature")
    limits = " ".join(f"{key}={config[key]!r:.40}" for key in _LIMITS if _number(config.get(key)))
    effort = settings({key: config[key] for key in _EFFORT if config.get(key) is not None})
    made = {
        "name": f"{solver} with {model}" if solver and model else solver or model,
        "version": _revision(spec, where),
        "harness": " ".join(x for x in (_packages(spec, where), effort) if x),
        "oracle": _oracle(spec, task, where),
        "tools": _tools(spec, plan),
        "time_budget": (limits or "no limit") + (", changed during the run" if retuned else ""),
        "model": f"{model} ({arguments})" if model and arguments else model,
        "temperature": f"{temperature!r:.40}" if _number(temperature) else None,
        "run": label(spec.get("eval_id") or spec.get("task_id") or spec.get("run_id"), f"{where}: eval: eval_id"),
    }
    return {key: value[:_MAX_FACT] for key, value in made.items() if value}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _solver(spec: Mapping[str, Any], plan: Mapping[str, Any], where: object) -> str | None:
    """The solver or agent by name; else the steps of the plan. Arguments may be prompts, and stay."""
    own = label(spec.get("solver"), f"{where}: eval: solver")
    steps = listed(plan.get("steps"), f"{where}: plan: steps")
    names = [label(mapping(s, f"{where}: plan").get("solver"), f"{where}: plan: solver") or "?" for s in steps[:20]]
    return own or " > ".join(names) or None


def _revision(spec: Mapping[str, Any], where: object) -> str | None:
    """The commit of the code that ran; its origin may hold a key, and stays."""
    revision = mapping(spec.get("revision"), f"{where}: eval: revision")
    commit = revision.get("commit")
    if not isinstance(commit, str) or not commit.isalnum() or len(commit) > 64:
        return None
    return f"commit {commit}{' and uncommitted changes' if revision.get('dirty') is True else ''}"


def _packages(spec: Mapping[str, Any], where: object) -> str:
    packages = mapping(spec.get("packages"), f"{where}: eval: packages")
    return " ".join(clean(f"{key} {packages[key]}", 80) for key in sorted(packages) if isinstance(packages[key], str))


def _oracle(spec: Mapping[str, Any], task: str, where: object) -> str:
    scorers = [
        mapping(one, f"{where}: eval: scorers") for one in listed(spec.get("scorers"), f"{where}: eval: scorers")
    ]
    names = ", ".join(label(one.get("name"), f"{where}: eval: scorers: name") or "?" for one in scorers[:20])
    version = spec.get("task_version", 0)
    said = f"{version}" if _number(version) else clean(version, 60) if isinstance(version, str) else "?"
    return f"task {task} version {said}" + (f", scored by {names}" if names else "")


def _tools(spec: Mapping[str, Any], plan: Mapping[str, Any]) -> str | None:
    """Tools that the plan lists, and the kind of the sandbox; None where the log names neither."""
    sandbox = spec.get("sandbox")
    kind = sandbox.get("type") if isinstance(sandbox, dict) else sandbox
    names = sorted({clean(found, 60) for found in _named_tools(plan.get("steps"))})
    box = [f"sandbox {clean(kind, 60)}"] if isinstance(kind, str) else []
    return ", ".join([*names, *box]) or None


def _named_tools(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if one.get("type") == "tool" and isinstance(one.get("name"), str):
                yield one["name"]
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def _served_by(spec: Mapping[str, Any], model: str | None, where: object) -> str | None:
    """Provider, as the model's name has it, and the host and port that were asked."""
    provider = model.split("/")[0] if model and "/" in model else None
    address = text(spec.get("model_base_url"), f"{where}: eval: model_base_url")
    try:
        parts = urlsplit(address or "")
        host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        host = None
    return " at ".join(x for x in (provider, clean(host) if host else None) if x) or None


def merged(facts: list[Mapping[str, str]]) -> dict[str, str]:
    """Facts of several logs of one arm: one text where they agree, else all of them in order."""
    keys = dict.fromkeys(key for one in facts for key in one)
    return {key: " | ".join(dict.fromkeys(one.get(key, "?") for one in facts))[:_MAX_FACT] for key in keys}
