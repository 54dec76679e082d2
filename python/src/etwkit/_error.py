"""Errors, and the error stream that they are read from."""

# Words that start an item of the error stream. Other lines continue the item before them.
_KINDS = ("error", "caused by", "hint", "note", "warning")

# Lines of a wrong command line that say nothing in Python.
_USAGE = ("Usage: ", "For more information, ")


class Error(Exception):
    """A question that has no answer: the message and the hint of the program.

    `exit_code` is the exit code of the program: 1 nothing found, 2 error, 130 interrupted, negative
    for a signal, and None if the program was not started. `notes` are the notes printed before.
    """

    def __init__(self, message, hint="", exit_code=None, notes=()):
        # All of them are arguments of the exception, so that another process can unpickle it.
        super().__init__(message, hint, exit_code, notes)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.notes = list(notes)

    def __str__(self):
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class Nothing(Error):
    """No row answers the question: nothing matches, or the trace did not record it.

    The message says which. Questions with `allow_empty=True` return an empty answer instead.
    """


class Cancelled(Error):
    """The answer was cancelled, and the program was ended."""


class ErrorStream:
    """Items of an error stream, in their order."""

    def __init__(self, text):
        self._items = []
        for line in text.replace("\r\n", "\n").split("\n"):
            self._add(line)

    def _add(self, line):
        kind, colon, rest = line.partition(": ")
        if line.lstrip().startswith("tip: "):
            self._items.append(("hint", line.strip().removeprefix("tip: ")))
        elif colon and kind in _KINDS:
            self._items.append((kind, rest))
        elif self._items and line.strip() and not line.startswith(_USAGE):
            last, text = self._items[-1]
            self._items[-1] = (last, f"{text}\n{line}")
        elif line.strip() and not line.startswith(_USAGE):
            # A program that fails early may print a line of another kind.
            self._items.append(("error", line))

    def _of(self, *kinds):
        return [text for kind, text in self._items if kind in kinds]

    @property
    def notes(self):
        """Texts of the notes."""
        return self._of("note", "warning")

    @property
    def hint(self):
        """All hints, a line for each."""
        return "\n".join(dict.fromkeys(self._of("hint")))

    def errors(self, exit_code):
        """Return an `Error` for each error with its causes and its hint."""
        found = []
        for kind, text in self._items:
            if kind == "error":
                found.append(([text], []))
            elif kind == "caused by" and found:
                found[-1][0].append(text)
            elif kind == "hint" and found:
                found[-1][1].append(text)
        return [Error(": ".join(texts), "\n".join(hints), exit_code) for texts, hints in found]
