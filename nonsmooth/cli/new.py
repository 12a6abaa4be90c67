"""`nonsmooth new`: a commented file to start from, which runs as it is."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nonsmooth.exceptions import InputError

__all__ = ["write_template"]

#: the name under which the template speaks of itself
OWN_NAME = "my_mechanism.py"


def write_template(path: Path) -> None:
    """Write the starting file; never over another one.

    Raises
    ------
    InputError
        For a name that does not end in .py, a file that exists, or a folder that cannot be written to.
    """
    if path.suffix != ".py":
        raise InputError(f"{path}: a mechanism is a Python file; give it a name that ends in .py.")
    text = resources.files("nonsmooth.cli").joinpath("template.py").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(OWN_NAME, str(path)))
    except FileExistsError:
        raise InputError(f"{path} exists and is left as it is: give another name.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({reason}): give a file in a writable folder.") from error
