# What runs first in perfq.pyz: is this a Python, a platform and a cache folder that perfq can run on?
#
# In syntax that Python 2.7 and 3.0 can read, since telling these is its work. `build.py` sets the constants.
# The packages are unpacked once for each Python version by shiv's own code, into shiv's own layout; a later start
# finds them there and opens no archive. Native modules of other versions stay in the archive: over a third of it.
import os
import sys

BUILD_ID = "@BUILD_ID@"
VERSIONS = ((3, 11), (3, 14))
REFUSED = 78
#: With one of these set, shiv's bootstrap takes over, so that its documented switches do what they say.
SHIV_SWITCHES = (
    "SHIV_CONSOLE_SCRIPT",
    "SHIV_ENTRY_POINT",
    "SHIV_EXTEND_PYTHONPATH",
    "SHIV_FORCE_EXTRACT",
    "SHIV_INTERPRETER",
    "SHIV_MODULE",
    "SHIV_PREPEND_PYTHONPATH",
)


def refuse(sentence):
    sys.stderr.write("perfq: " + sentence + "\n")
    sys.exit(REFUSED)


def implementation():
    """(name, version) as people write them: ("CPython", "3.10")."""
    name = getattr(getattr(sys, "implementation", None), "name", "cpython")
    name = {"cpython": "CPython", "pypy": "PyPy"}.get(name, name)
    return name, "%d.%d" % tuple(sys.version_info[:2])


def check_python():
    name, version = implementation()
    what = None
    if name != "CPython" or not VERSIONS[0] <= tuple(sys.version_info[:2]) <= VERSIONS[1]:
        what = "%s %s" % (name, version)
    elif "t" in getattr(sys, "abiflags", ""):
        what = "a free-threaded build of CPython " + version
    if what:
        refuse(
            "this file runs on CPython %d.%d to %d.%d, and this is %s; start it with one of these, for example "
            "python3.12 perfq.pyz" % (VERSIONS[0] + VERSIONS[1] + (what,))
        )


def check_platform():
    machine = os.uname()[4] if hasattr(os, "uname") else "another machine"
    if not sys.platform.startswith("linux") or machine != "x86_64" or sys.maxsize < 2**32:
        refuse(
            "this file holds native code for 64-bit Linux on x86_64, and this is %s on %s; build perfq from source there"
            % (sys.platform, machine)
        )
    try:
        glibc = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        glibc = None
    if not glibc:
        refuse("this file holds native code for glibc 2.17 or newer, and this system has another C library")


def cache_root():
    """The folder that shiv would use: SHIV_ROOT, or .shiv in the home folder."""
    root = os.environ.get("SHIV_ROOT")
    if root:
        return os.path.abspath(os.path.expanduser(root))
    home = os.environ.get("HOME")
    if not home:
        refuse(
            "HOME is not set, so there is no place to unpack this file; "
            "set SHIV_ROOT to a folder for it, for example SHIV_ROOT=/var/tmp/perfq"
        )
    return os.path.join(os.path.abspath(home), ".shiv")


def remedy(root):
    return "set SHIV_ROOT to a folder where programs may be written and run (now: %s)" % root


