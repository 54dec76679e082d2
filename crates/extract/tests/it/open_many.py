"""Asks all extracts in the current folder at once with DuckDB, polars and pyarrow, and prints as JSON what each finds."""

import json
import os
import sys

import duckdb
import polars
import pyarrow
import pyarrow.dataset

from glob import glob


def with_duckdb():
    def ask(sql):
        return [list(row) for row in duckdb.sql(sql).fetchall()]

    samples = """
        SELECT e.computer, run_id, count(*)
        FROM '*.etwx/cpu_sample.parquet' JOIN '*.etwx/extract.parquet' e USING (run_id)
        GROUP BY ALL ORDER BY ALL
    """
    return {
        "samples": ask(samples),
        "runs": [run for run, in ask("SELECT run_id FROM '*.etwx/extract.parquet' ORDER BY 1")],
        "disk_io": ask("SELECT count(*) FROM '*.etwx/disk_io.parquet'")[0][0],
        "cpu_process": ask("SELECT count(*) FROM '*.etwx/derived/cpu_process.parquet'")[0][0],
    }


def with_polars():
    def table(name):
        return polars.scan_parquet(f"*.etwx/{name}.parquet")

    def count(name):
        return table(name).select(polars.len()).collect().item()

    joined = table("cpu_sample").join(table("extract"), on="run_id")
    samples = joined.group_by("computer", "run_id").agg(polars.len()).sort("computer").collect()
    runs = table("extract").select("run_id").sort("run_id").collect()["run_id"].to_list()
    return {
        "samples": [list(row) for row in samples.rows()],
        "runs": runs,
        "disk_io": count("disk_io"),
        "cpu_process": count("derived/cpu_process"),
    }


def with_pyarrow():
    def table(name):
        return pyarrow.dataset.dataset(sorted(glob(f"*.etwx/{name}.parquet")))

    extracts = table("extract").to_table(columns=["run_id", "computer"])
    samples = table("cpu_sample").to_table(columns=["run_id"]).join(extracts, "run_id")
    rows = samples.group_by(["computer", "run_id"]).aggregate([([], "count_all")]).sort_by("computer")
    return {
        "samples": [[row["computer"], row["run_id"], row["count_all"]] for row in rows.to_pylist()],
        "runs": sorted(extracts["run_id"].to_pylist()),
        "disk_io": table("disk_io").count_rows(),
        "cpu_process": table("derived/cpu_process").count_rows(),
    }


print(json.dumps({"duckdb": with_duckdb(), "polars": with_polars(), "pyarrow": with_pyarrow()}))
sys.stdout.flush()
# Threads of engines that are still being closed can abort the interpreter while it ends.
os._exit(0)
