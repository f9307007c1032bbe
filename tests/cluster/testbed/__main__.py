"""The command line of the test bed; scripts/testbed is its front door."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import bed
from .control_plane import AUDIT_LEVELS, Options
from .failure import BedFailure
from .programs import PROGRAMS, cache_folder, program, say


def main() -> int:
    """Runs one command; returns the exit code."""
    arguments = _parser().parse_args()
    try:
        return int(arguments.run(arguments))
    except BedFailure as failure:
        say(str(failure))
        return failure.code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/testbed",
        description="The test bed: a real Kubernetes control plane on loopback, built from Go modules.",
        epilog="Built programs are kept in $PERFQ_TESTBED, by default perfq/testbed in the user's cache folder.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="build programs where they are not there yet; prints their paths")
    build.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}; without any, all")
    build.set_defaults(run=_build)

    up = commands.add_parser("up", help="bring a test bed up; prints the path of its kubeconfig")
    up.add_argument("--audit-log", metavar="FILE", help="default: audit.log in the test bed's folder")
    up.add_argument("--audit-level", choices=AUDIT_LEVELS, default=Options.audit_level, help="default: %(default)s")
    up.add_argument("--service-account-admission", action="store_true", help="Pods need their ServiceAccount")
    up.add_argument("--api-server-argument", action="append", default=[], metavar="ARG", help="handed on; repeatable")
    up.set_defaults(run=_up)

    down = commands.add_parser("down", help="stop it, and remove its folder")
    down.set_defaults(run=_down)

    kubeconfig = commands.add_parser("kubeconfig", help="print the path of its kubeconfig")
    kubeconfig.set_defaults(run=_kubeconfig)

    for command in (up, down, kubeconfig):
        command.add_argument(
            "--dir", type=Path, metavar="DIR", help="the test bed's folder, of which there may be many"
        )
    return parser


def _folder(arguments: argparse.Namespace) -> Path:
    return (arguments.dir or cache_folder() / "bed").absolute()


def _build(arguments: argparse.Namespace) -> int:
    unknown = [name for name in arguments.programs if name not in PROGRAMS]
    if unknown:
        raise BedFailure(f"got '{unknown[0]}', expected a program of {', '.join(PROGRAMS)}", 2)
    for name in arguments.programs or PROGRAMS:
        sys.stdout.write(f"{program(name)}\n")
        sys.stdout.flush()
    return 0


def _up(arguments: argparse.Namespace) -> int:
    options = Options(
        audit_level=arguments.audit_level,
        audit_log=str(Path(arguments.audit_log).absolute()) if arguments.audit_log else None,
        service_account_admission=arguments.service_account_admission,
        api_server_arguments=arguments.api_server_argument,
    )
    sys.stdout.write(f"{bed.up(_folder(arguments), options).kubeconfig}\n")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    if not bed.down(_folder(arguments)):
        say(f"there is no test bed in {_folder(arguments)}")
    return 0


def _kubeconfig(arguments: argparse.Namespace) -> int:
    found = bed.Bed.on_record(_folder(arguments))
    if found is None or not found.up:
        raise BedFailure(f"no test bed is up in {_folder(arguments)}; scripts/testbed up starts one", 7)
    sys.stdout.write(f"{found.kubeconfig}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
