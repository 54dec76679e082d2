"""Compare the runs with one value of a label and the runs with another one.

    python two_cohorts.py "runs/**/*.etwx" build 7730 7731 ReportTest.exe

Labels are set by `etwkit extract --label build=7731`; summaries are enough. Needs no other package.
"""

import sys

import etwkit

# CPU of each program in a mean run. A run in which it did not run counts as one with 0.
CPU = """
    SELECT p.name, ms(sum(c.cpu_ns)) / (SELECT count(*) FROM extract) AS cpu_ms
    FROM cpu_process c JOIN process p USING (trace_id, process_key)
    GROUP BY p.name"""


def main(pattern, label, before, after, process):
    runs = [etwkit.Farm(pattern, where=condition(label, value)) for value in (before, after)]
    means = [{row["name"]: row["cpu_ms"] for row in farm.sql(CPU)} for farm in runs]
    names = sorted(means[0].keys() | means[1].keys())
    changes = {name: means[1].get(name, 0) - means[0].get(name, 0) for name in names}
    print(f"CPU of a mean run with {label} {after} instead of {before}")
    for name in sorted(names, key=lambda name: -abs(changes[name]))[:10]:
        print(f"  {changes[name]:>+10,.1f} ms  {etwkit.printable(name)}")

    both = f"{condition(label, before)} OR {condition(label, after)}"
    explained = etwkit.Farm(pattern, where=both).explain(process=process, group_by=label)
    rows = explained.rows()
    print(f"Lifetime of {process}")
    for row in of(rows, "groups"):
        labels = etwkit.printable(row["labels"])
        print(f"  {row['mean_ms']:>10,.1f} ms  {labels}, {row['runs']} runs")
    print("What the slow half of all these runs has in common")
    for row in of(rows, "causes"):
        name = etwkit.printable(row["name"])
        print(f"  {row['effect_ms']:>10,.1f} ms  {row['measure']} in {row['kind']} {name}")
    for note in explained.notes:
        print(f"note: {note}")


def condition(label, value):
    return f"label[{text(label)}] = {text(value)}"


def text(value):
    """Return a text in SQL, whatever characters it has."""
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def of(rows, table):
    return [row for row in rows if row["table"] == table]


if __name__ == "__main__":
    main(*sys.argv[1:])
