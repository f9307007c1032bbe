"""Builds dist/perfq.pyz; called by scripts/build-pyz with the tools of requirements/build.txt.

Same checkout, same toolchain: same bytes, in whatever folder. All that could differ is fixed: times, modes, order,
paths in native code, and what pip notes about an installation.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import deflate  # type: ignore[import-not-found]

TOP = Path(__file__).resolve().parent.parent
WORK = TOP / ".build" / "pyz"
DIST = TOP / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("manylinux_2_17_x86_64", "manylinux2014_x86_64")
#: The only packages with native code of their own, a module for each Python version; all others are taken pure.
NATIVE = ("msgspec", "pydantic-core", "pyyaml")
MAX_BYTES = 20_000_000
#: Of Pygments' 250 lexers, those of what a client of Kubernetes may show; Rich and Textual ask for them by name.
LEXERS = (
    "__init__",
    "_mapping",
    "configs",
    "console",
    "data",
    "diff",
    "go",
    "javascript",
    "python",
    "rust",
    "shell",
    "special",
    "textfmts",
)


def run(*command: str | Path, **environment: str) -> None:
    """Runs a tool; its own words are the explanation where it fails, and are kept back where it does not."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=TOP,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        sys.exit(f"perfq: build-pyz: {Path(command[0]).name} failed; its words are above")


