"""Typed records: one schema defines the NumPy memory layout, the types of compiled code, and views for debugging."""
