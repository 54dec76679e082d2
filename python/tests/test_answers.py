"""Answers: rows, tables and data frames."""

import sys
import unittest
from unittest import mock

import etwkit
import support


class Rows(unittest.TestCase):
    def test_rows_are_those_that_the_program_prints(self):
        expected = support.printed("dump", "process", "--top", "5", str(support.trace()))
        answer = etwkit.open(support.trace()).process(top=5)
        self.assertEqual(answer.rows(), expected)
        self.assertEqual(list(answer), expected)
        self.assertEqual(len(answer), 5)
        self.assertEqual(answer.columns, list(expected[0]))
        self.assertEqual(answer.exit_code, 0)

    def test_options_are_those_of_the_command_line(self):
        trace = etwkit.open(support.trace())
        expected = support.printed(
            "dump", "cpu", "--over-time", "--top=3", "--range=0.1..", str(support.trace())
        )
        self.assertEqual(trace.cpu(over_time=True, top=3, range=(0.1, None)).rows(), expected)
        # False and None are options that are not given.
        self.assertEqual(trace.cpu(details=False, process=None).rows(), trace.cpu().rows())

    def test_values_of_sql_have_types(self):
        trace = etwkit.open(support.trace())
        query = "-- a comment\nSELECT $a AS a, $b AS b, $c AS c, $d AS d"
        params = {"a": "7", "b": 7, "c": 0.5, "d": True}
        self.assertEqual(trace.sql(query, params=params).rows(), [params])

    def test_questions_of_the_library_have_their_names(self):
        rows = etwkit.open(support.trace()).sql("@cpu/processes").rows()
        self.assertIn("process", rows[0])

    def test_notes_are_what_the_error_stream_has(self):
        answer = etwkit.open(support.trace()).diagnose(rule="timer-resolution", allow_empty=True)
        self.assertTrue(all(note for note in answer.notes))
        fresh = support.folder() / "fresh.etl"
        fresh.write_bytes(support.trace().read_bytes())
        notes = etwkit.open(fresh).process().notes
        self.assertTrue(any(note.startswith("extracted ") for note in notes), notes)

    def test_info_is_one_object(self):
        self.assertEqual(etwkit.open(support.trace()).info()["command"], "info")

    def test_an_answer_does_not_go_to_another_process(self):
        with self.assertRaisesRegex(TypeError, "stays in its process"):
            etwkit.open(support.trace()).process().__reduce__()


class Tables(unittest.TestCase):
    def setUp(self):
        self.answer = etwkit.open(support.trace()).process()

    @unittest.skipUnless(support.HAS_ARROW, "pyarrow is not installed")
    def test_an_arrow_table_has_the_rows(self):
        table = self.answer.to_arrow()
        self.assertEqual(table.schema.field("pid").type, "int64")
        self.assertEqual(str(table.schema.field("start_utc").type), "timestamp[us, tz=UTC]")
        columns = self.answer.columns
        self.assertEqual(table.select(columns).to_pylist(), self.answer.rows())

    @unittest.skipUnless(support.HAS_ARROW, "pyarrow is not installed")
    def test_other_packages_read_the_stream(self):
        import pyarrow

        reader = pyarrow.RecordBatchReader.from_stream(self.answer)
        self.assertEqual(reader.read_all(), self.answer.to_arrow())

    @unittest.skipUnless(support.HAS_DUCKDB, "duckdb is not installed")
    def test_duckdb_queries_an_answer(self):
        import duckdb

        answer = self.answer
        counted = duckdb.sql("SELECT count(*) FROM answer").fetchall()
        self.assertEqual(counted, [(len(answer),)])

    @unittest.skipUnless(support.HAS_PANDAS, "pandas is not installed")
    def test_integers_of_pandas_stay_integers(self):
        rows, frame = self.answer.rows(), self.answer.to_pandas()
        self.assertTrue(any(row["stop_ns"] is None for row in rows))
        self.assertEqual(str(frame["stop_ns"].dtype), "Int64")
        self.assertEqual(frame["pid"].tolist(), [row["pid"] for row in rows])

    @unittest.skipUnless(support.HAS_POLARS, "polars is not installed")
    def test_polars_needs_no_arrow(self):
        with mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.ipc": None}):
            frame = self.answer.to_polars()
        self.assertEqual(frame["pid"].to_list(), [row["pid"] for row in self.answer])

    def test_a_missing_package_is_named(self):
        with mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.ipc": None}):
            with self.assertRaisesRegex(ImportError, r"pip install 'etwkit\[arrow\]'"):
                self.answer.to_arrow()
            self.assertTrue(self.answer.rows())


