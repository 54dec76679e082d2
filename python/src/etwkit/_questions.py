"""Methods of traces and farms, one for each declared question. _questions.pyi has their types."""

import inspect

from . import _declared


def _parameters(question, positional):
    names = [(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ["self", *positional]]
    parameters = [inspect.Parameter(name, kind) for name, kind in names]
    defaults = {
        name: inspect.Parameter.empty if "required" in option else None
        for name, option in question["options"].items()
    }
    for name, default in (defaults | {"progress": None, "allow_empty": False}).items():
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default))
    return parameters


def _doc(question):
    lines = [f"{name}: {option['doc']}" for name, option in question["options"].items()]
    return "\n".join([question["doc"], "", *lines])


def _method(name, positional=()):
    question = _declared.QUESTIONS[name]

    def method(self, *others, progress=None, allow_empty=False, **options):
        if len(others) != len(positional):
            raise TypeError(f"{name} takes {len(positional)} arguments without a name")
        return self._ask(question, others, options, progress=progress, allow_empty=allow_empty)

    method.__name__ = name
    method.__doc__ = _doc(question)
    method.__signature__ = inspect.Signature(_parameters(question, positional))
    return method


def _with_methods(of, names, positional=()):
    for name in names:
        method = _method(name, positional)
        method.__qualname__ = f"{of.__name__}.{method.__name__}"
        method.__module__ = of.__module__
        setattr(of, method.__name__, method)


class Questions:
    """Questions that a trace and a farm have in common."""


class TraceQuestions(Questions):
    """Questions to one trace."""


class FarmQuestions(Questions):
    """Questions to many extracts."""


_OF_FARMS = ["diff", "explain", "trend"]

_with_methods(Questions, [name for name in _declared.QUESTIONS if name not in _OF_FARMS])
_with_methods(TraceQuestions, ["diff"], ["other"])
_with_methods(FarmQuestions, _OF_FARMS)
