"""Asks questions of a dashboard of all extracts at once with DuckDB.

    python3 ask.py 'runs/*.etwx' cpu.sql waits.sql …

Each table of the extracts is a view of its name, so that the SQL is the one that `etwkit sql` takes. Prints a line of
JSON for each question: its name, the milliseconds that it took, the names of the columns, and the rows.
"""

import json
import os
import sys
import time

import duckdb

from glob import glob
from pathlib import Path


def tables(pattern):
    """Files of all tables: those that were computed from others lie in the folder `derived`."""
    some = sorted(glob(pattern))[0]
    for folder in ("", "derived/"):
        for file in sorted(Path(some, folder).glob("*.parquet")):
            yield file.stem, f"{pattern}/{folder}{file.name}"


pattern, *questions = sys.argv[1:]
database = duckdb.connect()
for name, files in tables(pattern):
    files = files.replace("'", "''")
    database.execute(f"CREATE VIEW \"{name}\" AS SELECT * FROM '{files}'")
for question in questions:
    start = time.monotonic()
    answer = database.execute(Path(question).read_text())
    columns = [column[0] for column in answer.description]
    rows = [list(row) for row in answer.fetchall()]
    ms = round(1000 * (time.monotonic() - start))
    print(json.dumps({"question": Path(question).stem, "ms": ms, "columns": columns, "rows": rows}))
sys.stdout.flush()
# Threads that are still being closed can abort the interpreter while it ends.
os._exit(0)
