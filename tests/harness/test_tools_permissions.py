"""Which calls may run: a command is what a shell makes of it, a path is where it leads."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.agent import PermissionMode, PermissionsSet
from eventlog.errors import InputRefused
from harness.tools import Tool, tool, toolbox
from harness.tools.commands import allows, is_simple, occurs
from harness.tools.patterns import matches_path, matches_text
from harness.tools.permissions import check_rule, denies, judge
from harness.tools.toolbox import Toolbox


def say(words: str) -> str:
    return words


SAY = tool(say)
SHELL = "aa  '\"\\;|&$`()<>\n#~*?{}!="
HERE = toolbox("files,shell", Path("."))


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    return toolbox("files,shell", tmp_path)


def named(box: Toolbox, name: str) -> Tool:
    found = box.find(name, box.groups)
    assert found is not None
    return found


def verdict(found: Tool, permissions: PermissionsSet, **arguments: object) -> str:
    return judge(permissions, found, arguments).verdict


class TestCommands:
    """A rule that allows `git status` must not allow what stands behind a semicolon."""

    @pytest.mark.parametrize(
        "command",
        [
            "git status",
            "  git status -s  ",
            "git status 'a; rm -rf /'",
            'git status "a && b > c"',
            "git status 'a'\\''; rm -rf / '",
            "git status a\\;b \\$HOME \\> x",
            "git status '$(x)' '`x`'",
            'git status "\\$(x)" "\\`x\\`"',
            "git status *.py ~/x {a,b} #!",
        ],
    )
    def test_a_simple_command_is_allowed(self, command: str) -> None:
        assert allows("git status*", command)

    @pytest.mark.parametrize(
        "command",
        [
            "git status; rm -rf /",
            "git status;rm -rf /",
            "git status && rm -rf /",
            "git status || rm -rf /",
            "git status | sh",
            "git status & rm -rf /",
            "git status\nrm -rf /",
            "git status\r\nrm -rf /",
            "git status $(rm -rf /)",
            'git status "$(rm -rf /)"',
            "git status `rm -rf /`",
            'git status "`rm -rf /`"',
            "git status $HOME",
            "git status ${IFS}x",
            "git status $'a\\nb'",
            "git status > /etc/passwd",
            "git status 2>&1",
            "git status < /etc/passwd",
            "git status <(rm -rf /)",
            "git status << x",
            "(git status)",
            "git status 'a' ; rm 'b'",
            "git status 'a'\\'; rm -rf /",
            'git status "a\\"; rm -rf /" ; x',
            "git status 'open",
            'git status "open',
            "git status \\",
            "git status 'a\nb'",
            "git status \x00 x",
            "git status \x1b[2K",
            "git  status",
            "X=1 git status",
            "/tmp/git status",
            "",
            "   ",
        ],
    )
    def test_everything_else_is_not(self, command: str) -> None:
        assert not allows("git status*", command)

    def test_what_is_simple_is_one_program_to_a_shell_too(self, tmp_path: Path) -> None:
        """A shell is given it behind ``true``: whatever ``a`` it would run says so."""

        letters = random.Random(1)
        texts = ("".join(letters.choices(SHELL, k=letters.randint(1, 9))) for _ in range(20_000))
        simple = [text for text in texts if is_simple(f"true {text}")]
        assert len(simple) > 1_000
        lines = "\n".join(f"true {text}" for text in simple)
        script = f"a() {{ echo ran; }}\n{lines}\necho end $?"
        ran = subprocess.run(["/bin/sh"], input=script.encode(), cwd=tmp_path, capture_output=True)
        assert (ran.stdout, ran.stderr) == (b"end 0\n", b"")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "command",
        [
            "rm -rf /",
            "  rm   -rf\t/",
            "ls; rm x",
            "ls;rm x",
            "ls&&rm x",
            "ls\nrm x",
            "echo $(rm x)",
            "echo `rm x`",
            "(rm x)",
            "{ rm x; }",
            "if true; then rm x; fi",
            "sudo rm x",
            "env A=1 rm x",
            "find . | xargs rm x",
            "find . -exec rm {} \\;",
            "bash -c 'rm x'",
            'bash -c "cd /; rm x"',
            "/bin/rm x",
            "../../bin/rm x",
            "r''m x",
            'r"m" x',
            "r\\m x",
            "r\\\nm x",
            "rm${IFS}x",
            "rm$IFS-rf x",
        ],
    )
    def test_a_rule_that_denies_speaks_wherever_it_stands(self, command: str) -> None:
        assert occurs("rm *", command)

    @pytest.mark.parametrize("command", ["ls", "rmdir x", "alarm x", "git rm", "echo 'rm'", ""])
    def test_it_does_not_speak_where_it_does_not_stand(self, command: str) -> None:
        assert not occurs("rm *", command)

    def test_the_end_of_a_pattern_is_the_end_of_a_command(self) -> None:
        assert occurs("git push", "git fetch && git push && ls")
        assert not occurs("git push", "git push --force")
        assert occurs("git push*", "git push --force")
        assert occurs("*--force*", "git push 'x' --force y")

    def test_a_long_command_is_read_in_linear_time(self) -> None:
        """Quadratic, this takes minutes."""
        assert not occurs("a*b*q", "a " * 100_000)
        assert not occurs("a*" * 50 + "b", "a " * 100_000)
        assert not allows("a*" * 300 + "b", "a" * 100_000)


class TestPatterns:
    """One star too many and a rule is about everything."""

    @pytest.mark.parametrize(
        ("pattern", "text", "is_match"),
        [
            ("", "", True),
            ("a", "a", True),
            ("a", "ab", False),
            ("a*", "a", True),
            ("a*a", "a", False),
            ("a*a", "aa", True),
            ("*b*", "abc", True),
            ("a*b*c", "a b c b", False),
            ("a*b*c", "a b c b c", True),
            ("[a]?", "[a]?", True),
            ("[a]?", "ax", False),
            ("*", "a\nb", True),
        ],
    )
    def test_of_text(self, pattern: str, text: str, is_match: bool) -> None:
        assert matches_text(pattern, text) is is_match

    @pytest.mark.parametrize(
        ("pattern", "path", "is_match"),
        [
            ("src/**", "src/a/b.py", True),
            ("src/**", "src", True),
            ("src/**", "srcs/a", False),
            ("src/**", "lib/src/a", False),
            ("src/*", "src/a", True),
            ("src/*", "src/a/b", False),
            ("**/*.py", "a.py", True),
            ("**/*.py", "x/y/a.py", True),
            ("**/*.py", "a.pyc", False),
            ("a/**/z", "a/z", True),
            ("a/**/b/**/z", "a/x/b/y/b/z", True),
            ("a/**/b/**/z", "a/x/z", False),
            ("**", ".", True),
            ("**", "a/b", True),
            (".", ".", True),
            ("./src/a", "src/a", True),
            ("*", "a", True),
            ("*", "a/b", False),
            (".env*", ".env.local", True),
            ("**", "/etc/passwd", False),
            ("/etc/**", "/etc/passwd", True),
            ("/etc/**", "etc/passwd", False),
        ],
    )
    def test_of_paths(self, pattern: str, path: str, is_match: bool) -> None:
        assert matches_path(pattern, path) is is_match


class TestJudging:
    """Deny is before ask, before allow, before the mode."""

    def test_the_order(self) -> None:
        rules = {"allow": ("say(a*)",), "ask": ("say(ab*)",), "deny": ("say(abc*)",)}
        permissions = PermissionsSet(mode="allow", **rules)
        judged = [judge(permissions, SAY, {"words": word}) for word in ("x", "a", "ab", "abc")]
        assert [(each.verdict, each.by) for each in judged] == [
            ("allowed", "mode allow"),
            ("allowed", "allow say(a*)"),
            ("ask", "ask say(ab*)"),
            ("denied", "deny say(abc*)"),
        ]

    @pytest.mark.parametrize(
        ("mode", "writing", "reading"),
        [
            ("ask", "ask", "allowed"),
            ("allow", "allowed", "allowed"),
            ("deny", "denied", "denied"),
            ("read_only", "denied", "allowed"),
        ],
    )
    def test_the_mode_speaks_where_no_rule_does(
        self, box: Toolbox, mode: PermissionMode, writing: str, reading: str
    ) -> None:
        permissions = PermissionsSet(mode=mode)
        assert verdict(named(box, "write_file"), permissions, path="a", content="") == writing
        assert verdict(named(box, "shell"), permissions, command="ls") == writing
        assert verdict(named(box, "read_file"), permissions, path="a") == reading
        assert verdict(named(box, "plan"), permissions, tasks=[]) == "allowed"

    def test_a_rule_speaks_about_the_planner_too(self, box: Toolbox) -> None:
        assert verdict(named(box, "plan"), PermissionsSet(deny=("plan",)), tasks=[]) == "denied"
        assert verdict(named(box, "plan"), PermissionsSet(ask=("*",)), tasks=[]) == "ask"

    def test_a_name_alone_is_about_every_call_and_a_star_about_every_tool(
        self, box: Toolbox
    ) -> None:
        allow = PermissionsSet(mode="deny", allow=("*_file",))
        assert verdict(named(box, "read_file"), allow, path="a") == "allowed"
        assert verdict(named(box, "search_files"), allow, regex="a") == "denied"
        deny = PermissionsSet(mode="allow", deny=("*(**/.env)",))
        assert verdict(named(box, "write_file"), deny, path="x/.env") == "denied"
        assert verdict(named(box, "write_file"), deny, path="x/env") == "allowed"

    def test_a_rule_that_cannot_be_read_fails_closed(self, box: Toolbox) -> None:
        wrong = "shell(("
        assert verdict(SAY, PermissionsSet(mode="allow", deny=(wrong,)), words="a") == "denied"
        assert verdict(SAY, PermissionsSet(mode="allow", ask=(wrong,)), words="a") == "ask"
        assert verdict(SAY, PermissionsSet(mode="deny", allow=(wrong,)), words="a") == "denied"
        assert denies(PermissionsSet(deny=(wrong,)), "read_file", "a")

    @pytest.mark.parametrize("path", [5, None, ["a"], "a\0b", "\ud800"])
    def test_a_path_that_is_none_is_denied_in_doubt_and_never_allowed(
        self, box: Toolbox, path: object
    ) -> None:
        reading = named(box, "read_file")
        assert verdict(
            reading, PermissionsSet(mode="allow", deny=("read_file(x)",)), path=path
        ) == ("denied")
        allow = PermissionsSet(mode="deny", allow=("read_file(**)",))
        assert verdict(reading, allow, path=path) == "denied"


class TestPaths:
    """A link must not lead around a rule, whichever side of it the rule names."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in ("src", "secret"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a").write_text(name)
        (tmp_path / "src" / "out").symlink_to(tmp_path / "secret")
        (tmp_path / "src" / "away").symlink_to("/etc")
        (tmp_path / ".env").symlink_to("secret/a")
        return tmp_path

    @pytest.mark.parametrize(
        "path", ["secret/a", "src/out/a", "src/../secret/a", "./secret//a", ".env", "secret"]
    )
    def test_what_is_denied_is_denied_by_every_way(
        self, folder: Path, box: Toolbox, path: str
    ) -> None:
        deny = PermissionsSet(mode="allow", deny=("read_file(secret/**)",))
        reading = named(box, "read_file")
        assert verdict(reading, deny, path=path) == "denied"
        assert verdict(reading, deny, path=str(folder / path)) == "denied"
        assert verdict(reading, deny, path="src/a") == "allowed"

    @pytest.mark.parametrize("path", [".env", "src/../.env", "src/out/../../.env"])
    def test_a_rule_speaks_about_a_link_by_its_own_name(
        self, box: Toolbox, folder: Path, path: str
    ) -> None:
        deny = PermissionsSet(mode="allow", deny=("write_file(.env)",))
        assert verdict(named(box, "write_file"), deny, path=path) == "denied"

    @pytest.mark.parametrize(
        "path", ["src/out/a", "src/away/passwd", "src/../secret/a", "/etc/passwd", "src/../../x"]
    )
    def test_what_is_allowed_is_where_it_leads(self, box: Toolbox, folder: Path, path: str) -> None:
        allow = PermissionsSet(allow=("write_file(src/**)",))
        assert verdict(named(box, "write_file"), allow, path=path) == "ask"
        assert verdict(named(box, "write_file"), allow, path="src/a") == "allowed"


