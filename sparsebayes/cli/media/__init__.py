"""Arrays in files (.npy, sounds, images): read, and written like the file they came from.

A column of a CSV file is `Media` too; that is made in `sparsebayes.cli.denoise`.
"""

from sparsebayes.cli.media.media import Media, MediaError, place
from sparsebayes.cli.media.read import OTHERS, SUFFIXES, encode_npy, read_media

__all__ = ["OTHERS", "SUFFIXES", "Media", "MediaError", "encode_npy", "place", "read_media"]
