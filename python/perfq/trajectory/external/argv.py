"""Commands of the profile with a session's own words in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_WORD: Final = re.compile(r"\{(session|workdir|script)\}")


def filled(argv: Sequence[str], words: Mapping[str, str], folder: Path = Path()) -> list[str]:
    """`{session}`, `{workdir}` and `{script}` replaced in each item, once: what a script holds is not looked at.

    A word that is not among `words` stays as it stands. The path of the program, where it is one and not only a name,
    counts from `folder`: the profile's.
    """
    program, *rest = [_WORD.sub(lambda found: words.get(found[1], found[0]), item) for item in argv]
    return [str(folder.absolute() / program) if "/" in program else program, *rest]
