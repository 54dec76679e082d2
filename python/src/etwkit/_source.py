"""Traces and farms: what questions are put to."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _arguments, _questions
from ._answer import Answer
from ._run import Progress

Path = str | os.PathLike[str]

# Characters of names on a command line; longer lists are passed in a file. Windows takes 32,767.
_MOST_NAMES = 16_000

# A name of a value in SQL.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Source:
    """Extracts or traces, and how they are chosen."""

    def __init__(self, options):
        self._options = options
        # Relative names stay those of today when the program changes its folder later.
        self._folder = os.getcwd()
        self._keep_going = False

    def _names(self):
        raise NotImplementedError

    def _ask(self, question, others, options, *, progress, allow_empty):
        arguments = [*question["command"], *_arguments.options(question, options)]
        names = [*self._names(), *(name for other in others for name in _names_of(other))]
        return self._answer(
            arguments,
            names,
            form="--json",
            columns=list(question["columns"]),
            progress=progress,
            allow_empty=allow_empty,
        )

    def sql(
        self,
        query: str,
        *,
        params: Mapping[str, str | int | float | bool] | None = None,
        library: Path | None = None,
        stack_tag_file: Path | Iterable[Path] | None = None,
        memory: int | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        allow_empty: bool = False,
    ) -> Answer:
        """Return the rows of an SQL query, or of a question of the library ("@cpu/methods").

        params: values for $NAME in the query, by name: texts, numbers, True and False
        library: a folder with questions of your own
        stack_tag_file: rules for stack tags, one file or several
        memory: memory for sorting, grouping and joining, in MiB
        threads: threads that compute
        """
        arguments = ["sql", *(_param(name, value) for name, value in (params or {}).items())]
        options = {"library": library, "memory": memory, "threads": threads}
        for name, value in options.items():
            if value is not None:
                arguments.append(f"--{name}={_arguments.text(name, value)}")
        for file in _several(stack_tag_file):
            arguments.append(f"--stack-tag-file={_arguments.text('stack_tag_file', file)}")
        is_of_library = query.startswith("@")
        try:
            # A query goes through a pipe: it can be long, and may start with a comment (--).
            text = None if is_of_library else query.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"the query is not Unicode: {error}") from error
        return self._answer(
            arguments,
            self._names(),
            last=query if is_of_library else "-",
            text=text,
            form="--format=json",
            progress=progress,
            allow_empty=allow_empty,
        )

    def _answer(self, arguments, names, *, last=None, **asked):
        @contextlib.contextmanager
        def line(form):
            with _passed(names) as passed:
                after = [] if last is None else [last]
                yield [*arguments, *self._options, form, "--color=never", "--", *passed, *after]

        return Answer(line, arguments, self._folder, keep_going=self._keep_going, **asked)


class Trace(_Source, _questions.TraceQuestions):
    """One trace or extract."""

    def __init__(
        self,
        path: Path,
        *,
        rename_rules: Path | None = None,
        map: Path | None = None,
    ):
        super().__init__(_given({"rename-rules": rename_rules, "map": map}))
        name = os.fsdecode(path)
        if not name:
            raise ValueError("expected the name of a trace, found an empty text")
        self.path = os.path.abspath(name)

    def __repr__(self):
        return f"etwkit.open({self.path!r})"

    def __fspath__(self) -> str:
        return self.path

    def _names(self):
        # A whole path is no pattern, no list and no option, whatever characters it has.
        return [self.path]

    def info(
        self,
        *,
        progress: Callable[[Progress], object] | None = None,
    ) -> dict[str, Any]:
        """Return the recorded topics, the machine and the damage, as a dict."""
        answer = self._answer(["info"], self._names(), form="--json", progress=progress)
        return answer._head()


class Farm(_Source, _questions.FarmQuestions):
    """Many extracts, which answer together.

    paths: a folder, a pattern ("runs/**/*.etwx"), a list of names ("@nightly.txt"), a trace, or a
        sequence of these; a `pathlib.Path` is one file or folder, also with * or @ in its name
    where: only extracts with these facts, as an SQL condition ("suite = 'Report'")
    keep_going: extracts that cannot be read become `Answer.errors`, and the others answer
    rename_rules, map: as the command line has them
    """

    def __init__(
        self,
        paths: Path | Iterable[Path | Trace],
        *,
        where: str | None = None,
        keep_going: bool = False,
        rename_rules: Path | None = None,
        map: Path | None = None,
    ):
        options = {"where": where, "rename-rules": rename_rules, "map": map}
        super().__init__(_given(options) + ["--keep-going"] * bool(keep_going))
        self._keep_going = keep_going
        self.paths = [name for path in _several(paths) for name in _names_of(path)]
        self.where = where
        if not self.paths:
            raise ValueError("a farm needs at least one name")

    def __repr__(self):
        where = "" if self.where is None else f", where={self.where!r}"
        return f"etwkit.Farm({self.paths!r}{where})"

    def _names(self):
        return self.paths


def _given(options):
    return [
        f"--{name}={_arguments.text(name, value)}"
        for name, value in options.items()
        if value is not None
    ]


def _several(value):
    if value is None:
        return []
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def _names_of(value):
    """Return the names of a source, a file or a pattern as the program takes them."""
    if isinstance(value, _Source):
        return value._names()
    if isinstance(value, os.PathLike):
        return [os.path.abspath(value)]
    return [_arguments.text("a name", value)]


@contextlib.contextmanager
def _passed(names):
    """Pass names as arguments, or many of them in a file that is removed afterwards."""
    is_short = sum(len(name) + 1 for name in names) <= _MOST_NAMES
    if is_short or not all(_is_line(name) for name in names):
        yield names
        return
    with tempfile.TemporaryDirectory(prefix="etwkit-") as folder:
        file = os.path.join(folder, "names.txt")
        lines = "".join(f"{name}\n" for name in names)
        pathlib.Path(file).write_bytes(os.fsencode(lines))
        yield [f"@{file}"]


def _is_line(name):
    """Return whether a list can have a name: it skips comments and blanks around names."""
    return "\n" not in name and name == name.strip() and not name.startswith("#")


def _param(name, value):
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name of a value in SQL")
    match value:
        case bool():
            return f"--param={name}:bool={str(value).lower()}"
        case int():
            return f"--param={name}:int={value}"
        case float():
            return f"--param={name}:float={value!r}"
        case str():
            return f"--param={name}:text={value}"
        case _:
            raise TypeError(f"${name} is a text, a number, True or False")
