"""Asks the questions of docs/dashboard in DuckDB and in `etwkit sql`, and says how long both take and whether they agree."""

import json
import math
import subprocess
import sys
import time

from pathlib import Path

etwkit, pattern = sys.argv[1:]
library = Path("docs/dashboard")
questions = [str(question) for question in sorted(library.glob("*.sql"))]


def is_same(a, b):
    """Whether two values are the same: numbers with a fraction to twelve digits, since sums depend on their order."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return a == b


def is_same_answer(ours, theirs):
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(is_same, a, b)) for a, b in zip(ours, theirs)
    )


all_same = True
command = [sys.executable, str(library / "ask.py"), pattern, *questions]
for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
    theirs = json.loads(line)
    command = [etwkit, "sql", "--quiet", "--library", str(library), "--format", "json", pattern, "@" + theirs["question"]]
    start = time.monotonic()
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    ms = round(1000 * (time.monotonic() - start))
    ours = [list(json.loads(row).values()) for row in answer.splitlines()[1:]]
    same = is_same_answer(ours, theirs["rows"])
    all_same &= same
    told = "same rows" if same else "OTHER ROWS"
    print(f"{theirs['question']}: {len(ours)} rows, DuckDB {theirs['ms']} ms, etwkit sql {ms} ms, {told}")
sys.exit(0 if all_same else 1)
