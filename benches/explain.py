"""Compares what `etwkit explain` says of simulated test runs with their truth."""

import json
import subprocess
import sys
import time

from pathlib import Path

etwkit, folder = sys.argv[1], Path(sys.argv[2])

# What the truth calls a cause, and words of which its names have one.
PLANTED = {
    "HardFaults": ["HardFault", "hard faults"],
    "Scans": ["nwshield", "FltSendMessage", "NwScanSvc"],
    "Lookup": ["dnsapi", "DNS query"],
}


def explain(scenario):
    """Rows of the answer by table, and the seconds that it took."""
    command = [etwkit, "explain", "--quiet", "--json", "--process", "ReportTest.exe", str(folder / scenario / "*.etwx")]
    start = time.monotonic()
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    rows = [json.loads(line) for line in answer.stdout.splitlines()[1:]]
    tables = {}
    for row in rows:
        tables.setdefault(row.get("table"), []).append(row)
    return tables, seconds, answer.stderr


def truth(scenario):
    """What each planted cause cost in each run, in ms, by the name of the run."""
    costs = {}
    for file in (folder / scenario).glob("*.json"):
        calls = json.loads(file.read_text())["calls"]
        costs[file.stem] = {call["name"]: (call["end_ns"] - call["start_ns"]) / 1e6 for call in calls}
    return costs


is_good = True
tables, seconds, _ = explain("test-runs")
causes, runs, costs = tables.get("causes", []), tables.get("runs", []), truth("test-runs")
print(f"{len(runs)} runs in {seconds:.1f} s, {len(causes)} causes")


def mean_cost(name, half):
    values = [costs[run["extract"]][name] for run in runs if run["half"] == half]
    return sum(values) / len(values)


planted = {name: mean_cost(name, "slow") - mean_cost(name, "fast") for name in PLANTED}
for name, cost in sorted(planted.items(), key=lambda item: -item[1]):
    names = [f"{row['kind']} {row['name']}; {row['moves_with']}" for row in causes[: len(PLANTED)]]
    found = [place for place, text in enumerate(names) if any(word in text for word in PLANTED[name])]
    effect = causes[found[0]]["effect_ms"] if found else 0.0
    off = abs(effect - cost) / cost
    is_good &= bool(found) and off <= 0.1
    place = f"cause {found[0] + 1}" if found else "NOT FOUND"
    print(f"{name}: {place}, {effect:.1f} ms, truth {cost:.1f} ms, off by {100 * off:.1f} %")
for row in causes[len(PLANTED) :]:
    print(f"also: {row['effect_ms']:.1f} ms {row['measure']} {row['kind']} {row['name']} {row['process']}")

tables, seconds, _ = explain("test-runs-quiet")
causes = tables.get("causes", [])
is_good &= not causes
print(f"without causes: {len(tables.get('runs', []))} runs in {seconds:.1f} s, {len(causes)} causes")
sys.exit(0 if is_good else 1)
