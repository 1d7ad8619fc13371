"""Where the output of commands goes: stdout, stderr, files; --quiet; examples of --help."""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sparsebayes import persistence
from sparsebayes.cli import main
from sparsebayes.cli.arguments.completion import SHELLS
from sparsebayes.cli.parser import COMMANDS, make_parser
from tests.cli.refusal import fails
from tests.cli.tables import write_csv

SIGNAL = {"y": np.sin(np.arange(64) / 7) + 0.1 * np.random.default_rng(0).standard_normal(64)}


@pytest.fixture
def run(capsysbinary, monkeypatch):
    """The command line, with streams of bytes."""

    def run_command(*argv, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert main([*map(str, argv)]) == 0
        out, err = capsysbinary.readouterr()
        return out, err.decode()

    return run_command


def examples(command):
    """The commands that --help shows."""
    (sub,) = (a for a in make_parser([command])._actions if a.dest == "command")
    lines = re.findall(r"^  sparsebayes (.*)$", sub.choices[command].format_help(), re.MULTILINE)
    return [line.partition("#")[0] for line in lines]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_help_can_be_typed(command):
    shown = examples(command)
    assert shown
    for line in shown:
        words = shlex.split(line.partition(">")[0])
        assert make_parser([command]).parse_args(words).command == command


def test_a_model_goes_through_pipes(folder, run):
    model, report = run("fit", "--folds", "0", "-o", "-")
    assert "log evidence" in report
    told, _ = run("inspect", "-", stdin=model)
    assert b"temperature" in told
    Path("m.skops").write_bytes(model)
    assert persistence.load("m.skops").n_features_in_ == 1
    with open("m.skops", "rb") as stream:
        assert persistence.load(stream).n_features_in_ == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_model_from_a_pipe_with_a_name(folder, model_file):
    program = f"{sys.executable} -m sparsebayes inspect <(cat {model_file})"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert "temperature" in done.stdout


def test_a_stream_that_is_no_model(folder):
    Path("text").write_text("nothing")
    with open("text", "rb") as stream, pytest.raises(persistence.ModelFileError, match="'text' "):
        persistence.load(stream)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "argv",
    [
        ["denoise", "y.csv"],
        ["forecast", "y.csv", "--column", "y", "--horizon", "2", "--lags", "3"],
        ["export", "MODEL", "--to", "json"],
        ["predict", "MODEL", "t.csv"],
    ],
    ids=lambda argv: argv[0],
)
def test_output_to_stdout_is_that_of_the_file(argv, folder, model_file, run):
    write_csv("y.csv", SIGNAL)
    write_csv("t.csv", {"temperature": [150.0, 250.0]})
    argv = [model_file if word == "MODEL" else word for word in argv]
    piped, told = run(*argv, "-o", "-")
    name = "out.json" if argv[0] == "export" else "out.csv"
    report, _ = run(*argv, "-o", name)
    assert piped == Path(name).read_bytes()
    assert name.encode() in report
    if argv[0] in ("denoise", "forecast"):  # the report has moved to stderr
        assert "time" in told
    silent, nothing = run(*argv, "-o", "-", "--quiet")
    assert silent == piped and nothing == ""


def test_c_does_not_fit_on_stdout(folder, model_file, capsys):
    fails(capsys, ["export", model_file, "--to", "c", "-o", "-"], "-o -: C is two files")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "argv",
    [
        ["fit", "--folds", "0"],
        ["predict", "MODEL", "far.csv", "-o", "p.csv"],
        ["inspect", "MODEL"],
        ["denoise", "y.csv", "-o", "d.csv"],
        ["forecast", "y.csv", "--column", "y", "--horizon", "2", "--lags", "3", "-o", "f.csv"],
        ["compare", "MODEL"],
        ["export", "MODEL", "-o", "m.c"],
        ["explore", "--no-browser", "--idle", "0.01"],
        ["completion", "bash"],
    ],
    ids=lambda argv: argv[0],
)
def test_quiet_says_nothing(argv, folder, model_file, capsys):
    write_csv("y.csv", SIGNAL)
    write_csv("far.csv", {"temperature": [9000.0]})
    argv = [model_file if word == "MODEL" else word for word in argv]
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(argv) == 0
    assert capsys.readouterr().out


def test_every_command_can_be_quiet():
    tried = {argv[0] for argv in test_quiet_says_nothing.pytestmark[0].args[1]}
    assert tried == set(COMMANDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_names_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("sparsebayes", *COMMANDS, "length-scale", "linear_spline"):
        assert word in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(folder, run):
    script, _ = run("completion", "bash")
    Path("complete.sh").write_bytes(script)
    (name,) = re.findall(r"^complete .*-F (\w+) sparsebayes$", script.decode(), re.MULTILINE)

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        program = (
            f"source ./complete.sh; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
            f"{name} sparsebayes '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert completed("sparsebayes", "") >= set(COMMANDS)
    assert completed("sparsebayes", "fit", "--len") == {"--length-scale"}
    assert completed("sparsebayes", "fit", "--solver", "s") == {"sequential", "subspace"}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_dev_stdout_is_stdout(folder, model_file, run):
    write_csv("t.csv", {"temperature": [150.0, 250.0]})
    argv = [
        sys.executable,
        "-m",
        "sparsebayes",
        "predict",
        model_file,
        "t.csv",
        "-o",
        "/dev/stdout",
    ]
    wanted, _ = run("predict", model_file, "t.csv", "-o", "-")
    assert subprocess.run(argv, capture_output=True, check=True).stdout == wanted
    before = os.stat("/dev/stdout", follow_symlinks=False)
    with open("out.csv", "wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        subprocess.run(argv, stdout=stream, check=True)
        stream.write(b"after\n")
    assert Path("out.csv").read_bytes() == b"before\n" + wanted + b"after\n"
    assert os.stat("/dev/stdout", follow_symlinks=False).st_ino == before.st_ino


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["fit", "-o", ""], "-o"),
        (["fit", ""], "CSV"),
        (["fit", "--figures", ""], "--figures"),
        (["predict", "", "t.csv"], "MODEL"),
        (["denoise", "y.npy", "-o", "z.npy", "--std", ""], "--std"),
    ],
)
def test_an_empty_name_is_refused(argv, name, folder, capsys):
    fails(capsys, argv, f"{name} is an empty name; name a file")


def test_stdin_is_read_once(folder, capsys):
    fails(capsys, ["predict", "-", "-"], "CSV and MODEL cannot both be stdin")
    fails(capsys, ["compare", "-", "m.skops", "--data", "-"], "--data and MODEL cannot both be")


def test_options_that_cannot_be(folder, capsys):
    fails(capsys, ["fit", "--figures", "-"], "figures are several files; name a directory")
    fails(capsys, ["fit", "--folds", "1"], "give 2 or more, or 0 for none")


@pytest.mark.parametrize(("text", "told"), [("v\n1\n\n3\n", "1 line was"), ("v\n1\n3\n", "")])
def test_empty_lines_of_a_series_are_told(text, told, folder, run):
    rows = "".join(f"{np.sin(k / 3):.3f}\n" for k in range(40))
    Path("v.csv").write_text(text + rows)
    out, _ = run("denoise", "v.csv", "-o", "w.csv")
    assert told in out.decode() and ("left out between" in out.decode()) == bool(told)
