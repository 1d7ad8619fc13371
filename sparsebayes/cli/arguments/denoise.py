"""Arguments of ``sparsebayes denoise``."""

from __future__ import annotations

from argparse import ArgumentParser

from sparsebayes._rvm.options import PRIORS
from sparsebayes.cli.arguments.tables import add_reading, add_writing
from sparsebayes.cli.arguments.types import axes, positive_whole, probability, word_or_number
from sparsebayes.denoising import METHODS, NOISE_MODELS

EXAMPLES = (
    "denoise noisy.wav -o clean.wav",
    "denoise photo.png -o clean.png --noise-model poisson",
    "denoise trace.csv --column voltage --time t -o clean.csv",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument(
        "input",
        metavar="IN",
        help="a column of a table (.csv, .tsv, .txt or .dat, packed or not, .xlsx, .parquet, or - "
        "for stdin), a .npy array of 1 to 3 dimensions, a .wav, .flac or .ogg sound, or a .png, "
        ".jpg or .tif image; channels of sounds are denoised one by one, NaN and empty cells are "
        "filled",
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
    # As above: no defaults, so that it is known whether these were given.
    table = parser.add_argument_group("tables")
    table.add_argument(
        "--column", metavar="NAME", help="column to denoise; needed if several hold numbers"
    )
    table.add_argument(
        "--time", metavar="NAME", help="column of positions (default: equally spaced)"
    )
    table.add_argument(
        "--coverage", type=probability, metavar="P", help="of lower and upper (0.95)"
    )
    add_writing(parser)
    add_reading(parser)
    media = parser.add_argument_group("images and sounds")
    media.add_argument(
        "--max-values",
        type=positive_whole,
        metavar="N",
        help="refuse compressed files of more pixels times channels, or samples, before they are "
        "decoded (268435456)",
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
