"""Questions without an answer, and names that are made to be read as something else."""

import os
import pathlib
import pickle
import shutil
import unittest
from unittest import mock

import etwkit
import support


class Errors(unittest.TestCase):
    def test_nothing_is_an_error_unless_it_is_allowed(self):
        trace = etwkit.open(support.trace())
        with self.assertRaisesRegex(etwkit.Nothing, "no process matches nosuch") as raised:
            trace.cpu(process="nosuch").rows()
        self.assertEqual(raised.exception.exit_code, 1)
        with self.assertRaises(etwkit.Nothing):
            trace.sql("SELECT 1 AS a WHERE false").rows()
        allowed = trace.cpu(process="nosuch", allow_empty=True)
        self.assertEqual((allowed.rows(), allowed.exit_code), ([], 1))
        self.assertIn("process", allowed.columns)
        self.assertIn("nosuch", allowed.notes[0])
        if support.HAS_ARROW:
            with self.assertRaisesRegex(etwkit.Nothing, "nosuch"):
                trace.cpu(process="nosuch").to_arrow()
            self.assertEqual(allowed.to_arrow().num_rows, 0)

    def test_a_file_that_is_not_a_trace_has_a_message_and_a_hint(self):
        broken = support.folder() / "no trace.etl"
        broken.write_bytes(b"nothing")
        with self.assertRaises(etwkit.Error) as raised:
            etwkit.open(broken).cpu().rows()
        error = raised.exception
        self.assertEqual(error.exit_code, 2)
        self.assertIn("cannot read no trace.etl as an event trace", error.message)
        self.assertIn("name the .etl file", error.hint)
        self.assertEqual(str(error), f"{error.message}\nhint: {error.hint}")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.exit_code), (str(error), 2))

    def test_an_empty_name_is_not_the_present_folder(self):
        with self.assertRaisesRegex(ValueError, "found an empty text"):
            etwkit.open("")

    def test_many_errors_are_one_message(self):
        broken = []
        for number in range(5):
            broken.append(support.folder() / f"broken-{number}.etl")
            broken[-1].write_bytes(b"nothing")
        with self.assertRaises(etwkit.Error) as raised:
            etwkit.Farm(broken).cpu().rows()
        self.assertIn("broken-2.etl", raised.exception.message)
        self.assertTrue(raised.exception.message.endswith("; and 2 more"))
        self.assertEqual(raised.exception.hint.count("name the .etl file"), 1)

    def test_sql_that_is_wrong_says_where(self):
        with self.assertRaisesRegex(etwkit.Error, r"no column nope \(line 1, column 8\)"):
            etwkit.open(support.trace()).sql("SELECT nope").rows()

    def test_options_are_checked(self):
        trace = etwkit.open(support.trace())
        for wrong in [
            lambda: trace.cpu(nosuch=1),
            lambda: trace.cpu(top=True),
            lambda: trace.cpu(details="yes"),
            lambda: trace.cpu(process=["a", "b"]),
            lambda: trace.cpu(range=(1, 2, 3)),
            lambda: trace.cpu("cmd.exe"),
            lambda: trace.region(),
            lambda: trace.diff(),
            lambda: trace.sql("SELECT $a", params={"a": None}),
        ]:
            self.assertRaises(TypeError, wrong)
        with self.assertRaisesRegex(etwkit.Error, "invalid value 'nosuch'"):
            trace.cpu(by="nosuch").rows()

    def test_a_missing_program_is_an_error(self):
        trace = etwkit.open(support.trace())
        with mock.patch.dict(os.environ, {"ETWKIT_BIN": "nosuch"}):
            with self.assertRaisesRegex(etwkit.Error, "does not name a program: nosuch") as raised:
                trace.cpu().rows()
        self.assertIsNone(raised.exception.exit_code)
        with mock.patch.dict(os.environ, {"ETWKIT_BIN": "", "PATH": "."}):
            with mock.patch("sysconfig.get_path", return_value=None):
                with self.assertRaisesRegex(etwkit.Error, "is not installed") as raised:
                    trace.cpu().rows()
        self.assertIn("ETWKIT_BIN", raised.exception.hint)

    def test_the_program_is_found_in_path_and_among_scripts(self):
        program = etwkit.program()
        folder = support.folder() / "programs"
        folder.mkdir()
        copy = folder / pathlib.Path("etwkit").with_suffix(pathlib.Path(program).suffix)
        try:
            copy.symlink_to(program)
        except OSError:
            shutil.copy(program, copy)
        with mock.patch.dict(os.environ, {"ETWKIT_BIN": "", "PATH": str(folder)}):
            self.assertEqual(etwkit.program(), str(copy))
        with mock.patch.dict(os.environ, {"ETWKIT_BIN": "", "PATH": ""}):
            with mock.patch("sysconfig.get_path", return_value=str(folder)):
                self.assertEqual(etwkit.program(), str(copy))

    @unittest.skipIf(os.name == "nt", "Windows has no scripts with #!")
    def test_a_program_that_breaks_is_an_error(self):
        trace = etwkit.open(support.trace())
        head = 'print(\'{"command": "dump cpu", "format_version": 1}\', flush=True)'
        for source, message in [
            (f"{head}; os.kill(os.getpid(), 9)", "ended by signal 9"),
            (f'{head}; print("{{", end=""); sys.exit(0)', "not JSON"),
            ('print(\'{"format_version": 2}\')', "in the format 2"),
            ("sys.exit(0)", "exit code 0: no reason is printed"),
            ('sys.stderr.write("error: one\\ncaused by: two\\n"); sys.exit(2)', "^one: two$"),
            ('print("panicked", file=sys.stderr); sys.exit(101)', "panicked"),
        ]:
            with support.stand_in(source), self.assertRaisesRegex(etwkit.Error, message):
                trace.cpu().rows()


