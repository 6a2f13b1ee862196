"""Literals that later work depends on: found by shape, the same everywhere, and never slowly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hanging import no_hang
from hypothesis import given
from hypothesis import strategies as st

from projections.anchors import (
    _ERRORS,
    KINDS,
    Anchor,
    _error_lines,
    anchors,
    item_anchors,
    lost,
)
from projections.items import Item

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "claude-code"


def found(kind: str, text: str, source: str = "human") -> list[str]:
    return [anchor.text for anchor in anchors(text, source) if anchor.kind == kind]


class TestIds:
    """An order number is short, looks like nothing, and cannot be guessed again."""

    @pytest.mark.parametrize(
        "name",
        [
            "550e8400-e29b-41d4-a716-446655440000",
            "3cf1031",
            "803390c7da6f78ad75be1ae764125b34ba88284b",
            "0xdeadbeef",
            "JIRA-123",
            "ORD-77120",
            "ORD-2026-77120",
            "CVE-2024-12345",
            "77120",
            "12345678901234567890",
            "v2.1.17",
            "3.11.4",
            "10.0.0.5:8080",
            "req_011CSHoEeqs5C35K2UUqR7Fy",
        ],
    )
    @pytest.mark.parametrize("around", ["{}", "the id is {}, yes", "订单{}。", "({})", "id={};"])
    def test_are_found_in_any_surroundings(self, name: str, around: str) -> None:
        assert found("id", around.format(name)) == [name]

    @pytest.mark.parametrize(
        "text",
        [
            "UTF-8, SHA-256, ISO-8601",
            "defaced facade",
            "1234",
            "12345.678",
            "1,234,567",
            "A-1",
            "x123456",
        ],
    )
    def test_are_not_every_run_of_digits(self, text: str) -> None:
        assert found("id", text) == []

    def test_inside_a_url_or_a_path_belong_to_it(self) -> None:
        text = "https://x.example/orders/77120 and /tmp/3cf1031/a.txt"
        assert {anchor.kind for anchor in anchors(text, "human")} == {"url", "path"}


class TestNumbers:
    """ "At most 30 s" and "at most 30 min" survive together as "a time limit"."""

    @pytest.mark.parametrize(
        "number",
        [
            *("30s", "250 ms", "15 MB", "4KiB", "99.9%", "200k tokens", "5 minutes", "3 days"),
            *(
                "$1,200.50",
                "€30",
                "$12",
                "1,000 bytes",
                "2.4 GHz",
                "30分钟",
                "3万元",
                "5%",
                "12 px",
            ),
        ],
    )
    def test_are_found_with_their_unit(self, number: str) -> None:
        assert found("number", f"limit {number}, then stop") == [number]

    @pytest.mark.parametrize(
        "text",
        [
            "chapter 3",
            "$1 and $2",
            "0%",
            "0 ms",
            "3 files",
            "1.5",
            "a5s",
            "100 % n",
            "5sx",
            "\x1b[39m",
        ],
    )
    def test_without_a_unit_are_left(self, text: str) -> None:
        assert found("number", text) == []

    def test_that_only_say_how_long_a_tool_took_are_left(self) -> None:
        assert found("number", "ok in 0.437s (1.25 seconds), 95.1% covered", "tool") == ["95.1%"]
        assert found("number", "it may take 0.437s", "human") == ["0.437s"]


class TestErrors:
    """The words of an error are what the next search is made with."""

    @pytest.mark.parametrize(
        "error",
        [
            "TypeError: cannot read property 'x' of undefined",
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x')",
            "java.lang.NullPointerException: null pointer",
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find module",
            "error[E0308]: mismatched types",
            "error TS2322: Type 'a' is not assignable",
            "src/a.c:10:5: error: expected ';'",
            "fatal: not a git repository",
            "FAILED tests/x.py::test_a",
            "FAIL: TestContent",
            "limit_exceeded: requested 3 of 2",
            "exit code 3",
            "Exit status: 127",
            "exited with code 2",
            "ENOENT",
            "HTTP 503",
            "HTTP/1.1 404",
            "status code 500",
            "错误:无法连接数据库",
        ],
    )
    def test_are_found_with_their_message(self, error: str) -> None:
        assert found("error", f"before\n{error}\nafter", "tool") == [error]

    @pytest.mark.parametrize(
        "text",
        [
            "exit code 0",
            "except ValueError: pass",
            "class FooError: ...",
            "catch (error: Error): void",
            "onError: (e) => {}",
            "  error: string,",
            "Raises:\n  ValueError: If x is negative",
            "HTTP 200",
            "Exception: if nobody answers, ask again",
        ],
    )
    def test_are_not_code_that_speaks_of_errors(self, text: str) -> None:
        assert found("error", text, "tool") == []

    @given(
        st.lists(
            st.sampled_from(
                [
                    *("ValueError: no", "exit code 3", "x.c:1: error: bad", "ENOENT", "SIGKILL"),
                    *("HTTP 503", "status 404", "FAILED a.py::b", "--- FAIL: T", "报错:无法", "\n"),
                    *("not_found: no order", "EXIT", "E", "_a: ", " ", "a", "CRITICAL: x y"),
                ]
            ),
            max_size=12,
        )
    )
    def test_are_looked_for_on_no_line_too_few(self, pieces: list[str]) -> None:
        text = "".join(pieces)
        lines = _error_lines(text)
        whole = [match.span() for match in _ERRORS.finditer(text)]
        found = [m.span() for start, end in lines for m in _ERRORS.finditer(text, start, end)]
        assert found == whole


class TestUrls:
    """A URL with the full stop of its sentence is another URL."""

    @pytest.mark.parametrize(
        ("text", "url"),
        [
            ("see https://a.example/b?c=1#d.", "https://a.example/b?c=1#d"),
            ("(https://en.example/Foo_(bar))", "https://en.example/Foo_(bar)"),
            ("[x](https://a.example/b), y", "https://a.example/b"),
            ("访问https://a.example/docs查看", "https://a.example/docs"),
            ("“https://a.example”", "https://a.example"),
            ("db postgres://h:5432/x;", "postgres://h:5432/x"),
        ],
    )
    def test_end_where_they_end(self, text: str, url: str) -> None:
        assert [(a.kind, a.text) for a in anchors(text, "model")] == [("url", url)]

    def test_that_are_patterns_are_none(self) -> None:
        assert found("url", "http://{host}/x and https://...") == []


class TestCommands:
    """How the tests are run is asked again after every compaction that forgot it."""

    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("$ git push origin main", "git push origin main"),
            ("  $ ./x\noutput", "./x"),
            ("run `npm test` first", "npm test"),
            ("run `FOO=1 sudo docker ps -a`", "FOO=1 sudo docker ps -a"),
            ("`./manage.sh migrate --all`", "./manage.sh migrate --all"),
            ("```bash\n# build\nmake all\n```", "make all"),
        ],
    )
    def test_are_found_at_a_prompt_in_ticks_and_in_shell_blocks(
        self, text: str, command: str
    ) -> None:
        assert found("command", text) == [command]

    @pytest.mark.parametrize(
        "text",
        ["`git`", "`git rebase` is safe", "`foo bar`", "`cat -n`", "`bun run ...`", "make sure"],
    )
    def test_are_not_programs_that_are_spoken_of(self, text: str) -> None:
        assert found("command", text) == []


class TestAllOfThem:
    """Order and identity make a diff of anchors readable, and equal on every machine."""

    TEXT = "Never run `rm -rf /srv/data/a`: ORD-77120 costs $12, see https://a.example. ORD-77120!"

    def test_come_once_each_in_the_order_of_the_text(self) -> None:
        assert anchors(self.TEXT, "human") == (
            Anchor(
                "rule", "Never run `rm -rf /srv/data/a`: ORD-77120 costs $12, see https://a.example"
            ),
            Anchor("command", "rm -rf /srv/data/a"),
            Anchor("path", "/srv/data/a"),
            Anchor("id", "ORD-77120"),
            Anchor("number", "$12"),
            Anchor("url", "https://a.example"),
        )

    @given(st.text(st.characters() | st.sampled_from("/.:-$`\\ \n1aE不要"), max_size=300))
    def test_stand_in_the_text_as_they_are(self, text: str) -> None:
        result = anchors(text, "human")
        assert len(set(result)) == len(result)
        assert all(anchor.text in text and anchor.kind in KINDS for anchor in result)
        assert not lost(result, [text])

    def test_of_a_call_are_those_of_its_decoded_arguments(self) -> None:
        arguments = json.dumps(
            {"command": "npm run build\ncd x", "file": ["C:\\a\\b.py", "x\ny/z.md"]}
        )
        call = {"id": "c", "function": {"name": "bash", "arguments": arguments}}
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
        item = Item("1", "1", "message", "openai_chat", "assistant", message, source="model")
        assert item_anchors(item) == (
            Anchor("command", "npm run build"),
            Anchor("path", "C:\\a\\b.py"),
            Anchor("path", "y/z.md"),
        )

    def test_of_a_call_whose_arguments_are_no_json_are_those_of_its_text(self) -> None:
        call = {"id": "c", "function": {"name": "bash", "arguments": '{"file": "src/a.py'}}
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
        item = Item("1", "1", "message", "openai_chat", "assistant", message, source="model")
        assert item_anchors(item) == (Anchor("path", "src/a.py"),)

    @pytest.mark.parametrize(
        ("role", "source", "rules"),
        [("system", "injected", 1), ("user", "human", 1), ("user", "retrieval", 0)],
    )
    def test_of_a_message_know_who_said_it(self, role: str, source: str, rules: int) -> None:
        message = {"role": role, "content": "Never push to main."}
        item = Item("1", "1", "message", "openai_chat", role, message, source=source)
        assert len(item_anchors(item)) == rules

    def test_of_a_tool_result_hold_no_rules(self) -> None:
        result = {"role": "tool", "tool_call_id": "c", "content": "Never read /etc/hosts."}
        item = Item("1", "1", "tool_result", "openai_chat", "tool", result, source="tool")
        assert item_anchors(item) == (Anchor("path", "/etc/hosts"),)


class TestWhatACompactionLost:
    """The list of what is gone is the most useful line of a report, so it must be true."""

    def test_is_what_stands_in_none_of_the_texts_after_it(self) -> None:
        before = anchors(
            "Never touch src/db.py. ORD-77120 must ship in 3 days. $ make all", "human"
        )
        after = ["The user wants ORD-77120 shipped.", "Work goes on in src/db.py."]
        kinds = [anchor.kind for anchor in lost(before, after)]
        assert kinds == ["rule", "rule", "number"]

    @pytest.mark.parametrize(
        ("text", "after"),
        [
            ("77120", "order #77120."),
            ("src/a.py", "in /home/u/src/a.py:3"),
            ("15 MB", "15\n  MB"),
            ("3万元", "预算3万元整"),
        ],
    )
    def test_leaves_out_what_is_kept_in_other_surroundings(self, text: str, after: str) -> None:
        assert lost([Anchor("id", text)], [after]) == ()

    @pytest.mark.parametrize(
        ("text", "after"),
        [
            ("77120", "177120 and 771200"),
            ("src/a.py", "src/a.pyi"),
            ("ORD-1", "ord-1"),
            ("a b", "b a"),
            ("x/y.md", ""),
        ],
    )
    def test_holds_what_is_there_only_in_part(self, text: str, after: str) -> None:
        assert lost([Anchor("id", text)], [after]) == (Anchor("id", text),)

    def test_is_not_found_across_two_texts(self) -> None:
        assert lost([Anchor("number", "15 MB")], ["15", "MB"])

    def test_takes_a_rule_for_kept_in_any_case(self) -> None:
        assert not lost([Anchor("rule", "Never push")], ["The user said: never push to main"])

    def test_names_each_once_in_order(self) -> None:
        one, two = Anchor("id", "ORD-1"), Anchor("id", "ORD-2")
        assert lost([two, one, two], []) == (two, one)

    def test_of_many_anchors_ends(self) -> None:
        before = [Anchor("id", f"ORD-{n}") for n in range(20_000)]
        after = [" ".join(anchor.text for anchor in before[::2]), "x " * 500_000]
        with no_hang():
            assert len(lost(before, after)) == 10_000


MEGABYTE = 1_000_000
SHARES = [0.3, pytest.param(1.0, marks=pytest.mark.slow)]
HOSTILE = [
    *(
        "a",
        "1",
        "/",
        "\\",
        "-",
        "`",
        "(",
        "$",
        "\n",
        "A",
        "中",
        "a.",
        "a/",
        "C:\\",
        "aA",
        "a_",
        ". ",
    ),
    *("1,", "1.", "1s", ",000", "http://", "http://a(", "AB-", "A1-", "0123456789abcdef", "toolu_"),
    *("Error", "Error: ", "A.Error.", "\nerror: x", "FAILED a::", "exit code ", "ERR_", "错误:"),
    *("$ a\n", "`a ", "```sh\n", "never ", "i never ", "必须", "必须。", "<a>", "中/a"),
    *("a/中" * 130 + " ", "A" * 80 + ".Err ", "x" * 199 + ":1 ", "use " * 95 + ". "),
]


class TestHostileText:
    """One crafted tool result must not stop the agent that is being logged."""

    @pytest.mark.parametrize("share", SHARES)
    @pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: repr(unit[:12]))
    def test_of_a_megabyte_is_gone_through(self, unit: str, share: float) -> None:
        text = unit * (int(share * MEGABYTE) // len(unit))
        with no_hang(share):
            anchors(text, "human")


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample transcripts are absent")
class TestARealTranscript:
    """Shapes that only look right on invented text are of no use."""

    def test_gives_the_files_commands_and_commits_of_its_work(self) -> None:
        text = (SAMPLES / "cc04_small_compact_microcompact_v2.1.14.jsonl").read_text()
        kinds: dict[str, set[str]] = {}
        for line in text.splitlines():
            message = json.loads(line).get("message") or {}
            blocks = message.get("content") or []
            for block in [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks:
                result = block.get("type") == "tool_result"
                native = block if result else {"role": message["role"], "content": [block]}
                kind: Any = "tool_result" if result else "message"
                item = Item("1", "1", kind, "anthropic", message["role"], native, source="model")
                for anchor in item_anchors(item):
                    kinds.setdefault(anchor.kind, set()).add(anchor.text)
        assert "cmd/entire/cli/strategy/manual_commit_hooks.go" in kinds["path"]
        assert {"288a28a", "0eb220a6"} <= kinds["id"]
        assert 'git add . && git commit -m "Checkpoint A"' in kinds["command"]
        assert all("..." not in path and "%s" not in path for path in kinds["path"])
