"""Values of Python as arguments of the program. Each is one argument, and no shell reads it."""

import os


def options(question, values):
    """Return the arguments for the options of a question, which are named as in Python."""
    declared, of = question["options"], question["command"][-1].removeprefix("--")
    for name in values:
        if name not in declared:
            raise TypeError(f"{of} has no option {name}; it has {', '.join(declared)}")
    for name, option in declared.items():
        if "required" in option and values.get(name) is None:
            raise TypeError(f"{of} needs the option {name}")
    given = {name: value for name, value in values.items() if value is not None}
    return [
        argument
        for name, value in given.items()
        for argument in _option(name, declared[name], value)
    ]


def _option(name, declared, value):
    # A name that is a word of Python has a _ at its end.
    option = name.rstrip("_").replace("_", "-")
    if value is False:
        return []
    if value is True:
        if declared["kind"] != "flag" and "alone" not in declared:
            raise TypeError(f"{name} needs a value")
        return [f"--{option}"]
    match declared["kind"]:
        case "flag":
            raise TypeError(f"{name} is True or False")
        case "two":
            return _two(option, name, value)
        case "list":
            return [f"--{option}={text(name, item)}" for item in _items(value)]
        case "several":
            words = ",".join(text(name, item) for item in _items(value))
            return [f"--{option}={words}"]
        case "range" if isinstance(value, tuple):
            return [f"--{option}={_range(name, value)}"]
        case _:
            # The value is joined to its option, so that it is never taken for an option itself.
            return [f"--{option}={text(name, value)}"]


def _items(value):
    return [value] if isinstance(value, (str, os.PathLike)) else value


def _two(option, name, value):
    pair = [text(name, item) for item in _items(value)]
    if len(pair) != 2:
        raise TypeError(f"{name} needs two texts")
    # Two values follow their option, where a hyphen starts the next option.
    if any(item.startswith("-") for item in pair):
        raise ValueError(f"no text of {name} can start with a hyphen; ? stands for any character")
    return [f"--{option}", *pair]


def _range(name, value):
    if len(value) != 2:
        raise TypeError(f"{name} is a pair of numbers")
    start, end = ("" if bound is None else text(name, bound) for bound in value)
    return f"{start}..{end}"


def text(name, value):
    """Return the text of a value."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f"{name} is a text or a number, not {type(value).__name__}")
    return os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)
