"""Fitted models as programs: operations, and how each kind of model is written in them."""
