"""The command line: its commands, their arguments, and `main`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, BooleanOptionalAction, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from sparsebayes._support.streams import until_closed
from sparsebayes.cli.argument_types import (
    axes,
    positive_numbers,
    positive_whole,
    probability,
    whole,
    whole_numbers,
    word_or_number,
)

# Each command is the function `run` of the module of its name. That module, and the library's lists
# of names, are imported when the command is chosen, so that --help is quick.

_PROGRAM = "sparsebayes"


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _complain(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def _complain(message: str) -> None:
    print(f"{_PROGRAM}: error: {' '.join(message.split())}", file=sys.stderr)


def _fit(parser: ArgumentParser) -> None:
    from sparsebayes._rvm.options import NOISES, PRIORS, SOLVERS
    from sparsebayes.basis.names import NAMES
    from sparsebayes.classification.likelihood import INFERENCES, LINKS, MULTI_CLASS

    parser.add_argument(
        "csv",
        metavar="CSV",
        nargs="?",
        help="data, first row column names, or a .parquet file (default: a data set that comes "
        "with the package)",
    )
    parser.add_argument(
        "--target",
        metavar="A,B,...",
        help="column to predict, or several with commas between (regression); needed with CSV",
    )
    parser.add_argument(
        "--features", metavar="A,B,...", help="input columns (default: all but the targets)"
    )
    parser.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="'auto' (default) takes text and few different whole numbers for classes",
    )
    parser.add_argument("-o", "--output", metavar="MODEL", help="store the model in this file")
    parser.add_argument("--figures", metavar="DIR", help="write figures (PNG) into this directory")
    parser.add_argument("--basis", choices=NAMES, default="rbf", help="basis functions (rbf)")
    parser.add_argument(
        "--length-scale",
        type=word_or_number(["evidence", "scale"]),
        default="evidence",
        metavar="L",
        help="a number, 'scale' (a rule of thumb) or 'evidence' (default: learned for each input, "
        "or for classes chosen by rows held out)",
    )
    parser.add_argument(
        "--augment", action="store_true", help="error bars that grow away from the data (off)"
    )
    parser.add_argument("--solver", choices=SOLVERS, default="sequential", help="(sequential)")
    parser.add_argument(
        "--prior",
        type=word_or_number(PRIORS),
        metavar="P",
        help=f"{', '.join(PRIORS)} or a number, the smoothness prior's c (flat, or what suits the "
        "likelihood of classes)",
    )
    parser.add_argument(
        "--bias", action=BooleanOptionalAction, default=True, help="constant term (on)"
    )
    parser.add_argument("--max-iter", type=whole, metavar="N", help="iterations at most")
    parser.add_argument(
        "--folds", type=whole, default=5, metavar="N", help="cross-validation folds; 0: none (5)"
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="random seed (0)")
    parser.add_argument(
        "--chunk-rows",
        type=positive_whole,
        metavar="N",
        help="read so many rows at a time, and hold a sample only (default: all at once, files of "
        "more than 64 MB half a million cells at a time)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no report")
    # What belongs to one task has no default here, so that it is known whether it was given.
    regression = parser.add_argument_group("regression")
    regression.add_argument(
        "--noise",
        type=word_or_number(NOISES),
        metavar="V",
        help=f"{', '.join(NOISES)} or a fixed noise variance (estimate); student is for outliers, "
        "varying for noise that depends on the inputs",
    )
    classification = parser.add_argument_group("classification")
    classification.add_argument("--link", choices=LINKS, help="likelihood of the classes (auto)")
    classification.add_argument(
        "--inference", choices=INFERENCES, help="(laplace); the others need --link probit"
    )
    classification.add_argument(
        "--multi-class",
        choices=MULTI_CLASS,
        help="more than two classes: one model, or one for each class (multinomial)",
    )
    classification.add_argument(
        "--share-alpha",
        action="store_true",
        default=None,
        help="keep a basis function for all classes of a multinomial model or for none",
    )
    classification.add_argument(
        "--class-weight", choices=("balanced",), help="give all classes the same total weight"
    )


def _predict(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    parser.add_argument(
        "csv", metavar="CSV", help="data with the model's input columns, or a .parquet file"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="CSV of mean, std, lower, upper, of several targets mean_A, std_A and so on for each; "
        "of a classification label and probabilities; inside is 0 outside the training data "
        "(default: stdout)",
    )
    parser.add_argument(
        "--coverage", type=probability, metavar="P", help="regression: of the interval (0.95)"
    )
    inverse = parser.add_argument_group("calibration curves")
    inverse.add_argument(
        "--inverse",
        action="store_true",
        help="from readings, in the column of the target, back to the input: a row for each branch "
        "with reading, branch, probability, mean, lower and upper; explained is 0 if no input in "
        "the range of the training data explains the reading",
    )
    inverse.add_argument(
        "--unknown",
        metavar="NAME",
        help="the input to find, if the model has several; CSV has columns of the others",
    )
    inverse.add_argument(
        "--replicates",
        type=positive_whole,
        metavar="N",
        help="each value is the mean of so many readings (1)",
    )


def _inspect(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    limits = parser.add_argument_group("calibration curves")
    limits.add_argument(
        "--detection-limit",
        action="store_true",
        help="critical value, detection and quantification limit of a curve of one input",
    )
    limits.add_argument(
        "--blank", type=float, metavar="X", help="input of a blank (smallest of the training data)"
    )
    limits.add_argument(
        "--alpha", type=probability, metavar="P", help="blanks taken for something (0.05)"
    )
    limits.add_argument(
        "--beta", type=probability, metavar="P", help="missed at the detection limit (0.05)"
    )
    limits.add_argument(
        "--replicates", type=positive_whole, metavar="N", help="readings that are averaged (1)"
    )


def _denoise(parser: ArgumentParser) -> None:
    from sparsebayes._rvm.options import PRIORS
    from sparsebayes.denoising import METHODS, NOISE_MODELS

    parser.add_argument(
        "input",
        metavar="IN",
        help="a column of a .csv file, a .npy array of 1 to 3 dimensions, a .wav, .flac or .ogg "
        "sound, or a .png, .jpg or .tif image; channels of sounds are denoised one by one, NaN and "
        "empty cells are filled",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="file of the same type as IN; or .wav for other sounds, .png for .jpg",
    )
    parser.add_argument(
        "--dictionary",
        default="auto",
        metavar="D",
        help="'auto' (default: the wavelet or the cosines in frames that suit the signal, complex "
        "wavelets for images), an orthogonal wavelet, 'dual_tree', 'dct', 'mdct', 'thin_plate' or "
        "others; 'haar+dct' joins two",
    )
    parser.add_argument(
        "--prior",
        type=word_or_number(PRIORS),
        metavar="P",
        help=f"{', '.join(PRIORS)} or a number, the smoothness prior's c (bic), of --method sparse",
    )
    parser.add_argument(
        "--noise",
        type=word_or_number(["estimate", "per_level"]),
        default="estimate",
        metavar="V",
        help="'estimate' (default), 'per_level' for noise that is not white, or the noise "
        "variance, in the units of the values squared",
    )
    parser.add_argument(
        "--noise-model",
        choices=NOISE_MODELS,
        default="gaussian",
        help="'poisson' for counts, 'multiplicative' for noise that grows with the signal "
        "(gaussian)",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        help="'average' (default) averages over precisions and bases; 'sparse' (default with "
        "--prior) keeps few coefficients; the others are simpler",
    )
    parser.add_argument(
        "--n-shifts",
        type=positive_whole,
        metavar="N",
        help="shifts of the signal by which bases are made for the average (default: 4 to 16)",
    )
    parser.add_argument(
        "--std", metavar="FILE", help="store the standard deviation of the result as .npy"
    )
    parser.add_argument("--figures", metavar="DIR", help="write figures (PNG) of signals")
    parser.add_argument("--quiet", action="store_true", help="print no report")
    # As above: no defaults, so that it is known whether these were given.
    table = parser.add_argument_group("CSV files")
    table.add_argument(
        "--column", metavar="NAME", help="column to denoise; needed if several hold numbers"
    )
    table.add_argument(
        "--time", metavar="NAME", help="column of positions (default: equally spaced)"
    )
    table.add_argument(
        "--coverage", type=probability, metavar="P", help="of lower and upper (0.95)"
    )
    image = parser.add_argument_group(".tif files")
    image.add_argument(
        "--volume",
        action="store_true",
        default=None,
        help="the pages are one volume (default: each is an image of its own)",
    )
    array = parser.add_argument_group(".npy files")
    array.add_argument(
        "--axes",
        type=axes,
        metavar="A,B",
        help="denoise over these axes, one by one over the others (default: over all)",
    )


def _forecast(parser: ArgumentParser) -> None:
    from sparsebayes.forecasting import METHODS
    from sparsebayes.forecasting.transforms import NAMES

    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        f"  {_PROGRAM} forecast sales.csv --column sales --time month --horizon 12 -o next.csv\n"
        f"  {_PROGRAM} forecast shops.csv --column sales --time day --id shop --jobs 4 --horizon 28"
    )
    parser.add_argument(
        "csv",
        metavar="CSV",
        help="a series, first row column names; cells may be empty and rows missing; rows at the "
        "end whose cell is empty are to be forecast",
    )
    parser.add_argument("--column", metavar="NAME", required=True, help="column to forecast")
    parser.add_argument(
        "--horizon", type=positive_whole, metavar="K", required=True, help="steps ahead"
    )
    parser.add_argument(
        "--time",
        metavar="NAME",
        help="column of numbers or dates at equal steps, which the forecast continues; dates such "
        "as 2024-01-31, 31.01.2024, 31/01/2024, Jan 2024, 2024Q1, 2024W05 or 20240131",
    )
    parser.add_argument(
        "--date-format",
        metavar="F",
        help="how dates are written, as in strptime: %%d/%%m/%%Y (default: found in the column)",
    )
    parser.add_argument(
        "--id",
        metavar="NAME",
        help="column that tells several series apart, each of which is forecast",
    )
    parser.add_argument(
        "--pool", action="store_true", help="let the series of --id share one model (off)"
    )
    parser.add_argument(
        "--jobs", type=positive_whole, metavar="N", help="series of --id to fit at once (1)"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write time, mean, std, lower and upper (CSV)"
    )
    parser.add_argument("--figure", metavar="FILE", help="draw the forecast into this PNG file")
    parser.add_argument(
        "--coverage", type=probability, default=0.95, metavar="P", help="of the interval (0.95)"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="how the uncertainty of one step enters the next (auto)",
    )
    parser.add_argument(
        "--lags",
        type=whole_numbers("auto"),
        default="auto",
        metavar="L",
        help="a number or a list such as 1,2,12: one autoregression in place of the mixture of "
        "models; 'auto' (default) chooses by the evidence, if one of the next two is given",
    )
    parser.add_argument(
        "--step", type=positive_whole, default=1, metavar="N", help="between lags (1)"
    )
    parser.add_argument(
        "--difference",
        type=whole_numbers("auto"),
        default="auto",
        metavar="P",
        help="0 for none, a period, a list such as 1,12, or 'auto' (default: by the evidence)",
    )
    parser.add_argument(
        "--transform",
        choices=("auto", *NAMES, "none"),
        default="auto",
        help="model the logarithm, the root or the series itself (auto: what suits it)",
    )
    parser.add_argument(
        "--seasons",
        type=positive_numbers("auto", "none"),
        default="auto",
        metavar="S",
        help="steps in each season, such as 12 or 7,365.25, 'none', or 'auto' (default: those that "
        "dates tell, or one that is found)",
    )
    parser.add_argument(
        "--exog",
        metavar="A,B,...",
        help="input columns, which must be there for the rows to be forecast too",
    )
    parser.add_argument(
        "--exog-lags",
        type=whole_numbers(),
        default=0,
        metavar="L",
        help="lags of the inputs; 0 (default) is the same time",
    )
    parser.add_argument(
        "--calibrate",
        action=BooleanOptionalAction,
        help="widen the intervals by what forecasts of the past tell (on; of one autoregression "
        "only if asked for, since it costs a second fit)",
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="random seed (0)")
    parser.add_argument("--quiet", action="store_true", help="print no report")


def _export(parser: ArgumentParser) -> None:
    from sparsebayes.export import FORMATS

    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        f"  {_PROGRAM} export model.skops -o sensor.c --float --check data.csv\n"
        f"  {_PROGRAM} export model.skops -o model.onnx\n"
        f"  {_PROGRAM} export model.skops --to json -o model.json --no-std"
    )
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    parser.add_argument(
        "--to", choices=FORMATS, help="what to write (default: by the name of the file)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="NAME.c (with NAME.h beside it), NAME.onnx or NAME.json",
    )
    parser.add_argument(
        "--float", action="store_true", help="single precision, for small devices (double)"
    )
    parser.add_argument(
        "--no-std", action="store_true", help="leave the standard deviation of a regression out"
    )
    parser.add_argument(
        "--check",
        metavar="CSV",
        help="compare with Python at the rows of this file, and print the largest difference: C is "
        "compiled where a compiler is found (CC), ONNX needs onnxruntime",
    )


_COMMANDS: dict[str, tuple[str, Callable[[ArgumentParser], None]]] = {
    "fit": ("fit a model to a CSV or Parquet file and report on it", _fit),
    "predict": ("predict the rows of a CSV or Parquet file", _predict),
    "inspect": ("describe a stored model", _inspect),
    "denoise": ("denoise a signal, a sound or an image", _denoise),
    "forecast": ("forecast a column of a CSV file", _forecast),
    "export": ("write a stored model as C, ONNX or JSON", _export),
}


def make_parser(chosen: str | None = None) -> ArgumentParser:
    """The parser of all commands; only the chosen one has its arguments."""
    parser = _Parser(
        prog=_PROGRAM,
        description="Sparse Bayesian regression, classification and forecasts on CSV files; "
        "denoising of signals and images.",
        epilog="exit codes: 0; 2 after an error, which is one line on stderr; 130 after Ctrl-C; "
        "141 if the reader of the output has closed the pipe, as head does.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, (summary, add_arguments) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name == chosen:
            add_arguments(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None takes the process's.

    Returns
    -------
    status : int
        0; 2 after an error, which is one line on stderr; 130 after an interruption; 141 if what
        reads the output has closed the pipe, about which nothing is said.
    """
    return until_closed(_run, sys.argv[1:] if argv is None else list(argv))


def _run(argv: list[str]) -> int:
    """Run the command that the arguments name; its exit code."""
    parser = make_parser(next((word for word in argv if not word.startswith("-")), None))
    args = parser.parse_args(argv)
    if args.version:
        from sparsebayes._support.version import package_version

        print(f"{_PROGRAM} {package_version()}")
        return 0
    if args.command is None:
        parser.error(f"name a command: {', '.join(_COMMANDS)}")
    try:
        import_module(f"sparsebayes.cli.{args.command}").run(args)
    except BrokenPipeError:
        raise
    except OSError as error:
        told = error.strerror and error.filename
        _complain(f"{error.filename}: {error.strerror}" if told else str(error))
        return 2
    except (ValueError, ImportError, NotImplementedError) as error:
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        print(f"{_PROGRAM}: interrupted", file=sys.stderr)
        return 130
    return 0
