"""Makes the farm of benches/lake, and asks DuckDB and polars the question that the script asks.

    lake.py copy EXTRACTS RUNS COUNT            COUNT copies of extracts, each with a number and a start of its own
    lake.py ask NAME extracts|lake FOLDER CSV   prints how long the question takes, and whether CSV has the same rows
    lake.py serve FOLDER LOG                    is a bucket s3://traces with the files of a folder: prints its address, and
                                                writes a line for each request
"""

import csv
import datetime
import json
import os
import struct
import sys
import time
import zlib

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BLOCK = 65536
TABLES = ("cpu_process", "process", "trace")
DERIVED = ("cpu_process",)


def number(digits):
    """The bytes of a run_id, as tables have them."""
    return struct.pack("<Q", int(digits, 16))


def write_table(source, target, old, new, table):
    """Copies a table with another run_id; one without rows has none."""
    data = source.read_bytes().replace(number(old), number(new))
    blocks = range(0, len(data), BLOCK)
    table["crc32"] = "".join(f"{zlib.crc32(data[at : at + BLOCK]):08x}" for at in blocks)
    target.write_bytes(data)


def copy(source, target, digits, day):
    """Copies an extract as the one of another trace, recorded on another day."""
    manifest = json.loads((source / "manifest.json").read_text())
    old = manifest["source"]["hash"]
    manifest["source"]["hash"] = digits
    clock = manifest["clock"]
    start = datetime.date.fromisoformat(clock["start_utc"][:10]) + datetime.timedelta(days=day)
    clock["start_utc"] = start.isoformat() + clock["start_utc"][10:]
    clock["start_filetime"] += day * 86_400 * 10_000_000
    derived = json.loads((source / "derived/manifest.json").read_text())
    (target / "derived").mkdir(parents=True)
    for folder, described in ((".", manifest), ("derived", derived)):
        for name, table in described["tables"].items():
            file = f"{folder}/{name}.parquet"
            write_table(source / file, target / file, old, digits, table)
        (target / folder / "manifest.json").write_text(json.dumps(described))
    # Tables about the extract are not listed.
    for file in source.glob("*.parquet"):
        if not (target / file.name).exists():
            os.link(file, target / file.name)


def copies(extracts, runs, count):
    sources = sorted(Path(extracts).glob("*.etwx"))
    for at in range(count):
        # Numbers that are spread over all 64 bits, as those of real traces.
        digits = f"{(at + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}"
        source = sources[at % len(sources)]
        copy(source, Path(runs) / f"{source.stem}-{at:06}.etwx", digits, at % 30)


def places(kind, folder):
    """The files of each table, as a pattern."""
    if kind == "lake":
        return {table: f"{folder}/{table}/*/*.parquet" for table in TABLES}
    inside = {table: "/derived" if table in DERIVED else "" for table in TABLES}
    return {table: f"{folder}/*.etwx{inside[table]}/{table}.parquet" for table in TABLES}


def of_duckdb(places):
    import duckdb

    table = {name: f"read_parquet('{place}', union_by_name = true)" for name, place in places.items()}
    return duckdb.sql(f"""
        SELECT p.name, count(*) AS n, sum(c.cpu_ns)::BIGINT AS cpu_ns FROM {table["cpu_process"]} c
        JOIN {table["process"]} p ON p.run_id = c.run_id AND p.process_key = c.process_key
        JOIN {table["trace"]} t ON t.run_id = c.run_id
        WHERE t.processors > 0 GROUP BY p.name ORDER BY cpu_ns DESC, p.name""").fetchall()


def of_polars(places):
    import polars

    def table(name, *columns):
        scan = polars.scan_parquet(places[name], missing_columns="insert", hive_partitioning=False)
        return scan.select("run_id", *columns)

    rows = (
        table("cpu_process", "process_key", "cpu_ns")
        .join(table("process", "process_key", "name"), on=["run_id", "process_key"])
        .join(table("trace", "processors").filter(polars.col("processors") > 0), on="run_id")
        .group_by("name")
        .agg(polars.len().alias("n"), polars.col("cpu_ns").sum())
        .sort(["cpu_ns", "name"], descending=[True, False])
    )
    return rows.collect().rows()


def ask(name, kind, folder, expected):
    with open(expected, newline="", encoding="utf-8") as file:
        rows = [(row[0], int(row[1]), int(row[2])) for row in list(csv.reader(file))[1:]]
    for engine, answer in (("DuckDB", of_duckdb), ("polars", of_polars)):
        times = []
        try:
            for _ in range(3):
                start = time.monotonic()
                found = answer(places(kind, folder))
                times.append(time.monotonic() - start)
        except ImportError:
            print(f"{engine}, {name}: not measured, this Python does not have it")
            continue
        same = "same rows" if [tuple(row) for row in found] == rows else "OTHER ROWS"
        print(f"{engine}, {name}: join of three tables {round(1000 * min(times))} ms, {same}")


class Bucket(BaseHTTPRequestHandler):
    """Reads of the protocol of S3: objects, ranges of them, and lists."""

    protocol_version = "HTTP/1.1"
    root = Path()
    log = None

    def log_message(self, *_):
        self.log.write(f"{self.requestline}\n")
        self.log.flush()

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        key = unquote(url.path).removeprefix("/traces").strip("/")
        if not key:
            return self.listed(parse_qs(url.query))
        file = self.root / key
        if not file.is_file():
            return self.answer(404, b"")
        return self.part(file.read_bytes())

    do_HEAD = do_GET

    def part(self, body):
        known = {"ETag": '"1"', "Last_Modified": "Wed, 01 Jan 2020 00:00:00 GMT"}
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        if not asked:
            return self.answer(200, body, **known)
        start, end = asked.split("-")
        first = int(start) if start else max(0, len(body) - int(end))
        last = min(len(body), int(end) + 1) if start and end else len(body)
        known["Content_Range"] = f"bytes {first}-{last - 1}/{len(body)}"
        return self.answer(206, body[first:last], **known)

    def listed(self, query):
        prefix = query.get("prefix", [""])[0]
        folder = self.root / prefix.rpartition("/")[0]
        files, folders = [], set()
        for file in sorted(folder.rglob("*")):
            key = file.relative_to(self.root).as_posix()
            if not file.is_file() or not key.startswith(prefix):
                continue
            below = key[len(prefix) :].split("/")
            if "delimiter" in query and len(below) > 1:
                folders.add(f"{prefix}{below[0]}/")
            else:
                files.append((key, file.stat().st_size))
        text = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>"
            f'<ETag>"1"</ETag><Size>{size}</Size></Contents>'
            for key, size in files
        )
        text += "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders))
        return self.answer(200, f"<ListBucketResult>{text}</ListBucketResult>".encode())


def serve(folder, log):
    Bucket.root = Path(folder)
    Bucket.log = Path(log).open("w", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if sys.argv[1] == "copy":
    copies(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "serve":
    serve(sys.argv[2], sys.argv[3])
else:
    ask(*sys.argv[2:])
