"""What all parts of a load profile have in common: the keys of kperf, in its spelling, and durations with units."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from perfq import units
from perfq.profile.document import Strict

#: What a URL's path carries as it is, and so what a name, a group or a resource is made of.
PATH_TEXT: Final = r"^[A-Za-z0-9._:~@!$&'()*+,;=-]+$"
_MAX_DAYS: Final = 30
MAX_SECONDS: Final = _MAX_DAYS * 86_400


def camel(name: str) -> str:
    """`key_space_size` → `keySpaceSize`; a trailing underscore goes."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(other.capitalize() for other in others)


class Part(Strict):
    """Unknown keys are refused; a key whose value is null is absent, as it is for kperf."""

    model_config = ConfigDict(alias_generator=camel)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = {field.alias for field in cls.model_fields.values()}
        return {key: given for key, given in value.items() if given is not None or key not in known}


def _microseconds(value: int | str) -> int:
    if isinstance(value, int):
        found = value * 1_000_000
    else:
        nanoseconds = units.parse_duration(value)
        if nanoseconds % 1_000:
            raise ValueError(f"{units.DURATION}, not below a microsecond")
        found = nanoseconds // 1_000
    if not 0 <= found <= MAX_SECONDS * 1_000_000:
        raise ValueError(f"{units.DURATION}, at most {_MAX_DAYS} days")
    return found


def _not_zero(value: int) -> int:
    if value == 0:
        raise ValueError(f"{units.DURATION}, above zero")
    return value


#: Seconds, or text with a unit; microseconds in the model.
Span = Annotated[int | str, AfterValidator(_microseconds)]
PositiveSpan = Annotated[Span, AfterValidator(_not_zero)]
PathText = Annotated[str, Field(pattern=PATH_TEXT)]