def git(*args: str) -> str:
    """What git says of the checkout; empty outside one."""
    command = ["git", "-C", str(TOP), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def built_wheel(source_date_epoch: str) -> Path:
    """The wheel, for glibc 2.17 by zig's linker, with no path of this machine in it."""
    folder = WORK / "wheel"
    cargo_home = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
    target = os.environ.get("CARGO_TARGET_DIR") or str(TOP / "target")
    flags = [f"--remap-path-prefix={target}=/target", f"--remap-path-prefix={cargo_home}=/cargo"]
    flags.append(f"--remap-path-prefix={TOP}=/perfq")
    tools = Path(sys.executable).parent
    run(
        tools / "maturin",
        "build",
        "--locked",
        "--zig",
        "--compatibility",
        "manylinux2014",
        "--profile",
        "dist",
        "--out",
        folder,
        PERFQ_COMMIT=os.environ.get("PERFQ_COMMIT")
        or git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        CARGO_ENCODED_RUSTFLAGS="\x1f".join(flags),
        SOURCE_DATE_EPOCH=source_date_epoch,
        PATH=f"{tools}:{os.environ['PATH']}",
    )
    (wheel,) = folder.glob("perfq-*.whl")
    return wheel


def requirements() -> Iterator[tuple[str, str]]:
    """(name, its locked lines) of each package in requirements/pyz.txt."""
    text = (TOP / "requirements" / "pyz.txt").read_text()
    for entry in re.split(r"\n(?=\S)", text.strip()):
        yield re.split(r"[=\s]", entry, maxsplit=1)[0], entry


def install(name: str, entries: list[str], *flags: str) -> Path:
    """Installs locked packages into a folder of their own, whatever Python runs this."""
    lock = WORK / f"{name}.txt"
    lock.write_text("\n".join(entries) + "\n")
    folder = WORK / name
    run(
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--no-deps",
        "--no-compile",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--target",
        folder,
        "--requirement",
        lock,
        *flags,
    )
    return folder


def overlay(folder: Path, staging: Path) -> None:
    """Copies a tree over another; what both have must be the same, module files of other Pythons aside."""
    for source in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = source.relative_to(folder)
        target = staging / relative
        if target.exists() and target.read_bytes() != source.read_bytes():
            if relative.parts[0].endswith(".dist-info"):
                continue
            sys.exit(f"perfq: build-pyz: {relative} is not the same for every Python version")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def left_out(relative: Path) -> bool:
    """What an installation leaves behind but nothing imports, or what would differ between two builds."""
    top = relative.parts[0]
    return (
        top == "bin"
        or "__pycache__" in relative.parts
        or (top.endswith(".dist-info") and relative.name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"))
        or (top.endswith(".dist-info") and "sboms" in relative.parts)
        or relative.parts[:2] == ("kubernetes", "aio")
        or (relative.parts[:2] == ("pygments", "lexers") and relative.stem not in LEXERS)
    )


def staged(wheel: Path) -> Path:
    """The packages as they will be unpacked."""
    staging = WORK / "site-packages"
    pure = [entry for name, entry in requirements() if name not in NATIVE]
    native = [entry for name, entry in requirements() if name in NATIVE]
    folders = [
        install(
            "pure", pure, "--implementation", "py", "--abi", "none", "--platform", "any", "--python-version", "3.11"
        )
    ]
    for version in VERSIONS:
        abi = "cp" + version.replace(".", "")
        platforms = [flag for name in PLATFORMS for flag in ("--platform", name)]
        flags = ("--implementation", "cp", "--abi", abi, "--python-version", version, *platforms)
        folders.append(install(abi, native, *flags))
        # Debug symbols are nine tenths of libyaml's module.
        run("strip", "--strip-unneeded", *sorted(folders[-1].rglob("*.so")))
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(WORK / "perfq")
    folders.append(WORK / "perfq")
    for folder in folders:
        overlay(folder, staging)
    for path in sorted(staging.rglob("*"), reverse=True):
        if path.is_file() and left_out(path.relative_to(staging)):
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        else:
            path.chmod(0o755 if path.is_dir() else 0o644)
    know_only(LEXERS, staging / "pygments" / "lexers" / "_mapping.py")
    for path in sorted((staging / "kubernetes" / "client").rglob("*.py")):
        path.write_text(undocumented(path.read_text()))
    if pth := list(staging.glob("*.pth")):
        sys.exit(f"perfq: build-pyz: {pth[0].name} would not be honoured")
    return staging


def undocumented(source: str) -> str:
    """The same module without docstrings, comments and descriptions of fields, and with a word about that.

    The generated client of Kubernetes is prose for the most part; with it the file would be larger than it may be.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if not node.body and not isinstance(node, ast.Module):
            node.body.append(ast.Pass())
    return f"# Changed by perfq's build: without docstrings, comments and descriptions.\n{ast.unparse(tree)}\n"


def know_only(modules: tuple[str, ...], mapping: Path) -> None:
    """Takes from Pygments' table of lexers those that were left out: asked for one, it then says that it has none."""
    lines = mapping.read_text().splitlines(keepends=True)
    row = re.compile(r"    '\w+': \('pygments\.lexers\.(\w+)'")
    kept = [line for line in lines if not (found := row.match(line)) or found[1] in modules]
    if not 0 < len(kept) < len(lines) / 2:
        sys.exit(f"perfq: build-pyz: {mapping.name} of Pygments is not the table that it was")
    mapping.write_text("".join(kept))


def packed_by_shiv(staging: Path, source_date_epoch: str) -> Path:
    """shiv's archive of the staged packages."""
    plain = WORK / "perfq.pyz"
    shiv = Path(sys.executable).with_name("shiv")
    run(
        shiv,
        "--site-packages",
        staging,
        "--entry-point",
        "perfq.cli:program",
        "--python",
        "/usr/bin/env python3",
        "--compressed",
        "--reproducible",
        "--output-file",
        plain,
        SOURCE_DATE_EPOCH=source_date_epoch,
    )
    return plain


class Deflater:
    """libdeflate in place of zlib, which zipfile would use: the same format, in about 3.5 % fewer bytes."""

    def __init__(self) -> None:
        self._content = bytearray()

    def compress(self, data: bytes) -> bytes:
        self._content += data
        return b""

    def flush(self) -> bytes:
        packed: bytes = deflate.deflate_compress(bytes(self._content), 12)
        return packed


def with_our_start(plain: Path) -> Path:
    """The same archive with pyz/__main__.py in place of shiv's, and the modes of its own files made equal."""
    target = DIST / "perfq.pyz"
    DIST.mkdir(exist_ok=True)
    zipfile._get_compressor = lambda *_: Deflater()  # type: ignore[attr-defined]
    with zipfile.ZipFile(plain) as source, target.open("wb") as file:
        build_id = json.loads(source.read("environment.json"))["build_id"]
        start = (TOP / "pyz" / "__main__.py").read_text().replace("@BUILD_ID@", build_id)
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for info in sorted(source.infolist(), key=lambda info: info.filename):
                entry = zipfile.ZipInfo(info.filename, info.date_time)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (stat.S_IFREG | 0o644) << 16
                content = start.encode() if info.filename == "__main__.py" else source.read(info)
                archive.writestr(entry, content)
    target.chmod(0o755)
    return target


def main() -> None:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        epoch = git("log", "-1", "--format=%ct") or "946684800"
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    target = with_our_start(packed_by_shiv(staged(built_wheel(epoch)), epoch))
    size = target.stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"perfq: build-pyz: {target} has {size} bytes, expected at most {MAX_BYTES}")
    (DIST / "SHA256SUMS").write_text(f"{hashlib.sha256(target.read_bytes()).hexdigest()}  perfq.pyz\n")
    print(f"{target} {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
