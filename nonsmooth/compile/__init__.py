"""Functions that run compiled and uncompiled from the same source, and their object code on disk."""
