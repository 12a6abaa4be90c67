"""Mechanisms as TOML files, for those who write no Python.

A file has one table per element, ``[elements.NAME]``, whose keys are the fields of the element's class; numbers are in
SI units or strings such as ``"0.5 mm"``. `read` makes a model of it, `write_model` the file of a model. What a table
takes is made from the classes themselves, so that a new element or law is known here by itself.
"""

from nonsmooth.declarative.reading import Declaration, read, read_model, read_text
from nonsmooth.declarative.run import Run
from nonsmooth.declarative.stated import StatedModel
from nonsmooth.declarative.writing import model_text, write_model

__all__ = ["Declaration", "Run", "StatedModel", "model_text", "read", "read_model", "read_text", "write_model"]
