"""Paths: told from fractions, dates, attributes and prose."""

from __future__ import annotations

import pytest

from projections.anchors import anchors


def found(text: str) -> list[str]:
    return [anchor.text for anchor in anchors(text, "human") if anchor.kind == "path"]


class TestPaths:
    """A summary that drops the path of the file being edited costs a search at once."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("open /etc/hosts and ~/.ssh/config", ["/etc/hosts", "~/.ssh/config"]),
            ("see ./run.sh, ../lib/a.rs.", ["./run.sh", "../lib/a.rs"]),
            (
                "at src/app.py:120:5 and `tests/test_a.py::test_b`",
                ["src/app.py", "tests/test_a.py"],
            ),
            ("cmd/cli/a_test.go-755-\tfoo()", ["cmd/cli/a_test.go"]),
            ('File "/a/b.py", line 3', ["/a/b.py"]),
            ("package.json (and .env, .gitignore)", ["package.json", ".env", ".gitignore"]),
            ("[guide](docs/guide.md)", ["docs/guide.md"]),
            ("app/[slug]/page.tsx", ["app/[slug]/page.tsx"]),
            ("src/utils/helpers is a folder", ["src/utils/helpers"]),
            (r"C:\Users\me\app.log or \\server\share\x.txt", None),
            (r'"first\nsrc/app.py\ntail"', ["src/app.py"]),
            ("请看src/a.py和/home/u/文档/报告.md的内容", ["src/a.py", "/home/u/文档/报告.md"]),
            ("修改 src/应用/main.py。", ["src/应用/main.py"]),
            ("café/menu.txt", ["café/menu.txt"]),
            ("make >/tmp/out.txt", ["/tmp/out.txt"]),
        ],
    )
    def test_are_found_as_people_and_tools_write_them(
        self, text: str, expected: list[str] | None
    ) -> None:
        windows = [r"C:\Users\me\app.log", r"\\server\share\x.txt"]
        assert found(text) == (windows if expected is None else expected)

    @pytest.mark.parametrize(
        "text",
        [
            "and/or, he/she/they, read/write/execute",
            "on 2024/01/15 it was 1/2/3",
            "Node.js and Next.js",
            "call response.json() or console.log(x)",
            "process.env and self.value e.g. this",
            "src/**/*.py or %03d-%s.json",
            "<id>/0/a.json and ${DIR}/a/b.py",
            "make 2>/dev/null",
            "</div> // comment",
            "application/json",
            "it ended.Then it began",
            "3.5.py",
        ],
    )
    def test_are_not_every_slash_and_dot(self, text: str) -> None:
        assert found(text) == []
