"""The files of the page's script stand in one closure."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

from cli.report.page import SCRIPTS

NAMES = re.compile(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)


def test_no_two_of_them_have_a_name_in_common() -> None:
    """The later function of a name would take the place of the other one, and nobody would say."""
    folder = files("cli.report") / "page"
    found = Counter(
        name for each in SCRIPTS for name in NAMES.findall((folder / f"{each}.js").read_text())
    )
    assert len(found) > 100
    assert {name for name, count in found.items() if count > 1} == set()
