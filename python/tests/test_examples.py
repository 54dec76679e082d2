"""The scripts of the documentation."""

import contextlib
import importlib.util
import io
import unittest

import etwkit
import support


def output(script, *arguments):
    """Return the output of a script."""
    path = support.ROOT / "examples" / script
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        module.main(*arguments)
    return out.getvalue()


class Examples(unittest.TestCase):
    def setUp(self):
        self.runs = f"{support.farm()}/*.etwx"

    def test_one_trace(self):
        out = output("one_trace.py", support.trace())
        busiest = etwkit.open(support.trace()).cpu(top=1).rows()[0]
        self.assertRegex(out, rf"CPU\n +[\d,]+ ms  {busiest['process']} \({busiest['pid']}\)")

    def test_two_cohorts(self):
        out = output("two_cohorts.py", self.runs, "build", "0", "1", "ReportTest.exe")
        for text in ["ms  build=0, 2 runs", "ms  build=1, 2 runs", "instead of 0\n"]:
            self.assertIn(text, out)

    @unittest.skipUnless(support.HAS_PANDAS and support.HAS_ARROW, "pandas is not installed")
    def test_a_month(self):
        out = output("month.py", self.runs, "suite = 'Report'", "ReportTest.exe")
        self.assertRegex(out, r"2024-05-06 +4 ")

    def test_names_cannot_control_a_terminal(self):
        self.assertEqual(etwkit.printable("a\x1b[2J\né\u202e"), "a\\u{1b}[2J\\né\\u{202e}")


if __name__ == "__main__":
    unittest.main()
