"""The page as a file: what its parts have to keep to, so that they stand beside each other."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

from cli.report.page import SCRIPTS, STYLES, page

PAGE = files("cli.report") / "page"
_TOP = re.compile(r"^(?:async )?(?:const|let|class|function\*?) (\w+)", re.M)


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.kinds: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.kinds.append(dict(attrs).get("type") or "script")


class TestParts:
    """All scripts are one closure: a name that stands in two of them breaks every view."""

    def test_no_name_is_declared_twice(self) -> None:
        names = Counter(
            name for script in SCRIPTS for name in _TOP.findall((PAGE / f"{script}.js").read_text())
        )
        assert len(names) > 100
        assert not [name for name, count in names.items() if count > 1]

    def test_each_file_is_part_of_the_page(self) -> None:
        there = {file.name for file in PAGE.iterdir()}
        named = {f"{name}.js" for name in SCRIPTS} | {f"{name}.css" for name in STYLES}
        assert there == named | {"shell.html"}

    def test_no_markup_is_made_of_text(self) -> None:
        made = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|srcdoc")
        for name in SCRIPTS:
            assert not made.search((PAGE / f"{name}.js").read_text()), name


class TestPage:
    """What a session holds stands in blocks that nothing can end early."""

    def test_data_cannot_end_its_block_or_fill_a_place_of_the_shell(self) -> None:
        hostile = '"</script><script>x</script><!-- {{script}} ]]>"'
        made = page(hostile, [("head", hostile)], [("late", hostile)], noscript=hostile)
        found = _Scripts()
        found.feed(made)
        assert found.kinds == ["application/json", "script", "application/json"]
        assert made.count("'use strict';") == 1
