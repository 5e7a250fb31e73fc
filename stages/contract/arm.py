"""The two arms: named, version-pinned runners, and how their trials are ordered."""

from __future__ import annotations

import difflib
import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from stages.contract.digest import canonical, sha256
from stages.contract.task import Sha256
from stages.contract.types import Id, Rational, RelPath, Strict, Whole

Word = Annotated[str, Field(min_length=1, max_length=500)]


Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]


def _check_url(value: str) -> str:
    port = re.match(r"https?://(?:\[[^]]*]|[^/:]*):([^/]*)", value)
    if port is not None and not (port[1].isdigit() and 0 < int(port[1]) < 65536):
        raise ValueError("a URL with a port from 1 to 65535, or none")
    return value


Url = Annotated[
    str,
    Field(pattern=r"^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._~%/-]*)?$", max_length=500),
    AfterValidator(_check_url),
]
_LIKE_A_KEY = re.compile(r"(?:sk|pk|rk|gsk|xai|ghp|hf|AKIA|AIza)[-_A-Za-z0-9]{16,}")

Provider = Literal[
    "openai",
    "anthropic",
    "openrouter",
    "azure",
    "google",
    "groq",
    "mistral",
    "cohere",
    "deepseek",
    "vllm",
    "ollama",
    "generic",
]
_WITHOUT_ADDRESS = ("azure", "vllm", "ollama", "generic")


class Session(Strict):
    """How an arm's provider is reached and recorded. None means a local program without a provider.

    `upstream` is the provider's base URL, by default the one that it publishes; `key_env` names the variable of
    this machine that holds the key, which only the recorder sees; `access_terms` is the URL of the terms of access,
    read once before the first trial.
    """

    provider: Provider
    upstream: Url | None = None
    key_env: Variable | None = None
    access_terms: Url | None = None

    @model_validator(mode="after")
    def _reachable(self) -> Session:
        if self.upstream is None and self.provider in _WITHOUT_ADDRESS:
            raise ValueError(f"upstream: the base URL, since {self.provider} has none of its own")
        return self


# `${name}` is a shell's.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([a-z_]+)\}")


# What an arm of kind patches has; the other keys are about an agent that is started.
_REPLAYED = ("name", "version", "kind", "patches", "patches_sha256")
_KINDS = [
    {"properties": {"kind": {"const": "command"}, "patches": {"type": "null"}}, "required": ["command"]},
    {
        "properties": {"kind": {"const": "patches"}},
        "required": ["kind", "patches"],
        "propertyNames": {"enum": list(_REPLAYED)},
    },
]


class _Absent(list[str]):
    """The command of an arm that names none."""


