"""Client definitions by name (built in) or from a file of one's own."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import Final

from perfq.errors import UsageError
from perfq.profile.client import ClientDefinition
from perfq.profile.document import load
from perfq.profile.shown import nearest, show_text
from perfq.profile.source import Source

#: The built-in definitions, in the order in which they are listed.
BUILTIN_CLIENTS: Final = ("viewer", "watch", "kubectl-watch", "generic")


def client_text(name: str) -> bytes:
    """The file of a built-in definition. UsageError (2), with the nearest name, for an unknown one."""
    if name not in BUILTIN_CLIENTS:
        raise UsageError(
            f"{show_text(name)}: got an unknown client, expected one of {', '.join(BUILTIN_CLIENTS)}"
            f"{nearest(name, BUILTIN_CLIENTS)}; a definition of your own goes to --client-file"
        )
    return files("perfq.profiles").joinpath("clients", f"{name}.yaml").read_bytes()


def load_client_named(name: str) -> ClientDefinition:
    """A built-in definition. UsageError (2), with the nearest name, for an unknown one."""
    return load(Source(f"{name}.yaml", client_text(name)), ClientDefinition).model


def load_client_file(path: str | os.PathLike[str]) -> ClientDefinition:
    """A definition from a file. UsageError (2) with every error of it, one a line."""
    return load(path, ClientDefinition).model


def load_client(argument: str) -> ClientDefinition:
    """A built-in name, else a path, `-` for standard input. UsageError (2) otherwise."""
    if argument in BUILTIN_CLIENTS:
        return load_client_named(argument)
    if argument != "-" and "/" not in argument and not os.path.lexists(argument):
        raise UsageError(
            f"{show_text(argument)}: got no built-in client and no file, expected one of "
            f"{', '.join(BUILTIN_CLIENTS)}, or a path{nearest(argument, BUILTIN_CLIENTS)}"
        )
    return load_client_file(argument)
