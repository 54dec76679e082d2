"""Opens an extract with DuckDB, pyarrow, pandas and polars, and prints as JSON what each of them sees."""

import datetime
import io
import json
import os
import sys
import zipfile
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

extract, packed = Path(sys.argv[1]), Path(sys.argv[2])


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def number(value):
    """A number for a value: of a text or bytes the length, of a time the microseconds since 1970."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    return len(value) if isinstance(value, bytes) else value


def total(values):
    """One number for a column."""
    return sum(number(value) for value in values if value is not None)


def with_duckdb(file):
    rows = duckdb.sql(f"SELECT * FROM '{file}'")
    types = dict(zip(rows.columns, map(str, rows.types)))
    # Python wants another package for times with a zone.
    times = [name for name, kind in types.items() if kind == "TIMESTAMP WITH TIME ZONE"]
    as_numbers = ", ".join(f"epoch_us({name}) AS {name}" for name in times)
    all = (duckdb.sql(f"SELECT * REPLACE ({as_numbers}) FROM '{file}'") if times else rows).fetchall()
    columns = list(zip(*all)) or [[] for _ in rows.columns]
    return {"types": types, "rows": len(all), "sums": dict(zip(rows.columns, map(total, columns)))}


def with_pyarrow(table):
    types = {field.name: str(field.type) + ("" if field.nullable else " not null") for field in table.schema}
    return {"types": types, "rows": table.num_rows, "sums": {name: total(table[name].to_pylist()) for name in table.column_names}}


def with_pandas(file):
    frame = pandas.read_parquet(file, dtype_backend="numpy_nullable")
    values = {name: [None if v is pandas.NA else v for v in frame[name].tolist()] for name in frame.columns}
    return {"rows": len(frame), "sums": {name: total(values[name]) for name in frame.columns}}


def with_polars(file):
    frame = polars.read_parquet(file)
    types = {name: str(kind) for name, kind in frame.schema.items()}
    return {"types": types, "rows": frame.height, "sums": {name: total(frame[name].to_list()) for name in frame.columns}}


answer = {}
for file in [*extract.glob("*.parquet"), *extract.glob("derived/*.parquet")]:
    answer[file.stem] = {
        "duckdb": with_duckdb(file),
        "pyarrow": with_pyarrow(pyarrow.parquet.read_table(file)),
        "pandas": with_pandas(file),
        "polars": with_polars(file),
    }
with zipfile.ZipFile(packed) as archive:
    for member in archive.namelist():
        if member.endswith(".parquet"):
            table = pyarrow.parquet.read_table(io.BytesIO(archive.read(member)))
            answer[Path(member).stem]["packed"] = with_pyarrow(table)
print(json.dumps(answer))
sys.stdout.flush()
# Threads of four engines that are still being closed can abort the interpreter while it ends.
os._exit(0)
