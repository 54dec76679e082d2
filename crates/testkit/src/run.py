"""Runs a script, `-c TEXT` or `-m MODULE` as Python does, and leaves the process at once.

Threads of duckdb, polars and pyarrow can live longer than the interpreter. When Python takes the
libraries down beside them, now and then one calls `std::terminate`, after every answer is printed.
"""

import os
import runpy
import sys
import traceback


def run(kind, rest):
    """Runs what the words name, with the arguments that follow."""
    if kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif kind == "-m":
        sys.argv = rest
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [kind, *rest]
        sys.path[0] = os.path.dirname(os.path.abspath(kind))
        runpy.run_path(kind, run_name="__main__")


def exit_code(end):
    """The exit code of `sys.exit`; a text is printed first."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


code = 0
try:
    run(sys.argv[1], sys.argv[2:])
except SystemExit as end:
    code = exit_code(end)
except BaseException:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
