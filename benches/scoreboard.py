"""Asks all rules of planted causes; see benches/scoreboard."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

PROGRAM = os.environ.get("ETWKIT_BIN", "target/release/etwkit")
STRENGTHS = (60, 100, 200)
FIRST_SEED = 1000
# The goals: causes that are named, findings that are true, costs within 5 % of the truth.
RECALL, PRECISION, COSTS_RIGHT = 0.95, 0.98, 0.95


def run(*args):
    """Runs the program; an exit code of 2 is an error."""
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(args)}: {done.stderr}")
    return done.stdout


def cards():
    """Names of the cards, as `synth list` prints them below the scenarios."""
    listed = run("synth", "list").split("\n\n")[-1].splitlines()[1:]
    return [line.split()[0] for line in listed if line.strip()]


def diagnose(name, seed, strength, healthy):
    """Findings and planted causes of a case."""
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        trace = folder / "t.etl"
        twin = ["--healthy"] if healthy else []
        run("synth", "write", name, "--seed", str(seed), "--strength", str(strength), "--out", str(trace), *twin)
        run("extract", "--quiet", "--symbols", str(folder / "t.symbols"), str(trace))
        lines = run("diagnose", "--quiet", "--json", str(folder / "t.etwx")).splitlines()[1:]
        truth = json.loads((folder / "t.truth.json").read_text())
        findings = [json.loads(line) for line in lines]
        # Where there is none, a line says so.
        return [finding for finding in findings if "rule" in finding], truth.get("causes", [])
    finally:
        shutil.rmtree(folder)


class Score:
    """What became of the causes and findings of a card."""

    def __init__(self):
        self.causes = self.found = self.costs_right = self.costs = self.alarms = self.costly = 0
        self.worst = 0.0  # of the costs, how far the worst is off
        self.wrong = []


def is_of(finding, cause):
    victims = {victim["pid"] for victim in cause["victims"]}
    # What costs nothing may be told of the machine, without a victim.
    right_victim = "cost_ns" not in cause or not victims or finding.get("pid") in victims
    return finding["rule"] == cause["rule"] and finding["culprit"] == cause["culprit"] and right_victim


class Kept:
    """What was answered before, so that a run that was interrupted goes on: one line for each case. Answers of another
    program do not count."""

    def __init__(self, path):
        self.answers, self.file, self.lock = {}, None, threading.Lock()
        if not path:
            return
        self.program = int(os.stat(PROGRAM).st_mtime)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in map(json.loads, (line for line in file if line.endswith("\n"))):
                    if line["program"] == self.program:
                        self.answers[tuple(line["case"])] = line["findings"], line["causes"]
        self.file = open(path, "a", encoding="utf-8")

    def diagnose(self, case):
        if case not in self.answers:
            findings, causes = self.answers[case] = diagnose(*case)
            if self.file:
                line = {"program": self.program, "case": case, "findings": findings, "causes": causes}
                with self.lock:
                    self.file.write(json.dumps(line) + "\n")
                    self.file.flush()
        return self.answers[case]


def judge(case, score, kept):
    name, seed, strength, healthy = case
    findings, causes = kept.diagnose(case)
    where = f"{name} seed {seed} at {strength} %{' healthy' if healthy else ''}"
    costly = [finding for finding in findings if finding["severity"] == "cost"]
    for cause in causes:
        score.causes += 1
        # A cause without cost is named by a note, anywhere; the others have to stand first, or one for each.
        ranked = findings if "cost_ns" not in cause else costly[: max(2, len(causes))]
        mine = next((finding for finding in ranked if is_of(finding, cause)), None)
        if mine is None:
            score.wrong.append(f"{where}: not named: {cause['rule']} {cause['culprit']}")
            continue
        score.found += 1
        if "cost_ns" in cause:
            score.costs += 1
            error = mine["cost_ns"] / cause["cost_ns"] - 1
            score.worst = max(score.worst, abs(error))
            if abs(error) <= 0.05:
                score.costs_right += 1
            else:
                score.wrong.append(f"{where}: cost off by {error:+.1%}: {cause['rule']}")
    # What costs nothing may stand beside a cause; a healthy machine has nothing to report.
    for finding in findings if healthy else costly:
        score.costly += 1
        if not any(is_of(finding, cause) for cause in causes):
            score.alarms += 1
            score.wrong.append(f"{where}: false alarm: {finding['sentence']}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--pairs", type=int, default=40)
    options.add_argument("--strengths", type=lambda text: [int(part) for part in text.split(",")], default=STRENGTHS)
    options.add_argument("--card")
    options.add_argument("--keep", metavar="FILE")
    options = options.parse_args()
    names = [options.card] if options.card else cards()
    cases = []
    for at, name in enumerate(names):
        for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
            cases += [(name, seed + 100 * at, strength, False) for strength in options.strengths]
            cases.append((name, seed + 100 * at, 100, True))
    pairs = [] if options.card else [(a, b) for a in names for b in names if a < b]
    step = max(1, len(pairs) // max(1, options.pairs))
    cases += [(f"{a}+{b}", FIRST_SEED + at, 100, False) for at, (a, b) in enumerate(pairs[::step])]
    scores, kept = defaultdict(Score), Kept(options.keep)

    def one(case):
        score = scores["two causes at once" if "+" in case[0] else case[0]]
        judge(case, score, kept)

    for name, _, _, _ in cases:
        scores["two causes at once" if "+" in name else name]  # in the order of the cards
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, cases))
    total = Score()
    print(f"{'card':<24}{'causes':>8}{'named':>8}{'cost right':>12}{'worst cost':>12}{'recall':>8}{'precision':>11}{'false alarms':>14}")
    for name, score in scores.items():
        worst = f"{score.worst:.1%}" if score.costs else "-"
        recall, precision = score.found / max(1, score.causes), 1 - score.alarms / max(1, score.costly)
        print(
            f"{name:<24}{score.causes:>8}{score.found:>8}{score.costs_right:>6} / {score.costs:<3}"
            f"{worst:>12}{recall:>8.2f}{precision:>11.2f}{score.alarms:>14}"
        )
        for field in ("causes", "found", "costs", "costs_right", "alarms", "costly"):
            setattr(total, field, getattr(total, field) + getattr(score, field))
        total.wrong += score.wrong
    print(*total.wrong, sep="\n")
    recall = total.found / max(1, total.causes)
    precision = 1 - total.alarms / max(1, total.costly)
    print(f"{len(cases)} traces: recall {recall:.3f}, precision {precision:.3f}, cost within 5 %: {total.costs_right} of {total.costs}")
    is_good = recall >= RECALL and precision >= PRECISION and total.costs_right >= COSTS_RIGHT * total.costs
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
