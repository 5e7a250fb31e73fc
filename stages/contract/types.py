"""Small shared types of the models: safe ids, paths that can't leave, exact numbers; readable refusals."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)

from stages.contract import limits
from stages.contract.digest import rational, rational_text
from stages.contract.errors import InputError

ID_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*$"
_ID = re.compile(ID_PATTERN)


def check_id(value: str) -> str:
    """An id of a safe alphabet: letters, digits, `_`, `-`, single dots; starts with a letter or digit."""
    if not _ID.fullmatch(value) or len(value) > 100 or value.endswith((".", ".lock")):
        raise ValueError(f"{value!r} is no id: 1 to 100 letters, digits, '-', '_' and single '.'")
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
        raise ValueError(f"{value!r} is no relative path inside its folder")
    return value


def _to_rational(value: Any) -> Fraction:
    try:
        return rational(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{value!r} is no exact number ({error})") from None


def _no_decimal(value: Any) -> Any:
    # A task or seed written 1.0 is not an integer; pydantic would take the Decimal silently.
    if isinstance(value, Decimal):
        raise ValueError(f"{value} is no whole number")
    return value


Id = Annotated[
    str, AfterValidator(check_id), WithJsonSchema({"type": "string", "pattern": ID_PATTERN, "maxLength": 100})
]
RelPath = Annotated[str, AfterValidator(check_path)]
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


def validate(model: type[M], value: Any, where: object) -> M:
    """Build a model from plain data. Raises InputError naming the key, what was found and what is expected."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "the top level"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        if first["type"] == "extra_forbidden":
            known = _known_keys(model, first["loc"])
            near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
            todo = f"did you mean {near[0]!r}?" if near else "remove it"
            raise InputError(
                f"{where}: {key}", f"unknown key{more}", f"one of {', '.join(sorted(known))}", todo
            ) from None
        found = "missing" if first["type"] == "missing" else f"found {first['input']!r}"
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {key}", f"{found}{more}", message) from None


def _known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """Field names that stand beside the refused key, found by walking the models along its location."""
    here: list[type[BaseModel]] = [model]
    for part in loc[:-1]:
        below: list[type[BaseModel]] = []
        for one in here:
            field = one.model_fields.get(str(part))
            if field is not None:
                below += _models_in(field.annotation)
        here = below or here
    return [name for one in here for name in one.model_fields]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in getattr(annotation, "__args__", ()) for model in _models_in(arg)]


def plain(model: BaseModel) -> dict[str, Any]:
    """A model as JSON-ready data: rationals as their one text, tuples as lists."""
    value = model.model_dump(mode="json")
    assert isinstance(value, Mapping)
    return dict(value)
