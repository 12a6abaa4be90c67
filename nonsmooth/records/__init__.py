"""Typed records: one schema is the memory as NumPy sees it, the types of compiled code, and views for debugging."""
