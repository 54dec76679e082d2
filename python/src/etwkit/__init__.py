"""Questions to Windows event traces, answered by the program etwkit.

    import etwkit

    trace = etwkit.open("slow.etl")
    for row in trace.cpu(process="a*", top=10):
        print(row["process"], row["cpu_ns"])

The program runs as a child and is found by the variable ETWKIT_BIN, in PATH, among the scripts of
this Python, or in this package. Nothing of it is loaded into this process.
"""

from ._answer import Answer
from ._declared import VERSION as __version__
from ._error import Cancelled, Error, Nothing
from ._program import find as program
from ._run import Progress
from ._source import Farm, Path, Trace
from ._text import printable

__all__ = [
    "Answer",
    "Cancelled",
    "Error",
    "Farm",
    "Nothing",
    "Progress",
    "Trace",
    "open",
    "printable",
    "program",
    "__version__",
]


def open(
    path: Path,
    *,
    rename_rules: Path | None = None,
    map: Path | None = None,
) -> Trace:
    """Return the trace or extract with this name.

    The name is never a pattern: characters such as * and @ have no meaning. Options of process
    names and redacted traces are those of the command line (--rename-rules, --map).
    """
    return Trace(path, rename_rules=rename_rules, map=map)
