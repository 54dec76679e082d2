"""Asks `etwkit view` and `etwkit mcp` random questions for a long time, and says what they hold at the end and held at first."""

import argparse
import atexit
import http.client
import json
import random
import shutil
import subprocess
import sys
import threading
import time

from collections import Counter
from pathlib import Path
from queue import Queue

SCENARIOS = ["git-bash", "wait-chain", "file-writer", "name-lookup"]
WARM_SECONDS = 60
# On a slow machine the first minute is longer: until this many requests had their answers.
WARM_REQUESTS = 300
# Connections without a request end after 15 seconds, idle threads of the server after 10.
REST_SECONDS = 20
REST_EVERY_SECONDS = 300
# What may be more at the end. An allocator gives freed memory back late; threads and descriptors have no such excuse, but for a
# thread that is about to end and a file that is open while it is checked.
MORE = {"memory": lambda mib: max(32, mib // 10), "threads": lambda _: 2, "descriptors": lambda _: 2}

WEIGHTS = ["cpu", "wait", "ready", "disk_bytes"]
SERIES = ["cpu", "disk", "disk_busy", "file", "net", "events", "marks"]
SEARCHES = ["exe", "bash", "a", "System", "3640", "dll", "C:", "no such name"]
STATEMENTS = [
    "SELECT name, count(*) FROM process GROUP BY name ORDER BY 2 DESC",
    "SELECT count(*) FROM context_switch a JOIN context_switch b ON a.thread_key = b.readying_thread_key",
    "SELECT wait_reason, count(*), sum(wait_ns) FROM context_switch GROUP BY wait_reason",
    "SELECT nothing FROM nowhere",
]


class Fleet:
    """The extracts that both servers have open: each scenario under one path, with one of two contents or none."""

    def __init__(self, folder):
        self.folder = folder
        self.paths = [folder / "open" / f"{scenario}.etwx" for scenario in SCENARIOS]
        self.paths[0].parent.mkdir()
        for at in range(len(SCENARIOS)):
            self.put(at, 1)

    def remove(self, at):
        shutil.rmtree(self.paths[at], ignore_errors=True)

    def put(self, at, seed):
        """Copies beside the path and renames, as `etwkit extract` does it."""
        beside = self.paths[at].with_suffix(".new")
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(self.folder / f"{SCENARIOS[at]}-{seed}.etwx", beside)
        # A server may write what it computes into the folder while it is removed.
        while self.paths[at].exists():
            self.remove(at)
        beside.rename(self.paths[at])


class Tally:
    """What was asked and what came of it, by all clients."""

    def __init__(self):
        self.lock = threading.Lock()
        self.asked, self.outcomes, self.defects = Counter(), Counter(), []

    def note(self, what, outcome):
        with self.lock:
            self.asked[what] += 1
            self.outcomes[outcome] += 1

    def defect(self, text):
        with self.lock:
            self.defects.append(text)


class View:
    """`etwkit view`, and what its page knows of the open traces."""

    def __init__(self, etwkit, paths, errors):
        self.folder = str(paths[0].parent)
        command = [etwkit, "view", "--no-open", *map(str, paths)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        link = self.process.stdout.readline().split()[-1]
        self.port = int(link.split(":")[2].split("/")[0])
        self.headers = {"Authorization": "Bearer " + link.split("#k=")[1], "Content-Type": "application/json"}
        self.schema = self.get("schema")
        while not all(trace["state"]["is"] == "ready" for trace in self.get("info")["traces"]):
            time.sleep(0.2)
        self.traces = self.get("info")["traces"]
        self.lanes = {}
        for trace in self.traces:
            for kind in ("core", "process", "thread"):
                body = {"trace": trace["id"], "kind": kind, "selection": {"range": None, "chips": []}, "limit": 40, "offset": 0}
                lanes = json.loads(self.send(self.connect(), "lanes", body)[1])["lanes"]
                self.lanes[trace["id"], kind] = [lane["key"] for lane in lanes]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=700)

    def begin(self, connection, path, body):
        method = "GET" if body is None else "POST"
        connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), self.headers)

    def send(self, connection, path, body):
        self.begin(connection, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def get(self, path):
        return json.loads(self.send(self.connect(), path, None)[1])


class Page(threading.Thread):
    """A page with its connection. What it asks depends on its number and the seed alone."""

    def __init__(self, view, tally, seed, stop):
        super().__init__()
        self.view, self.tally, self.random, self.stop = view, tally, random.Random(seed), stop
        self.connection = view.connect()

    def run(self):
        while not self.stop.is_set():
            kind = self.random.choices(["question", "abort", "load"], [85, 12, 3])[0]
            if kind == "load":
                self.load()
                continue
            path, body = self.question()
            if kind == "abort":
                self.abort(path, body)
            else:
                self.ask(path, body)
        self.connection.close()

    def load(self):
        """Reloads the page: its connection ends, and it asks for what is open."""
        self.connection.close()
        self.connection = self.view.connect()
        for path in ("info", "schema"):
            self.ask(path, None)
        for trace in self.view.traces:
            self.ask("open", {"path": trace["path"]})

    def abort(self, path, body):
        """Asks, and is gone before the answer is there."""
        try:
            connection = self.view.connect()
            self.view.begin(connection, path, body)
            time.sleep(self.random.random() ** 2)
            connection.close()
        except OSError as error:
            self.tally.defect(f"view, {path}: {error}")
        self.tally.note(path, "given up")

    def ask(self, path, body):
        try:
            status, text = self.view.send(self.connection, path, body)
        except (OSError, http.client.HTTPException):
            # The server ends a connection that was silent for a while: once more on a new one.
            self.connection.close()
            try:
                status, text = self.view.send(self.connection, path, body)
            except (OSError, http.client.HTTPException) as error:
                self.tally.defect(f"view, {path} {json.dumps(body)}: {error}")
                self.connection.close()
                time.sleep(1)
                return
        code = "answered" if status == 200 else json.loads(text)["code"]
        # An extract that was removed or replaced a moment ago.
        said = text.decode(errors="replace")
        is_moved = "cannot open " in said or " was replaced while it was read" in said
        if code == "internal" and is_moved and self.view.folder in said:
            code = "gone"
        self.tally.note(path, code)
        if code == "internal":
            self.tally.defect(f"view, {path} {json.dumps(body)}: {text.decode()}")

    def question(self):
        """A request of a view, a graph, a table or the search, of any trace."""
        choose = self.random.choice
        trace = choose(self.view.traces)
        whole = trace["opening"]["range"]
        cuts = sorted(self.random.randint(whole["from_ns"], whole["to_ns"]) for _ in range(2))
        part = {"from_ns": cuts[0], "to_ns": max(cuts[1], cuts[0] + 1_000_000)}
        of = {"trace": trace["id"], "selection": self.selection(trace, part)}
        kind = choose(["core", "process", "thread"])
        table = choose([table for table in self.view.schema["tables"] if self.has_rows(trace, table)])
        timed = choose([table for table in self.view.schema["tables"] if table["has_time"] and self.has_rows(trace, table)])
        requests = {
            "lanes": {**of, "kind": kind, "limit": 40, "offset": choose([0, 0, 40])},
            "timeline": {**of, "kind": kind, "keys": self.view.lanes[trace["id"], kind], "range": part, "buckets": 720},
            "series": {**of, "kind": choose(SERIES), "range": part, "buckets": 720, "top": 8},
            "moment": self.moment(trace, part),
            "flame": {**of, "weight": choose(WEIGHTS), "direction": choose(["top_down", "bottom_up"]), "by_process": choose([True, False]),
                      "by_tag": choose([True, False]), "focus": None, "least_share": 0.001, "max_nodes": 1400},
            "flame_chart": {"trace": trace["id"], "thread": self.random.randint(0, 200), "range": part, "columns": 1200, "max_boxes": 2000},
            "stack": {"trace": trace["id"], "stacks": [self.random.randint(1, 500) for _ in range(20)]},
            "pivot": {**of, "table": table["name"], "group_by": [self.group(table)], "path": [], "measures": [{"function": "count", "column": ""}],
                      "sort": {"by": "0", "descending": True}, "limit": 100},
            "pivot_series": {**of, "table": timed["name"], "group": self.group(timed), "measure": {"function": "count", "column": ""},
                             "range": part, "buckets": 600, "top": 12},
            "disk_map": {**of, "disk": None, "range": part, "columns": 200, "rows": 50},
            "disk_cell": {**of, "disk": 0, "range": part, "offset_from": 0, "offset_to": 1 << 40, "limit": 20},
            "modules": {**of, "of": None, "find": choose(["", "dll"]), "limit": 200},
            "rows": {**of, "table": table["name"], "columns": [], "sort": None, "offset": choose([0, 100, 5000]), "limit": 200},
            "search": {"trace": trace["id"], "text": choose(SEARCHES), "limit": 20},
            "ask": {"trace": trace["id"], "question": choose(trace["opening"]["questions"]), "options": {}},
            "findings": {"trace": trace["id"]},
            "sql": {"trace": trace["id"], "sql": choose(STATEMENTS), "limit": 1000},
        }
        path = choose(list(requests))
        return path, requests[path]

    def has_rows(self, trace, table):
        return any(known["name"] == table["name"] for known in trace["opening"]["tables"])

    def group(self, table):
        return self.random.choice([column["name"] for column in table["columns"] if column["can_group"]] or ["process"])

    def moment(self, trace, part):
        kind = self.random.choice(["core", "thread"])
        key = self.random.choice(self.view.lanes[trace["id"], kind] or [0])
        return {"trace": trace["id"], "kind": kind, "key": key, "at_ns": part["from_ns"], "within_ns": 1_000_000}

    def selection(self, trace, part):
        chips = []
        if self.random.random() < 0.3:
            key = self.random.choice(self.view.lanes[trace["id"], "process"] or [0])
            chips.append({"field": "process", "values": [str(key)], "exclude": self.random.random() < 0.3})
        return {"range": self.random.choice([None, part]), "chips": chips}


class Mcp:
    """`etwkit mcp` on its standard input and output."""

    def __init__(self, etwkit, errors):
        self.process = subprocess.Popen([etwkit, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.lock, self.number, self.waiting = threading.Lock(), 0, {}
        threading.Thread(target=self.listen, daemon=True).start()
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        self.take(self.send("initialize", client))
        self.tell("notifications/initialized", {})

    def listen(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.lock:
                queue = self.waiting.pop(message.get("id"), None)
            if queue is not None:
                queue.put(message)
        with self.lock:
            ended = list(self.waiting.values())
        for queue in ended:
            queue.put(None)

    def send(self, method, params):
        with self.lock:
            self.number += 1
            number, queue = self.number, Queue()
            self.waiting[number] = queue
            self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number, queue

    def tell(self, method, params):
        with self.lock:
            self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def take(self, sent):
        return sent[1].get(timeout=700)

    def call(self, tool, arguments):
        return self.take(self.send("tools/call", {"name": tool, "arguments": arguments}))


class Agent(threading.Thread):
    """An agent that opens traces, asks, gives up, and closes them."""

    def __init__(self, mcp, paths, questions, tally, seed, stop):
        super().__init__()
        self.mcp, self.paths, self.questions, self.tally, self.stop = mcp, paths, questions, tally, stop
        self.random = random.Random(seed)

    def run(self):
        choose = self.random.choice
        while not self.stop.is_set():
            opened = self.note("mcp open", self.mcp.call("open", {"path": str(choose(self.paths))}))
            if opened is None:
                time.sleep(0.1)
                continue
            trace = {"trace": opened["trace"]}
            for _ in range(self.random.randint(1, 6)):
                tool, arguments = choose([
                    ("health", {}), ("diagnose", {}), ("questions", {}), ("list", None), ("critical_path", {"process": "*", "top": 1}),
                    ("wait_chain", {"process": "*", "top": 3}), ("sql", {"sql": choose(STATEMENTS)}), ("view", {}),
                    ("ask", {"question": choose(self.questions)}), ("ask", {"question": choose(self.questions)}),
                ])
                sent = self.mcp.send("tools/call", {"name": tool, "arguments": {} if arguments is None else {**trace, **arguments}})
                if self.random.random() < 0.12:
                    time.sleep(self.random.random() ** 2)
                    self.mcp.tell("notifications/cancelled", {"requestId": sent[0]})
                    with self.mcp.lock:
                        self.mcp.waiting.pop(sent[0], None)
                    self.tally.note("mcp " + tool, "given up")
                else:
                    self.note("mcp " + tool, self.mcp.take(sent))
            if self.random.random() < 0.5:
                self.note("mcp close", self.mcp.call("close", trace))

    def note(self, what, answer):
        """Counts an answer, and returns what it says unless it is an error."""
        if answer is None:
            self.tally.defect("mcp ended")
            self.stop.set()
            return None
        if "error" in answer or answer["result"].get("isError"):
            self.tally.note(what, "refused")
            return None
        self.tally.note(what, "answered")
        return json.loads(answer["result"]["content"][0]["text"])


def usage(process):
    """What a process holds: memory of its own in MiB, threads, descriptors."""
    folder = Path("/proc") / str(process.pid)
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return {
        "memory": int(status["RssAnon"].split()[0]) // 1024,
        "threads": int(status["Threads"]),
        "descriptors": len(list((folder / "fd").iterdir())),
    }


def grown(first, now):
    """What a process holds more of than it may, in sentences."""
    for what, allowed in MORE.items():
        most = first[what] + allowed(first[what])
        if now[what] > most:
            yield f"{what} grew from {first[what]} to {now[what]}; at most {most} allowed"


def disturb(fleet, choice, stop):
    """Replaces, deletes and puts back one extract after the other."""
    while not stop.wait(choice.uniform(1, 5)):
        at = choice.randrange(len(SCENARIOS))
        if choice.random() < 0.4:
            fleet.remove(at)
            stop.wait(choice.uniform(0.2, 3))
        fleet.put(at, choice.choice([1, 2]))


def main():
    parser = argparse.ArgumentParser(prog="benches/soak")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("etwkit")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()

    fleet, tally = Fleet(options.folder), Tally()
    errors_file = options.folder / "errors"
    with errors_file.open("w") as errors:
        view, mcp = View(options.etwkit, fleet.paths, errors), Mcp(options.etwkit, errors)
    servers = {"view": view.process, "mcp": mcp.process}
    for process in servers.values():
        atexit.register(process.kill)
    questions = view.traces[0]["opening"]["questions"]

    def is_alive():
        return all(process.poll() is None for process in servers.values())

    def ask_for(seconds, turn):
        """Has all clients ask for so long; then all extracts are there again, and the servers have nothing to do."""
        stop = threading.Event()
        seed = f"{options.seed}/{turn}/"
        clients = [Page(view, tally, seed + str(number), stop) for number in range(options.clients)]
        clients += [Agent(mcp, fleet.paths, questions, tally, seed + f"agent {number}", stop) for number in range(2)]
        clients.append(threading.Thread(target=disturb, args=(fleet, random.Random(seed + "files"), stop)))
        for client in clients:
            client.start()
        stop.wait(seconds)
        while turn == 0 and sum(tally.asked.values()) < WARM_REQUESTS and not stop.wait(1):
            pass
        stop.set()
        for client in clients:
            client.join()
        if is_alive():
            settle()

    def settle():
        """Puts the first contents back, has each server open each of them and answer once, and waits."""
        for at in range(len(SCENARIOS)):
            fleet.put(at, 1)
        connection = view.connect()
        for trace in view.traces:
            view.send(connection, "ask", {"trace": trace["id"], "question": "process", "options": {}})
        connection.close()
        for path in fleet.paths:
            opened = mcp.call("open", {"path": str(path)})
            trace = json.loads(opened["result"]["content"][0]["text"])
            mcp.call("ask", {"trace": trace["trace"], "question": "process"})
        time.sleep(REST_SECONDS)

    begun = time.monotonic()
    turn, first, now = 0, None, None
    while True:
        left = options.minutes * 60 - (time.monotonic() - begun)
        # There is a first and a last measurement, however short the time is.
        if turn > 1 and left <= 0:
            break
        ask_for(WARM_SECONDS if turn == 0 else max(REST_SECONDS, min(left, REST_EVERY_SECONDS)), turn)
        if not is_alive():
            break
        turn += 1
        now = {name: usage(process) for name, process in servers.items()}
        first = first or now
        minute = (time.monotonic() - begun) / 60
        for name, held in now.items():
            told = ", ".join(f"{value} {'MiB' if what == 'memory' else what}" for what, value in held.items())
            print(f"{minute:5.1f} min, {sum(tally.asked.values())} requests; {name}: {told}", flush=True)

    faults = []
    if now is not None:
        faults += [f"{name}: {fault}" for name in servers for fault in grown(first[name], now[name])]
    for name, process in servers.items():
        if process.poll() is not None:
            faults.append(f"{name} ended with {process.returncode}")
        process.terminate()
        process.wait()
    faults += [line for line in errors_file.read_text().splitlines() if "panic" in line]
    for fault in (faults + tally.defects)[:20]:
        print("error: " + fault)
    print("asked: " + ", ".join(f"{what} {count}" for what, count in sorted(tally.asked.items())))
    print("outcomes: " + ", ".join(f"{what} {count}" for what, count in sorted(tally.outcomes.items())))
    is_failed = bool(faults or tally.defects)
    print("FAILED" if is_failed else "as after the first minute")
    sys.exit(1 if is_failed else 0)


if __name__ == "__main__":
    main()