class Farms(unittest.TestCase):
    def test_extracts_are_chosen_by_labels(self):
        farm = etwkit.Farm(support.farm(), where="build = '1'")
        query = "SELECT DISTINCT labels FROM extract"
        self.assertEqual(farm.sql(query).rows(), [{"labels": "build=1;suite=Report"}])

    def test_patterns_and_lists_name_extracts(self):
        pattern = f"{support.farm()}/**/*.etwx"
        count = "SELECT count(*) AS runs FROM extract"
        self.assertEqual(etwkit.Farm(pattern).sql(count).rows(), [{"runs": 4}])
        paths = sorted(support.farm().iterdir())
        farm = etwkit.Farm([paths[0], etwkit.open(paths[1])])
        self.assertEqual(farm.sql(count).rows(), [{"runs": 2}])

    def test_a_long_list_is_passed_in_a_file(self):
        paths = sorted(support.farm().iterdir())
        # A name that is found twice is used once.
        farm = etwkit.Farm([path for path in paths for _ in range(400)])
        names = {row["trace"] for row in farm.process(top=1)}
        self.assertEqual(len(names), len(paths))

    def test_slow_runs_are_explained_and_compared(self):
        farm = etwkit.Farm(support.farm())
        tables = {row["table"] for row in farm.explain()}
        self.assertIn("runs", tables)
        two = etwkit.Farm(support.farm(), where="name LIKE 'Report_90_ms%' AND build = '1'")
        paths = sorted(support.farm().iterdir())[2:]
        pair = etwkit.open(paths[0]).diff(etwkit.open(paths[1]), table="processes")
        self.assertEqual(two.diff(table="processes").rows(), pair.rows())

    def test_findings_of_many_runs_are_counted(self):
        runs = support.folder() / "diagnosed"
        runs.mkdir()
        trace = str(support.folder() / "resolution.etl")
        support.command("synth", "write", "timer-resolution", "--out", trace)
        for name in ("a", "b"):
            target = str(runs / f"{name}.etwx")
            support.command("extract", "--findings", "--out", target, trace)
        farm = etwkit.Farm(runs)
        rows = farm.trend().rows()
        self.assertTrue(rows)
        self.assertEqual({(row["runs"], row["checked"]) for row in rows}, {(2, 2)})
        rule = rows[0]["rule"]
        self.assertEqual([row["rule"] for row in farm.trend(rule=rule)], [rule])
        self.assertFalse(hasattr(etwkit.open(support.trace()), "trend"))

    def test_extracts_that_cannot_be_read_are_errors(self):
        broken = support.folder() / "broken.etl"
        broken.write_bytes(b"nothing")
        both = [support.trace(), broken]
        with self.assertRaisesRegex(etwkit.Error, "broken.etl"):
            etwkit.Farm(both).process().rows()
        answer = etwkit.Farm(both, keep_going=True).process()
        self.assertTrue(answer.rows())
        self.assertEqual(answer.exit_code, 2)
        self.assertIn("broken.etl", answer.errors[0].message)
        with self.assertRaises(etwkit.Error):
            etwkit.Farm(broken, keep_going=True).process().rows()
        if support.HAS_ARROW:
            self.assertTrue(etwkit.Farm(both, keep_going=True).process().to_arrow().num_rows)
            with self.assertRaises(etwkit.Error):
                etwkit.Farm([broken, broken], keep_going=True).process().to_arrow()


if __name__ == "__main__":
    unittest.main()
