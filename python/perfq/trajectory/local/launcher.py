"""Joins cgroups, then becomes the command: so that all it does is counted in them. Nothing of perfq is imported here.

Started as `python -I -S -c TEXT FD COUNT DOOR… PROGRAM ARGUMENT…`. FD is a pipe that the exec closes; what
hinders it is told there: `STAGE ERRNO WHERE`. Arguments and environment go on byte by byte as the kernel has them:
Python may have decoded them by another locale, and may have added LC_CTYPE.
"""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def read(path: str) -> bytes:
    """All of a file."""
    fd = posix.open(path, posix.O_RDONLY)
    found = b""
    while piece := posix.read(fd, 1 << 16):
        found += piece
    posix.close(fd)
    return found


def main() -> "NoReturn":
    """Never returns."""
    words = read("/proc/self/cmdline").split(b"\0")[:-1]
    # python -I -S -c TEXT FD COUNT
    told, count = int(words[5]), int(words[6])
    doors, argv = words[7 : 7 + count], words[7 + count :]
    posix.set_inheritable(told, False)
    stage, where = b"join", b""
    try:
        for where in doors:
            fd = posix.open(where, posix.O_WRONLY)
            posix.write(fd, b"0")
            posix.close(fd)
        stage, where = b"exec", argv[0]
        become(argv)
    except OSError as error:
        posix.write(told, b"%s %d %s" % (stage, error.errno or 0, where))
    posix._exit(127)


def become(argv: "list[bytes]") -> None:
    """As execvpe(3); raises the error that says most."""
    entries = [entry.partition(b"=") for entry in read("/proc/self/environ").split(b"\0") if b"=" in entry]
    environment = {name: value for name, _, value in entries}
    name, path = argv[0], environment.get(b"PATH", b"/bin:/usr/bin")
    programs = [name] if b"/" in name else [(folder or b".") + b"/" + name for folder in path.split(b":")]
    worst: OSError | None = None
    for program in programs:
        try:
            posix.execve(program, argv, environment)
        except (FileNotFoundError, NotADirectoryError) as error:
            worst = worst or error
        except OSError as error:
            worst = error
    if worst is not None:
        raise worst


if __name__ == "__main__":
    main()
