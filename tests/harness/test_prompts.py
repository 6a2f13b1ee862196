"""Prompts in files: what stands there now, or an error; never what stood there, never half."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Thread

import pytest

from eventlog.errors import InputRefused, NotFound
from harness.prompts import SCENARIOS, Prompts, environment, scenario, scenario_name
from harness.prompts import folder as folder_module
from harness.prompts.environment import git_branch
from harness.prompts.folder import MOST_BYTES
from harness.prompts.reading import SETTLED_NS, Unsettled, read_settled
from harness.summarizers import prompt
from projections.prompts import PromptFault, PromptMissing, PromptUnreadable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "prompts"
    (found / "team").mkdir(parents=True)
    (found / "review.yaml").write_text("coder: {system: 'You know {it}.'}\njudge: {user: 'Who?'}\n")
    (found / "team" / "greeting.yml").write_text("system: 'Hello {name}.'\nuser: '{role}'\n")
    for name in ("notes.txt", ".hidden.yaml", "team/.x.yml"):
        (found / name).write_text("{")
    return found


class TestNames:
    """A name is data: what a log or a model says must not open a file somewhere else."""

    def test_files_and_roles_are_found_by_their_names(self, folder: Path) -> None:
        prompts = Prompts(folder)
        assert prompts.names() == [("review", "coder"), ("review", "judge"), ("team/greeting", "")]
        assert prompts.get("review", "judge").user == "Who?"
        assert prompts.get("team/greeting").label == "team/greeting"

    def test_a_file_is_named_by_its_stem(self, folder: Path) -> None:
        prompts = Prompts(folder / "review.yaml")
        assert prompts.names() == [("review", "coder"), ("review", "judge")]
        with pytest.raises(PromptMissing, match="is 'review' meant"):
            prompts.get("reviews")

    def test_a_file_of_tests_beside_it_is_no_prompt(self, folder: Path) -> None:
        (folder / "review.test.yaml").write_text("prompt: review/coder\ncases: [{checks: []}]\n")
        (folder / "team" / "greeting.test.yml").write_text("prompt: team/greeting\n")
        (folder / "test.yaml").write_text("system: A name like any other.\n")
        prompts = Prompts(folder)
        assert prompts.files() == ["review", "team/greeting", "test"]
        assert prompts.names()[-1] == ("test", "")
        with pytest.raises(PromptMissing, match="are tests"):
            prompts.get("review.test")
        with pytest.raises(PromptUnreadable, match="a file of tests, and no prompt"):
            Prompts(folder / "review.test.yaml").files()

    @pytest.mark.parametrize(
        "name",
        [
            *("../secret", "/etc/passwd", "team/../review", "./review", "team//greeting", ""),
            *(".hidden", "team/.x", "review.yaml", "a\0b", "a\nb", "..", "team", "x" * 9_000),
            "team\\greeting",
        ],
    )
    def test_a_name_leads_nowhere_else(self, folder: Path, name: str) -> None:
        (folder.parent / "secret.yaml").write_text("system: secret\n")
        with pytest.raises(NotFound) as told:
            Prompts(folder).get(name)
        assert len(str(told.value)) < 400
        assert "\n" not in str(told.value)

    def test_a_link_may_lead_inside_and_not_outside(self, folder: Path) -> None:
        (folder.parent / "secret.yaml").write_text("system: secret\n")
        (folder / "inside.yaml").symlink_to("team/greeting.yml")
        (folder / "outside.yaml").symlink_to("../secret.yaml")
        (folder / "nowhere.yaml").symlink_to("gone.yaml")
        (folder / "round.yaml").symlink_to("round.yaml")
        (folder / "up").symlink_to("..")
        prompts = Prompts(folder)
        for name in ("team/greeting", "inside"):
            assert prompts.get(name).system == "Hello {name}."
            assert prompts.get(name).name == name
        for name, words in [
            ("outside", "leads out of the folder"),
            ("up/secret", "leads out of the folder"),
            ("nowhere", "leads nowhere"),
            ("round", "Too many levels of symbolic links|leads nowhere|loop"),
        ]:
            with pytest.raises(PromptUnreadable, match=words):
                prompts.get(name)

    @pytest.mark.parametrize(
        ("name", "role", "words"),
        [
            ("reviw", "", "no prompt 'reviw' in .*; is 'review' meant?"),
            ("zzz", "", "there are 'review', 'team/greeting'"),
            ("review", "", "the prompt review has roles: name one of 'coder', 'judge'"),
            ("review", "codr", "has no role 'codr'; is 'coder' meant?"),
            ("review", "zzz", "it has 'coder', 'judge'"),
            ("team/greeting", "coder", "the prompt team/greeting has no roles, so no 'coder'"),
        ],
    )
    def test_what_is_missing_is_told_with_what_is_near(
        self, folder: Path, name: str, role: str, words: str
    ) -> None:
        with pytest.raises(PromptMissing, match=words):
            Prompts(folder).get(name, role)

    def test_two_files_of_one_name_are_refused(self, folder: Path) -> None:
        (folder / "review.yml").write_text("system: x\n")
        with pytest.raises(PromptUnreadable, match=r"review\.yml stands beside it: keep one"):
            Prompts(folder).get("review")

    def test_a_folder_that_is_none_of_prompts_is_not_searched_to_its_end(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(folder_module, "MOST_FILES", 2)
        assert len(Prompts(folder).files()) == 2
        (folder / "a" / "b").mkdir(parents=True)
        with pytest.raises(PromptUnreadable, match="over 2 folders stand in it"):
            Prompts(folder).files()
        for name in ("third", "fourth"):
            (folder / f"{name}.yaml").touch()
        with pytest.raises(PromptUnreadable, match="over 2 files stand in it"):
            Prompts(folder).files()

    def test_a_folder_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        for ask in (Prompts(tmp_path / "gone").names, lambda: Prompts(tmp_path / "gone").get("x")):
            with pytest.raises(PromptMissing, match="there is no such folder or file"):
                ask()
        (tmp_path / "file").touch()
        with pytest.raises(PromptMissing, match="there is no such folder or file"):
            Prompts(tmp_path / "file" / "x").names()
        (tmp_path / "round").symlink_to("round")
        for path in (tmp_path / "round", "a\0b"):
            with pytest.raises(PromptUnreadable):
                Prompts(path).names()
        with pytest.raises(PromptMissing, match=r"it ends in \.yaml or \.yml"):
            Prompts(tmp_path).get("x")


class TestRendering:
    """What a model is given, in one step."""

    def test_messages_and_the_system_prompt_alone(self, folder: Path) -> None:
        prompts = Prompts(folder)
        assert prompts.render("team/greeting", name="Ada", role="x") == [
            {"role": "system", "content": "Hello Ada."},
            {"role": "user", "content": "x"},
        ]
        assert prompts.system_prompt("review", "coder", it="{it}") == "You know {it}."
        assert prompts.system_prompt("team/greeting", name="Ada") == "Hello Ada."

    def test_a_prompt_without_a_system_text_has_none(self, folder: Path) -> None:
        with pytest.raises(PromptMissing, match="review/judge has no system text"):
            Prompts(folder).system_prompt("review", "judge")


class TestUnreadable:
    """One line that names the file, and what to do; never a traceback, never a wait."""

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda file: file.write_bytes(b"system: a\nuser: \xff\n"), "line 2: it is no UTF-8"),
            (lambda file: file.write_bytes(b"x" * (MOST_BYTES + 1)), "over the limit of 1,048,576"),
            (lambda file: file.write_bytes(b""), "it is empty"),
            (lambda file: file.write_bytes(b"system: a\nb\n"), "line 3: no YAML"),
            (lambda file: file.mkdir(), "Is a directory|no regular file"),
            (lambda file: os.mkfifo(file), "no regular file"),
        ],
        ids=["latin", "huge", "empty", "broken", "folder", "fifo"],
    )
    def test_the_file_is_named(
        self, folder: Path, make: Callable[[Path], object], words: str
    ) -> None:
        make(folder / "bad.yaml")
        with pytest.raises(PromptUnreadable, match=words) as told:
            Prompts(folder).get("bad")
        assert str(folder / "bad.yaml") in str(told.value)
        assert "\n" not in str(told.value)

    def test_a_byte_order_mark_and_line_ends_of_windows_are_read(self, folder: Path) -> None:
        (folder / "dos.yaml").write_bytes(b"\xef\xbb\xbfsystem: |\r\n  one\r\n  two\r\n")
        assert Prompts(folder).get("dos").system == "one\ntwo\n"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_may_not_be_read_is_told(self, folder: Path) -> None:
        def refused(ask: Callable[[], object], where: Path) -> None:
            with pytest.raises(PromptUnreadable, match="Permission denied") as told:
                ask()
            assert told.value.where == str(where)

        prompts = Prompts(folder)
        (folder / "review.yaml").chmod(0)
        refused(lambda: prompts.get("review", "coder"), folder / "review.yaml")
        (folder / "team").chmod(0)
        refused(prompts.files, folder / "team")
        (folder / "team").chmod(0o700)
        folder.chmod(0)
        refused(prompts.files, folder)
        refused(Prompts(folder / "team").files, folder / "team")
        folder.chmod(0o700)

    def test_a_device_is_no_place_of_prompts(self) -> None:
        with pytest.raises(PromptUnreadable, match="neither a folder nor a file"):
            Prompts("/dev/null").get("null")


class TestEdited:
    """Somebody edits a prompt while the agent runs: the next call has the new one, or an error."""

    def test_an_edit_is_there_at_the_next_look(self, folder: Path) -> None:
        prompts = Prompts(folder)
        first = prompts.get("review", "coder")
        assert prompts.get("review", "coder") is first
        (folder / "review.yaml").write_text("coder: {system: Other.}\n")
        assert prompts.get("review", "coder").system == "Other."
        with pytest.raises(PromptMissing):
            prompts.get("review", "judge")

    def test_a_file_that_was_only_touched_is_not_parsed_again(self, folder: Path) -> None:
        prompts = Prompts(folder)
        first = prompts.get("team/greeting")
        os.utime(folder / "team" / "greeting.yml", ns=(0, 0))
        assert prompts.get("team/greeting") is first

    def test_an_edit_of_the_same_size_at_the_same_time_is_seen(self, folder: Path) -> None:
        prompts = Prompts(folder)
        file = folder / "same.yaml"
        for word in ("one", "two", "six"):
            file.write_text(f"system: {word}\n")
            os.utime(file, ns=(10**18, 10**18))
            assert prompts.get("same").system == word

    def test_a_broken_edit_is_an_error_until_it_is_mended(self, folder: Path) -> None:
        prompts = Prompts(folder)
        file = folder / "review.yaml"
        assert prompts.get("review", "coder")
        file.write_text("coder:\n  system: [\n")
        for _ in range(2):
            with pytest.raises(PromptUnreadable, match=r"review\.yaml, line 3: no YAML") as told:
                prompts.get("review", "coder")
            assert told.value.line == 3
        file.write_text("coder:\n  system: Mended.\n")
        assert prompts.get("review", "coder").system == "Mended."

    def test_a_file_that_was_deleted_is_gone(self, folder: Path) -> None:
        prompts = Prompts(folder)
        assert prompts.get("review", "coder")
        (folder / "review.yaml").unlink()
        with pytest.raises(PromptMissing, match="no prompt 'review'"):
            prompts.get("review", "coder")
        (folder / "review.yaml").write_text("coder: {system: Back.}\n")
        assert prompts.get("review", "coder").system == "Back."

    @pytest.mark.parametrize("place", ["", "review.yaml"])
    def test_an_editor_that_moves_the_old_file_away_first_is_waited_for(
        self, folder: Path, place: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prompts, file, waits = Prompts(folder / place), folder / "review.yaml", list[float]()

        def write(seconds: float) -> None:
            waits.append(seconds)
            file.write_text("coder: {system: New.}\n")

        monkeypatch.setattr(folder_module, "sleep", write)
        with pytest.raises(PromptMissing):
            prompts.get("reviews")
        assert prompts.get("review", "coder")
        file.rename(folder / "review.yaml~")
        assert prompts.get("review", "coder").system == "New."
        assert waits == [SETTLED_NS / 1e9]

    def test_another_file_under_the_same_name_is_seen(self, folder: Path) -> None:
        prompts = Prompts(folder)
        assert prompts.get("team/greeting")
        beside = folder / "beside"
        beside.write_text("system: New.\n")
        beside.replace(folder / "team" / "greeting.yml")
        assert prompts.get("team/greeting").system == "New."

    def test_a_link_that_is_turned_is_seen(self, folder: Path) -> None:
        """As a mounted configuration changes: all its files at once."""
        for version in ("one", "two"):
            (folder / f".{version}").mkdir()
            (folder / f".{version}" / "now.yaml").write_text(f"system: {version}\n")
        (folder / ".data").symlink_to(".one")
        (folder / "now.yaml").symlink_to(".data/now.yaml")
        prompts = Prompts(folder)
        assert prompts.get("now").system == "one"
        (folder / ".next").symlink_to(".two")
        (folder / ".next").replace(folder / ".data")
        assert prompts.get("now").system == "two"
        assert ("now", "") in prompts.names()

    def test_threads_share_it(self, folder: Path) -> None:
        prompts, seen = Prompts(folder), list[str]()

        def look() -> None:
            seen.extend(prompts.get("review", "coder").system for _ in range(50))

        threads = [Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == ["You know {it}."] * 200


WRITER = """
import os, sys
path, how = sys.argv[1:]
texts = [f'system: "{letter * 40000}"\\n' for letter in "ab"]
print("ready", flush=True)
for turn in range(100):
    text = texts[turn % 2]
    if how == "rename":
        with open(path + ".part", "w") as stream:
            stream.write(text)
        os.replace(path + ".part", path)
    else:
        with open(path, "w") as stream:
            for start in range(0, len(text), 10000):
                stream.write(text[start:start + 10000])
                stream.flush()
