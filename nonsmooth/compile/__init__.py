"""Functions that run compiled and uncompiled from one text, and their object code on disk."""
