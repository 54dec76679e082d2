"""The program that answers."""

import os
import sysconfig

from ._error import Error

_NAME = "etwkit.exe" if os.name == "nt" else "etwkit"

_HINT = (
    "install etwkit so that PATH has its folder, or name the program by the variable ETWKIT_BIN"
)


def find() -> str:
    """Return the path of the program `etwkit`.

    The variable ETWKIT_BIN names it. Without the variable it is searched for in PATH, among the
    scripts of this Python, and in the folder `bin` of this package, in this order.
    """
    named = os.environ.get("ETWKIT_BIN")
    if named:
        return _named(named)
    for folder in _folders():
        program = os.path.join(folder, _NAME)
        if _is_program(program):
            return program
    raise Error("the program etwkit is not installed", _HINT)


def _named(name):
    path = os.path.abspath(name)
    if not _is_program(path):
        raise Error(f"ETWKIT_BIN does not name a program: {name}", _HINT)
    # Windows starts these in a shell, which would read names out of traces as commands.
    if path.lower().endswith((".bat", ".cmd")):
        raise Error(f"ETWKIT_BIN names a script of a shell: {name}", "name etwkit.exe itself")
    return path


def _folders():
    # Relative folders are left out: the folder of a trace may have a program of a stranger.
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            yield folder
    scripts = sysconfig.get_path("scripts")
    if scripts:
        yield scripts
    yield os.path.join(os.path.dirname(__file__), "bin")


def _is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)
