"""Reads timelines that were exported, with what others say of their formats, and prints their sums.

Usage: read_timelines.py FORMAT FILE …

Perfetto's packets are decoded by the definitions of the package `perfetto`. A field that they do not have, an
index that points nowhere or columns of different lengths end the program.
"""

import json
import sys
from collections import defaultdict


def sums():
    """Nothing yet: what all formats are asked for."""
    return {
        "run": defaultdict(int),  # by thread id
        "samples": defaultdict(lambda: [0, 0]),  # by process id: how many, and what they stand for
        "stacks": defaultdict(int),  # by text, outermost frame first: what the samples stand for
        "io": defaultdict(lambda: [0, 0, 0]),  # by name: how many, bytes, time
        "paths": set(),
        "waits": defaultdict(int),  # by reason: how many
        "readied": defaultdict(int),  # by who and whom
        "marks": [],
        "processes": {},
        "threads": {},
    }


def ns(number, units):
    return round(number * units)


def frame_text(module, name):
    """As this project writes it: code without a name has the offset behind its module."""
    return module + name if name.startswith("+") else f"{module}!{name}"


# Perfetto


def check_known(message):
    from google.protobuf.unknown_fields import UnknownFieldSet

    unknown = [field.field_number for field in UnknownFieldSet(message)]
    assert not unknown, f"{message.DESCRIPTOR.full_name} has no fields {unknown}"
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else [value]:
                check_known(inner)


class Interned:
    """What packets define for those behind them."""

    def __init__(self):
        self.names, self.paths, self.mappings, self.frames, self.stacks = {}, {}, {}, {}, {}

    def add(self, data):
        for into, entries in (
            (self.names, data.function_names),
            (self.paths, data.mapping_paths),
            (self.mappings, data.mappings),
            (self.frames, data.frames),
            (self.stacks, data.callstacks),
        ):
            for entry in entries:
                assert entry.iid > 0 and entry.iid not in into, "a definition stands twice"
                into[entry.iid] = entry

    def stack(self, iid):
        return ";".join(self.frame(self.frames[frame]) for frame in self.stacks[iid].frame_ids)

    def frame(self, frame):
        name = self.names[frame.function_name_id].str.decode()
        if not frame.mapping_id:
            return name
        assert frame.HasField("rel_pc")
        (path,) = self.mappings[frame.mapping_id].path_string_ids
        return frame_text(self.paths[path].str.decode().rsplit("\\", 1)[-1], name)


def switch(found, runs, switch, cpu, at):
    """Ends a slice and begins the next one, as Perfetto does; numbers are missing for who is not shown."""
    old = switch.old_thread_id if switch.HasField("old_thread_id") else None
    new = switch.new_thread_id if switch.HasField("new_thread_id") else None
    before, since = runs.get(cpu, (None, at))
    assert before == old, f"{before} ran on {cpu}, and {old} leaves it"
    assert since <= at
    if old is not None:
        found["run"][old] += at - since
        if switch.WhichOneof("old_thread_state_enum_or_int") == "old_thread_state":
            if switch.old_thread_state == 5:
                reason = switch.old_thread_wait_reason
                if switch.HasField("old_thread_wait_reason_int"):
                    reason = switch.old_thread_wait_reason_int
                found["waits"][reason] += 1
    runs[cpu] = (new, at)


