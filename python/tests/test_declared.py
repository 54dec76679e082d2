"""Methods of the package against the declarations of the program."""

import ast
import importlib.util
import inspect
import unittest

import etwkit
import support


def generate():
    spec = importlib.util.spec_from_file_location("generate", support.ROOT / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Declared(unittest.TestCase):
    def test_questions_are_those_of_the_program(self):
        stale = [file.name for file in generate().stale_files(etwkit.program())]
        self.assertEqual(stale, [], "python/generate.py rewrites these files")

    def test_types_are_those_of_the_methods(self):
        stub = support.ROOT / "src/etwkit/_questions.pyi"
        classes = {"Questions": etwkit.Trace, "TraceQuestions": etwkit.Trace}
        classes["FarmQuestions"] = etwkit.Farm
        methods = 0
        for node in ast.parse(stub.read_text("utf-8")).body:
            for method in node.body if isinstance(node, ast.ClassDef) else []:
                declared = getattr(classes[node.name], method.name)
                names = [argument.arg for argument in method.args.args + method.args.kwonlyargs]
                self.assertEqual(
                    sorted(names), sorted(inspect.signature(declared).parameters), method.name
                )
                methods += 1
        self.assertGreater(methods, 50)

    def test_options_that_are_words_of_python_end_with_a_line(self):
        self.assertIn("class_", inspect.signature(etwkit.Trace.gdi_user).parameters)


if __name__ == "__main__":
    unittest.main()
