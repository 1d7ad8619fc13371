"""CSV files of the command line's tests."""

import csv


def write_csv(path, columns):
    """Columns by name."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def read_csv(path):
    """The cells of each column, as lists of text by name."""
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
