"""Mechanisms as TOML files, for use without Python.

A file has one table per element, ``[elements.NAME]``, whose keys are the fields of the element's class; numbers are in
SI units or strings such as ``"0.5 mm"``. `read` creates a model from a file, `write_model` a file from a model. The
keys that a table accepts are derived from the classes, so that new elements and laws are supported automatically.
"""

from nonsmooth.declarative.reading import Declaration, Run, StatedModel, read, read_model, read_text
from nonsmooth.declarative.writing import model_text, write_model

__all__ = ["Declaration", "Run", "StatedModel", "model_text", "read", "read_model", "read_text", "write_model"]
