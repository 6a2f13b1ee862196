"""Preferences that a person states, and what they are about."""

from __future__ import annotations

import pytest

from projections.memory.memory import same_subject
from projections.memory.preferences import Preference, preferences
from projections.memory.preferences import stated as by_hand
from projections.memory.signs import signs
from projections.memory.spoken import spoken
from projections.memory.subjects import MOST_WORDS, about, own_subject


def stated(text: str, *, is_wished: bool = False) -> list[Preference]:
    return [each for s in spoken(text) for each in preferences(s, is_wished=is_wished)]


class TestWished:
    """Whoever asks to have it remembered need not say that it holds for ever."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [("I indent with tabs", "tabs"), ("Code is indented with spaces", "spaces")],
    )
    def test_a_plain_statement_is_one_where_it_is_to_be_remembered(
        self, text: str, value: str
    ) -> None:
        (found,) = stated(text, is_wished=True)
        assert (found.subject, found.values) == ("indentation", {"indentation": value})
        assert stated(text) == []


class TestWhatIsStated:
    """By rules, in both languages."""

    @pytest.mark.parametrize(
        ("text", "subject", "value"),
        [
            ("I prefer tabs over spaces.", "indentation", "tabs"),
            ("I prefer spaces, not tabs", "indentation", "spaces"),
            ("use 4 spaces instead of tabs", "indentation", "4 spaces"),
            ("Never use tabs", "indentation", "not tabs"),
            ("我喜欢用制表符而不是空格", "indentation", "tabs"),
            ("以后都用两个空格", "indentation", "2 spaces"),
            ("I like single quotes", "quotes", "single"),
            ("always use pytest", "test framework", "pytest"),
            ("以后都用 pytest", "test framework", "pytest"),
            ("From now on, use pnpm instead of npm.", "package manager", "pnpm"),
            ("I usually use neovim", "editor", "neovim"),
            ("I'd rather use vim", "editor", "vim"),
            ("Always use conventional commits", "commit style", "conventional commits"),
            ("Never commit to main.", "commits to the main branch", False),
            ("不要提交到 main 分支", "commits to the main branch", False),
            ("answer in German", "language of answers", "German"),
            ("Please reply to me in French", "language of answers", "French"),
            ("请用中文回答", "language of answers", "Chinese"),
            ("Always write comments in English", "language of comments", "English"),
            ("please don't use emojis", "emoji", False),
            ("不要用表情符号", "emoji", False),
            ("stop using emojis", "emoji", False),
            ("I want short answers", "verbosity", "short"),
            ("I always want short answers", "verbosity", "short"),
            ("I never want emojis", "emoji", False),
            ("我从来不要表情符号", "emoji", False),
            ("我总是要简短的回答", "verbosity", "short"),
            ("speak German", "language of answers", "German"),
            ("请一直用中文", "language of answers", "Chinese"),
            ("my favourite colour is green", "favourite colour", "green"),
            ("我最喜欢的颜色是绿色", "favourite 颜色", "绿色"),
            ("I like short answers", "verbosity", "short"),
            ("keep your answers concise", "verbosity", "short"),
            ("我喜欢详细的解释", "verbosity", "detailed"),
            ("I prefer dark mode", "theme", "dark"),
            ("Always use snake_case", "naming", "snake_case"),
            ("by default wrap at 100 columns", "line length", 100),
            ("我更喜欢 Rust", "programming language", "Rust"),
        ],
    )
    def test_it_is_about_a_known_subject_with_a_value(
        self, text: str, subject: str, value: object
    ) -> None:
        assert [(each.subject, each.values) for each in stated(text)] == [
            (subject, {subject: value})
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "Do you prefer tabs?",
            "should I always use pytest",
            "你喜欢制表符吗？",
            "If I prefer tabs, what happens",
            "如果以后都用 pytest",
            'He said "always use tabs"',
            "My boss says always use tabs",
            "The docs recommend: always use tabs",
            "他说以后都用空格",
            "`always use tabs`",
            "```\nalways use tabs\n```",
            "use the new API here",
            "use pytest to run this test",
            "don't touch this file",
            "don't commit this yet",
            "先别提交这个",
            "I like this approach",
            "I like the idea",
            "I like the color",
            "I hate to say it",
            "stop using tabs here",
            "stop the server",
            "by default the server listens on 8080",
            "in the future we might support Windows",
            "from now on the API returns JSON",
            "I usually run npm test, but today it fails",
            "I would prefer a shorter name for this function",
            "I'd prefer to keep it simple",
            "explain it to me in German",
            "我喜欢这个方案",
            "I never saw this error",
            "it always fails",
            "You always use tabs",
            "this never worked",
            "I used to prefer tabs",
            "I'd rather just exchange the thermostat",
            "I want you to fix the tabs",
            "以后再说",
            "open src/tabs.py",
        ],
    )
    def test_what_is_asked_quoted_or_wanted_now_is_none(self, text: str) -> None:
        assert stated(text) == []

    def test_one_sentence_can_state_two(self) -> None:
        found = stated("I prefer tabs and single quotes")
        assert [each.subject for each in found] == ["indentation", "quotes"]

    def test_it_says_what_part_of_the_profile_it_belongs_to(self) -> None:
        assert [each.area for each in stated("I like short answers")] == ["interaction"]
        assert [each.area for each in stated("Always explain your plan first")] == ["interaction"]
        assert [each.area for each in stated("Never deploy on Fridays")] == ["technical"]

    def test_what_was_asked_to_be_kept_may_be_put_in_any_way(self) -> None:
        assert stated("the team uses pytest") == []
        assert [each.subject for each in stated("the team uses pytest", is_wished=True)] == [
            "test framework"
        ]
        assert stated("pytest is slow on Windows", is_wished=True) == []


class TestContradictions:
    """What contradicts each other is about the same subject, also where it is in no table."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("I prefer tabs", "Never use tabs, use spaces"),
            ("Never deploy on Fridays", "always deploy on Fridays"),
            ("I like mocks", "I don't like mocks"),
            ("我喜欢长篇大论", "我不喜欢长篇大论"),
            ("以后都先写测试", "以后不要先写测试"),
            ("answer in German", "请用中文回答"),
            ("I prefer tabs", "我喜欢用空格"),
        ],
    )
    def test_they_meet(self, one: str, other: str) -> None:
        first, second = stated(one), stated(other)
        assert len(first) == len(second) == 1
        assert first[0].subject == second[0].subject
        assert first[0].values != second[0].values or not first[0].values

    def test_an_unknown_subject_is_made_of_the_words(self) -> None:
        assert own_subject("Always squash feature branches") == "squash feature branches"
        assert own_subject("I prefer REST over GraphQL") == "rest"
        assert len(own_subject("w1 w2 w3 w4 w5 w6 w7 w8").split()) == MOST_WORDS

    def test_a_statement_of_little_words_has_no_subject(self) -> None:
        assert own_subject("I always do it") == ""
        assert own_subject("please do not") == ""


