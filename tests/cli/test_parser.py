"""The arguments of the command line: help, types, and what is imported for them."""

from argparse import ArgumentTypeError

import pytest

from sparsebayes._rvm.options import NOISES
from sparsebayes.cli import main
from sparsebayes.cli.arguments import types
from sparsebayes.cli.parser import make_parser
from tests.cli.refusal import fails
from tests.laws.test_imports import run


@pytest.mark.parametrize("argv", [["--help"], ["fly"], [], ["predict", "--help"], ["predict"]])
def test_help_and_wrong_commands_are_quick(argv):
    """Nothing of weight is imported for them."""
    code = (
        "import sys\n"
        "from sparsebayes.cli import main\n"
        f"try:\n    main({argv!r})\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'skops'}\n"
        "print('heavy:', *sorted(heavy & set(sys.modules)))\n"
    )
    assert run(code).splitlines()[-1] == "heavy:"


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for command in ("fit", "predict", "inspect", "denoise", "forecast"):
        assert f"\n    {command} " in out


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("fit", "--length-scale"),
        ("predict", "--coverage"),
        ("inspect", "MODEL"),
        ("denoise", "--dictionary"),
        ("forecast", "--exog-lags"),
    ],
)
def test_help_of_a_command_lists_its_options(command, option, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert option in capsys.readouterr().out


def test_help_names_the_priors(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    assert "flat, aic, bic, ric or a number" in capsys.readouterr().out


def test_help_names_the_kinds_of_noise(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    told = capsys.readouterr().out
    assert ", ".join(NOISES) in " ".join(told.split())


def test_only_the_chosen_command_has_arguments():
    assert make_parser(["predict"]).parse_args(["predict", "m", "d"]).csv == "d"
    with pytest.raises(SystemExit):
        make_parser(["fit"]).parse_args(["predict", "m", "d"])


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("sparsebayes ")


def test_an_error_names_the_help(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(capsys, ["predict"], r"required: MODEL, CSV \(see sparsebayes predict --help\)")
    fails(capsys, [], "name a command: fit, predict, inspect, denoise, forecast")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (types.positive, "2.5", 2.5),
        (types.probability, "0.9", 0.9),
        (types.whole, "0", 0),
        (types.positive_whole, "3", 3),
        (types.whole_numbers("auto"), "auto", "auto"),
        (types.whole_numbers(), "4", 4),
        (types.whole_numbers(), "1, 12", [1, 12]),
        (types.axes, "0,-1", (0, -1)),
        (types.word_or_number(["flat"]), "flat", "flat"),
        (types.word_or_number(["flat"]), "0.5", 0.5),
        (types.word_or_number(NOISES), "student", "student"),
    ],
)
def test_types(kind, text, value):
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (types.positive, "inf", "must be a positive number, got inf"),
        (types.probability, "1", "must lie between 0 and 1, got '1'"),
        (types.probability, "x", "must lie between 0 and 1, got 'x'"),
        (types.whole, "-1", "0 or more, got '-1'"),
        (types.positive_whole, "0", "1 or more, got '0'"),
        (types.whole_numbers("auto"), "1,x", "must be 'auto', a whole number or several"),
        (types.axes, "x", "whole numbers with commas between, got 'x'"),
        (types.word_or_number(["a", "b"]), "c", "must be 'a', 'b' or a positive number"),
    ],
)
def test_types_refuse(kind, text, message):
    with pytest.raises(ArgumentTypeError, match=message):
        kind(text)
