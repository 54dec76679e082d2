"""Traces and programs that the tests of the package use."""

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from unittest import mock

import etwkit

ROOT = pathlib.Path(__file__).resolve().parent.parent

HAS_ARROW = importlib.util.find_spec("pyarrow") is not None
HAS_DUCKDB = HAS_ARROW and importlib.util.find_spec("duckdb") is not None
HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_POLARS = importlib.util.find_spec("polars") is not None

# A query that takes minutes.
ENDLESS = """
    SELECT count(*) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b
    WHERE a.value % 7 = b.value % 5"""

# Defaults of the user and of the machine change no test.
os.environ["ETWKIT_CONFIG"] = ""


def command(*arguments):
    """Return the output of a command line of the program."""
    line = [etwkit.program(), *arguments]
    return subprocess.run(line, check=True, capture_output=True, encoding="utf-8").stdout


def printed(*arguments):
    """Return the rows of a command line with --json."""
    return [json.loads(line) for line in command(*arguments, "--json").splitlines()[1:]]


@functools.cache
def folder():
    """Return a folder that is removed at the end, with the cache of the tests."""
    temporary = tempfile.TemporaryDirectory()
    os.environ["ETWKIT_CACHE"] = os.path.join(temporary.name, "cache")
    atexit.register(temporary.cleanup)
    return pathlib.Path(temporary.name)


@functools.cache
def trace():
    """Return the path of a small trace."""
    path = folder() / "timers.etl"
    command("synth", "write", "timers", "--out", str(path))
    return path


@functools.cache
def farm():
    """Return the folder of four extracts of two builds."""
    runs = folder() / "runs"
    runs.mkdir()
    for number in range(4):
        source = folder() / f"Report_{900 + number}ms.etl"
        command("synth", "write", "test-runs", "--seed", str(number), "--out", str(source))
        labels = ["--label", "suite=Report", "--label", f"build={number // 2}"]
        target = runs / f"{source.stem}.etwx"
        command("extract", "--quiet", *labels, "--out", str(target), str(source))
    return runs


def processes_of(path):
    """Return the names of the processes of a trace; a worker calls it."""
    return [row["name"] for row in etwkit.open(path).process()]


@contextlib.contextmanager
def stand_in(source):
    """Replace the program by a script in Python."""
    with tempfile.TemporaryDirectory() as place:
        program = pathlib.Path(place) / "etwkit"
        program.write_text(f"#!{sys.executable}\nimport os, sys, time\n{source}\n", "utf-8")
        program.chmod(0o755)
        with mock.patch.dict(os.environ, {"ETWKIT_BIN": str(program)}):
            yield pathlib.Path(place)