class Arm(Strict):
    """A named, version-pinned runner: a command that is started, or `patches`, a file of predictions to replay.

    `patches_sha256` is that file's digest. Freeze writes it into the plan; in `params.yaml` it pins the file.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": _KINDS})  # type: ignore[dict-item]

    name: Id
    version: Word
    kind: Literal["command", "patches"] = "command"
    command: list[Word] = Field(default_factory=_Absent, validate_default=True, json_schema_extra={"minItems": 1})
    patches: Annotated[RelPath | None, Field(validate_default=True)] = None
    patches_sha256: Sha256 | None = None
    version_command: list[Word] | None = None
    install_paths: list[RelPath] = []
    env: list[Variable] = []
    variables: dict[Variable, Word] = {}
    model: Word | None = None
    temperature: Rational | Literal["hidden"] | None = None
    seed: Annotated[Whole, Field(ge=0, lt=2**53)] | None = None
    session: Session | None = None
    paid: bool = False

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Keys of patches change no digest of an arm that is a command.
        value = handler(self)
        return {k: v for k, v in value.items() if (k in _REPLAYED if self.replayed else not k.startswith("patches"))}

    @property
    def replayed(self) -> bool:
        """Whether its trials start no agent, but apply patches that were there before."""
        return self.kind == "patches"

    @field_validator("command", "patches", mode="before")
    @classmethod
    def _there(cls, value: Any, info: ValidationInfo) -> Any:
        kind, absent = info.data.get("kind"), value is None or isinstance(value, _Absent)
        if absent and kind == info.field_name:
            raise PydanticCustomError("missing", "Field required")
        if not absent and kind not in (None, info.field_name):
            raise ValueError(f"no {info.field_name} with kind {kind}")
        if value == [] and not absent:
            raise ValueError("at least 1 word, the program")
        return [] if isinstance(value, _Absent) else value

    @model_validator(mode="after")
    def _of_kind(self) -> Arm:
        odd = [name for name in type(self).model_fields if name in self.model_fields_set and name not in _REPLAYED]
        if self.replayed and odd:
            raise ValueError(f"no {odd[0]} with kind patches, which starts no agent")
        if self.patches_sha256 is not None and not self.replayed:
            raise ValueError("patches_sha256: only with kind patches")
        return self

    @field_validator("install_paths")
    @classmethod
    def _names_apart(cls, value: list[str]) -> list[str]:
        # The agent sees each below one folder, by its last part.
        if len({path.rsplit("/", 1)[-1] for path in value}) != len(value):
            raise ValueError("paths that end in different names")
        return value

    @model_validator(mode="after")
    def _placeholders(self) -> Arm:
        filled = {
            "statement": True,
            "statement_file": True,
            "interface_file": True,
            "workspace": True,
            "seed": self.seed is not None,
            "temperature": isinstance(self.temperature, Fraction),
            "model": self.model is not None,
            "install": bool(self.install_paths),
            "environment": True,
            "home": True,
            "base_url": self.session is not None,
        }
        for key, words, known in (
            ("command", self.command[1:], list(filled)),
            ("version_command", self.version_command or [], ["install"]),
            ("command's program", self.command[:1], ["install"]),
            ("variables", list(self.variables.values()), list(filled)),
        ):
            for name in (name for word in words for name in _PLACEHOLDER.findall(word)):
                if name not in known:
                    near = difflib.get_close_matches(name, known, n=1)
                    hint = f"; did you mean {{{near[0]}}}?" if near else ""
                    raise ValueError(f"{key}: {', '.join(known)} as placeholders, not {{{name}}}{hint}")
                if not filled[name]:
                    source = {"install": "install_paths", "base_url": "session"}.get(name, name)
                    raise ValueError(f"{key}: no {{{name}}}, since the arm declares no {source}")
        return self

    @model_validator(mode="after")
    def _variables(self) -> Arm:
        both = sorted(set(self.env) & self.variables.keys())
        if both:
            raise ValueError(f"variables: {both[0]} is passed through by env already")
        held = self.session.key_env if self.session is not None else None
        literal = next((name for name, text in self.variables.items() if _LIKE_A_KEY.search(text)), None)
        if held in self.variables or literal is not None:
            name = literal or held
            raise ValueError(
                f"variables: no key in {name}; name its variable in session.key_env, so that it isn't frozen"
            )
        if self.session is not None and self.session.key_env in self.env:
            raise ValueError(f"env: without {self.session.key_env}, the key that only the recorder may see")
        return self


def drawn_seed(seed: int, item_id: str, repeat: int) -> int:
    """The seed of one trial: the first 8 bytes of sha256(arm seed, item, repeat)."""
    return int.from_bytes(bytes.fromhex(sha256(canonical([seed, item_id, repeat]))[:16]), "big")


class Arms(Strict):
    """The two arms, and how their trials are ordered."""

    order: Literal["interleaved", "sequential"] = "interleaved"
    candidate: Arm
    control: Arm

    @model_validator(mode="after")
    def _predictions_apart(self) -> Arms:
        for one, other in ((self.candidate, self.control), (self.control, self.candidate)):
            for path in one.install_paths:
                if other.patches is not None and f"{other.patches}/".startswith(f"{path}/"):
                    raise ValueError(f"install_paths: {path} shows {one.name} the patches of {other.name}")
        return self
