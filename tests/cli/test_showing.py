"""The pure parts: where the log is, how text is laid out, what colour depends on."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cli import saying
from cli.models_log import TimelineRow
from cli.output import _is_colored, json_text
from cli.paths import cache_folder, data_folder, database, program, shown
from cli.safetext import display_width
from cli.style import (
    Style,
    ascii_text,
    heading,
    named,
    pad,
    pad_left,
    plural,
    ranges,
    short,
    shrunk,
    tokens,
    typed,
)
from projections.session_names import typed_for

HOME = Path("/home/ann")


class TestWhereTheLogIs:
    """Another log than the one that was meant is worse than none."""

    def test_the_nearest_word_wins(self, tmp_path: Path) -> None:
        (tmp_path / ".ctxlog").mkdir()
        below = tmp_path / "a"
        below.mkdir()
        env = {"CTXLOG_DB": "/env.db", "XDG_DATA_HOME": "/xdg"}
        nowhere, empty = Path("/nowhere/at/all"), env | {"CTXLOG_DB": ""}
        for given, environment, here, path, why in (
            ("given.db", env, below, Path("given.db"), "--db"),
            (None, env, below, Path("/env.db"), "CTXLOG_DB"),
            (None, {}, below, tmp_path / ".ctxlog" / "ctxlog.db", "above"),
            (None, {}, tmp_path, tmp_path / ".ctxlog" / "ctxlog.db", "here"),
            (None, {}, nowhere, HOME / ".local/share/ctxlog/ctxlog.db", "data folder"),
            (None, empty, nowhere, Path("/xdg/ctxlog/ctxlog.db"), "data folder"),
        ):
            found = database(given, environment, here, HOME)
            assert found.path == path
            assert why in found.why

    def test_a_relative_xdg_folder_is_ignored(self) -> None:
        assert data_folder({"XDG_DATA_HOME": "here"}, HOME) == HOME / ".local/share/ctxlog"
        assert cache_folder({"XDG_CACHE_HOME": "/c"}, HOME) == Path("/c/ctxlog")

    def test_a_path_is_shown_as_a_person_writes_it(self) -> None:
        assert shown(HOME / "x.db", HOME) == "~/x.db"
        assert shown(Path("/tmp/x.db"), HOME) == "/tmp/x.db"


class TestHowTheProgramIsTyped:
    """A hint that cannot be typed is the first thing a new user trips over."""

    def test_by_its_name_where_the_shell_finds_it(self, tmp_path: Path) -> None:
        own = tmp_path / ".venv" / "bin" / "ctxlog"
        own.parent.mkdir(parents=True)
        own.touch(mode=0o755)
        assert program(str(own), str(own.parent), tmp_path, HOME) == "ctxlog"

    def test_else_by_the_way_to_it(self, tmp_path: Path) -> None:
        own = tmp_path / "a b" / "ctxlog"
        own.parent.mkdir(parents=True)
        own.touch(mode=0o755)
        assert program(str(own), "/nowhere", own.parent, HOME) == "./ctxlog"
        assert program(str(own), "/nowhere", tmp_path, HOME) == "'a b/ctxlog'"
        assert program(str(own), "/nowhere", HOME, tmp_path / "a b") == "~/ctxlog"
        assert program(str(own), "/nowhere", HOME, HOME) == f"'{own}'"

    def test_a_module_is_started_by_its_interpreter(self, tmp_path: Path) -> None:
        main = tmp_path / "cli" / "main.py"
        assert program(str(main), "/nowhere", tmp_path, HOME).endswith(" -m cli.main")


class TestColour:
    """The order in which the three ways to ask for colour count."""

    @pytest.mark.parametrize(
        ("asked", "env", "colored"),
        [
            ("auto", {}, False),
            ("auto", {"FORCE_COLOR": "1"}, True),
            ("auto", {"FORCE_COLOR": "0"}, False),
            ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            ("always", {"NO_COLOR": "1"}, True),
            ("never", {"FORCE_COLOR": "1"}, False),
        ],
    )
    def test_order(self, asked: str, env: dict[str, str], colored: bool) -> None:
        assert _is_colored(io.StringIO(), asked, env) is colored


class TestLayout:
    """Columns that do not fit are not read."""

    @pytest.mark.parametrize("ascii_only", [False, True])
    @pytest.mark.parametrize(
        "text", ["", "plain", "不要动 migrations/ 的文件", "é" * 90, "a\nb\tc", "…" * 80]
    )
    @pytest.mark.parametrize("width", [1, 5, 20, 79])
    def test_a_line_never_gets_wider(self, text: str, width: int, ascii_only: bool) -> None:
        line = Style(ascii=ascii_only).line(text, width)
        assert display_width(line) <= width
        assert "\n" not in line
        assert not ascii_only or line.isascii()

    @pytest.mark.parametrize("width", [40, 60, 100])
    def test_a_rule_fills_the_terminal(self, width: int) -> None:
        assert display_width(Style(width=width).rule("k1 compacted")) == width

    def test_every_sign_has_one_ascii_column(self) -> None:
        for sign in "●○Σ✂–─→≈·…":
            other = Style(ascii=True).translated(sign)
            assert other.isascii()
            assert len(other) == 1

    def test_what_ascii_cannot_say_is_escaped(self) -> None:
        assert ascii_text("aé") == r"a\u{e9}"

    def test_wide_characters_are_padded_by_columns(self) -> None:
        assert display_width(pad("不要", 6)) == display_width(pad_left("不要", 6)) == 6

    @pytest.mark.parametrize(
        ("count", "text"),
        [
            (0, "0"), (999, "999"), (1000, "1.0k"), (35_123, "35.1k"), (99_949, "99.9k"),
            (155_000, "155k"), (999_499, "999k"), (999_500, "1.0M"), (1_400_000, "1.4M"),
        ],
    )  # fmt: skip
    def test_numbers_are_short(self, count: int, text: str) -> None:
        assert short(count) == text

    def test_estimates_are_marked(self) -> None:
        assert tokens(924) == "≈924"
        assert tokens(35_100, exact=True) == "35.1k"
        assert tokens(None) == "?"

    def test_it_is_said_whose_count_it_is(self) -> None:
        made = TimelineRow.model_construct(
            before_tokens=158_000, before_recorded=125_000, after_tokens=924, after_recorded=924
        )
        made.after_estimated = True
        assert shrunk(made) == "≈125k → ≈924 (agent's count: 158k)"
        assert shrunk(made, " tokens", brief=True) == "≈125k → ≈924 tokens (agent: 158k)"
        made.after_estimated, made.after_tokens = False, 6_000
        assert shrunk(made) == "≈125k → ≈924 (agent's count: 158k → 6.0k)"
        made.before_estimated = made.after_estimated = True
        assert shrunk(made) == "≈125k → ≈924"

    @pytest.mark.parametrize(
        ("room", "shown"),
        [
            (70, "local/claude-code/fe5e1c67-53e7.6690d10e-f521"),
            (44, "fe5e1c67-53e7.6690d10e-f521"),
            (20, "fe5e1c67.6690d10e"),
            (8, "fe5e1c6…"),
        ],
    )
    def test_a_session_is_named_in_the_room_that_there_is(self, room: int, shown: str) -> None:
        key = "local/claude-code/fe5e1c67-53e7.6690d10e-f521"
        assert named(key, Style(), room) == shown

    @pytest.mark.parametrize("width", [60, 80, 100])
    @pytest.mark.parametrize("ref", ["@k1^", "@12@340", ""])
    def test_a_head_line_keeps_its_numbers_and_its_place(self, width: int, ref: str) -> None:
        key = "local/claude-code/fe5e1c67-53e7-4862-81ae-d0e013e3270b.6690d10e-f521-4ac0-800d"
        line = heading("219 items, ≈125k tokens", key, Style(width=width), ref)
        assert line.startswith("219 items, ≈125k tokens · ")
        assert "fe5e1c67" in line
        assert "6690d10e" in line
        assert line.endswith(ref)
        assert display_width(line) <= width

    @pytest.mark.parametrize(
        ("names", "shown"),
        [
            (["c1"], "c1"),
            (["c1", "c2"], "c1, c2"),
            (["c2", "c3", "c4", "c100"], "c2-c4, c100"),
            (["c1", "a/b@c1", "a/b@c2", "a/b@c3", "x@c4"], "c1, a/b@c1-c3, x@c4"),
            (["k"], "k"),
            ([], ""),
        ],
    )
    def test_what_follows_on_each_other_is_one(self, names: list[str], shown: str) -> None:
        assert ranges(names) == shown

    def test_one_is_not_many(self) -> None:
        assert [plural(1, "item"), plural(1204, "item")] == ["1 item", "1,204 items"]


class TestNames:
    """What stands in a list is typed next."""

    def test_the_same_id_of_two_agents_is_shown_with_its_key(self) -> None:
        assert list(typed_for(["u/a/x", "u/b/x", "u/a/y"]).values()) == ["u/a/x", "u/b/x", "y"]

    @pytest.mark.parametrize(
        ("name", "shown"),
        [("8f31c0a9@k1^", "8f31c0a9@k1^"), ("98b7~2", "98b7~2"), ("a b", "'a b'"),
         ("~root", "'~root'"), ("it's", "'it'\"'\"'s'"), ("x;rm", "'x;rm'"), ("é", "'é'")],
    )  # fmt: skip
    def test_a_name_is_shown_as_a_shell_takes_it(self, name: str, shown: str) -> None:
        assert typed(name) == shown

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('{"command":"pytest -q","timeout":5}', "pytest -q"),
            ('{"file_path":"a.py","old":"x"}', "a.py"),
            ('{"note":"only this"}', "only this"),
            ('{"a":"1","b":"2"}', '{"a":"1","b":"2"}'),
            ('{"a": 1', '{"a": 1'),
            ("[" * 50_000, "[" * 50_000),
            ("{" * 50_000, "{" * 50_000),
            ('{"command": ["not", "text"]}', '{"command": ["not", "text"]}'),
        ],
    )
    def test_a_call_is_told_by_what_says_most(self, text: str, told: str) -> None:
        assert saying.arguments(text) == told


def test_json_is_printable_ascii() -> None:
    text = json_text({"a": "\x1b\x7f\x9b\u202e\ud83d é"})
    assert text.isascii()
    assert all(char.isprintable() or char == "\n" for char in text)
