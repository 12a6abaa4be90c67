"""A run as one HTML page that needs nothing else: the mechanism in motion, charts, contact modes, impacts, certificate.

`page` gives the text, `write` the file, `frame` what a notebook shows. The page is written by hand and has no library
in it; nothing in it refers to a network but links to doi.org.
"""

from nonsmooth.report.page import frame, page, study_page, write
from nonsmooth.report.tables import Picture, Table

__all__ = ["Picture", "Table", "frame", "page", "study_page", "write"]
