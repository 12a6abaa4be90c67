"""A run as one self-contained HTML page: the mechanism in motion, charts, contact modes, impacts, certificate.

`page` returns the text, `write` the file, `frame` the form for notebooks. The page contains no library; its only
references to the network are links to doi.org.
"""

from nonsmooth.report.page import Picture, Table, frame, page, study_page, write

__all__ = ["Picture", "Table", "frame", "page", "study_page", "write"]
