"""Arguments of ``sparsebayes fit``."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction

from sparsebayes._rvm.options import NOISES, PRIORS, SOLVERS
from sparsebayes.basis.names import NAMES
from sparsebayes.classification.likelihood import INFERENCES, LINKS, MULTI_CLASS
from sparsebayes.cli.arguments.tables import TABLE, add_missing, add_reading
from sparsebayes.cli.arguments.types import positive, positive_whole, whole, word_or_number
from sparsebayes.cli.text_inputs import CHOICES

EXAMPLES = (
    "fit data.csv --target y -o model.skops --figures figures",
    "fit data.csv --target class --features a,b --json",
    "fit data.csv --target y --exclude sample,date",
    "fit   # a data set that comes with the package",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument(
        "csv",
        metavar="CSV",
        nargs="?",
        help=f"{TABLE} (default: a data set that comes with the package)",
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
        "--exclude",
        metavar="A,B,...",
        help="columns that are no inputs, such as numbers of samples, in place of --features",
    )
    parser.add_argument(
        "--categorical",
        choices=CHOICES,
        default="auto",
        help="inputs of text: 'auto' (default) makes an input of 0 and 1 of each different text, "
        "'error' refuses them",
    )
    add_missing(parser, "leaves them out")
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
        "--max-time",
        type=positive,
        metavar="S",
        help="seconds at most, for each fit; then the best model so far is taken",
    )
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
    add_reading(parser)
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
