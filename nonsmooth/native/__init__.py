"""Compiled step algorithms. Importing this package compiles nothing; each function compiles at its first call."""
