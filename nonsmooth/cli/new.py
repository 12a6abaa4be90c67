"""`nonsmooth new`: a commented file to start from, which runs as it is."""

from importlib import resources
from pathlib import Path

from nonsmooth.exceptions import InputError

#: the name under which the templates speak of themselves
OWN_NAME = "my_mechanism"


def new(path: Path, *, space: bool = False) -> None:
    """Write a commented template for a mechanism of your own.

    Parameters
    ----------
    path : FILE
        File to write, .py or .toml; it must not exist.
    space
        A spatial instead of a planar mechanism.

    Raises
    ------
    InputError
        For a name that does not end in .py or .toml, a file that exists, or a folder that cannot be written to.
    """
    if path.suffix not in (".py", ".toml"):
        raise InputError(f"{path}: a mechanism is a TOML or a Python file; give it a name that ends in .toml or .py.")
    text = template(("spatial" if space else "planar") + path.suffix)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(OWN_NAME + path.suffix, str(path)))
    except FileExistsError:
        raise InputError(f"{path} exists and is left as it is: give another name.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({reason}): give a file in a writable folder.") from error
    options = "" if path.suffix == ".toml" else " --t-end 0.1"
    print(
        f"{path} is a mechanism that runs. See it with `nonsmooth describe {path} --figure sketch.png`, run it with "
        f"`nonsmooth run {path}{options}`."
    )


def template(name: str) -> str:
    """The text of planar or spatial, .py or .toml."""
    return resources.files("nonsmooth.cli").joinpath("templates", name).read_text(encoding="utf-8")
