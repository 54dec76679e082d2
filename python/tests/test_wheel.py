"""The wheel that carries the program and the package."""

import base64
import csv
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support

JOIN = support.ROOT.parent / "packaging/wheel"

PROGRAM = {
    "etwkit-0.1.0.data/scripts/etwkit": "program",
    "etwkit-0.1.0.dist-info/sboms/etwkit.cdx.json": "bill",
    "etwkit-0.1.0.dist-info/METADATA": "of the program",
    "etwkit-0.1.0.dist-info/WHEEL": "Tag: py3-none-linux_x86_64",
    "etwkit-0.1.0.dist-info/RECORD": "",
}
PACKAGE = {
    "etwkit/__init__.py": "package",
    "etwkit-0.1.0.dist-info/METADATA": "of the package",
    "etwkit-0.1.0.dist-info/WHEEL": "Tag: py3-none-any",
    "etwkit-0.1.0.dist-info/RECORD": "",
}


def write(path, files):
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(info, text)


class Wheel(unittest.TestCase):
    def test_a_wheel_has_the_program_and_the_package(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "etwkit-0.1.0-py3-none-linux_x86_64.whl"
            package = folder / "etwkit-0.1.0-py3-none-any.whl"
            write(program, PROGRAM)
            write(package, PACKAGE)
            line = [sys.executable, JOIN, program, package, folder / "joined"]
            subprocess.run(line, check=True, capture_output=True)
            with zipfile.ZipFile(folder / "joined" / program.name) as wheel:
                files = {name: wheel.read(name) for name in wheel.namelist()}
                script = wheel.getinfo("etwkit-0.1.0.data/scripts/etwkit")
        record = files.pop("etwkit-0.1.0.dist-info/RECORD").decode()
        expected = PROGRAM | PACKAGE
        expected["etwkit-0.1.0.dist-info/WHEEL"] = PROGRAM["etwkit-0.1.0.dist-info/WHEEL"]
        del expected["etwkit-0.1.0.dist-info/RECORD"]
        self.assertEqual({name: text.decode() for name, text in files.items()}, expected)
        self.assertEqual(script.external_attr >> 16, 0o100755)
        sums = {name: (digest, size) for name, digest, size in csv.reader(record.splitlines())}
        self.assertEqual(sums.pop("etwkit-0.1.0.dist-info/RECORD"), ("", ""))
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            self.assertEqual(sums.pop(name), (f"sha256={digest.rstrip('=')}", str(len(content))))
        self.assertEqual(sums, {})


if __name__ == "__main__":
    unittest.main()
