"""Traces of simulated machines for the notebooks, which need none of yours."""

import os
import pathlib
import subprocess

import etwkit

# Nights of a test that runs twice a week. The first half runs one build, the others the next one.
NIGHTS = [f"2026-11-{day:02}" for day in (2, 6, 9, 13, 16, 20, 23, 27)]
BUILDS = ["7730", "7731"]


def trace():
    """Return the path of a trace of a machine on which programs start slowly."""
    path = pathlib.Path("slow.etl")
    if not path.exists():
        command("synth", "write", "filter-scan", "--out", path)
    return path


def runs():
    """Return a pattern for the extracts of all nights, with labels."""
    folder = pathlib.Path("runs")
    if not folder.exists():
        folder.mkdir()
        for number, night in enumerate(NIGHTS):
            record(folder / night, number)
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
        command("lake", "init", path)
        command("lake", "add", path, runs())
    return path


def command(*words):
    """Run a command line of the program."""
    subprocess.run(
        [etwkit.program(), *map(os.fspath, map(str, words))],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
