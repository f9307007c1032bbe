"""A group of our own: one folder in every hierarchy that we have, made, looked into and removed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perfq.trajectory.cgroup.freezer import Freezer
from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy
from perfq.trajectory.cgroup.texts import text
from perfq.trajectory.process import Process, row

#: v1's hierarchy that says who is in a group: it has no counters, so that its folders cost nothing.
MEMBERS_V1: Final = "freezer"


@dataclass(frozen=True)
class Group:
    """By controller; on v2 all is `unified`."""

    hierarchies: Mapping[str, Hierarchy]
    #: Those in which the folder is this group's own; in the others it shares its parent's. None: all of them.
    own: frozenset[str] | None = None

    @property
    def members(self) -> Hierarchy:
        """The hierarchy by which it is said who is in it."""
        return self.hierarchies.get(MEMBERS_V1) or self.hierarchies[UNIFIED]

    @property
    def has_members(self) -> bool:
        """Whether it can be said who is in it."""
        return bool({MEMBERS_V1, UNIFIED} & self.hierarchies.keys())

    def within(self, other: Group) -> bool:
        """Whether all that is in it is in the other too."""
        return self.members.folder.is_relative_to(other.members.folder)

    @property
    def freezer(self) -> Freezer:
        """Of all that is in it."""
        return Freezer(self.members)

    @property
    def by_controller(self) -> dict[str, str]:
        """The folders that are its own, as its record and its sampler have them."""
        own = self.hierarchies.keys() if self.own is None else self.own
        return {key: str(one.folder) for key, one in self.hierarchies.items() if key in own}

    @property
    def folders(self) -> list[Path]:
        """Its own, each once: v1 may have several controllers in one."""
        return [Path(folder) for folder in dict.fromkeys(self.by_controller.values())]

    @property
    def vanished(self) -> bool:
        """Somebody has removed it."""
        return not self.members.folder.is_dir()

    def below(self, name: str) -> Group:
        """The group of that name in this one, made or not."""
        return Group({key: one.below(name) for key, one in self.hierarchies.items()})

    def only_members(self, name: str) -> Group:
        """A group in this one that is told apart by its members alone; its counters are this one's."""
        key = MEMBERS_V1 if MEMBERS_V1 in self.hierarchies else UNIFIED
        return Group({**self.hierarchies, key: self.hierarchies[key].below(name)}, frozenset([key]))

    def make(self) -> None:
        """OSError where one of its folders may not be made, or exists; those that were are removed."""
        made: list[Path] = []
        try:
            for folder in self.folders:
                folder.mkdir()
                made.append(folder)
        except OSError:
            for folder in made:
                folder.rmdir()
            raise

    @property
    def doors(self) -> list[Path]:
        """What a process writes 0 to in order to join."""
        return list(dict.fromkeys(one.folder / "cgroup.procs" for one in self.hierarchies.values()))

    def processes(self) -> set[Process]:
        """Those that run in it and in what lies below; one that has ended and is not reaped is not among them."""
        found = set()
        for folder in below_first(self.members.folder):
            for pid in (text(folder / "cgroup.procs") or "").split():
                seen = row(int(pid))
                if seen is not None and not seen.gone:
                    found.add(seen.process)
        return found

    def kill(self) -> bool:
        """Kills all that is in it at once, forks included, where the kernel can (v2); False: it cannot."""
        if self.members.version == 1:
            return False
        try:
            with (self.members.folder / "cgroup.kill").open("r+") as file:
                file.write("1")
        except OSError:
            return False
        return True

    def remove(self) -> list[str]:
        """The folders and those below; a sentence each for what stays."""
        left = []
        for top in self.folders:
            for folder in below_first(top):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    pass
                except OSError as error:
                    left.append(f"cannot remove the cgroup {folder}: {error.strerror}")
        return left


def below_first(top: Path) -> Iterator[Path]:
    """A folder and all below it, the deepest first."""
    for folder, _, _ in os.walk(top, topdown=False):
        yield Path(folder)