class TestRules:
    """A rule with a mistake in it is told when it is set, not when it was needed."""

    @pytest.mark.parametrize(
        "rule",
        ["read_file", "shell(git status*)", "write_file(src/**)", "*", "*(a)", "shell((a) (b))"],
    )
    def test_a_rule_is_a_name_and_a_pattern(self, rule: str) -> None:
        check_rule(rule)

    @pytest.mark.parametrize(
        "rule",
        [
            "",
            " ",
            "shell()",
            "shell(",
            "shell(a",
            "a b",
            "shell(a) ",
            "é",
            "(a)",
            "a(b)c",
            "x" * 65,
        ],
    )
    def test_what_is_none_says_how_one_looks(self, rule: str) -> None:
        with pytest.raises(InputRefused, match=r"is not a rule: write read_file, or shell"):
            check_rule(rule)

    def test_control_characters_and_length(self) -> None:
        with pytest.raises(InputRefused, match="holds a control character"):
            check_rule("shell(a\nb)")
        with pytest.raises(InputRefused, match="is too long") as refused:
            check_rule(f"shell({'a' * 1_000})")
        assert len(str(refused.value)) < 300

    @given(
        st.tuples(*[st.lists(st.text(max_size=20), max_size=3).map(tuple)] * 3),
        st.sampled_from(["ask", "allow", "deny", "read_only"]),
        st.recursive(
            st.none() | st.text() | st.integers(), lambda x: st.dictionaries(st.text(), x)
        ),
    )
    def test_whatever_stands_in_a_session_there_is_a_judgement(
        self,
        rules: tuple[tuple[str, ...], ...],
        mode: PermissionMode,
        value: object,
    ) -> None:
        permissions = PermissionsSet(mode=mode, allow=rules[0], deny=rules[1], ask=rules[2])
        for given_tool in (SAY, *HERE):
            for argument in ("words", "path", "command"):
                judged = judge(permissions, given_tool, {argument: value})
                assert judged.verdict in ("allowed", "denied", "ask")
                assert judged.by
                json.dumps(judged.by)
