"""Texts for people."""

import re

# Characters that change how others are displayed: controls, controls of the direction of writing,
# separators of lines. The program escapes the same ones.
_HOSTILE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def printable(text: object) -> str:
    r"""Return a text with characters escaped that could control a terminal: `\u{1b}`.

    Names in answers are those of the trace, which a stranger may have made.
    """
    return _HOSTILE.sub(_escaped, str(text))


def _escaped(found):
    character = found[0]
    return _SHORT.get(character, f"\\u{{{ord(character):x}}}")
