"""Results as files: JSON objects of what `as_dictionary` gives."""

import json
import os
from typing import Any

from nonsmooth.files import plain, write_bytes


class Saved:
    """Base of results that can be written as JSON."""

    def as_dictionary(self) -> dict[str, Any]:
        """Plain data of the result, for JSON."""
        raise TypeError(f"{type(self).__name__} has no plain data.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as a JSON object; a number that is not finite is null.

        Raises
        ------
        NotWritten
            If the path cannot be written; a file that was there is as it was.
        """
        text = json.dumps(plain(self.as_dictionary()), indent=2, allow_nan=False)
        write_bytes(text.encode() + b"\n", path, "The result")
