"""Kernels of solvers: each solves one program, compiled by numba where this takes less time than it saves."""
