"""Compiled kernels of solvers: one program each, by numba where it is worth its time, line by line where not."""
