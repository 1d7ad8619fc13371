"""Models on disk: loading one runs no code that the file brings along.

A model file is written by skops, but holds plain data only: numbers, text, lists and arrays.
Objects are rows of a table, each a name and the values of its attributes (`objects`); the names
are those of an explicit list of classes (`trusted`), and nothing else is built. Files are read by a
small reader of our own (`archive`), not by skops: so what is checked is what is built, and what
skops would trust by itself does not matter.
"""

from sparsebayes._support.homes import settle
from sparsebayes.persistence.models import ModelFileError, StoredModel, load, load_record, save

# For the command line.
from sparsebayes.persistence.models import dumps as dumps
from sparsebayes.persistence.models import final_estimator as final_estimator

__all__ = ["ModelFileError", "StoredModel", "load", "load_record", "save"]

settle(globals())
