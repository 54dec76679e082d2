"""Show why one trace is slow: its causes, its busiest processes, and what the victims waited for.

    python one_trace.py slow.etl

Needs no other package.
"""

import sys

import etwkit


def main(path):
    trace = etwkit.open(path)
    findings = trace.diagnose(allow_empty=True)
    show("Causes", [(row["cost_ns"], row["sentence"]) for row in findings])
    busiest = trace.cpu(top=5)
    show("CPU", [(row["cpu_ns"], f"{row['process']} ({row['pid']})") for row in busiest])
    # The id is exact where several processes have one name.
    for pid in dict.fromkeys(row["pid"] for row in findings if row["pid"] is not None):
        waits = trace.wait(process=pid, by="readying", top=5, allow_empty=True)
        rows = [(row["wait_ns"], row["readying_process"] or row["ended_by"]) for row in waits]
        show(f"Who ended waits of process {pid}", rows)
    for note in findings.notes:
        print(f"note: {note}")


def show(title, rows):
    print(title)
    for nanoseconds, text in rows:
        time = "" if nanoseconds is None else f"{nanoseconds / 1e6:,.0f} ms"
        print(f"  {time:>10}  {etwkit.printable(text)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
