"""MuJoCo's compiler in a process of its own, which a text can crash or keep busy.

Run as a script in an empty folder with the text and its files, it writes the compiled model there; therefore it imports
nothing of the package.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth.robots.xml import Source

TEXT, COMPILED = "robot.xml", "robot.mjb"
#: seconds of processor time, seconds by the clock, and bytes of addresses of the process
SECONDS, WAITING, ROOM = 60, 600.0, 8 << 30


def compiled(source: "Source") -> Any:
    """The `mujoco.MjModel` of a checked text; InputError of one sentence if MuJoCo refuses it, or does not finish."""
    try:
        import mujoco
    except ImportError as error:
        raise source.error(
            f'files of robots are compiled by MuJoCo, the extra "robots", pip install "nonsmooth[robots]" ({error}).'
        ) from error
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / TEXT).write_text(source.text, encoding="utf-8")
        for file, data in source.files.items():
            (folder / file).write_bytes(data)
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(Path(__file__).absolute())], cwd=folder,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=WAITING, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise source.error(f"MuJoCo did not finish compiling it in {WAITING:.0f} s; make it smaller.") from None
        if done.returncode or not (folder / COMPILED).is_file():
            said = " ".join(done.stderr.decode(errors="replace").split())
            if done.returncode < 0 or not said:
                raise source.error(f"MuJoCo fails on it, or does not compile it within {SECONDS} s; make it simpler.")
            raise source.error(f"MuJoCo refuses it: {said[:300].rstrip('.')}.")
        return mujoco.MjModel.from_binary_path(str(folder / COMPILED))


def main() -> None:
    """Compile the text in the working folder; what is wrong is printed in one line, without the places in the text,
    which is not the one of the file."""
    import re

    import mujoco

    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    try:
        model = mujoco.MjModel.from_xml_path(TEXT)
    except Exception as error:  # also of the reader: any of them is a reason to refuse the text
        said = re.sub(
            r"^(XML )?Error: ?|,? ?(id \d+, )?(line|column) \d+|Element name '',?", "", str(error), flags=re.M
        )
        sys.exit(said.replace("Element name", "of the element"))
    mujoco.mj_saveModel(model, COMPILED, None)


if __name__ == "__main__":
    main()
