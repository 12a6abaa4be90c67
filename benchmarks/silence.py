"""The longest silence of commands at a terminal: those of README and of the documents, page by page.

``python -m benchmarks.silence [--pages README.md docs/fits.md] [--cold] [--limit 120]`` runs each command that a page
shows in a terminal of its own, in the order of the page and in one folder per page, and prints the longest time in
which nothing appeared on the screen, and the last words before it. With ``--cold`` nothing is compiled before.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: [s] longest silence that is accepted
ACCEPTED = 1.0
#: characters of a line of the terminal
WIDTH = 160


class Heard(NamedTuple):
    """How long a command ran and was silent [s], the words before the silence, and its exit code."""

    seconds: float
    silence: float
    words: str
    code: int


def commands(page: Path) -> list[str]:
    """The commands `nonsmooth` in the blocks of a page, each on one line."""
    found = []
    for block in re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"\s+#.*", "", line.removeprefix("$ "))
            if re.match(r"(\.venv/bin/)?nonsmooth ", line):
                found.append(line.removeprefix(".venv/bin/"))
    return found


def heard(command: str, folder: Path, environment: dict[str, str], limit: float) -> Heard:
    """Run a command in a terminal; beyond `limit` it is interrupted."""
    program = str(Path(sys.executable).with_name("nonsmooth"))
    begin = last = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        line = f"exec {program} {command.removeprefix('nonsmooth ')}"
        os.execve("/bin/sh", ["sh", "-c", line], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    silence, words, text, interrupted = 0.0, "", "", False
    while True:
        ready = select.select([terminal], [], [], 0.2)[0]
        now = time.monotonic()
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the end, on Linux
                data = b""
            if now - last > silence:
                silence, words = now - last, text
            last = now
            if not data:
                break
            lines = [one.strip() for one in re.split(r"[\r\n]+", data.decode(errors="replace")) if one.strip()]
            text = lines[-1] if lines else text
        if now - begin > limit and not interrupted:
            os.kill(child, signal.SIGINT)
            interrupted = True
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return Heard(time.monotonic() - begin, silence, words, code)


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages = ["README.md", *sorted(f"docs/{page.name}" for page in ROOT.glob("docs/*.md"))]
    reader.add_argument("--pages", nargs="*", default=pages)
    reader.add_argument("--only", default="", help="commands that contain this text")
    reader.add_argument("--cold", action="store_true", help="compile everything anew for each command")
    reader.add_argument("--limit", type=float, default=120.0, help="seconds after which a command is interrupted")
    asked, loud = reader.parse_args(), 0
    for page in asked.pages:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "docs").mkdir()
            shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
            for number, command in enumerate(commands(ROOT / page)):
                if asked.only not in command:
                    continue
                environment = {**os.environ, "MPLBACKEND": "agg"}
                if asked.cold:
                    environment["NUMBA_CACHE_DIR"] = str(folder / f"cold-{number}")
                one = heard(command, folder, environment, asked.limit)
                loud += one.silence > ACCEPTED
                mark = "SILENT" if one.silence > ACCEPTED else "      "
                facts = f"{one.silence:5.2f} s of {one.seconds:6.1f} s  exit {one.code:3d}"
                print(f"{mark} {facts}  {page}: {command}", flush=True)
                if one.silence > ACCEPTED:
                    print(f"        after {one.words!r}", flush=True)
    return int(loud > 0)


if __name__ == "__main__":
    sys.exit(main())