class HostileNames(unittest.TestCase):
    def test_a_name_of_a_trace_is_only_a_name(self):
        names = ["-x.etl", "@list.etl", "a;touch planted;$(touch planted)`touch planted`.etl"]
        if os.name != "nt":
            names += ['* ? [1]" \'.etl', "--out=planted.etl", "line\nbreak.etl"]
        place = support.folder() / "hostile"
        place.mkdir()
        for name in names:
            (place / name).write_bytes(support.trace().read_bytes())
        here = os.getcwd()
        try:
            os.chdir(place)
            for name in names:
                rows = etwkit.open(name).process(top=1).rows()
                self.assertEqual(len(rows), 1, name)
        finally:
            os.chdir(here)
        self.assertEqual(sorted(path.name for path in place.iterdir()), sorted(names))

    def test_a_value_is_only_a_value(self):
        trace = etwkit.open(support.trace())
        planted = support.folder() / "planted.parquet"
        values = [f"--out={planted}", "-q", "a' OR '1'='1", "$(id)", "%PATH%", "a\nb", "@a"]
        names = {f"v{at}": value for at, value in enumerate(values)}
        query = "SELECT " + ", ".join(f"${name} AS {name}" for name in names)
        self.assertEqual(trace.sql(query, params=names).rows(), [names])
        for value in values[:4]:
            with self.assertRaises(etwkit.Nothing, msg=value):
                trace.process(process=value).rows()
        with self.assertRaisesRegex(ValueError, "start with a hyphen"):
            trace.cpu(between=(f"--out={planted}", "b"))
        with self.assertRaisesRegex(ValueError, "not a name"):
            trace.sql("SELECT 1", params={"a=1 --b": 1})
        with self.assertRaisesRegex(etwkit.Error, "null"):
            trace.cpu(process="a\0b").rows()
        self.assertFalse(planted.exists())

    def test_relative_names_stay_in_their_folder(self):
        here = os.getcwd()
        try:
            os.chdir(support.folder())
            support.trace()
            trace, farm = etwkit.open("timers.etl"), etwkit.Farm("timers.etl")
        finally:
            os.chdir(here)
        self.assertEqual(trace.process(top=1).rows(), farm.process(top=1).rows())


if __name__ == "__main__":
    unittest.main()
