"""Compares rows of questions in DuckDB with rows that etwkit wrote.

    python3 same_rows.py cases.json

Each case has a name, the file with the macros and views of its extract, the SQL for DuckDB, and a Parquet file with the
rows of etwkit. Prints a line for each case that differs. Numbers of floating point may differ by 1e-9 of their size.
"""

import json
import math
import os
import sys

import duckdb

from decimal import Decimal
from pathlib import Path


def is_same(ours, theirs):
    if isinstance(ours, float) or isinstance(theirs, float):
        both = isinstance(ours, (int, float, Decimal)) and isinstance(theirs, (int, float, Decimal))
        return both and math.isclose(ours, theirs, rel_tol=1e-9)
    return ours == theirs


def rows_of(database, sql):
    answer = database.execute(sql)
    names = [column[0] for column in answer.description]
    return names, answer.fetchall()


def keys(sql, names):
    """Places of the columns that rows are sorted by, if the SQL ends with an order of columns."""
    _, _, order = sql.rpartition("ORDER BY")
    if not order or ")" in order:
        return []
    words = [key.split()[0].strip('"') for key in order.split("LIMIT")[0].split(",")]
    return [names.index(word) for word in words if word in names]


def sortable(row):
    return [f"{value:.9g}" if isinstance(value, float) else repr(value) for value in row]


def difference(database, case):
    names, theirs = rows_of(database, case["sql"])
    ours_names, ours = rows_of(database, f"SELECT * FROM read_parquet('{case['rows']}')")
    if names != ours_names:
        return f"columns {names}, expected {ours_names}"
    if len(ours) != len(theirs):
        return f"{len(theirs)} rows, expected {len(ours)}"
    # Rows with equal keys have no order among each other.
    for place in keys(case["sql"], names):
        for number, (expected, found) in enumerate(zip(ours, theirs)):
            if not is_same(expected[place], found[place]):
                return f"{names[place]} of row {number} is {found[place]}, expected {expected[place]}"
    for expected, found in zip(sorted(ours, key=sortable), sorted(theirs, key=sortable)):
        if not all(map(is_same, expected, found)):
            return f"a row is {found}, expected {expected}"
    return None


databases = {}
failed = 0
for case in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    setup = case["setup"]
    if setup not in databases:
        databases[setup] = duckdb.connect()
        databases[setup].execute(Path(setup).read_text(encoding="utf-8")).fetchall()
    try:
        wrong = difference(databases[setup], case)
    except duckdb.Error as error:
        wrong = str(error)
    if wrong:
        failed += 1
        print(f"{case['name']}: {wrong}")
sys.stdout.flush()
# Threads that are still being closed can abort the interpreter while it ends.
os._exit(1 if failed else 0)
