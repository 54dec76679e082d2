"""Opens cut traces with dissect.etl (PyPI), another reader of the format, and compares what it finds with what `etwkit cut` said.

Usage: cut.py ETWKIT TRACE...
"""

import json
import os
import subprocess
import sys
import tempfile

from dissect.etl.etl import ETL

etwkit, *traces = sys.argv[1:]
wrong = unread = 0
for trace in traces:
    with tempfile.TemporaryDirectory() as folder:
        part = os.path.join(folder, "part.etl")
        line = [etwkit, "cut", trace, "--range", "0.02..0.06", "--out", part, "--json"]
        said = subprocess.run(line, capture_output=True, text=True)
        if said.returncode:
            print(f"{os.path.basename(trace)}: {said.stderr.strip()}")
            continue
        kept = json.loads(said.stdout.splitlines()[-1])["kept_events"]
        with open(part, "rb") as file:
            try:
                # The header of the trace and the mark are no events of the trace that was cut.
                found = sum(1 for buffer in ETL(file).buffers() for _ in buffer) - 2
            except Exception as error:
                # It reads no more of a compressed buffer than the buffer has bytes without compression, and a
                # buffer of one small event grows by it. Such parts tell nothing about either of us.
                print(f"{os.path.basename(trace)}: the reader gave up: {error}")
                unread += 1
                continue
        print(f"{os.path.basename(trace)}: {found} events found, {kept} kept")
        wrong += found != kept
print(f"{wrong} differ, {unread} could not be read")
sys.exit(wrong > 0)
