"""Models that leave Python: C for devices, ONNX for services, JSON for any language."""

from sparsebayes._support.homes import settle
from sparsebayes.export.c import to_c
from sparsebayes.export.exported import ExportedModel
from sparsebayes.export.formats import FORMATS
from sparsebayes.export.functions import NotExportableError
from sparsebayes.export.json import from_json, to_json

__all__ = ["FORMATS", "ExportedModel", "NotExportableError", "from_json", "to_c", "to_json"]

settle(globals())