class TestTheTable:
    """What is preferred, by the last word that says so."""

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("tabs instead of spaces", {"indentation": "tabs"}),
            ("avoid npm, use yarn", {"package manager": "yarn"}),
            ("not black but prettier", {"formatter": "prettier"}),
            ("no docstrings", {"docstrings": False}),
            ("不要用单引号，用双引号", {"quotes": "double"}),
            ("用双引号而不是单引号", {"quotes": "double"}),
        ],
    )
    def test_the_wanted_one_is_the_value(self, text: str, values: dict[str, object]) -> None:
        assert [each.values for each in about(text)] == [values]

    @pytest.mark.parametrize(
        "text", ["open tabs.py", "run pytest.ini", "the tab bar", "talk about it"]
    )
    def test_a_word_that_only_looks_like_one_says_nothing(self, text: str) -> None:
        assert list(about(text)) == []


class TestWhatNeedNotBe:
    """Who lifts a rule, or sets one for a while, states no standing preference."""

    @pytest.mark.parametrize(
        "text",
        [
            "Stop always answering in German.",
            "No need to always add comments",
            "You don't have to always use tabs",
            "Please don't always apologize",
            "I no longer prefer tabs",
            "不用总是用中文回答",
            "不要总是用中文回答",
            "I prefer tabs over spaces in this one file only.",
            "For this task, always use unittest",
            "Just for now, answer in German",
            "Always use tabs, only this time",
            "这次用中文回答",
            "我喜欢用空格缩进，仅这个文件",
        ],
    )
    def test_nothing_is_learned_of_it(self, text: str) -> None:
        assert not [sign for sign in signs(text, "human") if sign.kind == "preference"]

    @pytest.mark.parametrize(
        "text", ["From now on answer in German", "Stop using semicolons", "以后不用写注释"]
    )
    def test_what_holds_from_here_on_is_learned(self, text: str) -> None:
        assert [sign.kind for sign in signs(text, "human")] == ["preference"]


class TestWrittenDown:
    """Somebody gave its kind, and perhaps more: what was not given is read from the text."""

    @pytest.mark.parametrize(
        ("text", "subject", "values", "found"),
        [
            ("Indents with tabs", "Indentation", None, ("Indentation", "technical", "tabs")),
            ("Indents with tabs", "", None, ("indentation", "technical", "tabs")),
            ("Keep it short", "", None, ("verbosity", "interaction", "short")),
            ("Small ones", "comments", None, ("comments", "technical", None)),
            ("As to a friend", "tone", None, ("tone", "interaction", None)),
            ("Semver, please", "", None, ("", "technical", None)),
            ("Indents with tabs", "", {"formatter": "black"}, ("", "technical", None)),
            ("Explain what you did", "", None, ("", "interaction", None)),
        ],
    )
    def test_the_rest_is_read(
        self,
        text: str,
        subject: str,
        values: dict[str, object] | None,
        found: tuple[str, str, object],
    ) -> None:
        about = by_hand(text, subject, values)
        assert (about.subject, about.area, next(iter(about.values.values()), None)) == found


class TestCharacters:
    """One word in two scripts is one word."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("縮進", "缩进"),
            ("引號", "引号"),
            ("語言", "语言"),
            ("類型註解", "类型注解"),
            ("數據庫", "数据库"),
        ],
    )
    def test_a_subject_in_traditional_characters_is_the_simplified_one(
        self, one: str, other: str
    ) -> None:
        assert same_subject(one) == same_subject(other)
        assert same_subject(f"{one} x") != same_subject(other)

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("我偏好雙引號", {"quotes": "double"}),
            ("我偏好下劃線命名", {"naming": "snake_case"}),
            ("我偏好製表符，深色", {"theme": "dark"}),
        ],
    )
    def test_a_value_is_read_in_both(self, text: str, values: dict[str, object]) -> None:
        (found,) = stated(text)
        assert found.values == values
