"""One run of the program: a child with pipes, that can be watched and ended."""

import dataclasses
import queue
import subprocess
import threading
import time

from ._error import Cancelled, Error, ErrorStream
from ._program import find

# Seconds between two reports of progress.
_TICK = 0.25

# Seconds that the program has to end when it is asked to.
_GRACE = 5

_CHUNK = 1 << 20


@dataclasses.dataclass(frozen=True)
class Progress:
    """Progress of an answer."""

    seconds: float
    """Seconds since the program started."""
    bytes: int
    """Bytes of the answer that have arrived."""
    note: str
    """Last line of the error stream; empty before the first one."""


@dataclasses.dataclass(frozen=True)
class Ended:
    """Output of a run that has ended."""

    out: bytearray
    errors: ErrorStream
    exit_code: int


class Run:
    """A run of the program with these arguments."""

    def __init__(self, arguments, *, text=None, folder=None, progress=None):
        self._arguments = arguments
        self._text = text
        self._folder = folder
        self._progress = progress
        self._lock = threading.Lock()
        self._child = None
        self._is_cancelled = False
        self._out = bytearray()
        self._lines = []
        # Each thread puts a value when it has ended; lines of the error stream wake the reader.
        self._events = queue.SimpleQueue()

    def cancel(self):
        """End the program; the thread that waits for it gets `Cancelled`."""
        with self._lock:
            self._is_cancelled = True
            child = self._child
        if child is not None and child.poll() is None:
            child.terminate()

    def wait(self):
        """Run the program to its end and return the output."""
        start = time.monotonic()
        child = self._start()
        threads = [
            threading.Thread(target=task, args=[child], daemon=True)
            for task in (self._read_out, self._read_lines, self._write_text)
        ]
        try:
            for thread in threads:
                thread.start()
            self._watch(len(threads), start)
            exit_code = child.wait()
        finally:
            _end(child)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            child.stdout.close()
            child.stderr.close()
        if self._is_cancelled:
            raise Cancelled("the answer was cancelled", exit_code=exit_code)
        text = b"".join(self._lines).decode("utf-8", "replace")
        return Ended(self._out, ErrorStream(text), exit_code)

    def _start(self):
        program = find()
        line = [program, *self._arguments]
        with self._lock:
            if self._is_cancelled:
                raise Cancelled("the answer was cancelled")
            try:
                self._child = subprocess.Popen(
                    line,
                    stdin=subprocess.DEVNULL if self._text is None else subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self._folder,
                    # Windows would open a console for a program without one.
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            except ValueError as error:
                # Arguments end at a NUL, so no name and no text of a question has one.
                raise Error(f"the question cannot be passed on: {error}") from error
            except OSError as error:
                raise Error(f"{program} does not start: {error}") from error
            return self._child

    def _watch(self, running, start):
        """Wait until all threads have ended, and report progress."""
        # A wait without an end cannot be interrupted by Ctrl-C on Windows.
        last = 0.0
        while running:
            try:
                event = self._events.get(timeout=_TICK)
            except queue.Empty:
                event = "tick"
            running -= event == "ended"
            now = time.monotonic()
            if self._progress and (event == "line" or now - last >= _TICK):
                last = now
                self._progress(Progress(now - start, len(self._out), self._note()))

    def _note(self):
        return self._lines[-1].decode("utf-8", "replace").rstrip() if self._lines else ""

    def _read_out(self, child):
        try:
            while chunk := child.stdout.read1(_CHUNK):
                self._out += chunk
        finally:
            self._events.put("ended")

    def _read_lines(self, child):
        try:
            for line in child.stderr:
                self._lines.append(line)
                self._events.put("line")
        finally:
            self._events.put("ended")

    def _write_text(self, child):
        try:
            if self._text is not None:
                with child.stdin:
                    child.stdin.write(self._text)
        except OSError:
            # A program that refuses its arguments does not read; its exit code says why.
            pass
        finally:
            self._events.put("ended")


def _end(child):
    """End a child that is still running, since nothing waits for its answer."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
