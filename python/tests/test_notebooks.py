"""The notebooks of the documentation: their cells run in order, with the outputs that they show.

ETWKIT_BLESS=1 writes the outputs. Jupyter is not needed for any of it.
"""

import ast
import contextlib
import io
import json
import os
import sys
import unittest
from unittest import mock

import support

FOLDER = support.ROOT / "notebooks"


def run(path):
    """Run a notebook; return its cells of code as they are, and as they have to be."""
    notebook = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {"__name__": "__main__"}
    shown = [texts(cell["outputs"]) for cell in cells]
    for number, cell in enumerate(cells, 1):
        cell["execution_count"] = number
        cell["outputs"] = outputs("".join(cell["source"]), names, number)
    if "ETWKIT_BLESS" in os.environ:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return []
    return list(zip(shown, [texts(cell["outputs"]) for cell in cells], strict=True))


def outputs(source, names, number):
    """Run a cell; return what it prints and the value of its last line, as a notebook has them."""
    tree = ast.parse(source)
    is_value = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    last = tree.body.pop() if is_value else None
    name = f"cell {number}"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        value = eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None
    found = []
    if text := printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(text)})
    if value is not None:
        result = {"data": {"text/plain": lines(repr(value))}, "execution_count": number}
        found.append({**result, "metadata": {}, "output_type": "execute_result"})
    return found


def lines(text):
    return text.splitlines(keepends=True)


def texts(outputs):
    """Return the plain texts of outputs. Jupyter also stores data frames as HTML."""
    found = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    return ["".join(text).rstrip("\n") for text in found]


@contextlib.contextmanager
def running_in(folder):
    """Make a folder the current one, and let notebooks import the modules next to them."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with mock.patch.object(sys, "path", [os.fspath(FOLDER), *sys.path]):
            yield
    finally:
        os.chdir(before)


@unittest.skipUnless(support.HAS_PANDAS and support.HAS_ARROW, "pandas is not installed")
class Notebooks(unittest.TestCase):
    maxDiff = None

    def test_notebooks_show_what_they_print(self):
        notebooks = sorted(FOLDER.glob("*.ipynb"))
        self.assertEqual(len(notebooks), 3)
        # Two of them use the same runs.
        place = support.folder() / "notebooks"
        place.mkdir()
        with running_in(place):
            for path in notebooks:
                for number, (shown, printed) in enumerate(run(path), 1):
                    with self.subTest(f"{path.name}, cell {number}"):
                        self.assertEqual(shown, printed)

    def test_a_cell_has_what_it_prints_and_its_last_value(self):
        names = {}
        self.assertEqual(texts(outputs("a = 2\nprint(a)\na + 1", names, 1)), ["2", "3"])
        self.assertEqual(texts(outputs("b = a\n", names, 2)), [])
        self.assertEqual(texts(outputs("print(b)\nNone", names, 3)), ["2"])


if __name__ == "__main__":
    unittest.main()
