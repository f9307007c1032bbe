"""The programs: which they are, where they are kept, and how they are built.

Built programs are kept outside the checkout, in folders named by their versions: under $PERFQ_TESTBED, by default
perfq/testbed in the user's cache folder. $KUBEBUILDER_ASSETS is used where it holds a program in the pinned version.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .failure import BedFailure


@dataclass(frozen=True)
class Program:
    """One program of a Go module that stands in a folder beside this file."""

    name: str
    #: The folder; the go.mod in it requires `source` in the pinned version.
    module: str
    source: str
    package: str
    #: Arguments that make it print its version, and the line that then stands there, with {version} and {number}.
    version_arguments: tuple[str, ...]
    version_line: str

    @property
    def folder(self) -> Path:
        """Where its go.mod stands."""
        return Path(__file__).resolve().parent / self.module

    @property
    def version(self) -> str:
        """As go.mod pins it, `v1.2.3`."""
        pinned = re.search(
            rf"^\s*(?:require )?{re.escape(self.source)} (v[0-9.]+)", (self.folder / "go.mod").read_text(), re.M
        )
        assert pinned, f"{self.folder}/go.mod requires no {self.source}"
        return pinned[1]

    @property
    def linker_flags(self) -> str:
        """No symbols; Kubernetes is told its version as its own build does."""
        if self.module != "kubernetes":
            return "-s -w"
        major, minor, _ = self.version.removeprefix("v").split(".", 2)
        stamps = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor}
        return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={text}" for name, text in stamps.items())


_KUBERNETES = ("kubernetes", "k8s.io/kubernetes")
PROGRAMS = {
    program.name: program
    for program in (
        Program(
            "etcd", "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3",
            ("--version",), "etcd Version: {number}",
        ),
        Program(
            "kube-apiserver", *_KUBERNETES, "k8s.io/kubernetes/cmd/kube-apiserver",
            ("--version",), "Kubernetes {version}",
        ),
        Program(
            "kubectl", *_KUBERNETES, "k8s.io/kubernetes/cmd/kubectl",
            ("version", "--client"), "Client Version: {version}",
        ),
    )
}  # fmt: skip


def say(text: str) -> None:
    """One line for people, on stderr."""
    sys.stderr.write(f"perfq: testbed: {text}\n")


def cache_folder() -> Path:
    """Where built programs are kept."""
    for variable, below in (
        ("PERFQ_TESTBED", "."),
        ("XDG_CACHE_HOME", "perfq/testbed"),
        ("HOME", ".cache/perfq/testbed"),
    ):
        if os.environ.get(variable):
            return Path(os.environ[variable], below).absolute()
    raise BedFailure(
        "neither PERFQ_TESTBED, XDG_CACHE_HOME nor HOME is set; set PERFQ_TESTBED to a folder for the built programs", 2
    )


def program(name: str) -> Path:
    """The path of a program; it is built where it is not there yet. That takes minutes, once.

    Raises BedFailure where Go is missing or the build fails; the compiler's words are on stderr.
    """
    wanted = PROGRAMS[name]
    return _from_assets(wanted) or _built(wanted)


def _from_assets(wanted: Program) -> Path | None:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    path = Path(assets, wanted.name).absolute() if assets else None
    if path is None or not os.access(path, os.X_OK):
        return None
    said = subprocess.run([path, *wanted.version_arguments], capture_output=True, text=True, check=False).stdout
    line = wanted.version_line.format(version=wanted.version, number=wanted.version.removeprefix("v"))
    if line in said.splitlines():
        return path
    say(f"{path} is not {wanted.version}; building that")
    return None


def _built(wanted: Program) -> Path:
    # The modules' checksums are part of the name: other sources never answer for these.
    sums = hashlib.sha256((wanted.folder / "go.sum").read_bytes()).hexdigest()[:12]
    folder = cache_folder() / f"{wanted.module}-{wanted.version}-{sums}"
    target = folder / wanted.name
    if os.access(target, os.X_OK):
        return target
    if shutil.which("go") is None:
        raise BedFailure("go was not found; install Go 1.26 or newer and try again", 78)
    folder.mkdir(parents=True, exist_ok=True)
    # One build at a time; who waited finds it done.
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.access(target, os.X_OK):
            say(f"building {wanted.name} {wanted.version} (minutes, once)")
            new = target.with_suffix(".new")
            command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", wanted.linker_flags]
            # The compiler itself is a Go program: with less collecting it takes a sixth less time, and more memory.
            settings = {"GOWORK": "off", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0", "GOGC": "400"}
            ended = subprocess.run(
                [*command, "-o", new, wanted.package],
                cwd=wanted.folder, env=os.environ | settings, stdout=sys.stderr, check=False,
            )  # fmt: skip
            if ended.returncode != 0:
                raise BedFailure(f"{wanted.name} {wanted.version} did not build; the compiler's words are above")
            new.rename(target)
    return target
