"""Children of the package, and the processes that use it."""

import multiprocessing
import os
import pickle
import threading
import time
import unittest

import etwkit
import support


class Children(unittest.TestCase):
    def test_an_answer_is_cancelled_from_another_thread(self):
        answer = etwkit.open(support.trace()).sql(support.ENDLESS)
        timer = threading.Timer(0.3, answer.cancel)
        timer.start()
        with self.assertRaises(etwkit.Cancelled):
            answer.rows()
        timer.join()
        with self.assertRaises(etwkit.Cancelled):
            answer.rows()

    def test_progress_is_reported_and_can_cancel(self):
        seen = []

        def progress(report):
            seen.append(report)
            answer.cancel()

        answer = etwkit.open(support.trace()).sql(support.ENDLESS, progress=progress)
        with self.assertRaises(etwkit.Cancelled):
            answer.rows()
        self.assertGreater(seen[0].seconds, 0)

    def test_progress_has_the_notes(self):
        fresh, seen = support.folder() / "watched.etl", []
        fresh.write_bytes(support.trace().read_bytes())
        etwkit.open(fresh).process(progress=seen.append).rows()
        self.assertTrue(any(report.note.startswith("note: extracted ") for report in seen), seen)

    @unittest.skipIf(os.name == "nt", "Windows has no scripts with #!")
    def test_no_child_is_left(self):
        source = """
from pathlib import Path
Path(sys.argv[0]).with_name("pid").write_text(str(os.getpid()))
print("note: running", file=sys.stderr, flush=True)
time.sleep(60)"""

        def fails(report):
            if report.note:
                raise KeyboardInterrupt

        with support.stand_in(source) as place:
            answer = etwkit.open("a.etl").cpu(progress=fails)
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                answer.rows()
            self.assertLess(time.monotonic() - start, 5)
            pid = int((place / "pid").read_text())
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


class Workers(unittest.TestCase):
    def test_workers_ask(self):
        expected = support.processes_of(support.trace())
        for method in multiprocessing.get_all_start_methods():
            if method != "forkserver":
                with multiprocessing.get_context(method).Pool(1) as pool:
                    answers = pool.map(support.processes_of, [support.trace()])
                self.assertEqual(answers, [expected], method)

    def test_traces_and_farms_go_to_other_processes(self):
        trace = pickle.loads(pickle.dumps(etwkit.open(support.trace())))
        self.assertEqual(trace.path, str(support.trace()))
        farm = pickle.loads(pickle.dumps(etwkit.Farm(support.trace(), where="name = 'timers'")))
        self.assertTrue(farm.process(top=1).rows())


if __name__ == "__main__":
    unittest.main()
