"""Files: read as they are, changed where it was asked for, and nothing outside of the folder."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tool_session import ToolSession, session

from eventlog.agent import FileSeen, PermissionsSet
from harness.errors import ToolFailed
from harness.tools import toolbox
from harness.tools.confinement import MOST_BYTES
from harness.tools.files import LINES, MOST_CHARACTERS
from harness.tools.replacing import now, write_whole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def files(tmp_path: Path, folder: Path) -> Iterator[ToolSession]:
    with session(tmp_path, toolbox("files", folder)) as opened:
        yield opened


class TestConfinement:
    """A model that reads one file outside of the folder has read them all."""

    @pytest.mark.parametrize(
        "path",
        [
            "..",
            "../outside",
            "a/../../outside",
            "/etc/passwd",
            "link",
            "folder/outside",
            "chain",
            "//etc/passwd",
            "/proc/self/environ",
            "~/x/../../..",
        ],
    )
    @pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file", "list_files"])
    def test_nothing_leads_out_of_it(
        self, tmp_path: Path, folder: Path, files: ToolSession, path: str, name: str
    ) -> None:
        (tmp_path / "outside").write_text("secret")
        (folder / "link").symlink_to(tmp_path / "outside")
        (folder / "folder").symlink_to("..")
        (folder / "chain").symlink_to("link")
        arguments = {"write_file": {"content": ""}, "edit_file": {"old": "s", "new": ""}}
        told = files.fault(name, path=path, **arguments.get(name, {}))
        assert told == f"{path!r} is outside of the folder that tools may use"
        assert files.fault("search_files", regex="secret", path=path) == told
        assert (tmp_path / "outside").read_text() == "secret"

    def test_links_within_it_and_absolute_paths_are_followed(
        self, folder: Path, files: ToolSession
    ) -> None:
        (folder / "a").write_text("text")
        (folder / "link").symlink_to("a")
        assert files.said("read_file", path="link") == "text"
        assert files.said("read_file", path=str(folder / "x" / ".." / "a")) == "text"
        files.said("write_file", path="link", content="new")
        assert (folder / "a").read_text() == "new"
        assert (folder / "link").is_symlink()

    def test_a_folder_that_is_reached_by_a_link_is_the_folder(
        self, tmp_path: Path, folder: Path
    ) -> None:
        (folder / "a").write_text("text")
        (tmp_path / "link").symlink_to(folder)
        with session(tmp_path, toolbox("files", tmp_path / "link")) as files:
            assert files.said("read_file", path="a") == "text"
            assert files.said("read_file", path=str(tmp_path / "link" / "a")) == "text"

    @pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/zero", "/sys", "/dev/stdin"])
    def test_the_system_is_no_part_of_it_even_of_the_root(self, tmp_path: Path, path: str) -> None:
        if not Path(path).exists():
            pytest.skip(f"there is no {path} here")
        with session(tmp_path, toolbox("files", Path("/"))) as files:
            told = files.fault("read_file", path=path)
        assert told in (
            f"{path!r} belongs to the system",
            f"{path!r} is no regular file (a pipe, a socket or a device)",
        )

    @pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file"])
    def test_a_pipe_or_a_socket_is_not_waited_for(
        self, folder: Path, files: ToolSession, name: str
    ) -> None:
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            here = Path.cwd()
            os.chdir(folder)  # the path of a socket is short
            try:
                server.bind("socket")
            finally:
                os.chdir(here)
            arguments = {"write_file": {"content": ""}, "edit_file": {"old": "s", "new": ""}}
            for path in ("pipe", "socket"):
                assert files.fault(name, path=path, **arguments.get(name, {})) == (
                    f"{path!r} is no regular file (a pipe, a socket or a device)"
                )
        assert files.said("search_files", regex="x") == "[no match; files searched: 0]"
        assert files.said("list_files") == "pipe\nsocket"

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("a\0b", "is no path: embedded null byte"),
            ("\ud800", "is no path: "),
            ("x" * 5_000, "File name too long"),
            ("", "is a folder: list_files shows what is in it"),
            ("gone", "cannot be read: No such file or directory"),
            ("loop", "is a link that leads nowhere"),
        ],
    )
    def test_what_cannot_be_opened_says_why_in_a_line(
        self, folder: Path, files: ToolSession, path: str, why: str
    ) -> None:
        (folder / "loop").symlink_to("loop")
        told = files.fault("read_file", path=path)
        assert why in told
        assert "\n" not in told
        assert len(told) < 300

    def test_a_file_that_may_not_be_read_says_so(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("x")
        (folder / "a").chmod(0)
        if os.access(folder / "a", os.R_OK):
            pytest.skip("this user may read everything")
        assert files.fault("read_file", path="a") == "'a' cannot be read: Permission denied"


class TestReading:
    """The model works on what it was told: a line end that was lost is a change nobody made."""

    @pytest.mark.parametrize(
        "content", ["a\n", "a", "a\r\nb\r\n", "a\rb\n\r\n\x0c\x85\u2028z", "\ufeffx\n", "é\n\n"]
    )
    def test_it_is_told_as_it_is(self, folder: Path, files: ToolSession, content: str) -> None:
        (folder / "a").write_bytes(content.encode())
        assert files.said("read_file", path="a") == content

    def test_an_empty_file_says_that_it_is(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").touch()
        assert files.said("read_file", path="a") == "[the file is empty]"

    def test_a_part_says_where_it_stands(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("".join(f"{i}\n" for i in range(1, 3_001)))
        whole = files.said("read_file", path="a")
        assert whole.endswith(
            f"\n{LINES}\n[lines 1 to {LINES:,} of 3,000; offset {LINES + 1} goes on]"
        )
        assert files.said("read_file", path="a", offset=2_999) == (
            "2999\n3000\n[lines 2,999 to 3,000 of 3,000]"
        )
        assert files.said("read_file", path="a", offset=7, limit=1) == (
            "7\n[lines 7 to 7 of 3,000; offset 8 goes on]"
        )
        told = files.fault("read_file", path="a", offset=3_001)
        assert told == "a has 3,000 lines, so none at 3,001"
        assert [file.is_whole for file in files.state.tools.files] == [False]

    def test_very_long_lines_are_cut_off_and_said(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("one\n" + "x" * (MOST_CHARACTERS + 5))
        told = files.said("read_file", path="a")
        assert told.endswith(
            f"xxx\n[cut off after {MOST_CHARACTERS:,} characters, in line 2; offset 2 goes on]"
        )
        assert len(told) < MOST_CHARACTERS + 100

    def test_what_is_no_text_is_described(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_bytes(b"\x89PNG\0" + b"x" * 1_000)
        assert files.said("read_file", path="a") == (
            "[a is no text: 1,005 bytes, which begin "
            "89 50 4e 47 00 78 78 78 78 78 78 78 78 78 78 78]"
        )

    def test_what_is_no_utf_8_is_shown_and_said(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_bytes(b"caf\xe9\n")
        assert files.said("read_file", path="a") == (
            "caf\ufffd\n[what is no UTF-8 is shown as \ufffd]"
        )
        (folder / "b").write_text("an honest \ufffd\n")
        assert files.said("read_file", path="b") == "an honest \ufffd\n"

    def test_a_giant_is_not_read(self, folder: Path, files: ToolSession) -> None:
        with open(folder / "a", "wb") as file:
            file.truncate(MOST_BYTES + 1)
        assert files.fault("read_file", path="a") == (
            "a has 16,777,217 bytes: over 16,777,216 nothing is read"
        )


class TestWriting:
    """Half a file is worse than none, and what nobody read must not be lost."""

    def test_a_new_file_with_its_folders(self, folder: Path, files: ToolSession) -> None:
        told = files.said("write_file", path="x/y/a.py", content="é\r\n")
        assert told == "wrote 4 bytes to x/y/a.py (a new file)"
        assert (folder / "x/y/a.py").read_bytes() == "é\r\n".encode()
        umask = os.umask(0)
        os.umask(umask)
        assert stat.S_IMODE((folder / "x/y/a.py").stat().st_mode) == 0o666 & ~umask

    def test_it_takes_the_place_of_the_old_one_and_keeps_its_mode(
        self, folder: Path, files: ToolSession
    ) -> None:
        (folder / "a").write_text("old")
        (folder / "a").chmod(0o751)
        files.said("read_file", path="a")
        with open(folder / "a") as held:
            told = files.said("write_file", path="a", content="new one")
            assert held.read() == "old"  # whoever reads it has the old one, whole
        assert told == "wrote 7 bytes to a (it had 3 bytes before)"
        assert (folder / "a").read_text() == "new one"
        assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o751
        assert os.listdir(folder) == ["a"]

    def test_one_that_was_not_read_is_not_replaced(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("old")
        for name, arguments in (
            ("write_file", {"content": "new"}),
            ("edit_file", {"old": "old", "new": "new"}),
        ):
            told = files.fault(name, path="a", **arguments)
            assert told == "a exists and was not read: read it first"
        assert (folder / "a").read_text() == "old"

    def test_one_that_was_changed_since_is_not_replaced(
        self, folder: Path, files: ToolSession
    ) -> None:
        (folder / "a").write_text("old")
        files.said("read_file", path="a")
        (folder / "a").write_text("the person's own change")
        told = files.fault("edit_file", path="a", old="own", new="")
        assert told == "a was changed since it was read: read it again"
        files.said("read_file", path="a")
        files.said("edit_file", path="a", old="own ", new="")
        files.said("edit_file", path="a", old="person", new="model")  # its own change is known
        files.said("write_file", path="a", content="and again")
        assert (folder / "a").read_text() == "and again"

    def test_one_of_the_same_size_that_was_touched_is_not_replaced(
        self, folder: Path, files: ToolSession
    ) -> None:
        (folder / "a").write_text("old")
        files.said("read_file", path="a")
        (folder / "a").write_text("new")
        os.utime(folder / "a", ns=(1, 1))
        assert "changed since it was read" in files.fault("write_file", path="a", content="x")

    def test_what_was_read_is_known_after_a_restart(self, tmp_path: Path, folder: Path) -> None:
        (folder / "a").write_text("old")
        with session(tmp_path, toolbox("files", folder)) as files:
            files.said("read_file", path="a")
        with session(tmp_path, toolbox("files", folder)) as files:
            files.said("edit_file", path="a", old="old", new="new")
        assert (folder / "a").read_text() == "new"

    def test_what_it_records_is_how_the_file_is(self, folder: Path, files: ToolSession) -> None:
        outcome = files.call("write_file", path="a", content="text")
        found = (folder / "a").stat()
        assert outcome.events == (
            FileSeen(
                path=str(folder / "a"),
                how="written",
                size=4,
                modified_ns=found.st_mtime_ns,
                tool_call_id=outcome.tool_call_id,
            ),
        )

    def test_one_that_changes_at_the_last_moment_is_not_replaced(self, folder: Path) -> None:
        for before, made in ((b"old", "the person's"), (None, "new as well")):
            place = folder / "a"
            if before is None:
                place.unlink()
            else:
                place.write_bytes(before)
            looked = now(place)
            place.write_text(made)
            with pytest.raises(ToolFailed, match="a was changed by another program: read it"):
                write_whole(place, b"the model's", looked)
            assert place.read_text() == made
            assert os.listdir(folder) == ["a"]

    def test_what_is_read_only_stays_as_it_is(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("old")
        (folder / "a").chmod(0o444)
        files.said("read_file", path="a")
        assert files.fault("write_file", path="a", content="new") == "a is read-only"
        assert files.fault("edit_file", path="a", old="old", new="new") == "a is read-only"
        assert (folder / "a").read_text() == "old"

    def test_half_a_character_is_not_written(self, folder: Path, files: ToolSession) -> None:
        told = files.fault("write_file", path="a", content="x\udc80")
        assert told == "the text holds half a character (U+DC80), which no file of UTF-8 can hold"
        assert not (folder / "a").exists()

    def test_what_cannot_be_written_leaves_nothing_behind(
        self, folder: Path, files: ToolSession
    ) -> None:
        (folder / "a").write_text("x")
        assert files.fault("write_file", path="a/b", content="").startswith("b cannot be written: ")
        assert "is a folder" in files.fault("write_file", path=".", content="")
        told = files.fault("write_file", path="x" * 256, content="")
        assert told.endswith(" cannot be written: File name too long")
        assert os.listdir(folder) == ["a"]


class TestEditing:
    """Every byte but those that were named stays."""

    @pytest.mark.parametrize(
        ("before", "old", "new", "after", "line"),
        [
            (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n", 2),
            (b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n", 1),
            (b"a\r\nb\r\n", "a\r\nb", "x\ny", b"x\r\ny\r\n", 1),
            (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n", 2),
            (b"a\r\nb\nc", "b\nc", "x\ny", b"a\r\nx\ny", 2),
            (b"caf\xe9 \xff\nold\n\xfe", "old", "n\u00e9w", b"caf\xe9 \xff\nn\xc3\xa9w\n\xfe", 2),
            (b"\xef\xbb\xbfold", "old", "new", b"\xef\xbb\xbfnew", 1),
            (b"a b", " b", "", b"a", 1),
            (b"\\1 (.*)", "(.*)", "\\g<0>", b"\\1 \\g<0>", 1),
        ],
    )
    def test_what_was_named_is_replaced(
        self,
        folder: Path,
        files: ToolSession,
        before: bytes,
        old: str,
        new: str,
        after: bytes,
        line: int,
    ) -> None:
        (folder / "a").write_bytes(before)
        files.said("read_file", path="a")
        assert files.said("edit_file", path="a", old=old, new=new) == f"changed a at line {line}"
        assert (folder / "a").read_bytes() == after

    @pytest.mark.parametrize(
        ("content", "old", "new", "why"),
        [
            ("abc", "x", "y", "the old text does not stand in a: read it again"),
            ("a b\nb\n", "b", "y", "stands in a more than once (at lines 1, 2)"),
            ("b\n" * 20, "b", "y", "(at lines 1, 2, 3, 4, 5 …)"),
            ("aaa", "aa", "y", "stands in a more than once (at lines 1, 1)"),
            ("abc", "", "y", "the old text is empty"),
            ("abc", "b", "b", "are the same"),
            ("a\0b", "a", "b", "a is no text: it is not edited"),
        ],
    )
    def test_what_is_not_clear_is_not_done(
        self, folder: Path, files: ToolSession, content: str, old: str, new: str, why: str
    ) -> None:
        (folder / "a").write_text(content)
        files.said("read_file", path="a")
        assert why in files.fault("edit_file", path="a", old=old, new=new)
        assert (folder / "a").read_text() == content

    def test_an_edit_that_makes_a_giant_is_refused(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_bytes(b"x" * (MOST_BYTES - 2) + b"y")
        files.said("read_file", path="a", limit=1)
        told = files.fault("edit_file", path="a", old="y", new="zzz")
        assert told == "16,777,217 bytes are too many: at most 16,777,216"


class TestListing:
    """A list that is cut off without a word is a list of what is not there."""

    def test_one_level_or_all(self, folder: Path, files: ToolSession) -> None:
        for name in ("a.py", "b.txt", "src/c.py", "src/deep/d.py", ".git/x.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        (folder / "up").symlink_to("..")
        assert files.said("list_files") == ".git/\na.py\nb.txt\nsrc/\nup"
        assert files.said("list_files", pattern="**/*.py") == "a.py\nsrc/c.py\nsrc/deep/d.py"
        assert files.said("list_files", path="src") == "src/c.py\nsrc/deep/"
        assert files.said("list_files", path="src", pattern="*/*") == "src/deep/d.py"
        assert files.said("list_files", pattern="*.rs") == "[there is nothing that matches]"
        assert files.fault("list_files", path="a.py") == "a.py cannot be listed: Not a directory"
        assert files.fault("list_files", path="no") == (
            "no cannot be listed: No such file or directory"
        )

    def test_a_long_list_says_that_it_is_cut(
        self, folder: Path, files: ToolSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.tools.files.MOST_LISTED", 3)
        for name in "abcd":
            (folder / name).touch()
        assert files.said("list_files") == "a\nb\nc\n[only the first 3 are listed]"

    def test_a_name_of_two_lines_is_one_file(self, folder: Path, files: ToolSession) -> None:
        (folder / "a\nb:1: x").write_text("x")
        assert files.said("list_files") == '"a\\nb:1: x"'
        assert files.said("search_files", regex="x") == '"a\\nb:1: x":1: x'

    def test_a_pattern_has_its_bounds(self, files: ToolSession) -> None:
        assert "at most 1000 characters" in files.fault("list_files", pattern="**/" * 400)
        assert "at most 1000 characters" in files.fault(
            "search_files", regex="x", pattern="**/" * 400
        )

    def test_a_name_that_is_no_utf_8_is_listed(self, folder: Path, files: ToolSession) -> None:
        try:
            (folder / os.fsdecode(b"caf\xe9")).touch()
        except OSError:
            pytest.skip("this file system takes no such name")
        assert files.said("list_files") == "caf\udce9"


class TestSearching:
    """A search that stops early, or hangs, says so."""

    def test_it_finds_lines(self, folder: Path, files: ToolSession) -> None:
        (folder / "a.py").write_bytes(b"def one():\r\n    pass\r\ndef two(): \xff\n")
        (folder / "b").mkdir()
        (folder / "b/c.txt").write_text("def three")
        assert files.said("search_files", regex=r"def \w+") == (
            "a.py:1: def one():\na.py:3: def two(): \ufffd\nb/c.txt:1: def three"
        )
        assert files.said("search_files", regex="^def", pattern="*.py").count("\n") == 1
        assert files.said("search_files", regex="^def", pattern="*.txt") == "b/c.txt:1: def three"
        assert files.said("search_files", regex="^def", pattern="**/c.*") == "b/c.txt:1: def three"
        assert files.said("search_files", regex="^def", pattern="./*.txt") == (
            "[no match; files searched: 0]"
        )
        assert files.said("search_files", regex="three$", path="b") == "b/c.txt:1: def three"
        assert files.said("search_files", regex="one", path="a.py") == "a.py:1: def one():"
        assert files.said("search_files", regex="nowhere") == "[no match; files searched: 2]"

    def test_what_is_not_searched_is_told(self, folder: Path, files: ToolSession) -> None:
        (folder / "binary").write_bytes(b"x\0x")
        (folder / "text").write_text("x\n" * 300)
        with open(folder / "giant", "wb") as file:
            file.truncate(MOST_BYTES + 1)
        lines = files.said("search_files", regex="x").split("\n")
        assert lines[:2] == ["text:1: x", "text:2: x"]
        assert lines[200:] == [
            "[only the first 200 matches are shown]",
            "[not searched, as binary, too large or unreadable: 2]",
        ]

    def test_what_may_not_be_read_is_not_searched(self, folder: Path, files: ToolSession) -> None:
        (folder / "secret").mkdir()
        (folder / "secret/key").write_text("token")
        (folder / "open").write_text("token")
        files.append(PermissionsSet(mode="allow", deny=("read_file(secret/**)",)))
        for arguments in ({}, {"path": "secret"}, {"path": "secret/key"}):
            told = files.said("search_files", regex="token", **arguments)
            assert told.endswith("[not searched, since they may not be read: 1]")
            assert "secret/key:" not in told

    def test_of_a_long_line_the_match_is_shown(self, folder: Path, files: ToolSession) -> None:
        (folder / "a").write_text("x" * 100_000 + "needle" + "y" * 100_000)
        told = files.said("search_files", regex="needle")
        assert told.startswith("a:1: …xxx")
        assert told.endswith("yyy…")
        assert "xneedley" in told
        assert len(told) < 500

    @pytest.mark.parametrize(
        ("regex", "why"),
        [
            ("(", "that is no regular expression: missing )"),
            ("a{99999999999}", "that is no regular expression: "),
            ("(?P<n>a)(?P<n>b)", "that is no regular expression: redefinition"),
        ],
    )
    def test_what_is_no_expression_says_why(self, files: ToolSession, regex: str, why: str) -> None:
        assert files.fault("search_files", regex=regex).startswith(why)

    @pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
    def test_one_that_takes_too_much_memory_is_ended(
        self, folder: Path, files: ToolSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.tools.search.MOST_MEMORY", 48 << 20)
        (folder / "a").write_bytes(b"a\n" * (MOST_BYTES // 2))
        assert files.fault("search_files", regex="b") == "it takes too much memory"

    def test_an_expression_that_never_ends_is_ended(
        self, folder: Path, files: ToolSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In this process nothing would run beside it, and no Ctrl-C would be heard."""
        monkeypatch.setattr("harness.tools.search.SECONDS", 0.3)
        (folder / "a").write_text("a" * 100)
        told = files.fault("search_files", regex="(a+)+$x|(a|a)+b")
        assert told == "the search took over 0.3 s: search for something simpler"
