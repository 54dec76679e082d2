"""Traces of simulated machines for the notebooks, which need none of yours."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import etwkit

# Nights of a test that runs twice a week. The first half runs one build, the others the next one.
NIGHTS = [f"2026-11-{day:02}" for day in (2, 6, 9, 13, 16, 20, 23, 27)]
BUILDS = ["7730", "7731"]


def trace():
    """Return the path of a trace of a machine on which programs start slowly."""
    folder = pathlib.Path("slow")
    if not folder.exists():
        with unfinished(folder) as part:
            part.mkdir()
            # Symbols are found next to the trace by its name.
            command("synth", "write", "filter-scan", "--out", part / "slow.etl")
    return folder / "slow.etl"


def runs():
    """Return a pattern for the extracts of all nights, with labels."""
    folder = pathlib.Path("runs")
    if not folder.exists():
        with unfinished(folder) as part:
            part.mkdir()
            for number, night in enumerate(NIGHTS):
                record(part / night, number)
    return "runs/*.etwx"


def record(path, number):
    is_later = number >= len(NIGHTS) // 2
    scenario = "test-runs" if is_later else "test-runs-quiet"
    trace = path.with_suffix(".etl")
    command("synth", "write", scenario, "--seed", number + 1, "--out", trace)
    labels = ["suite=Report", f"night={path.name}", f"build={BUILDS[is_later]}"]
    options = [word for label in labels for word in ("--label", label)]
    command("extract", "--detail", "summary", "--no-empty", *options, trace)


def lake():
    """Return the path of a lake with the runs of all nights."""
    path = pathlib.Path("farm")
    if not path.exists():
        nights = runs()
        with unfinished(path) as part:
            command("lake", "init", part)
            command("lake", "add", part, nights)
    return path


@contextlib.contextmanager
def unfinished(path):
    """Yield a folder to write to, which gets its name at the end, if the run is not interrupted."""
    part = path.with_name(f"unfinished-{path.name}")
    if part.exists():
        shutil.rmtree(part)
    yield part
    part.rename(path)


def command(*words):
    """Run a command line of the program."""
    subprocess.run(
        [etwkit.program(), *map(os.fspath, map(str, words))],
        check=True,
        stdout=subprocess.DEVNULL,
    )