def check_executable(path, root):
    """Native modules are mapped as executable pages, which a noexec file system refuses."""
    import mmap

    descriptor = os.open(path, os.O_RDONLY)
    try:
        mmap.mmap(descriptor, 1, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    except EnvironmentError:
        refuse("the cache folder is on a file system mounted noexec; " + remedy(root))
    finally:
        os.close(descriptor)


def check_cache(root):
    """Writes and maps a page in the cache folder, before anything is unpacked into it."""
    probe = os.path.join(root, ".perfq-probe-%d" % os.getpid())
    try:
        os.makedirs(root, exist_ok=True)
        with open(probe, "wb") as file:
            file.write(b"\0" * 4096)
        check_executable(probe, root)
    except EnvironmentError as error:
        refuse_write(error, root)
    finally:
        if os.path.exists(probe):
            os.unlink(probe)


def refuse_write(error, root):
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        refuse("the cache folder is full (%s); free space, or %s" % (error.strerror, remedy(root)))
    refuse("the cache folder cannot be written (%s); %s" % (error.strerror or error, remedy(root)))


def python_tag():
    """As in the names of native modules: 311."""
    return "%d%d" % tuple(sys.version_info[:2])


def needed(filename):
    """Whether this Python can use the file: all but native modules of another version."""
    import re

    native = re.search(r"\.cpython-(\d+)-[^/]*\.so$", filename)
    return native is None or native.group(1) == python_tag()


def unpack(archive, folder, root):
    """Unpacks into folder, by shiv's code under shiv's lock: of several first starts one does it, the others wait."""
    import shutil
    import zipfile

    from _bootstrap import extract_site_packages
    from _bootstrap.filelock import FileLock

    class Needed(zipfile.ZipFile):
        def infolist(self):
            return [info for info in zipfile.ZipFile.infolist(self) if needed(info.filename)]

    check_cache(root)
    compile_pyc = os.environ.get("SHIV_COMPILE_PYC", "").lower() in ("yes", "true", "t", "1")
    try:
        with Needed(archive) as packed:
            from pathlib import Path

            extract_site_packages(packed, Path(folder), compile_pyc)
    except EnvironmentError as error:
        with FileLock(os.path.join(root, "." + os.path.basename(folder) + "_lock")):
            shutil.rmtree(folder + ".tmp", ignore_errors=True)
        refuse_write(error, root)
    prune(folder, root)


def prune(current, root):
    """Removes other builds of perfq that no process uses (see `hold`); this build's for other Pythons stay."""
    import fcntl
    import re
    import shutil

    for name in os.listdir(root):
        other = os.path.join(root, name)
        if other == current or name.endswith("_" + BUILD_ID) or not re.search(r"_[0-9a-f]{64}$", name):
            continue
        if not os.path.isfile(os.path.join(other, "site-packages", "perfq", "_core.abi3.so")):
            continue
        try:
            descriptor = os.open(other, os.O_RDONLY)
        except EnvironmentError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(other, ignore_errors=True)
            os.unlink(os.path.join(root, "." + name + "_lock"))
        except EnvironmentError:
            pass
        finally:
            os.close(descriptor)


def hold(folder):
    """Marks the folder as in use for as long as this process lives; False where it is not there (any more)."""
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return os.path.exists(os.path.join(folder, "site-packages", "perfq", "_core.abi3.so"))
    except EnvironmentError:
        return False


def main():
    check_python()
    check_platform()
    root = cache_root()
    archive = os.path.dirname(os.path.abspath(__file__))
    name = os.path.basename(os.path.realpath(archive))
    folder = os.path.join(root, "%s_cp%s_%s" % (name, python_tag(), BUILD_ID))
    if any(os.environ.get(name) for name in SHIV_SWITCHES):
        check_cache(root)
        import _bootstrap

        _bootstrap.bootstrap()
        return
    # A second round where another build's first start pruned this one between the two lines.
    for _ in range(3):
        if hold(folder):
            break
        unpack(archive, folder, root)
    site_packages = os.path.join(folder, "site-packages")
    check_executable(os.path.join(site_packages, "perfq", "_core.abi3.so"), root)
    # In place of the archive, so that no later import looks through it; and without the host's packages, whose
    # plugins (pydantic and Pygments load what they find) may want other versions than ours.
    foreign = ("site-packages", "dist-packages")
    # What Python compiles goes into our own folder, also where it is told to leave none in others' (images of containers
    # do that): without it every start compiles anew what it imports.
    sys.dont_write_bytecode = False
    sys.path[:] = [site_packages] + [path for path in sys.path[1:] if os.path.basename(path) not in foreign]
    from perfq.cli import program as perfq

    perfq()


main()