"""


class TestWrittenMeanwhile:
    """Half a file may be valid: its rules are then missing, and nobody is told."""

    @pytest.mark.parametrize("how", ["rename", "in place"])
    def test_another_process_writes_all_the_time_and_nothing_is_ever_half(
        self, folder: Path, how: str
    ) -> None:
        """In place a look may end in an error: half of a text in quotes is none."""
        file = folder / "moving.yaml"
        file.write_text(f'system: "{"a" * 40_000}"\n')
        prompts, whole, faults = Prompts(folder), 0, 0
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), how], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            while True:
                ended = writer.poll() is not None
                try:
                    text = prompts.get("moving").system
                except PromptFault:
                    faults += 1
                else:
                    whole += 1
                    assert text in ("a" * 40_000, "b" * 40_000)
                if ended:
                    break
        assert prompts.get("moving").system == "b" * 40_000
        assert whole
        assert how != "rename" or not faults

    def test_half_a_file_that_is_valid_is_waited_for(self, folder: Path) -> None:
        """The writer pauses in the middle, at each of the looks but the last."""
        file = folder / "slow.yaml"
        halves = ["system: |\n  Be helpful.\n", "  Never delete anything.\n"]
        file.write_text(halves[0])

        def sleep(seconds: float) -> None:
            if halves[1:]:
                with file.open("a") as stream:
                    stream.write(halves.pop())
                os.utime(file)

        now = file.stat().st_ctime_ns + 1
        content = read_settled(file, MOST_BYTES, sleep=sleep, now=lambda: now)
        assert content.data.decode().endswith("Never delete anything.\n")

    def test_a_file_that_goes_on_changing_is_an_error(self, folder: Path) -> None:
        file = folder / "busy.yaml"
        file.write_text("system: 0\n")
        turns = iter(range(1_000))

        def sleep(seconds: float) -> None:
            assert seconds == SETTLED_NS / 1e9
            file.write_text(f"system: {next(turns)}\n" * 2)

        with pytest.raises(Unsettled, match="it goes on changing"):
            read_settled(file, MOST_BYTES, sleep=sleep, now=lambda: 0)

    def test_a_file_that_rests_is_not_waited_for(self, folder: Path) -> None:
        def sleep(seconds: float) -> None:
            raise AssertionError

        file = folder / "review.yaml"
        later = file.stat().st_ctime_ns + SETTLED_NS
        content = read_settled(file, MOST_BYTES, sleep=sleep, now=lambda: later)
        assert not content.is_certain
        assert read_settled(file, MOST_BYTES, content, sleep=sleep, now=lambda: 0) == content
        much = later + 10**10
        assert read_settled(file, MOST_BYTES, sleep=sleep, now=lambda: much).is_certain

    def test_where_clocks_go_in_coarse_steps_the_bytes_decide(self, folder: Path) -> None:
        """On such a file system two edits within two seconds have the same times and size."""
        prompts, file = Prompts(folder), folder / "same.yaml"
        file.write_text("system: new\n")
        assert prompts.get("same").system == "new"
        known = prompts._known["same"]
        assert not known.content.is_certain
        older = replace(known.content, data=b"system: old\n")
        prompts._known["same"] = replace(known, content=older, templates={})
        assert prompts.get("same").system == "new"


class TestBundled:
    """What comes along is found in every installation, and is in order."""

    def test_every_file_is_a_prompt_with_a_version_and_a_description(self) -> None:
        prompts = Prompts.bundled()
        names = prompts.names()
        assert len(names) >= 6
        for name, role in names:
            template = prompts.get(name, role)
            assert template.version
            assert template.description
            assert template.system

    def test_there_is_one_for_each_scenario_whose_system_prompt_needs_nothing(self) -> None:
        prompts = Prompts.bundled()
        for name in SCENARIOS:
            assert len(prompts.system_prompt(name)) > 400
            assert scenario(name) == prompts.get(name)
            assert prompts.get(name).variables

    @pytest.mark.parametrize(
        ("task_type", "name"),
        [
            ("code_review", "code_review"),
            ("Code review", "code_review"),
            ("debugging", "debugging"),
            ("bug-fix", "debugging"),
            ("architecture", "architecture"),
            ("chat", "general"),
            ("creative_writing", "general"),
            ("", "general"),
        ],
    )
    def test_a_scenario_is_chosen_by_the_kind_of_task(self, task_type: str, name: str) -> None:
        assert scenario_name(task_type) == name

    def test_a_scenario_may_come_from_a_folder_of_ones_own(self, tmp_path: Path) -> None:
        (tmp_path / "general.yaml").write_text("system: Mine.\n")
        assert scenario("whatever", Prompts(tmp_path)).system == "Mine."
        with pytest.raises(PromptMissing):
            scenario("debugging", Prompts(tmp_path))

    @pytest.mark.parametrize(
        ("name", "digest"),
        [
            ("handoff_v1", "8a688420b90cb197eefebd649efdedff543ccbc40c121847d4597ab03f2ef3eb"),
            ("combine_v1", "b3e6bed740d2f06827e0aea8129e6ee2b4598b23bcef54c6d45ca60b931aff95"),
        ],
    )
    def test_the_instructions_to_summarizers_are_the_bytes_that_they_were(
        self, name: str, digest: str
    ) -> None:
        """By them the summaries that a log keeps are found again, and not paid for twice."""
        text = Prompts.bundled().system_prompt(f"summaries/{name}")
        assert sha256(text.encode()).hexdigest() == prompt(name).digest == digest

    @pytest.mark.parametrize("name", ["code_review", "../code_review", "handoff_v9", "", "x" * 999])
    def test_only_instructions_to_summarizers_are_found_as_such(self, name: str) -> None:
        with pytest.raises(InputRefused, match="comes with this program"):
            prompt(name)

    def test_they_are_files_of_the_package(self) -> None:
        place = files("harness.prompts").joinpath("bundled")
        wanted = {"summaries", *(f"{name}.yaml" for name in SCENARIOS)}
        assert wanted <= {each.name for each in place.iterdir()}


class TestEnvironment:
    """It is looked up when it is asked for, and no program of a stranger's repository runs."""

    def test_the_facts_of_this_machine(self, tmp_path: Path) -> None:
        found = environment(tmp_path)
        assert found.cwd == str(tmp_path.resolve())
        assert found.platform
        assert len(found.date) == 10
        assert environment().cwd == os.getcwd()

    @pytest.mark.parametrize(
        ("head", "branch"),
        [
            ("ref: refs/heads/feature/one\n", "feature/one"),
            ("0123456789abcdef0123456789abcdef01234567\n", "(no branch, at 0123456789ab)"),
            ("ref: refs/heads/a b\n", ""),
            ("", ""),
            ("x" * 100_000, ""),
        ],
    )
    def test_the_branch_is_read_from_the_repository_above(
        self, tmp_path: Path, head: str, branch: str
    ) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text(head)
        (tmp_path / "src" / "deep").mkdir(parents=True)
        assert git_branch(tmp_path / "src" / "deep") == branch

    def test_a_worktree_points_to_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "main" / "worktrees" / "w").mkdir(parents=True)
        (tmp_path / "main" / "worktrees" / "w" / "HEAD").write_text("ref: refs/heads/w\n")
        (tmp_path / "tree").mkdir()
        (tmp_path / "tree" / ".git").write_text("gitdir: ../main/worktrees/w\n")
        assert git_branch(tmp_path / "tree") == "w"

    def test_what_is_no_repository_has_no_branch(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / ".git")
        assert git_branch(tmp_path) == ""

    def test_a_folder_that_is_gone_is_left_out(self, tmp_path: Path) -> None:
        code = textwrap.dedent("""
            import os, pathlib
            pathlib.Path("gone").mkdir(); os.chdir("gone"); os.rmdir("../gone")
            from harness.prompts import environment
            print(environment().cwd == "", bool(environment().date))
        """)
        root = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
        )
        assert done.stdout == "True True\n", done.stderr
