"""Answers."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._error import Cancelled, Error, Nothing
from ._run import Run

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Version of the JSON lines that this package reads.
_FORMAT = 1

# Texts in the message of an error; its notes have all.
_MOST_TEXTS = 3

_ANSWERED, _NOTHING, _ERROR, _FAILED = range(4)


class Answer:
    """The answer to a question. The program runs when it is first read.

    Rows are dicts; data frames and `__arrow_c_stream__` have the types of the columns, and in
    front of them where each row comes from (`extract`, `run_id`, `labels` and others). Each form is
    kept once it is read. A question without an answer raises `Error`, one that finds nothing
    `Nothing`, unless `allow_empty` was given.
    """

    def __init__(
        self,
        line,
        arguments,
        folder,
        *,
        form,
        text=None,
        columns=(),
        keep_going=False,
        progress=None,
        allow_empty=False,
    ):
        self._line = line
        self._arguments = arguments
        self._folder = folder
        self._form = form
        self._text = text
        self._declared = columns
        self._keep_going = keep_going
        self._progress = progress
        self._allow_empty = allow_empty
        # One thread at a time runs the program; the others get its answer.
        self._reading = threading.RLock()
        self._changing = threading.Lock()
        self._run = None
        self._is_cancelled = False
        self._first = None
        self._rows = None
        self._bytes = None
        self._table = None
        self._notes = None
        self._errors = []
        self._exit_code = None

    def __repr__(self):
        return f"<etwkit.Answer of {self._arguments!r}>"

    def __reduce__(self):
        raise TypeError("an answer stays in its process: pass on its rows or a table")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as dicts, with the values that the program prints with --json.

        No other package is needed. Points in time are texts.
        """
        with self._reading:
            if self._rows is None:
                self._read_rows()
            return self._rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns of `rows`, in their order."""
        names = dict.fromkeys(name for row in self.rows() for name in row)
        return list(names) or list(self._declared)

    def to_arrow(self) -> pyarrow.Table:
        """Return a `pyarrow.Table`."""
        ipc = _package("pyarrow.ipc", "to_arrow", "arrow")
        with self._reading:
            if self._table is None:
                self._table = self._typed(lambda stream: ipc.open_stream(stream).read_all())
            return self._table

    def __arrow_c_stream__(self, requested_schema=None):
        """Export the rows to any package that reads Arrow streams; pyarrow is needed for it."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame`. Integers stay integers where values are missing."""
        pandas = _package("pandas", "to_pandas", "pandas")
        arrow = _package("pyarrow", "to_pandas", "pandas")
        # Other types of pandas would turn keys with 64 bits into floats, and change them.
        types = {
            arrow.int64(): pandas.Int64Dtype(),
            arrow.int32(): pandas.Int32Dtype(),
            arrow.bool_(): pandas.BooleanDtype(),
        }
        return self.to_arrow().to_pandas(types_mapper=types.get)

    def to_polars(self) -> polars.DataFrame:
        """Return a `polars.DataFrame`; pyarrow is not needed for it."""
        polars = _package("polars", "to_polars", "polars")
        with self._reading:
            return self._typed(lambda stream: polars.read_ipc_stream(io.BytesIO(stream)))

    @property
    def notes(self) -> list[str]:
        """Notes of the error stream: what is missing, estimated or damaged."""
        self._ensure()
        return list(self._notes)

    @property
    def errors(self) -> list[Error]:
        """Errors of extracts that are left out by `keep_going`."""
        self._ensure()
        return list(self._errors)

    @property
    def exit_code(self) -> int:
        """Exit code of the program: 0 answered, 1 nothing found, 2 with `errors`, 3 `fail_on`."""
        self._ensure()
        return self._exit_code

    def cancel(self) -> None:
        """End the program, from any thread; the thread that reads gets `Cancelled`."""
        with self._changing:
            self._is_cancelled = True
            run = self._run
        if run is not None:
            run.cancel()

    def _ensure(self):
        with self._reading:
            if self._notes is None:
                self.rows()

    def _read_rows(self):
        ended = self._asked(self._form)
        lines = ended.out.splitlines() if _is_whole(ended) else []
        head, *others = [_object(line) for line in lines] or [{}]
        if lines and head.get("format_version") != _FORMAT:
            raise Error(
                f"the program prints rows in the format {head.get('format_version')}",
                "install the package etwkit and the program in the same version",
                ended.exit_code,
            )
        # Without rows, the line that follows says why.
        is_empty = ended.exit_code == _NOTHING
        reasons = [line["nothing"] for line in others if is_empty and "nothing" in line]
        rows = [] if is_empty else others
        self._judge(ended, len(rows), reasons)
        self._first, self._rows = head, rows

    def _head(self):
        """Return the first line, which is the whole answer of some commands."""
        self.rows()
        return self._first

    def _typed(self, read):
        """Return the rows as a table, which `read` makes of a stream of Arrow (IPC)."""
        if self._bytes is not None:
            return read(self._bytes)
        ended = self._asked("--format=arrow")
        table = read(ended.out) if _is_whole(ended) else []
        self._judge(ended, len(table), [])
        self._bytes = ended.out
        return table

    def _asked(self, form):
        with self._line(form) as line:
            run = Run(line, text=self._text, folder=self._folder, progress=self._progress)
            with self._changing:
                if self._is_cancelled:
                    raise Cancelled("the answer was cancelled")
                self._run = run
            try:
                return run.wait()
            finally:
                with self._changing:
                    self._run = None

    def _judge(self, ended, count, reasons):
        """Raise the error of a run, unless it answers the question."""
        notes, errors = ended.errors.notes, ended.errors.errors(ended.exit_code)
        is_answered = ended.exit_code in (_ANSWERED, _FAILED)
        is_partial = ended.exit_code == _ERROR and self._keep_going and count > 0
        is_empty = ended.exit_code == _NOTHING and self._allow_empty
        if not _is_whole(ended) or not (is_answered or is_partial or is_empty):
            raise _error(ended, notes, errors, reasons)
        self._notes, self._errors, self._exit_code = notes, errors, ended.exit_code


def _is_whole(ended):
    """Return whether a run wrote its output to the end, if it has one."""
    return bool(ended.out) and ended.exit_code in (_ANSWERED, _NOTHING, _ERROR, _FAILED)


def _error(ended, notes, errors, reasons):
    code, hint = ended.exit_code, ended.errors.hint
    if errors:
        return Error(_joined(error.message for error in errors), hint, code, notes)
    if code == _NOTHING:
        message = _joined(reasons or notes) or "no row answers the question"
        return Nothing(message, hint, code, notes)
    if code < 0:
        return Error(f"the program was ended by signal {-code}", hint, code, notes)
    message = _joined(notes) or "no reason is printed"
    return Error(f"the program ended with exit code {code}: {message}", hint, code, notes)


def _joined(texts):
    """Return the first texts as one; thousands of extracts can have the same reason."""
    texts = list(dict.fromkeys(texts))
    rest = len(texts) - _MOST_TEXTS
    more = [f"and {rest} more"] if rest > 0 else []
    return "; ".join([*texts[:_MOST_TEXTS], *more])


def _object(line):
    try:
        return json.loads(line)
    except ValueError as error:
        raise Error(f"the program printed a line that is not JSON: {error}") from error


def _package(name, method, extra):
    try:
        module = __import__(name, fromlist=["_"])
    except ImportError as error:
        package = name.partition(".")[0]
        message = f"{method} needs {package}: pip install 'etwkit[{extra}]'"
        raise ImportError(message, name=package) from error
    return module
