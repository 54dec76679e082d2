"""Compares what `etwkit explain` says of simulated test runs with their truth; see benches/explain."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = os.environ.get("ETWKIT_BIN", "target/release/etwkit")
SEEDS_OF_SERIES = 1000
TOLERANCE = 0.1

# What the truth calls a cause, and words of which its names have one.
PLANTED = {
    "HardFaults": ["HardFault", "hard faults"],
    "Scans": ["nwshield", "FltSendMessage", "NwScanSvc"],
    "Lookup": ["dnsapi", "DNS query"],
}


def make_run(scenario, seed, folder):
    """Writes a trace and keeps its summary and what is true of it."""
    with tempfile.TemporaryDirectory() as made:
        trace = Path(made, "t.etl")
        subprocess.run(
            [PROGRAM, "synth", "write", scenario, "--seed", str(seed), "--out", str(trace)],
            check=True,
            capture_output=True,
        )
        extract = folder / f"run{seed}.etwx"
        symbols = trace.with_suffix(".symbols")
        subprocess.run(
            [PROGRAM, "extract", "--detail", "summary", "--symbols", str(symbols), "--out", str(extract), str(trace)],
            check=True,
            capture_output=True,
        )
        shutil.move(trace.with_suffix(".truth.json"), extract.with_suffix(".json"))
    return extract


def explain(extracts):
    """Rows of the answer by table, and the seconds that it took."""
    command = [PROGRAM, "explain", "--quiet", "--json", "--process", "ReportTest.exe", *map(str, extracts)]
    start = time.monotonic()
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    tables = {}
    for row in map(json.loads, answer.stdout.splitlines()[1:]):
        tables.setdefault(row.get("table"), []).append(row)
    return tables, seconds


def costs(extracts):
    """What each planted cause cost in each run, in ms, by the name of the run."""
    found = {}
    for extract in extracts:
        calls = json.loads(extract.with_suffix(".json").read_text())["calls"]
        found[extract.stem] = {call["name"]: (call["end_ns"] - call["start_ns"]) / 1e6 for call in calls}
    return found


def places(names, words):
    """The positions of the names that have one of the words."""
    return [place for place, name in enumerate(names) if any(word in (name or "") for word in words)]


def judge(extracts):
    """Prints how each planted cause was named; whether all were, with the right effect."""
    tables, seconds = explain(extracts)
    causes, runs, cost = tables.get("causes", []), tables.get("runs", []), costs(extracts)
    print(f"{len(runs)} runs in {seconds:.1f} s, {len(causes)} causes")

    def mean(name, half):
        values = [cost[run["extract"]][name] for run in runs if run["half"] == half]
        return sum(values) / max(1, len(values))

    are_right = True
    planted = {name: mean(name, "slow") - mean(name, "fast") for name in PLANTED}
    own = [f"{row['kind']} {row['name']}" for row in causes]
    other = [row["moves_with"] for row in causes]
    others = set(range(len(causes)))
    for name, effect in sorted(planted.items(), key=lambda item: -item[1]):
        # In few runs the times of another cause may move with this one by chance: its own row counts.
        found = places(own, PLANTED[name]) or places(other, PLANTED[name])
        others -= set(found)
        said = causes[found[0]]["effect_ms"] if found else 0.0
        off = abs(said - effect) / max(1e-9, abs(effect))
        are_right &= bool(found) and found[0] < len(PLANTED) and off <= TOLERANCE
        place = f"cause {found[0] + 1}" if found else "NOT NAMED"
        print(f"  {name}: {place}, {said:.1f} ms, truth {effect:.1f} ms, off by {100 * off:.1f} %")
    for place in sorted(others):
        row = causes[place]
        print(f"  also: {row['effect_ms']:.1f} ms {row['measure']} {row['kind']} {row['name']} {row['process']}")
    return are_right


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=lambda text: [int(part) for part in text.split(",")], default=[200])
    options.add_argument("--series", type=int, default=1)
    options = options.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as made:
        for series in range(1, options.series + 1):
            seeds = [SEEDS_OF_SERIES * (series - 1) + run for run in range(1, max(options.runs) + 1)]
            extracts = {}
            for scenario in ["test-runs", "test-runs-quiet"]:
                folder = Path(made, f"{scenario}-{series}")
                folder.mkdir()
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    extracts[scenario] = list(pool.map(lambda seed: make_run(scenario, seed, folder), seeds))
            for runs in options.runs:
                print(f"series {series}: ", end="")
                are_right = judge(extracts["test-runs"][:runs])
                tables, seconds = explain(extracts["test-runs-quiet"][:runs])
                alarms = tables.get("causes", [])
                print(f"  without causes: {len(alarms)} causes, {seconds:.1f} s")
                results.setdefault(runs, []).append((are_right, not alarms))
    for runs, found in results.items():
        right, silent = (sum(values) for values in zip(*found))
        print(f"{runs} runs: {right} of {len(found)} series right, {silent} without a false cause")
    sys.exit(0 if all(all(pair) for found in results.values() for pair in found) else 1)


if __name__ == "__main__":
    main()
