"""Questions of the program with their options, as `python/generate.py` wrote them."""

import json
import pathlib

_DECLARED = json.loads(pathlib.Path(__file__).with_name("questions.json").read_text("utf-8"))

VERSION = _DECLARED["version"]
"""Version of the program whose questions these are."""

QUESTIONS = _DECLARED["questions"]
"""Questions by their names in Python: command, sentence, options and columns."""
