"""Where a process stands in each hierarchy: `/proc/PID/cgroup` against `/proc/PID/mountinfo` (cgroups(7)).

A controller that a v1 hierarchy has is v1's, so that a hybrid mount counts as v1 for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

#: The name of the v2 hierarchy among the controllers.
UNIFIED: Final = "unified"
#: Those of v1 that are of use here; the options of a mount name others, and no controllers, too.
CONTROLLERS: Final = frozenset({"memory", "cpuacct", "cpu", "pids", "blkio", "freezer"})

_PROC: Final = Path("/proc")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Hierarchy:
    """One mount of cgroups, and a folder in it."""

    version: Literal[1, 2]
    folder: Path

    def below(self, name: str) -> Hierarchy:
        """A folder of that name in it."""
        return Hierarchy(self.version, self.folder / name)


@dataclass(frozen=True)
class _Mount:
    root: str
    point: str
    kind: str
    options: frozenset[str]


def places(cgroup: str, mountinfo: str) -> dict[str, Hierarchy]:
    """By controller; the v2 hierarchy as `unified`. What is not mounted where it can be seen is not among them."""
    mounts = [mount for line in mountinfo.splitlines() if (mount := _mount(line)) is not None]
    found: dict[str, Hierarchy] = {}
    for line in cgroup.splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            mount = next((one for one in mounts if one.kind == "cgroup2"), None)
            if mount is not None:
                found[UNIFIED] = Hierarchy(2, _folder(mount, path))
            continue
        for name in controllers.split(","):
            mount = next((one for one in mounts if one.kind == "cgroup" and name in one.options), None)
            if mount is not None:
                found[name] = Hierarchy(1, _folder(mount, path))
    return found


def own() -> dict[str, Hierarchy]:
    """This process's."""
    return of("self")


def of(pid: int | str) -> dict[str, Hierarchy]:
    """Those of a process, none where it is gone: by its own groups and by the mounts that we see, not by its."""
    try:
        return places((_PROC / str(pid) / "cgroup").read_text(), (_PROC / "self" / "mountinfo").read_text())
    except OSError:
        return {}


def at(path: str, mountinfo: str | None = None) -> dict[str, Hierarchy]:
    """A group that was named: by its folder in one hierarchy, or by its path in all of them. Those that there are."""
    text = (_PROC / "self" / "mountinfo").read_text() if mountinfo is None else mountinfo
    mounts = [one for line in text.splitlines() if (one := _mount(line)) is not None and one.kind.startswith("cgroup")]
    inside = next((path.removeprefix(one.point) for one in mounts if Path(path).is_relative_to(one.point)), path)
    found: dict[str, Hierarchy] = {}
    for one in mounts:
        folder = Path(one.point) / inside.lstrip("/")
        if ".." in folder.parts or not folder.is_dir():
            continue
        if one.kind == "cgroup2":
            found[UNIFIED] = Hierarchy(2, folder)
        else:
            found.update({name: Hierarchy(1, folder) for name in one.options & CONTROLLERS})
    return found


def _mount(line: str) -> _Mount | None:
    """`id parent dev root point options [optional…] - kind source super-options`."""
    left, dash, right = line.partition(" - ")
    fields, kinds = left.split(" "), right.split(" ")
    if not dash or len(fields) < 5 or len(kinds) < 3:
        return None
    return _Mount(_plain(fields[3]), _plain(fields[4]), kinds[0], frozenset(kinds[2].split(",")))


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)


def _folder(mount: _Mount, path: str) -> Path:
    """What lies above the mount's root is not visible: a path that leads out of it is taken to be the mount."""
    inside = PurePosixPath(path)
    if ".." in inside.parts or not inside.is_relative_to(mount.root):
        return Path(mount.point)
    return Path(mount.point) / inside.relative_to(mount.root)
