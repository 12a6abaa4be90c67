"""Opens every built page in a browser, and says what does not fit: ``python docs/widths.py build/docs [PAGE ...]``.

At each width nothing may be cut off or need scrolling sideways, but what scrolls by itself, such as a wide table; no
page may ask for anything beyond its own folder, and none may write an error to the console. A Chromium is needed, on
the path or named by the variable CHROMIUM; without one this is said, and nothing is examined.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BROWSER = HERE.parent / "tests" / "report" / "conftest.py"
WIDTHS = (400, 768, 1280, 1440, 1920)

#: by how much the page is wider than the window, and what ends beyond it without a part around it that scrolls
LOOK = """
(() => {
  const page = document.documentElement, width = page.clientWidth, found = [];
  for (const element of document.querySelectorAll('article *')) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || box.right <= width + 1) continue;
    let scrolls = false;
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX)) scrolls = true;
    }
    if (!scrolls) found.push(element.tagName + ' ' + (element.textContent || element.src || '').trim().slice(0, 60));
  }
  return {over: page.scrollWidth - width, found: found.slice(0, 5), math: document.querySelectorAll('math').length};
})()
"""


def examined(folder: Path, names: list[str]) -> list[str]:
    """What is wrong with the pages of a folder."""
    made = runpy.run_path(str(BROWSER))
    program = made["chromium"]()
    if program is None:
        print("no Chromium on the path, and none named by the variable CHROMIUM: no page was examined")
        return []
    pages = [folder / name for name in names] or sorted(folder.rglob("*.html"))
    wrong: list[str] = []
    with made["Browser"](program) as browser:
        for page in pages:
            wrong += _page(browser, folder, page)
    print(f"{len(pages)} pages at {', '.join(map(str, WIDTHS))} px")
    return wrong


def _page(browser: Any, folder: Path, page: Path) -> list[str]:
    name, wrong = page.relative_to(folder).as_posix(), []
    browser.console.clear()
    browser.requests.clear()
    browser.size(WIDTHS[-1], 900)
    browser.tell("Page.navigate", url=page.as_uri())
    browser.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(page.as_uri())})")
    for width in WIDTHS:
        browser.size(width, 900)
        found = browser.run(LOOK)
        if found["over"] > 0 or found["found"]:
            wrong.append(f"{name} at {width} px: {found['over']} px too wide; {'; '.join(found['found'])}")
    wrong += [f"{name} asks for {url}" for url in dict.fromkeys(browser.foreign_requests())]
    wrong += [f"{name}, console: {line}" for line in dict.fromkeys(browser.console)]
    return wrong


if __name__ == "__main__":
    problems = examined(Path(sys.argv[1]).resolve(), sys.argv[2:])
    print("\n".join(problems) or "nothing is cut off, nothing is requested")
    raise SystemExit(bool(problems))