def perfetto(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

    trace = protos.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    check_known(trace)
    found, interned, tracks, opened = sums(), Interned(), {}, defaultdict(list)
    runs, events, defaults = {}, [], None
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        # The trace processor takes definitions in the order of the file, and all else in that of time.
        if packet.HasField("interned_data"):
            interned.add(packet.interned_data)
        if packet.HasField("trace_packet_defaults"):
            assert packet.sequence_flags & 1 and defaults is None
            defaults = packet.trace_packet_defaults.stack_sample_defaults
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks
            assert not track.parent_uuid or track.parent_uuid in tracks
            tracks[track.uuid] = track
        events.append((packet.timestamp, len(events), packet))
    for at, _, packet in sorted(events, key=lambda event: event[:2]):
        if packet.HasField("process_tree"):
            tree(found, packet.process_tree)
        if packet.HasField("etw_events"):
            (event,) = packet.etw_events.event
            assert event.HasField("cpu") and event.timestamp == at
            if event.HasField("c_switch"):
                switch(found, runs, event.c_switch, event.cpu, at)
            else:
                by = "dpc" if event.ready_thread.flag == 1 else event.thread_id
                found["readied"][f"{by} {event.ready_thread.t_thread_id}"] += 1
        if packet.HasField("stack_sample"):
            sample = packet.stack_sample
            assert packet.sequence_flags & 2
            assert defaults.primary_descriptor.unit == protos.StackSample.UNIT_NANOSECONDS
            of = found["samples"][sample.task_context.pid]
            of[0] += 1
            of[1] += sample.primary_weight
            found["stacks"][interned.stack(sample.callstack_iid)] += sample.primary_weight
        if packet.HasField("track_event"):
            track_event(found, protos.TrackEvent, packet.track_event, at, tracks, opened)
    # What is begun and not ended was under way at the end.
    for track in tracks.values():
        if track.HasField("process"):
            assert found["processes"][track.process.pid] == track.process.process_name
    return found


def tree(found, tree):
    for process in tree.processes:
        found["processes"][process.pid] = process.cmdline[0]
    for thread in tree.threads:
        found["threads"][thread.tid] = thread.name


def track_event(found, kinds, event, at, tracks, opened):
    assert event.track_uuid in tracks
    stack = opened[event.track_uuid]
    if event.type == kinds.TYPE_INSTANT:
        found["marks"].append([at, event.name])
    elif event.type == kinds.TYPE_SLICE_BEGIN:
        assert not stack, "slices of a track overlap"
        about = {note.name: note for note in event.debug_annotations}
        operation = found["io"][event.name]
        operation[0] += 1
        operation[1] += about["size_bytes"].int_value if "size_bytes" in about else 0
        if "path" in about:
            found["paths"].add(about["path"].string_value)
        stack.append((event.name, at))
    else:
        name, since = stack.pop()
        found["io"][name][2] += at - since


# The Firefox profiler


def check_table(table, without=("length", "weightType")):
    for name, column in table.items():
        if name not in without:
            assert len(column) == table["length"], name


def firefox(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    meta, shared = profile["meta"], profile["shared"]
    assert meta["preprocessedProfileVersion"] == 60 and meta["sampleUnits"]["threadCPUDelta"] == "ns"
    schemas = {schema["name"] for schema in meta["markerSchema"]}
    strings, stacks, frames = shared["stringArray"], shared["stackTable"], shared["frameTable"]
    functions, resources = shared["funcTable"], shared["resourceTable"]
    for table in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
        check_table(shared[table])
    assert all(prefix is None or prefix < at for at, prefix in enumerate(stacks["prefix"]))
    assert resources["length"] == len(profile["libs"])

    def stack_text(stack):
        names = []
        while stack is not None:
            function = frames["func"][stacks["frame"][stack]]
            name, resource = strings[functions["name"][function]], functions["resource"][function]
            if resource >= 0:
                name = frame_text(strings[resources["name"][resource]], name)
            names.insert(0, name)
            stack = stacks["prefix"][stack]
        return ";".join(names)

    found, pids = sums(), {}
    for thread in profile["threads"]:
        samples, markers = thread["samples"], thread["markers"]
        check_table(samples)
        check_table(markers)
        assert samples["weightType"] == "tracing-ms"
        assert samples["time"] == sorted(samples["time"])
        # A process id that several processes had has a number behind it.
        pid = thread["pid"].split(".")[0]
        assert pids.setdefault(thread["pid"], thread["processName"]) == thread["processName"]
        found["processes"][pid] = thread["processName"]
        found["threads"][thread["tid"]] = thread["name"]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            weight = ns(weight, 1_000_000)
            found["samples"][pid][0] += 1
            found["samples"][pid][1] += weight
            found["stacks"][stack_text(stack)] += weight
        found["run"][thread["tid"]] += sum(samples.get("threadCPUDelta", []))
        for at in range(markers["length"]):
            marker(found, strings, schemas, {name: markers[name][at] for name in markers if name != "length"})
    return found


def marker(found, strings, schemas, marker):
    data, start, end = marker["data"], marker["startTime"], marker["endTime"]
    assert data["type"] in schemas
    assert (marker["phase"], end is None) in ((0, True), (1, False), (2, True))
    if data["type"] == "EtwWait":
        found["waits"][data.get("reason")] += 1
    elif data["type"] == "EtwMark":
        found["marks"].append([ns(start, 1_000_000), data["text"]])
    elif data["type"] == "EtwIo":
        kind = strings[marker["name"]].split(" ")[0]
        operation = found["io"][f"{kind} {data['operation']}"]
        operation[0] += 1
        operation[1] += data.get("size", 0)
        operation[2] += 0 if end is None else ns(end, 1_000_000) - ns(start, 1_000_000)
        if "path" in data:
            found["paths"].add(data["path"])


# Trace events


def chrome(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    frames = trace["stackFrames"]
    assert all(frame.get("parent") is None or str(frame["parent"]) in frames for frame in frames.values())

    def stack_text(stack):
        names = []
        while stack is not None:
            names.insert(0, frames[str(stack)]["name"])
            stack = frames[str(stack)].get("parent")
        return ";".join(names)

    found, opened, tracks = sums(), {}, defaultdict(list)
    for event in trace["traceEvents"]:
        kind, at = event["ph"], ns(event["ts"], 1000)
        if kind == "M":
            if event["name"] == "process_name":
                found["processes"][event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                found["threads"][event["tid"]] = event["args"]["name"]
        elif kind == "X":
            duration = ns(event["dur"], 1000)
            tracks[event["pid"], event["tid"]].append((at, at + duration))
            if event["name"] == "Running":
                found["run"][event["tid"]] += duration
        elif kind == "P":
            found["samples"][event["pid"]][0] += 1
            found["samples"][event["pid"]][1] += event["args"]["weight_ns"]
            found["stacks"][stack_text(event["sf"])] += event["args"]["weight_ns"]
        elif kind == "b":
            assert event["id"] not in opened
            opened[event["id"]] = at
            operation = found["io"][event["name"]]
            operation[0] += 1
            operation[1] += event["args"].get("size_bytes", 0)
            if "path" in event["args"]:
                found["paths"].add(event["args"]["path"])
        elif kind == "e":
            found["io"][event["name"]][2] += at - opened[event["id"]]
        elif kind == "i":
            found["marks"].append([at, event["name"]])
        else:
            assert kind == "B", kind
        if kind in "XB" and event["name"].startswith("Waiting"):
            found["waits"][event["name"].removeprefix("Waiting").removeprefix(": ") or None] += 1
    for stretches in tracks.values():
        stretches.sort()
        for (_, end), (start, _) in zip(stretches, stretches[1:]):
            assert end <= start, "what a thread did overlaps"
    return found


def plain(found):
    """Without what JSON has no words for."""
    found["paths"] = sorted(found["paths"])
    return {name: dict(of) if isinstance(of, defaultdict) else of for name, of in found.items()}


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    readers = {"perfetto": perfetto, "firefox": firefox, "chrome": chrome}
    words = sys.argv[1:]
    print(json.dumps({kind: plain(readers[kind](path)) for kind, path in zip(words[::2], words[1::2])}))
