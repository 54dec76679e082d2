#!/usr/bin/env python3
"""Writes the questions of the package from the declarations of the program.

    python/generate.py            rewrites questions.json and _questions.pyi
    python/generate.py --check    names the files that differ from the declarations, and ends with 1

The variable ETWKIT_BIN names the program; without it, PATH has it. A test compares the files with
the program, so that the package has each question, option and column of it.
"""

import json
import keyword
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent
PACKAGE = ROOT / "src/etwkit"

# Commands whose declared questions are not reports of `dump`.
OTHERS = ["critical-path", "diagnose", "diff", "explain"]

# Questions that a command answers with an option.
OF_OPTIONS = {"trend": ["diagnose", "--trend"]}

# Questions about many extracts, which only farms have.
OF_FARMS = ["explain", "trend"]

# Arguments that methods have besides those of the question.
OURS = {"self", "other", "progress", "allow_empty"}

# Types of arguments by kinds of options.
TYPES = {
    "flag": "bool",
    "text": "str | int | float",
    "several": "str | Sequence[str]",
    "range": "Range",
    "integer": "int",
    "number": "float",
    "list": "Text | Sequence[Text]",
    "two": "tuple[str, str]",
}


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    stale = stale_files(os.environ.get("ETWKIT_BIN", "etwkit"))
    for file, text in stale.items():
        name = file.relative_to(ROOT.parent)
        if is_check:
            print(f"{name} is stale: python/generate.py rewrites it")
        else:
            file.write_text(text, encoding="utf-8", newline="\n")
            print(f"Wrote {name}")
    sys.exit(is_check and bool(stale))


def stale_files(program):
    """Return the files that differ from the declarations of a program, with their new texts."""
    return {file: text for file, text in files(program).items() if text != read(file)}


def read(file):
    return file.read_text(encoding="utf-8") if file.exists() else None


def files(program):
    """Return the files and their texts."""
    declared = declarations(program)
    text = document(declared, levels=4) + "\n"
    return {PACKAGE / "questions.json": text, PACKAGE / "_questions.pyi": stub(declared)}


