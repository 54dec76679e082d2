"""Asks all rules of planted causes; see benches/scoreboard."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = os.environ.get("ETWKIT_BIN", "target/release/etwkit")
STRENGTHS = (60, 100, 200)
FIRST_SEED = 1000
# The goals: causes that are named, findings that are true, costs within 5 % of the truth.
RECALL, PRECISION, COSTS_RIGHT = 0.95, 0.98, 0.95
TOLERANCE = 0.05


def run(*args):
    """Runs the program; an exit code of 2 is an error."""
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(args)}: {done.stderr}")
    return done.stdout


def diagnose(trace, symbols):
    """The findings for a trace, and the rules that were not checked for lack of names of functions."""
    with tempfile.TemporaryDirectory() as folder:
        # Symbols that lie beside a trace are read; away from them there are none.
        away = Path(folder, "away" + "".join(trace.suffixes[-2:]))
        shutil.copy(trace, away)
        extract = str(Path(folder, "t.etwx"))
        named = ["--symbols", str(symbols)] if symbols else []
        run("extract", "--quiet", "--out", extract, *named, str(away))

        def rows(table):
            lines = run("diagnose", "--quiet", "--json", "--table", table, extract).splitlines()
            return [row for row in map(json.loads, lines) if "rule" in row]

        # With symbols every name is known.
        nameless = [
            rule["rule"]
            for rule in ([] if symbols else rows("rules"))
            if rule["state"] == "not checked" and "names of functions in" in rule["missing"]
        ]
        return {"findings": rows("findings"), "nameless": nameless}


@dataclass(frozen=True)
class OwnCase:
    """A card of our own writer, or two of them at once."""

    name: str
    seed: int
    strength: int
    is_healthy: bool

    @property
    def group(self):
        return "two causes at once" if "+" in self.name else self.name

    def __str__(self):
        return f"{self.name} seed {self.seed} at {self.strength} %{' healthy' if self.is_healthy else ''}"

    def ask(self, with_symbols):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "t.etl")
            twin = ["--healthy"] if self.is_healthy else []
            numbers = ["--seed", str(self.seed), "--strength", str(self.strength)]
            run("synth", "write", self.name, *numbers, "--out", str(trace), *twin)
            truth = json.loads(trace.with_suffix(".truth.json").read_text())
            answer = diagnose(trace, trace.with_suffix(".symbols") if with_symbols else None)
            return {**answer, "causes": truth.get("causes", [])}

    @staticmethod
    def causes(answer):
        return [OwnCause(cause) for cause in answer["causes"]]


class OwnCause:
    """A cause that our own writer planted."""

    def __init__(self, truth):
        self.rule, self.culprit = truth["rule"], truth["culprit"]
        self.victims = {victim["pid"] for victim in truth["victims"]}
        self.costs = [truth["cost_ns"]] if "cost_ns" in truth else []

    def __str__(self):
        return f"{self.rule} {self.culprit}"

    def has_victim(self, finding):
        # What costs nothing may be told of the machine, without a victim.
        return not self.costs or not self.victims or finding.get("pid") in self.victims

    def is_in(self, finding):
        return finding["rule"] == self.rule and finding["culprit"] == self.culprit and self.has_victim(finding)

    def is_without_name_in(self, finding):
        has_no_name = "+0x" in finding["culprit"] or finding["culprit"].startswith("the thread pool of ")
        return finding["rule"] == self.rule and has_no_name and self.has_victim(finding)

    def is_unchecked(self, nameless):
        return self.rule in nameless


@dataclass(frozen=True)
class OtherCase:
    """A trace of the other writer."""

    truth: Path

    @property
    def name(self):
        return self.truth.name.removesuffix(".truth.json")

    group = "the other writer"

    def __str__(self):
        return self.name

    @property
    def is_healthy(self):
        return not json.loads(self.truth.read_text())["fault"]

    def ask(self, with_symbols):
        symbols = self.truth.with_name(f"{self.name}.symbols")
        trace = self.truth.with_name(f"{self.name}.etl.zip")
        truth = json.loads(self.truth.read_text())
        answer = diagnose(trace, symbols if with_symbols else None)
        return {**answer, "causes": [truth] if truth["fault"] else []}

    @staticmethod
    def causes(answer):
        return [OtherCause(cause) for cause in answer["causes"]]


class OtherCause:
    """A cause that the other writer planted: he knows no rules, only names of culprits and victims."""

    def __init__(self, truth):
        self.kind, self.culprits = truth["kind"], truth["culprits"]
        self.victims = [] if truth.get("victim_optional") else truth["victims"]
        alternatives = truth.get("alternatives", {}).values()
        self.costs = [] if truth.get("no_cost") else [ms * 1e6 for ms in [truth["cost_ms"], *alternatives]]

    def __str__(self):
        return f"{self.kind} {' or '.join(self.culprits)}"

    def has_victim(self, finding):
        return not self.victims or any(has(finding.get("victims"), victim) for victim in self.victims)

    def is_in(self, finding):
        return any(has(finding["culprit"], culprit) for culprit in self.culprits) and self.has_victim(finding)

    def is_without_name_in(self, finding):
        return has(finding["culprit"], "+0x") and self.has_victim(finding)

    @staticmethod
    def is_unchecked(nameless):
        return bool(nameless)


def has(text, part):
    return part.lower() in (text or "").lower()


@dataclass
class Score:
    """What became of the causes and findings of some cases."""

    counts: Counter = field(default_factory=Counter)
    # Of the costs, how far the worst is off.
    worst: float = 0.0
    wrong: list = field(default_factory=list)

    def __add__(self, other):
        return Score(self.counts + other.counts, max(self.worst, other.worst), self.wrong + other.wrong)

    @property
    def recall(self):
        return self.counts["named"] / max(1, self.counts["causes"])

    @property
    def precision(self):
        return 1 - self.counts["alarms"] / max(1, self.counts["costly"])


def judge(case, answer, with_symbols):
    """The score of one case."""
    score, findings = Score(), answer["findings"]
    causes = case.causes(answer)
    where = f"{case}{'' if with_symbols else ' without symbols'}"
    costly = [finding for finding in findings if finding["severity"] == "cost"]
    for cause in causes:
        score.counts["causes"] += 1
        # A cause without cost is named by a note, anywhere; the others have to stand first, or one for each.
        ranked = costly[: max(2, len(causes))] if cause.costs else findings
        mine = next((finding for finding in ranked if cause.is_in(finding)), None)
        if mine is None and not with_symbols:
            # Without its symbols a function is a place in its module, and of a thread pool the pool.
            mine = next((finding for finding in ranked if cause.is_without_name_in(finding)), None)
        if mine is None and not with_symbols and cause.is_unchecked(answer["nameless"]):
            score.counts["unchecked"] += 1
            continue
        if mine is None:
            score.wrong.append(f"{where}: not named: {cause}")
            continue
        score.counts["named"] += 1
        if not cause.costs:
            continue
        score.counts["costs"] += 1
        error = min((mine["cost_ns"] / cost - 1 for cost in cause.costs), key=abs)
        score.worst = max(score.worst, abs(error))
        if abs(error) <= TOLERANCE:
            score.counts["costs right"] += 1
        else:
            score.wrong.append(f"{where}: cost off by {error:+.1%}: {mine['rule']}")
    # What costs nothing may stand beside a cause; a healthy machine of our own writer has nothing to report.
    told = findings if isinstance(case, OwnCase) and case.is_healthy else costly
    for finding in told:
        score.counts["costly"] += 1
        is_known = any(cause.is_in(finding) or cause.is_without_name_in(finding) for cause in causes)
        # The other writer's truth has one cause, and what follows from it is no false alarm.
        if not is_known and (case.is_healthy or isinstance(case, OwnCase)):
            score.counts["alarms"] += 1
            score.wrong.append(f"{where}: false alarm: {finding['sentence']}")
    return score


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
                        self.answers[line["case"]] = line["answer"]
        self.file = open(path, "a", encoding="utf-8")

    def ask(self, case, with_symbols):
        key = f"{case}{'' if with_symbols else ' without symbols'}"
        if key not in self.answers:
            self.answers[key] = case.ask(with_symbols)
            if self.file:
                line = {"program": self.program, "case": key, "answer": self.answers[key]}
                with self.lock:
                    self.file.write(json.dumps(line) + "\n")
                    self.file.flush()
        return self.answers[key]


def own_cases(options):
    """The cards, their healthy twins, and pairs of cards."""
    # `synth list` prints the cards below the scenarios.
    listed = run("synth", "list").split("\n\n")[-1].splitlines()[1:]
    names = [options.card] if options.card else [line.split()[0] for line in listed if line.strip()]
    for at, name in enumerate(names):
        for seed in range(FIRST_SEED + 100 * at, FIRST_SEED + 100 * at + options.seeds):
            for strength in options.strengths:
                yield OwnCase(name, seed, strength, False)
            yield OwnCase(name, seed, 100, True)
    pairs = [] if options.card else [(a, b) for a in names for b in names if a < b]
    step = max(1, len(pairs) // max(1, options.pairs))
    for at, (a, b) in enumerate(pairs[::step] if options.pairs else []):
        yield OwnCase(f"{a}+{b}", FIRST_SEED + at, 100, False)


def print_scores(title, scores):
    """Prints a line for each group of cases, and returns their sum."""
    print(f"\n{title}")
    print(
        f"{'card':<24}{'causes':>8}{'named':>8}{'not checked':>13}{'cost right':>14}{'worst cost':>12}"
        f"{'recall':>8}{'precision':>11}{'false alarms':>14}"
    )
    total = sum(scores.values(), Score())
    for name, score in [*scores.items(), ("all", total)]:
        counts = score.counts
        worst = f"{score.worst:.1%}" if counts["costs"] else "-"
        print(
            f"{name:<24}{counts['causes']:>8}{counts['named']:>8}{counts['unchecked']:>13}"
            f"{counts['costs right']:>8} / {counts['costs']:<4}{worst:>11}"
            f"{score.recall:>8.3f}{score.precision:>11.3f}{counts['alarms']:>14}"
        )
    print(*total.wrong, sep="\n")
    return total


def is_good(total, with_symbols):
    counts = total.counts
    # Without symbols a cause may be called unchecked; nothing may be missed, or wrong.
    answered = counts["named"] + (0 if with_symbols else counts["unchecked"])
    return (
        answered >= RECALL * counts["causes"]
        and total.precision >= PRECISION
        and counts["costs right"] >= COSTS_RIGHT * counts["costs"]
    )


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--pairs", type=int, default=40)
    options.add_argument("--strengths", type=lambda text: [int(part) for part in text.split(",")], default=STRENGTHS)
    options.add_argument("--card")
    options.add_argument("--without-symbols", action="store_true")
    options.add_argument("--others", metavar="FOLDER", type=Path)
    options.add_argument("--keep", metavar="FILE")
    options = options.parse_args()
    kept = Kept(options.keep)
    if options.others:
        cases = [OtherCase(truth) for truth in sorted(options.others.glob("*.truth.json"))]
    else:
        cases = list(own_cases(options))
    are_good = bool(cases)
    for with_symbols in [True, False] if options.without_symbols else [True]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            judged = list(pool.map(lambda case: judge(case, kept.ask(case, with_symbols), with_symbols), cases))
        scores = {}
        for case, score in zip(cases, judged):
            scores[case.group] = scores.get(case.group, Score()) + score
        title = f"{len(cases)} traces {'with' if with_symbols else 'without'} symbols"
        are_good &= is_good(print_scores(title, scores), with_symbols)
    sys.exit(0 if are_good else 1)


if __name__ == "__main__":
    main()
