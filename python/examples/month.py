"""Show how the CPU of a program changed from night to night, and which nights were unusual.

    python month.py "runs/**/*.etwx" "suite = 'Report'" ReportTest.exe

The second argument chooses runs by their labels, computer, start and others. Needs pandas and
pyarrow: pip install "etwkit[pandas]"
"""

import sys

import etwkit

# A night is unusual if its median differs from the week before by more than this share.
UNUSUAL = 0.1


def main(pattern, where, process):
    farm = etwkit.Farm(pattern, where=where, keep_going=True)
    answer = farm.cpu(process=process, progress=report)
    cpu = answer.to_pandas()
    # A run can have several processes with this name.
    runs = cpu.groupby(["start_utc", "run_id"], as_index=False)["cpu_ns"].sum()
    runs["cpu_ms"] = runs["cpu_ns"].astype("float64") / 1e6
    nights = runs.groupby(runs["start_utc"].dt.date)["cpu_ms"].agg(["count", "median", "max"])
    week = nights["median"].rolling(7, min_periods=1).median().shift()
    nights["change"] = nights["median"] / week - 1
    nights["unusual"] = nights["change"].abs() > UNUSUAL
    print(file=sys.stderr)
    print(nights.round(3).to_string())
    for error in answer.errors:
        print(f"left out: {error}", file=sys.stderr)


def report(progress):
    print(f"\r{progress.seconds:.0f} s {progress.note}", end="", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
