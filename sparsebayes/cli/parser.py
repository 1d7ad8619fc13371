"""The command line: ``sparsebayes fit``, ``predict``, ``inspect``, ``denoise``, ``forecast``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

# numpy, scikit-learn and the estimators are imported by the commands, so that --help is quick.

_PROGRAM = "sparsebayes"
_BASES = ("rbf", "laplacian", "linear_spline", "thin_plate", "polynomial", "linear")
_SOLVERS = ("sequential", "em", "mackay", "subspace")
_LINKS = ("logit", "probit")
_INFERENCES = ("laplace", "mean_field", "tap")
_MULTI_CLASS = ("multinomial", "ovr")
_METHODS = ("evidence", "average", "hard", "soft", "bayes")
_PROPAGATIONS = ("auto", "exact", "quadrature", "taylor", "monte_carlo", "naive")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _complain(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def _complain(message: str) -> None:
    print(f"{_PROGRAM}: error: {' '.join(message.split())}", file=sys.stderr)


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text}")
    return value


def _word_or(*words: str):
    """A type for argparse: one of the words, or a number."""

    def convert(text: str):
        if text in words:
            return text
        try:
            return _positive(text)
        except ValueError:
            choices = ", ".join(map(repr, words))
            raise argparse.ArgumentTypeError(
                f"must be {choices} or a positive number, got {text!r}"
            ) from None

    return convert


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, got {text!r}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more, got {text!r}")
    return int(text)


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, got {text!r}")
    return int(text)


def _counts(*words: str):
    """A type for argparse: one of the words, a whole number, or several with commas between."""

    def convert(text: str):
        if text in words:
            return text
        parts = text.split(",")
        if not all(part.strip().isdecimal() for part in parts):
            choices = "".join(f"{word!r}, " for word in words)
            raise argparse.ArgumentTypeError(
                f"must be {choices}a whole number or several with commas between, got {text!r}"
            )
        numbers = [int(part) for part in parts]
        return numbers if len(numbers) > 1 else numbers[0]

    return convert


def _axes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be whole numbers with commas between, got {text!r}"
        ) from None


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_PROGRAM,
        description="Sparse Bayesian regression, classification and forecasts on CSV files; "
        "denoising of signals and images.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")

    fit = commands.add_parser("fit", help="fit a model to a CSV file and report on it")
    fit.set_defaults(run=_fit)
    fit.add_argument(
        "csv",
        metavar="CSV",
        nargs="?",
        help="data, first row column names (default: a data set that comes with the package)",
    )
    fit.add_argument("--target", metavar="NAME", help="column to predict; needed with CSV")
    fit.add_argument(
        "--features", metavar="A,B,...", help="input columns (default: all but the target)"
    )
    fit.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="'auto' (default) takes text and few different whole numbers for classes",
    )
    fit.add_argument("-o", "--output", metavar="MODEL", help="store the model in this file")
    fit.add_argument("--figures", metavar="DIR", help="write figures (PNG) into this directory")
    fit.add_argument("--basis", choices=_BASES, default="rbf", help="basis functions (rbf)")
    fit.add_argument(
        "--length-scale",
        type=_word_or("evidence", "scale"),
        default="evidence",
        metavar="L",
        help="a number, 'scale' (a rule of thumb) or 'evidence' (default: learned for each input, "
        "or for classes the best of some widths)",
    )
    fit.add_argument(
        "--augment", action="store_true", help="error bars that grow away from the data (off)"
    )
    fit.add_argument("--solver", choices=_SOLVERS, default="sequential", help="(sequential)")
    fit.add_argument(
        "--prior",
        type=_word_or("flat", "aic", "bic", "ric"),
        default="flat",
        metavar="P",
        help="'flat' (default), 'aic', 'bic', 'ric' or a number: the smoothness prior's c",
    )
    fit.add_argument(
        "--bias", action=argparse.BooleanOptionalAction, default=True, help="constant term (on)"
    )
    fit.add_argument("--max-iter", type=_count, metavar="N", help="iterations at most")
    fit.add_argument(
        "--folds", type=_count, default=5, metavar="N", help="cross-validation folds; 0: none (5)"
    )
    fit.add_argument("--seed", type=_count, default=0, metavar="N", help="random seed (0)")
    fit.add_argument("--quiet", action="store_true", help="print no report")
    # What belongs to one task has no default here, so that it is known whether it was given.
    regression = fit.add_argument_group("regression")
    regression.add_argument(
        "--noise",
        type=_word_or("estimate"),
        metavar="V",
        help="'estimate' (default) or a fixed noise variance",
    )
    classification = fit.add_argument_group("classification")
    classification.add_argument("--link", choices=_LINKS, help="likelihood of two classes (logit)")
    classification.add_argument(
        "--inference", choices=_INFERENCES, help="(laplace); the others need --link probit"
    )
    classification.add_argument(
        "--multi-class",
        choices=_MULTI_CLASS,
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

    predict = commands.add_parser("predict", help="predict the rows of a CSV file")
    predict.set_defaults(run=_predict)
    predict.add_argument("model", metavar="MODEL", help="file written by fit")
    predict.add_argument("csv", metavar="CSV", help="data with the model's input columns")
    predict.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="CSV of mean, std, lower, upper; of a classification label and probabilities "
        "(default: stdout)",
    )
    predict.add_argument(
        "--coverage", type=_probability, metavar="P", help="regression: of the interval (0.95)"
    )

    inspect = commands.add_parser("inspect", help="describe a stored model")
    inspect.set_defaults(run=_inspect)
    inspect.add_argument("model", metavar="MODEL", help="file written by fit")
    _add_denoise(commands)
    _add_forecast(commands)
    return parser


def _add_denoise(commands: Any) -> None:
    denoise = commands.add_parser("denoise", help="denoise a signal, a sound or an image")
    denoise.set_defaults(run=_denoise)
    denoise.add_argument(
        "input",
        metavar="IN",
        help="a column of a .csv file, a .npy array of 1 to 3 dimensions, a .wav sound or a .png "
        "or .tif image; channels are denoised one by one, NaN and empty cells are filled",
    )
    denoise.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="file of the same type as IN"
    )
    denoise.add_argument(
        "--dictionary",
        default="sym8",
        metavar="D",
        help="an orthogonal wavelet, 'dct', 'thin_plate' or others; 'haar+dct' joins two (sym8)",
    )
    denoise.add_argument(
        "--prior",
        type=_word_or("flat", "aic", "bic", "ric"),
        metavar="P",
        help="'flat', 'aic', 'bic' (default), 'ric' or a number: the smoothness prior's c",
    )
    denoise.add_argument(
        "--noise",
        type=_word_or("estimate"),
        default="estimate",
        metavar="V",
        help="'estimate' (default) or the noise variance, in the units of the values squared",
    )
    denoise.add_argument(
        "--method",
        choices=_METHODS,
        help="'evidence' (default) keeps few coefficients; 'average' (default for images without "
        "gaps) keeps all; or a classical threshold",
    )
    denoise.add_argument(
        "--std", metavar="FILE", help="store the standard deviation of the result as .npy"
    )
    denoise.add_argument("--figures", metavar="DIR", help="write figures (PNG) of signals")
    denoise.add_argument("--quiet", action="store_true", help="print no report")
    # As above: no defaults, so that it is known whether these were given.
    table = denoise.add_argument_group("CSV files")
    table.add_argument(
        "--column", metavar="NAME", help="column to denoise; needed if several hold numbers"
    )
    table.add_argument(
        "--time", metavar="NAME", help="column of positions (default: equally spaced)"
    )
    table.add_argument(
        "--coverage", type=_probability, metavar="P", help="of lower and upper (0.95)"
    )
    array = denoise.add_argument_group(".npy files")
    array.add_argument(
        "--axes",
        type=_axes,
        metavar="A,B",
        help="denoise over these axes, one by one over the others (default: over all)",
    )


def _add_forecast(commands: Any) -> None:
    forecast = commands.add_parser("forecast", help="forecast a column of a CSV file")
    forecast.set_defaults(run=_forecast)
    forecast.add_argument(
        "csv",
        metavar="CSV",
        help="a series, first row column names; rows at the end whose cell is empty are to be "
        "forecast",
    )
    forecast.add_argument("--column", metavar="NAME", required=True, help="column to forecast")
    forecast.add_argument(
        "--horizon", type=_at_least_one, metavar="K", required=True, help="steps ahead"
    )
    forecast.add_argument(
        "--time",
        metavar="NAME",
        help="column of numbers or ISO dates at equal steps, which the forecast continues",
    )
    forecast.add_argument(
        "-o", "--output", metavar="OUT", help="write time, mean, std, lower and upper (CSV)"
    )
    forecast.add_argument("--figure", metavar="FILE", help="draw the forecast into this PNG file")
    forecast.add_argument(
        "--coverage", type=_probability, default=0.95, metavar="P", help="of the interval (0.95)"
    )
    forecast.add_argument(
        "--method",
        choices=_PROPAGATIONS,
        default="auto",
        help="how the uncertainty of one step enters the next (auto)",
    )
    forecast.add_argument(
        "--lags",
        type=_counts("auto"),
        default="auto",
        metavar="L",
        help="a number, a list such as 1,2,12, or 'auto' (default: by the evidence)",
    )
    forecast.add_argument(
        "--step", type=_at_least_one, default=1, metavar="N", help="between lags (1)"
    )
    forecast.add_argument(
        "--difference",
        type=_counts("auto"),
        default="auto",
        metavar="P",
        help="0 for none, a period, a list such as 1,12, or 'auto' (default: by the evidence)",
    )
    forecast.add_argument(
        "--transform",
        choices=("auto", "log", "none"),
        default="auto",
        help="model the logarithm or not (auto: by the evidence)",
    )
    forecast.add_argument(
        "--exog",
        metavar="A,B,...",
        help="input columns, which must be there for the rows to be forecast too",
    )
    forecast.add_argument(
        "--exog-lags",
        type=_counts(),
        default=0,
        metavar="L",
        help="lags of the inputs; 0 (default) is the same time",
    )
    forecast.add_argument("--seed", type=_count, default=0, metavar="N", help="random seed (0)")
    forecast.add_argument("--quiet", action="store_true", help="print no report")


def _fit(args: argparse.Namespace) -> None:
    from sparsebayes._support.files import check_writable, write_files
    from sparsebayes.cli import fit as workflow
    from sparsebayes.cli.report import fit_report
    from sparsebayes.persistence import dumps

    if args.output:
        check_writable(args.output)
        _refuse_same(args.output, args.csv)
    if args.figures:
        workflow.check_figures(args.figures)
    data = workflow.read_data(args)
    result = workflow.fit(data, args)

    files: dict[Path, bytes] = {}
    if args.output:
        files[Path(args.output)] = dumps(
            result.model, feature_names=data.features, target_name=data.target
        )
    if args.figures:
        files |= workflow.figures(result.model, data, Path(args.figures))
    report = "" if args.quiet else fit_report(result, data, files)
    if args.figures:
        Path(args.figures).mkdir(parents=True, exist_ok=True)
    write_files(files)
    if report:
        print(report)


def _predict(args: argparse.Namespace) -> None:
    from sparsebayes._support.files import check_writable, write_files
    from sparsebayes.cli import fit as workflow
    from sparsebayes.cli.csv_table import format_table, read_table
    from sparsebayes.persistence import load_record

    if args.output:
        check_writable(args.output)
        _refuse_same(args.output, args.csv)
        _refuse_same(args.output, args.model)
    record = load_record(args.model)
    table = read_table(args.csv)
    text = format_table(workflow.predict(record, table, args.coverage))
    if args.output:
        write_files({Path(args.output): text.encode()})
        print(f"{len(table.rows)} rows written to {args.output}")
    else:
        sys.stdout.write(text)


def _inspect(args: argparse.Namespace) -> None:
    from sparsebayes.cli.report import inspect_report
    from sparsebayes.persistence import load_record

    print(inspect_report(load_record(args.model), args.model))


def _denoise(args: argparse.Namespace) -> None:
    from sparsebayes._support.files import check_writable, write_files
    from sparsebayes.cli.denoise import denoise_file
    from sparsebayes.cli.fit import check_figures

    for output in filter(None, (args.output, args.std)):
        check_writable(output)
        _refuse_same(output, args.input)
    if args.std and Path(args.std).resolve() == Path(args.output).resolve():
        raise ValueError(f"--std {args.std!r} is also the output; choose another name")
    if args.figures:
        check_figures(args.figures)
    files, report = denoise_file(args)
    if args.figures:
        Path(args.figures).mkdir(parents=True, exist_ok=True)
    write_files(files)
    if not args.quiet:
        print(report)


def _forecast(args: argparse.Namespace) -> None:
    from sparsebayes._support.files import check_writable, write_files
    from sparsebayes._support.optional import require
    from sparsebayes.cli.forecast import forecast_file

    for output in filter(None, (args.output, args.figure)):
        check_writable(output)
        _refuse_same(output, args.csv)
    if args.figure:
        require("matplotlib", "--figure")
        if args.output and Path(args.figure).resolve() == Path(args.output).resolve():
            raise ValueError(f"--figure {args.figure!r} is also the output; choose another name")
        if Path(args.figure).suffix.lower() != ".png":
            raise ValueError(f"--figure {args.figure!r} is written as .png; let its name end so")
    if args.quiet and not (args.output or args.figure):
        raise ValueError("--quiet leaves nothing to tell; give --output or --figure")
    files, report = forecast_file(args)
    write_files(files)
    if not args.quiet:
        print(report)


def _refuse_same(output: str, source: str | None) -> None:
    if source and Path(output).exists() and Path(source).exists() and Path(output).samefile(source):
        raise ValueError(f"output {output!r} is also an input; choose another name")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None takes the process's.

    Returns
    -------
    status : int
        0, or 2 after an error that was told in one line on stderr.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    if args.version:
        from sparsebayes.persistence import package_version

        print(f"{_PROGRAM} {package_version()}")
        return 0
    if args.command is None:
        parser.error("name a command: fit, predict, inspect, denoise or forecast")
    try:
        args.run(args)
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


if __name__ == "__main__":
    sys.exit(main())
