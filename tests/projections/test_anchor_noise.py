"""What has the shape of an anchor, and what nobody would miss of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from projections.anchors import Anchor, anchors, item_anchors
from projections.items import Item


def texts(text: str, source: str = "tool") -> list[str]:
    return [anchor.text for anchor in anchors(text, source)]


class TestOfOutputs:
    """A list of what is lost that is full of such is read by nobody."""

    @pytest.mark.parametrize(
        "text",
        [
            "#!/usr/bin/env python3",
            "#!/bin/bash",
            "AUTHORS.rst\nsetup.cfg\n",
            'import "github.com/spf13/cobra"',
            "github.com/go-git/go-git/v5/plumbing\n",
            'path := dir + "/full.jsonl"',
            'fmt.Sprintf("%s/0/metadata.json", id)' + ' + "/0/metadata.json"',
            "all of *_test.go",
            "Exit code 1",
            "the command exited with code 1",
            "attrs 19.2.0\npip 24.2.0\n",
            "tests/ .... [ 45%]",
            "--- ok (13.84s)",
            "1486 us per call",
            "21464;21463;1",
            "index 9018a50..151e006 100644",
            "<function part at 0x7ff8ce05fa60>",
            "[![b](https://img.shields.io/pypi/v/x.svg)",
            ".. image:: https://img.shields.io/pypi/v/x.svg",
            "curl https://example.com",
            "/usr/local/bin /usr/bin/python3 /tmp /dev/stdin",
            "-I/opt/include/a.h",
        ],
    )
    def test_are_left_out(self, text: str) -> None:
        assert [one for one in texts(text) if one != "tests/"] == []

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("src/app/setup.cfg:3", ["src/app/setup.cfg"]),
            ("github.com/a/b/c/d.go:10", ["github.com/a/b/c/d.go"]),
            ("exit code 127", ["exit code 127"]),
            ("issue #77120", ["77120"]),
            ("order 77120 is open", ["77120"]),
            ("10.0.0.5:8080", ["10.0.0.5:8080"]),
            ("95.1% covered", ["95.1%"]),
            ("commit 9018a50", ["9018a50"]),
            ("see https://a.example/b.svg", ["https://a.example/b.svg"]),
            ("/opt/app/run.sh", ["/opt/app/run.sh"]),
        ],
    )
    def test_that_say_which_one_are_kept(self, text: str, found: list[str]) -> None:
        assert texts(text) == found

    def test_in_a_diff_a_file_has_its_own_name(self) -> None:
        text = (
            "diff --git a/shop/money.py b/shop/money.py\n--- a/shop/money.py\n+++ b/shop/money.py\n"
        )
        assert texts(text) == ["shop/money.py"]
        assert texts("copied a/shop/money.py") == ["a/shop/money.py"]


class TestOfPeople:
    """What a person says counts, whatever it is."""

    @pytest.mark.parametrize(
        "text",
        ["setup.cfg", "3.11.4", "77120", "github.com/acme/shop-api/pull", "/usr/bin/python3"],
    )
    def test_is_kept(self, text: str) -> None:
        assert texts(f"look at {text}, please", "human") == [text]

    @pytest.mark.parametrize("text", ["200 calls a day", "3 retries per minute", "5 runs an hour"])
    def test_a_rate_is_a_number_with_its_unit(self, text: str) -> None:
        assert anchors(f"we have {text}", "human") == (Anchor("number", text),)

    @pytest.mark.parametrize(
        "text",
        [
            "refund_exceeds_capture: requested 2000, captured 1999",
            "order_not_found: no order has that number",
        ],
    )
    def test_an_error_needs_no_class(self, text: str) -> None:
        assert anchors(f'{{"detail": "{text}"}}', "tool") == (Anchor("error", text),)

    @pytest.mark.parametrize("text", ["page_size: ten of them", "timeout_error: int", "not_a: (x)"])
    def test_but_a_field_is_none(self, text: str) -> None:
        assert anchors(text, "tool") == ()


def called(command: str) -> tuple[Anchor, ...]:
    call = {"id": "c", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    item = Item("1", "1", "message", "openai_chat", "assistant", message, source="model")
    return tuple(each for each in item_anchors(item) if each.kind == "command")


class TestCommands:
    """How the tests are run is wanted again, what was once looked at is not."""

    @pytest.mark.parametrize(
        ("line", "command"),
        [
            ("pytest -q tests/ 2>&1 | tail -60", "pytest -q tests/"),
            ("make all || true", "make all"),
            ("cd a && npm run build > /dev/null", "cd a && npm run build"),
            ("find . -name x -delete", "find . -name x -delete"),
            ("git commit -m 'one | tail'", "git commit -m 'one | tail'"),
            ("grep -n x a.py > found.txt", "grep -n x a.py > found.txt"),
        ],
    )
    def test_come_without_what_shortens_their_output(self, line: str, command: str) -> None:
        assert called(line) == (Anchor("command", command),)

    @pytest.mark.parametrize(
        "line",
        [
            "ls -la src",
            "cd a && grep -rn 'x y' . | head -5",
            "git log --oneline -5",
            "git status --short && git diff",
            "sed -n 1,20p a.py",
            "find . -name '*.py' -exec grep -l x {} \\;",
            "python --version",
            "python - <<'EOF'",
            'cd /srv && python -c "import a; print(a > 1)"',
            "grep -n 'a > b; c' x.py",
        ],
    )
    def test_that_only_look_are_none(self, line: str) -> None:
        assert called(line) == ()

    def test_of_a_person_are_kept(self) -> None:
        assert Anchor("command", "git log --oneline -5") in anchors(
            "$ git log --oneline -5", "human"
        )
