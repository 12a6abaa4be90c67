"""Runs to make pages of, and a headless Chromium, told what to do over a pipe: pages, keys, pointer, pictures.

It needs nothing but the browser itself; where none is found, `chromium` is None and the tests that need it are skipped.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nonsmooth import (
    Compliant,
    CompliantDae,
    ErrorControl,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    Trajectory,
    simulate,
)
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
    "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
PATIENCE = 60.0
KEY_CODES = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Home": 36, "End": 35,
             "Escape": 27}  # fmt: skip


def chromium() -> str | None:
    """A browser that runs here: of the variable CHROMIUM, or on the path."""
    names = (os.environ.get("CHROMIUM", ""), *NAMES)
    return next(filter(None, (shutil.which(name) for name in names if name)), None)


class Browser:
    """One tab of a browser of its own; `console` and `requests` tell what the page said and asked for."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()

        def channels() -> None:  # the browser listens on 3 and answers on 4
            first, second = os.dup(command_read), os.dup(answer_write)
            os.dup2(first, 3)
            os.dup2(second, 4)
            for channel in (3, 4):  # where one was free, dup gave it, not to be inherited
                os.set_inheritable(channel, True)

        arguments = [program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            arguments, preexec_fn=channels, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(command_read)
        os.close(answer_write)
        self._buffer, self._count, self._session = b"", 0, ""
        self.console: list[str] = []
        self.requests: list[str] = []
        try:
            self._attach()
        except (OSError, RuntimeError):
            self.close()
            raise

    def _attach(self) -> None:
        (target,) = [one for one in self.tell("Target.getTargets")["targetInfos"] if one["type"] == "page"][:1]
        attached = self.tell("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    # ------------------------------------------------------------------------------------------------------ messages

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._note(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("The browser does not answer.")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        method, facts = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            self.console.append(str(details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in facts["args"]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.console.append(str(facts["entry"]["text"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(str(facts["request"]["url"]))

    # --------------------------------------------------------------------------------------------------------- pages

    def open(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show a file and wait until its script has built the page."""
        self.size(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        self.console.clear()
        self.requests.clear()
        self.tell("Page.navigate", url=path.as_uri())
        self.until("document.body && document.body.dataset.ready")
        self.run("1")

    def size(self, width: int, height: int) -> None:
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        found = self.tell("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails'].get('exception', found['exceptionDetails'])}")
        return found["result"].get("value")

    def framed(self, script: str) -> Any:
        """The value of an expression in the page in a frame of its own process, once that page is built."""
        top, end = self._session, time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                self._session = ""
                frames = [one for one in self.tell("Target.getTargets")["targetInfos"] if one["type"] == "iframe"]
                with contextlib.suppress(RuntimeError, IndexError):  # of a page that is just being replaced
                    attached = self.tell("Target.attachToTarget", targetId=frames[0]["targetId"], flatten=True)
                    self._session = attached["sessionId"]
                    if self.run("document.body?.dataset.ready"):
                        return self.run(script)
                time.sleep(0.05)
            raise RuntimeError("The page in the frame was never built.")
        finally:
            self._session = top

    def until(self, script: str, seconds: float = 20.0) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise RuntimeError(f"never true in the page: {script}; console: {self.console}")
            time.sleep(0.02)

    def foreign_requests(self) -> list[str]:
        """What the page asked for beyond itself."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    # ---------------------------------------------------------------------------------------------------- interaction

    def place(self, selector: str) -> tuple[float, float]:
        """Middle of an element, which is scrolled into view [pixel]."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2, b.width, b.height]; })()"
        )
        assert box[2] > 0 and box[3] > 0, f"{selector} is not seen"
        return float(box[0]), float(box[1])

    def click(self, selector: str, clicks: int = 1) -> None:
        x, y = self.place(selector)
        for count in range(1, clicks + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._mouse(kind, x, y, clickCount=count)

    def drag(self, selector: str, x: float, y: float, start: tuple[float, float] = (0.0, 0.0)) -> None:
        """Press in an element's middle, shifted by `start`, move by (x, y) and release [pixel]."""
        x0, y0 = self.place(selector)
        x0, y0 = x0 + start[0], y0 + start[1]
        self._mouse("mousePressed", x0, y0, clickCount=1)
        for share in (0.25, 0.5, 0.75, 1.0):
            self._mouse("mouseMoved", x0 + share * x, y0 + share * y, buttons=1)
        self._mouse("mouseReleased", x0 + x, y0 + y, clickCount=1)

    def wheel(self, selector: str, by: float) -> None:
        x, y = self.place(selector)
        self.tell("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def key(self, name: str, shift: bool = False) -> None:
        """Press and release a key."""
        text = {"text": name} if len(name) == 1 else {}
        code = KEY_CODES.get(name, ord(name[0].upper()))
        for kind in ("keyDown", "keyUp"):
            pressed = text if kind == "keyDown" else {}
            facts = {"key": name, "windowsVirtualKeyCode": code, "modifiers": 8 * shift} | pressed
            self.tell("Input.dispatchKeyEvent", type=kind, **facts)

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", **more)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save what is seen as a PNG."""
        if whole:
            height = self.run("document.documentElement.scrollHeight")
            self.size(self.run("innerWidth"), int(height))
            time.sleep(0.3)
        data = self.tell("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of pages."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium on the path, and none named by the variable CHROMIUM")
    try:
        started = Browser(program)
    except (OSError, RuntimeError) as error:
        pytest.skip(f"{program} does not start: {error}")
    with started as one:
        yield one


@pytest.fixture(scope="package")
def crank() -> Trajectory:
    """A slider-crank whose slider rattles in its guide: impacts, sticking and sliding."""
    from nonsmooth_problems import slider_crank_translational

    return simulate(slider_crank_translational().build(), GaussQP(), t_end=0.1, dt=Landing(1e-6, 1e-4))


@pytest.fixture(scope="package")
def robot() -> Trajectory:
    """A robot in space whose platform rattles in a guide."""
    from nonsmooth_problems import polishing_robot

    return simulate(polishing_robot().build(), MoreauJean(), t_end=0.02, dt=1e-3)


@pytest.fixture(scope="package")
def worlds() -> dict[str, Trajectory]:
    """The same slider on its rod with rigid and with compliant contact."""
    from nonsmooth_problems import slider_rod

    soft = Compliant(LankaraniNikravesh(stiffness=1e10, exponent=1.5, restitution=0.9))
    control = ErrorControl(1e-6, 1e-8, 1e-6, 1e-4)
    return {
        "rigid": simulate(slider_rod(2).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-4)),
        "compliant": simulate(slider_rod(2, soft).build(), CompliantDae(), t_end=4e-3, dt=control),
    }


#: names that would act if they were ever markup or code
HOSTILE = (
    "<script>window[`acted`]=1</script>",
    "</script><img src=x onerror=window[`acted`]=1>",
    "\"quoted\" & 'single' \\u0041 ${window} `x`",
    "eman desrever \u0645\u0631\u062d\u0628\u0627",
    "long" * 2500,
)


@pytest.fixture(scope="package")
def hostile_model() -> Model:
    """Bodies, joints and sources with names that would act if they were ever markup or code."""
    elements: list[Any] = [Ground(), Gravity(acceleration=(0.0, -9.81))]
    for i, name in enumerate(HOSTILE):
        elements.append(PlanarBody(name, mass=0.1, inertia=1e-4, position=(0.1 * i, 0.0)))
        law = Rigid(restitution=0.5, friction=0.1)
        elements.append(PointPlane(f"wall {name}", "ground", name, at_a=(0.0, -0.01), contact=law))
    source = {"value": 0.1, "unit": "kg", "kind": "given", "source": HOSTILE[0], "note": HOSTILE[1]}
    origin = {f"{HOSTILE[2]}.mass": source}
    return Model(elements, name=HOSTILE[1], provenance=origin)


@pytest.fixture(scope="package")
def hostile(hostile_model: Model) -> Trajectory:
    """A run of that mechanism."""
    return simulate(hostile_model.build(), GaussQP(), t_end=0.1, dt=Landing(1e-6, 1e-3))
