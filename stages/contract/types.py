"""Small shared types of the models: safe ids, paths that can't leave, exact numbers; readable refusals."""

from __future__ import annotations

import difflib
import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)

from stages.contract import limits
from stages.contract.digest import rational, rational_text
from stages.contract.errors import InputError, one_line

ID_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*$"
_ID = re.compile(ID_PATTERN)


def check_id(value: str) -> str:
    """An id of a safe alphabet: letters, digits, `_`, `-`, single dots; starts with a letter or digit."""
    if not _ID.fullmatch(value) or len(value) > 100 or value.endswith((".", ".lock")):
        raise ValueError("an id: 1 to 100 letters, digits, '-', '_' and single '.'")
    return value


def check_path(value: str) -> str:
    """A relative POSIX path that can't leave its folder: no `..`, no leading slash, no backslash, no controls."""
    parts = value.split("/")
    if (
        not value
        or len(value) > limits.MAX_PATH_CHARS
        or "\\" in value
        or any(part in ("", ".", "..") for part in parts)
        or not value.isprintable()
    ):
        raise ValueError(
            f"a relative path inside its folder, at most {limits.MAX_PATH_CHARS} characters, no '..', no backslashes"
        )
    return value


def check_glob(value: str) -> str:
    """A pattern of paths: a relative path whose segments may hold `*` or be `**`; a final `/` is everything below."""
    check_path(value.removesuffix("/"))
    return value


def _check_printable(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("one line of printable text without spaces around it")
    return value


def _to_rational(value: Any) -> Fraction:
    try:
        return rational(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"an exact number ({error})") from None


def _no_decimal(value: Any) -> Any:
    # A task or seed written 1.0 is not an integer; pydantic would take the Decimal silently.
    if isinstance(value, Decimal) or (isinstance(value, int) and abs(value) >= 2**53):
        raise ValueError("a whole number below 2**53")
    return value


Id = Annotated[
    str, AfterValidator(check_id), WithJsonSchema({"type": "string", "pattern": ID_PATTERN, "maxLength": 100})
]
RelPath = Annotated[str, AfterValidator(check_path)]
Glob = Annotated[str, AfterValidator(check_glob)]
Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_printable)]
Name = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_check_printable)]
Rational = Annotated[
    Fraction,
    BeforeValidator(_to_rational),
    PlainSerializer(rational_text, return_type=str),
    WithJsonSchema({"type": ["number", "string"], "description": "an exact decimal, or a ratio such as 1/3"}),
]
Whole = Annotated[int, BeforeValidator(_no_decimal)]


class Strict(BaseModel):
    """Base of every model that people write: unknown keys refused, values not coerced, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


M = TypeVar("M", bound=BaseModel)
Location = tuple[int | str, ...]
_MOST_KEYS = 6


def validate(model: type[M], value: Any, where: object) -> M:
    """Build a model from plain data. Raises InputError naming the key, what was found and what is expected."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
    # A misspelt key is named before the one that it leaves missing.
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    keys = _keys(value, first["loc"])
    place = f"{where}: {'.'.join(keys) or 'the top level'}"
    same = [e for e in errors if _keys(value, e["loc"]) == keys]
    more = f" (and {len(errors) - len(same)} more)" if len(errors) > len(same) else ""
    if first["type"] == "extra_forbidden":
        known = sorted(_known_keys(model, first["loc"]))
        near = difflib.get_close_matches(keys[-1], known, n=1)
        todo = f"did you mean {near[0]!r}?" if near else "remove it"
        raise InputError(place, f"unknown key{more}", f"one of {', '.join(known)}", todo)
    if first["type"] == "missing":
        raise InputError(place, f"missing{more}", "this key")
    wanted = dict.fromkeys(_wanted(model, e["type"], e["loc"], e["msg"]) for e in same)
    bare = first["type"] == "string_type" and isinstance(first["input"], int | float | Decimal)
    todo = f'quote it: "{first["input"]}"' if bare and not isinstance(first["input"], bool) else ""
    raise InputError(place, f"found {_shown(first['input'])}{more}", " or ".join(wanted), todo)


def _wanted(model: type[BaseModel], kind: str, loc: Location, said: str) -> str:
    """What pydantic expects, in words that know nothing of Python."""
    if kind == "model_type":
        known = _known_keys(model, (*loc, ""))
        more = f" and {len(known) - _MOST_KEYS} more" if len(known) > _MOST_KEYS else ""
        return f"a mapping with {', '.join(known[:_MOST_KEYS])}{more}"
    if kind == "dict_type":
        return "a mapping"
    said = said.removeprefix("Value error, ").removeprefix("Input should be ")
    return said.replace("String should match pattern", "a text that matches the pattern")


def _keys(value: Any, loc: Location) -> list[str]:
    """The parts of a location that are keys or positions in the value; the others name branches of a union."""
    keys: list[str] = []
    for place, part in enumerate(loc):
        if isinstance(value, list):
            value = dict(enumerate(value))
        if not isinstance(value, dict):
            break
        if part in value:
            value = value[part]
        elif place < len(loc) - 1 or not str(part).isidentifier():  # what's left is a key that is missing
            continue
        keys.append(str(part))
    return keys


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "keys that don't fit each other" if value else "an empty mapping"
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        return "a list"
    text = one_line(value if isinstance(value, Decimal | Fraction) else repr(value), 100)
    return re.sub(r"(?<=://)[^/\s@]*@", "…@", text)  # credentials of a URL


def _known_keys(model: type[BaseModel], loc: Location) -> list[str]:
    """Names that stand beside the refused key, found by walking the models along its location."""
    here: list[type[BaseModel]] = [model]
    for part in loc[:-1]:
        fields = [field for one in here if (field := one.model_fields.get(str(part))) is not None]
        here = [found for field in fields for found in _models_in(field.annotation)] or here
    return [field.alias or name for one in here for name, field in one.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in getattr(annotation, "__args__", ()) for model in _models_in(arg)]


def without_none(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """A dump without those of its keys that are nothing, so that a key that came later changes no older digest."""
    return {key: each for key, each in value.items() if key not in names or each is not None}


def plain(model: BaseModel) -> dict[str, Any]:
    """A model as JSON-ready data: rationals as their one text, tuples as lists."""
    value = model.model_dump(mode="json")
    assert isinstance(value, dict)
    return value