def document(value, levels, indent=""):
    """Return JSON with one option on each line, so that a change of an option changes one line."""
    if not levels or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    lines = [
        f"{inner}{json.dumps(name)}: {document(item, levels - 1, inner)}"
        for name, item in value.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def declarations(program):
    """Return the version of the program and all questions."""

    def run(*arguments, text=None):
        # Defaults of a user are not declared by the program.
        environment = os.environ | {"ETWKIT_CONFIG": ""}
        return subprocess.run(
            [program, *arguments],
            input=text,
            env=environment,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout

    with tempfile.TemporaryDirectory() as folder:
        run("man", folder)
        pages = {
            page.name.removeprefix("etwkit-").removesuffix(".1"): page.read_text(encoding="utf-8")
            for page in pathlib.Path(folder).iterdir()
        }
    dumps = sorted(page.removeprefix("dump-") for page in pages if page.startswith("dump-"))
    commands = {name: ["dump", name] for name in dumps} | {name: [name] for name in OTHERS}
    commands |= OF_OPTIONS
    # One process prints all schemas; the extract is never opened.
    lines = [" ".join([*command, "--show-schema", "none.etwx"]) for command in commands.values()]
    schemas = documents(run("console", text="\n".join(lines) + "\n"))
    if len(schemas) != len(commands):
        sys.exit(f"error: {len(commands)} questions have {len(schemas)} schemas")
    questions = {
        python_name(name): question(command, schema, pages[page_of(command)])
        for (name, command), schema in zip(commands.items(), schemas)
    }
    version = run("--version").split()[1]
    return {"version": version, "questions": dict(sorted(questions.items()))}


def page_of(command):
    """Return the name of the manual page of a command, which also has its options."""
    return "-".join(word for word in command if not word.startswith("--"))


def documents(text):
    """Return the JSON documents that follow each other in a text."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at)
        found.append(document)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def question(command, schema, page):
    """Return a question with its options and columns."""
    request, row = schema["request"], schema["row"]
    required = request["required"]
    alone = options_alone(page)
    return {
        "command": command,
        "doc": request["description"],
        "options": {
            python_name(name): option(declared, name in required, name in alone)
            for name, declared in request["properties"].items()
        },
        "columns": {name: column["description"] for name, column in row["properties"].items()},
    }


def options_alone(page):
    """Return the options of a manual page that may be given without a value."""
    plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
    return set(re.findall(r"^--([a-z-]+)(?:=?| )\[", plain, re.MULTILINE))


def option(declared, is_required, is_alone):
    kind = {"kind": kind_of(declared)}
    if words := declared.get("enum", declared.get("words")):
        kind["words"] = words
    if is_required:
        kind["required"] = True
    if is_alone:
        kind["alone"] = True
    return kind | {"doc": declared["description"]}


def kind_of(declared):
    match declared["type"]:
        case "boolean":
            return "flag"
        case "array" if declared.get("maxItems") == 2:
            return "two"
        case "array":
            return "list"
        case "string" if "separator" in declared:
            return "several"
        case "string" if "unit" in declared:
            return "range"
        case "string":
            return "text"
        case "integer" | "number" as number:
            return number
        case other:
            sys.exit(f"error: the package does not know options of the type {other}")


def stub(declared):
    """Return the types of the methods."""
    questions = declared["questions"]
    general = [
        method(name, asked) for name, asked in questions.items() if name not in ["diff", *OF_FARMS]
    ]
    diff = questions["diff"]
    of_farms = [method(name, questions[name]) for name in OF_FARMS]
    classes = [
        ("Questions", general),
        ("TraceQuestions(Questions)", [method("diff", diff, ["other: Text | Questions"])]),
        ("FarmQuestions(Questions)", [method("diff", diff), *of_farms]),
    ]
    head = '''\
# Types of the methods that _questions.py makes. python/generate.py writes this file.

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal

from ._answer import Answer
from ._run import Progress

Text = str | PathLike[str]
Range = str | int | float | tuple[int | float | None, int | float | None]
'''
    bodies = [f"class {name}:\n" + "\n".join(methods) for name, methods in classes]
    return head + "".join(f"\n{body}" for body in bodies)


def method(name, asked, positional=()):
    options = asked["options"]
    if clashes := OURS & set(options):
        sys.exit(f"error: an option of {name} has the name of an argument: {clashes}")
    needed = {name: declared for name, declared in options.items() if "required" in declared}
    others = {name: declared for name, declared in options.items() if name not in needed}
    arguments = [
        "self",
        *positional,
        "*",
        *(f"{name}: {type_of(declared)}" for name, declared in needed.items()),
        *(f"{name}: {type_of(declared)} | None = None" for name, declared in others.items()),
        "progress: Callable[[Progress], object] | None = None",
        "allow_empty: bool = False",
    ]
    lines = [f"def {name}("]
    lines += [f"    {argument}," for argument in arguments]
    lines += [") -> Answer:", *docstring(asked["doc"], options)]
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def docstring(doc, options):
    lines = [f"{name}: {declared['doc']}" for name, declared in options.items()]
    wrapped = [
        part
        for line in lines
        for part in textwrap.wrap(line, 92, subsequent_indent="  ", break_on_hyphens=False)
    ]
    texts = [f'    r"""{doc}', "", *(f"    {line}" for line in wrapped), '    """']
    return texts


def type_of(declared):
    kind, words = declared["kind"], declared.get("words")
    if kind == "text" and words:
        kind = f"Literal[{', '.join(json.dumps(word) for word in words)}]"
    else:
        kind = TYPES[kind]
    return f"{kind} | bool" if "alone" in declared else kind


def python_name(name):
    """Return the name of an option or a question in Python: class_ for class."""
    named = name.replace("-", "_")
    return f"{named}_" if keyword.iskeyword(named) else named


if __name__ == "__main__":
    main()
