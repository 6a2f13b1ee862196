"""The demo is the first thing that is seen: what it shows must be what one gets."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from running import ROOT, data, on_path, run


class TestDemo:
    """A command that does not print what the demo shows, or cannot be typed, costs the trust."""

    def shown(self, folder: Path, width: int = 100) -> str:
        result = run("demo", "--db", folder / "d.db", "--width", str(width), PATH=on_path(folder))
        assert result.exit_code == 0, result.output
        return result.stdout

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_each_command_prints_what_is_shown_of_it(self, tmp_path: Path, width: int) -> None:
        text = self.shown(tmp_path, width)
        blocks = re.findall(r"^\$ ctxlog (.*)\n((?:(?!\n\n[A-Z]).|\n(?!\n[A-Z]))*)", text, re.M)
        assert [command.split()[0] for command, _ in blocks] == [
            "import", "sessions", "log", "show", "replay", "diff", "audit", "why", "recover",
        ]  # fmt: skip
        for command, block in blocks:
            fresh = "new.db" if command.startswith("import") else "d.db"
            args = [*shlex.split(command), "--width", str(width), "--db", tmp_path / fresh]
            printed = run(*args, PATH=on_path(tmp_path)).stdout.splitlines()
            left_out = 0
            for line in block.rstrip("\n").splitlines():
                gap = re.fullmatch(r"… ([\d,]+) (?:row|line)s? more", line)
                if gap is not None:
                    left_out += int(gap[1])
                    del printed[: int(gap[1])]
                else:
                    assert printed.pop(0) == line, command
            assert printed in ([], [""])

    def test_what_is_to_be_tried_works(self, tmp_path: Path) -> None:
        _, _, text = self.shown(tmp_path).partition("\nTry it on this log:\n")
        tried = re.findall(r"^  ctxlog (.*?) +# ", text, re.M)
        assert len(tried) == 7
        for command in tried:
            assert run(*shlex.split(command), "--db", tmp_path / "d.db").exit_code == 0

    def test_what_is_typed_from_the_first_line_on_works(self, tmp_path: Path) -> None:
        home = {"HOME": str(tmp_path), "PATH": on_path(tmp_path)}
        text = run("demo", **home).stdout
        typed = re.findall(r"^(?:\$ |  )(?:(export|unset|ctxlog) (.+?))(?: +# .*)?$", text, re.M)
        assert typed[0][0] == "export"
        variables: dict[str, str] = {}
        for program, rest in typed:
            if program == "export":
                (given,) = shlex.split(rest)  # a shell takes the quotes off before it
                name, _, value = given.partition("=")
                variables[name] = value.replace("~", str(tmp_path), 1)
                assert Path(variables[name]).is_relative_to(tmp_path)
            elif program == "unset":
                del variables[rest]
            elif rest != "import --all":
                result = run(*shlex.split(rest), **home, **variables)
                asks = "say --yes" in result.output  # a terminal is asked instead
                assert result.exit_code in (0, 1) or asks, (rest, result.output)
            else:
                assert not variables  # else a person's sessions would go into the demo's log
        assert len(typed) > 15

    def test_its_page_takes_the_place_of_no_other_file_and_says_so(self, tmp_path: Path) -> None:
        page = tmp_path / "d.html"
        page.write_text("mine")
        assert "No page was written: " in self.shown(tmp_path, 1000)
        assert page.read_text() == "mine"
        page.unlink()
        assert self.shown(tmp_path, 1000).endswith(f"{page}\n")
        assert "ctxlog report" in page.read_text()[:2000]

    def test_where_a_shell_does_not_find_it_the_way_to_it_is_shown(self, tmp_path: Path) -> None:
        result = run("demo", "--db", tmp_path / "d.db", PATH="/nowhere")
        assert "$ ctxlog" not in result.stdout
        assert re.search(r"^\$ \S+ -m cli\.main log ", result.stdout, re.M)
        assert re.search(r"^  \S+ -m cli\.main import --all$", result.stdout, re.M)

    def test_it_ends_on_what_was_lost_why_and_how_to_get_it_back(self, tmp_path: Path) -> None:
        found = data("demo", "--db", tmp_path / "d.db")
        named = {one["text"] for each in found["findings"] for one in each["anchors"]}
        for planted in json.loads((ROOT / "cli" / "demo" / "anchors.json").read_text()):
            if planted["kind"] in ("id", "path", "url") and not planted["in_summary"]:
                assert planted["text"] in named
        (rule,) = (f for f in found["findings"] if f["rule"] == "broken_rules")
        assert "Use httpie, not curl" in rule["message"]
        assert rule["next"] == "why 8f31c0a9 3@c35"
        assert found["why"]["state"] == "folded"
        assert any("ORD-77120" in each["text"] for each in found["recovered"])
