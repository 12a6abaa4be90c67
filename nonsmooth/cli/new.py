"""`nonsmooth new`: a commented file to start from, which runs as it is."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nonsmooth.cli.template_toml import TEXT
from nonsmooth.cli.template_toml_space import TEXT_SPACE
from nonsmooth.exceptions import InputError

__all__ = ["write_template"]

#: the name under which the templates speak of themselves
OWN_NAME = "my_mechanism"


def write_template(path: Path, *, space: bool = False) -> None:
    """Write the starting file, of a planar mechanism or of one in space; never over another one.

    Raises
    ------
    InputError
        For a name that does not end in .py or .toml, a file that exists, or a folder that cannot be written to.
    """
    if path.suffix == ".toml":
        text = TEXT_SPACE if space else TEXT
    elif path.suffix == ".py":
        name = "template_space.py" if space else "template.py"
        text = resources.files("nonsmooth.cli").joinpath(name).read_text(encoding="utf-8")
    else:
        raise InputError(f"{path}: a mechanism is a TOML or a Python file; give it a name that ends in .toml or .py.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(OWN_NAME + path.suffix, str(path)))
    except FileExistsError:
        raise InputError(f"{path} exists and is left as it is: give another name.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({reason}): give a file in a writable folder.") from error
