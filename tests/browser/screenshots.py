"""Pictures of reports, for people to look at: each view, light and dark, wide and narrow.

    python tests/browser/screenshots.py pictures demo.html cc03.html

writes ``pictures/demo-c3-dark-420.png`` and the like, and names the pages on which something went
wrong or that are wider than their window; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from itertools import product
from pathlib import Path

from browsing import Seen, lacking, launched, reader, settle

VIEWS = (
    "overview",
    "transcript",
    "c3",
    "k1",
    "compare",
    "prefix",
    "tokens",
    "integrity",
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def taken(files: list[Path], folder: Path, views: list[str], widths: list[int]) -> list[str]:
    """Write the pictures; what was wrong on the way, each behind the picture's name."""
    from playwright.sync_api import sync_playwright

    wrong = []
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launched(playwright, os.environ)
        for file, dark, width in product(files, (False, True), widths):
            context = reader(browser, width=width, dark=dark)
            seen = Seen()
            seen.watch(context)
            for view in views:
                # A new page each, since another hash alone would not open the file anew.
                page = context.new_page()
                page.goto(f"{file.resolve().as_uri()}#{view}")
                settle(context)
                plain = re.sub(r"\W+", "-", view).strip("-")
                name = f"{file.stem}-{plain}-{'dark' if dark else 'light'}-{width}.png"
                page.screenshot(path=folder / name, full_page=True)
                if (over := page.evaluate(OVERFLOW)) > 0:
                    wrong.append(f"{name}: {over} pixels wider than its window")
                wrong += [f"{name}: {what}" for what in seen.wrong()]
                for kind in seen.WRONG:
                    seen.take(kind)
                page.close()
            context.close()
        browser.close()
    return wrong


def main() -> int:
    """Take the pictures that the arguments ask for."""
    parser = argparse.ArgumentParser(description="Take pictures of every view of reports.")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("files", type=Path, nargs="+", help="reports, each an HTML file")
    parser.add_argument("--view", action="append", help="a hash, as c17; all views without it")
    parser.add_argument("--width", action="append", type=int, help="1280 and 420 without it")
    asked = parser.parse_args()
    missing = [str(file) for file in asked.files if not file.is_file()]
    if reason := lacking(os.environ) or (missing and f"no such file: {', '.join(missing)}"):
        parser.error(reason)
    wrong = taken(asked.files, asked.folder, asked.view or list(VIEWS), asked.width or [1280, 420])
    print("\n".join(wrong) or f"all is well; the pictures are in {asked.folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
