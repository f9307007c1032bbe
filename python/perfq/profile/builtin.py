"""The built-in profiles, and what a profile argument P means: a built-in id, else a path, `-` for standard input."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from perfq.errors import UsageError
from perfq.profile.builtin_ids import BUILTIN_IDS
from perfq.profile.shown import nearest, show_text
from perfq.profile.source import Source, read_source


def builtin_source(profile_id: str) -> Source:
    """The file of a built-in profile. KeyError for any other id."""
    if profile_id not in BUILTIN_IDS:
        raise KeyError(profile_id)
    return Source(profile_id, files("perfq.profiles").joinpath(f"{profile_id}.json").read_bytes())


def profile_source(argument: str) -> Source:
    """The text that a profile argument names. UsageError (2), with the nearest built-in id, where there is none."""
    if argument in BUILTIN_IDS:
        return builtin_source(argument)
    if argument != "-" and not os.path.lexists(_as_path(argument)):
        raise UsageError(
            f"{show_text(argument)}: got no built-in profile and no file, expected one of "
            f"{', '.join(BUILTIN_IDS)}, a path, or - for standard input{nearest(argument, BUILTIN_IDS)}"
        )
    return read_source(argument)


def _as_path(argument: str) -> Path:
    if "\0" in argument:
        raise UsageError(f"{show_text(argument)}: got a name with a NUL character, expected a profile")
    return Path(argument)
