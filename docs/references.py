"""Writes docs/references.md, the list of `nonsmooth.report.citations` as text: ``python docs/references.py``."""

from __future__ import annotations

import re
from pathlib import Path

from nonsmooth import laws, solvers, steppers
from nonsmooth.report.citations import CITED, ELEMENTS, ENTRIES, PROBLEMS, STUDIES, quoted

HEAD = """\
# References

`nonsmooth cite run.nc` prints BibTeX for a run: this package, the time-stepping scheme, the solvers used, the contact
laws, the problem and the libraries. From Python:

```python
>>> from nonsmooth import GaussQP, simulate
>>> from nonsmooth.report.citations import bibtex
>>> from nonsmooth_problems import slider_rod
>>> run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=2e-3, dt=1e-3)
>>> print(bibtex(run).splitlines()[1])
@misc{nonsmooth,

```

The list below contains, in alphabetical order, all these publications, each with the parts of the package that are
based on it. A DOI is given only where it is certain.
"""
ACCENTS = {
    r"{\"a}": "ä", r"{\"o}": "ö", r"{\"u}": "ü", r"{\"U}": "Ü", r"{\'e}": "é", r"{\'o}": "ó", r"{\'i}": "í",
    r"{\^a}": "â", r"{\"e}": "ë", r"{\^o}": "ô", r"{\o}": "ø", r"{\AA}": "Å", r"{\c c}": "ç", r"{\ss}": "ß",
}  # fmt: skip


def plain(text: str) -> str:
    """Without TeX."""
    for written, letter in ACCENTS.items():
        text = text.replace(written, letter)
    return re.sub(r"[{}$]", "", text).replace("--", "-").replace("``", '"').replace("''", '"').replace("^T", "ᵀ")


def line(key: str) -> str:
    """One reference, and what stands on it."""
    fields = {name: plain(text) for name, text in ENTRIES[key][1].items()}
    authors = fields.get("author", "").replace(" and ", "; ")
    place = " ".join(filter(None, (fields.get("journal"), fields.get("volume"))))
    parts = [authors, f"*{fields['title']}*", place, fields.get("pages"), fields.get("publisher"), fields.get("note")]
    text = ", ".join(filter(None, [*parts, fields.get("year")]))
    doi = f", [doi:{fields['doi']}](https://doi.org/{fields['doi']})" if "doi" in fields else ""
    tables = (CITED, ELEMENTS, STUDIES, PROBLEMS)
    users = sorted(name for table in tables for name, keys in table.items() if key in keys)
    return f"- {text}{doi}." + (f" {', '.join(f'`{user}`' for user in users)}" if users else "")


def page() -> str:
    """The whole page."""
    classes = [laws.by_name(name).__name__ for kind in ("normal", "friction") for name in laws.names(kind)]
    classes += [steppers.by_name(name).__name__ for name in steppers.names()] + dir(solvers)
    quotes = [f"- {quoted(name)} `{name}`" for name in classes if quoted(name)]
    return HEAD + "\n" + "\n".join(sorted([*map(line, ENTRIES), *quotes], key=str.casefold)) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
