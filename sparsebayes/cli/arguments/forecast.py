"""Arguments of ``sparsebayes forecast``."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction

from sparsebayes.cli.arguments.tables import TABLE, add_reading, add_writing
from sparsebayes.cli.arguments.types import (
    positive_numbers,
    positive_whole,
    probability,
    whole,
    whole_numbers,
)
from sparsebayes.forecasting import METHODS
from sparsebayes.forecasting.transforms import NAMES

EXAMPLES = (
    "forecast sales.csv --column sales --time month --horizon 12 -o next.csv",
    "forecast shops.csv --column sales --time day --id shop --jobs 4 --horizon 28",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument(
        "csv",
        metavar="CSV",
        help=f"a series: {TABLE}; cells may be empty and rows missing; rows at the end whose cell "
        "is empty are to be forecast",
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
    add_writing(parser)
    add_reading(parser)
