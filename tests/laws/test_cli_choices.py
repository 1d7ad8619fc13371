"""Law 7: choices offered by the command line are the library's own lists."""

import argparse
import importlib
import sys

import pytest

from sparsebayes.cli.parser import COMMANDS, make_parser

ARGUMENTS = "sparsebayes.cli.arguments"
# Options whose words are the library's, and the list that has them.
CHOICES = {
    ("fit", "basis"): "sparsebayes.basis.names:NAMES",
    ("fit", "solver"): "sparsebayes._rvm.options:SOLVERS",
    ("fit", "link"): "sparsebayes.classification.likelihood:LINKS",
    ("fit", "inference"): "sparsebayes.classification.likelihood:INFERENCES",
    ("fit", "multi_class"): "sparsebayes.classification.likelihood:MULTI_CLASS",
    ("denoise", "method"): "sparsebayes.denoising:METHODS",
    ("denoise", "noise_model"): "sparsebayes.denoising:NOISE_MODELS",
    ("forecast", "method"): "sparsebayes.forecasting:METHODS",
    ("export", "to"): "sparsebayes.export:FORMATS",
}
# Options that take one of the words or a number.
WORDS_OR_NUMBER = {
    ("fit", "prior"): "sparsebayes._rvm.options:PRIORS",
    ("fit", "noise"): "sparsebayes._rvm.options:NOISES",
    ("denoise", "prior"): "sparsebayes._rvm.options:PRIORS",
}
# Options of all commands that read a table. Their words are copies, since the library is not
# imported for --help.
COPIES = {
    "decimal": "sparsebayes.rows.dialect.numerals:MARKS",
    "missing": "sparsebayes.rows.missing:MISSING",
}
# Words of the command line itself: the library infers the task from the class of the model, and
# takes class_weight="balanced" beside other values, and transform=None or "auto" beside its list.
OWN = {
    ("fit", "task"),
    ("fit", "class_weight"),
    ("forecast", "transform"),
    ("completion", "shell"),
    ("fit", "categorical"),
}


@pytest.fixture(autouse=True)
def _forgotten():
    """Arguments made from another list of names do not stay."""
    yield
    for command in COMMANDS:
        sys.modules.pop(f"{ARGUMENTS}.{command}", None)


def options(command):
    """The options of a command, by name, made anew."""
    sys.modules.pop(f"{ARGUMENTS}.{command}", None)
    actions = make_parser([command])._actions
    (commands,) = (a for a in actions if isinstance(a, argparse._SubParsersAction))
    return {action.dest: action for action in commands.choices[command]._actions}


def library(path):
    module, name = path.split(":")
    return importlib.import_module(module), name


def with_another(names):
    """A list with one more name."""
    another = {**names, "another": "new"} if isinstance(names, dict) else (*names, "another")
    assert "another" not in names
    return another


def test_every_choice_is_accounted_for():
    offered = {
        (command, name)
        for command in COMMANDS
        for name, action in options(command).items()
        if action.choices is not None and name not in COPIES
    }
    assert offered == CHOICES.keys() | OWN


@pytest.mark.parametrize(("name", "path"), COPIES.items())
def test_copies_are_the_librarys(name, path):
    module, names = library(path)
    offered = [options(command)[name].choices for command in COMMANDS if name in options(command)]
    assert len(offered) > 2
    for choices in offered:
        assert list(choices) == list(getattr(module, names))


@pytest.mark.parametrize(("option", "path"), CHOICES.items(), ids=str)
def test_choices_are_the_librarys(option, path, monkeypatch):
    command, name = option
    module, names = library(path)
    assert list(options(command)[name].choices) == list(getattr(module, names))
    monkeypatch.setattr(module, names, with_another(getattr(module, names)))
    assert "another" in options(command)[name].choices


@pytest.mark.parametrize(("option", "path"), WORDS_OR_NUMBER.items(), ids=str)
def test_words_are_the_librarys(option, path, monkeypatch):
    command, name = option
    module, names = library(path)
    convert = options(command)[name].type
    assert [convert(word) for word in getattr(module, names)] == list(getattr(module, names))
    assert convert("2.5") == 2.5
    with pytest.raises(argparse.ArgumentTypeError):
        convert("another")
    monkeypatch.setattr(module, names, with_another(getattr(module, names)))
    action = options(command)[name]
    assert action.type("another") == "another"
    assert "another" in action.help


@pytest.mark.parametrize("command", COMMANDS)
def test_defaults_are_among_the_choices(command):
    for action in options(command).values():
        if action.choices is not None and action.default is not None:
            assert action.default in action.choices
