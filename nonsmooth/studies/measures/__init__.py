"""Studies of one file: each module has a function of its own name that measures a run.

It takes a `Trajectory` and, by keyword, options, and returns a mapping from names to numbers, whose units `measured`
states. ``nonsmooth study NAME`` runs a mechanism for many values and tabulates these: options, their defaults and their
help are those of the function and of its docstring, whose line behind ``$`` is the example of the documents.
"""
