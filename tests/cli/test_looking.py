"""Commands that look: each question a person has, and the answer to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import recorded_calls
from demo_log import demo_log
from running import ROOT, data, run
from small_log import EVENTS, KEY, said, small_log

from eventlog import Draft, Json, StreamKey
from eventlog.events import (
    ContextCompacted,
    DecisionUndone,
    ItemPinned,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    SessionStarted,
    ToolResultRecorded,
    Usage,
)
from projections import open_log
from projections.dialects import dialect

NAME = "refunds-0001"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def states(*args: str | Path) -> dict[str, str]:
    return {row["ref"]: row["state"] for row in data("log", *args)["rows"]}


@pytest.fixture
def cleared(tmp_path: Path) -> Path:
    """200 results, cleared by one pass."""
    path = tmp_path / "p.db"
    with open_log(path) as live:
        results = [
            ToolResultRecorded(
                tool_call_id=f"c{n}", name="bash", dialect="openai_chat", content="out " * 50
            )
            for n in range(200)
        ]
        live.append("a/b/c", *results)
        passed = (
            PlaceholderSubstituted(item=str(n), content="[cleared]", pass_id='p"1')
            for n in range(1, 201)
        )
        live.append("a/b/c", *passed)
    return path


class TestLog:
    """The gutter answers the question of the whole program; a wrong sign there misleads."""

    def test_each_item_stands_where_the_view_says(self, db: Path) -> None:
        now = states(NAME, "--db", db)
        assert {ref for ref, state in now.items() if state == "context"} == {
            "3", "16.0", "13", "22",
        }  # fmt: skip
        assert {ref for ref, state in now.items() if state == "folded"} == {"4", "6", "8", "10"}
        assert now["18"] == "left"

    @pytest.mark.parametrize(
        ("at", "ref", "state"),
        [
            ("8", "8", "context"),
            ("12", "8", "placeholder"),
            ("c3", "8", "placeholder"),
            ("k1^", "4", "context"),
            ("k1", "4", "folded"),
            ("18", "18", "context"),
            ("19", "18", "left"),
            ("25", "22", "placeholder"),
            ("now", "22", "context"),
        ],
    )
    def test_at_shows_the_session_as_it_stood_there(
        self, db: Path, at: str, ref: str, state: str
    ) -> None:
        assert states(NAME, "--at", at, "--db", db)[ref] == state
        assert states(f"{NAME}@{at}", "--db", db)[ref] == state

    def test_the_states_are_those_of_the_view_at_every_position(self, db: Path) -> None:
        with open_log(db) as live:
            for position in range(1, len(EVENTS) + 1):
                standing = {str(item) for item in live.view(KEY, position).items}
                found = states(NAME, "--at", str(position), "--db", db)
                shown = {r for r, state in found.items() if state in ("context", "placeholder")}
                assert shown == standing, position

    def test_an_item_that_a_truncation_took_out_has_left_and_is_not_folded(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "t.db"
        with open_log(path) as live:
            live.append("a/b/c", said("user", "one"), said("user", "two"))
            live.append("a/b/c", ContextCompacted(covered=("1",)))
        assert states("c", "--db", path)["1"] == "left"

    def test_a_range_and_a_number_of_rows_can_be_asked_for(self, db: Path) -> None:
        rows = data("log", NAME, "--range", "6-10", "--db", db)["rows"]
        assert [row["ref"] for row in rows] == ["6", "8", "10"]
        assert [row["ref"] for row in data("log", NAME, "-n", "2", "--db", db)["rows"]] == [
            "25",
            "26",
        ]

    def test_only_an_item_has_a_state_and_a_call_shows_what_proves_it(self, tmp_path: Path) -> None:
        path = tmp_path / "p.db"
        with open_log(path) as live:
            body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
            recorded_calls.record(live, StreamKey("a", "b", "c"), "openai_chat", body)
        found = data("show", "c@c1", "--db", path)
        assert (found["state"], found["summary"]) == (None, "")
        digest = found["event"]["request_digest"]
        assert found["call"]["request_digest"] == digest
        assert f"digest     {digest} of the request" in run("show", "c@c1", "--db", path).stdout
        assert data("show", "c@1", "--db", path)["state"] == "context"

    def test_what_was_undone_is_called_as_people_call_it(self, tmp_path: Path) -> None:
        path = tmp_path / "u.db"
        with open_log(path) as live:
            live.append("a/b/c", said("user", "one"), ContextCompacted(covered=("1",)))
            live.append("a/b/c", DecisionUndone(target=2), ItemPinned(item="1"))
            live.append("a/b/c", DecisionUndone(target=3))
        text = run("log", "c", "--db", path).stdout
        assert "── 3 undone: k1 ─" in text
        assert "── 5 undone: 3 ─" in text
        assert data("show", "c@3", "--db", path)["summary"] == "undone: k1"

    def test_a_call_of_a_tool_names_the_session_that_it_started(self, tmp_path: Path) -> None:
        path = tmp_path / "a.db"
        call = {"id": "t1", "type": "function", "function": {"name": "Task", "arguments": "{}"}}
        asking = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = MessageAppended(dialect="openai_chat", source="model", message=Json(asking))
        with open_log(path) as live:
            live.append("a/b/main", said("user", "one"), answer)
            live.append("a/b/main.x", SessionStarted(parent_session="a/b/main", parent_call="t1"))
            live.append("a/b/other", answer)
        assert "↳ main.x → Task" in run("log", "main", "--db", path).stdout
        assert [row["started"] for row in data("log", "main", "--db", path)["rows"]] == [
            [], ["main.x"],
        ]  # fmt: skip
        assert "↳" not in run("log", "other", "--db", path).stdout

    def test_types_can_be_asked_for(self, db: Path) -> None:
        rows = data(
            "log", NAME, "--type", "context-compacted", "--type", "model_called", "--db", db
        )
        assert [row["ref"] for row in rows["rows"]] == ["c1", "c2", "c3", "k1", "16.0", "c4"]

    def test_every_event_can_be_seen(self, db: Path) -> None:
        rows = data("log", NAME, "--events", "--db", db)["rows"]
        assert {row["position"] for row in rows} == set(range(1, len(EVENTS) + 1))

    def test_answers_name_their_call(self, db: Path) -> None:
        rows = {row["ref"]: row["call"] for row in data("log", NAME, "--db", db)["rows"]}
        assert (rows["6"], rows["10"], rows["22"]) == (1, 2, 4)
        later = data("log", NAME, "--range", "22-", "--db", db)["rows"]
        assert later[0]["call"] == 4

    def test_calls_say_what_they_were_given_and_what_came_of_it(self, db: Path) -> None:
        rows = data("log", NAME, "--calls", "--db", db)["rows"]
        calls = {row["ref"]: row for row in rows if row["type"] == "model_called"}
        assert [calls[c]["outcome"] for c in ("c1", "c2", "c3")] == [
            "answered: stop", "answered: stop", "failed: 529 overloaded",
        ]  # fmt: skip
        for ref, row in calls.items():
            window = data("show", f"{NAME}@{ref}", "--context", "--db", db)
            assert row["items"] == len(window["items"])
            assert (row["tokens"], row["billed"]) == (window["tokens"], window["billed"])
        for width in ("60", "100"):
            text = run("log", NAME, "--calls", "--width", width, "--db", db).stdout
            assert "provider 120 · answered: stop" in text
            assert f"4 items ≈{calls['c2']['tokens']}" in text

    def test_one_pass_is_one_row_however_many_results_it_cleared(self, cleared: Path) -> None:
        text = run("log", "c", "--db", cleared).stdout
        assert text.count("200 items cleared") == 1
        assert text.count("✂") == 200
        assert "62→15" in text

    @pytest.mark.parametrize("asked", [["--type", "placeholder_substituted"], ["--events"]])
    def test_each_substitution_has_a_row_where_each_event_was_asked_for(
        self, cleared: Path, asked: list[str]
    ) -> None:
        rows = data("log", "c", *asked, "--db", cleared)["rows"]
        found = [row for row in rows if row["type"] == "placeholder_substituted"]
        assert [row["rendition"] for row in found] == [f"{n}@{n + 200}" for n in range(1, 201)]
        assert "── 201 item 1 cleared · 62→15 tokens ─" in run(
            "log", "c", *asked, "--db", cleared
        ).stdout  # fmt: skip

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_a_compaction_says_whose_count_it_tells(self, db: Path, width: int) -> None:
        row = next(r for r in data("log", NAME, "--db", db)["rows"] if r["ref"] == "k1")
        assert (row["before_tokens"], row["before_estimated"]) == (155_000, False)
        window = data("show", f"{NAME}@k1^", "--db", db)
        assert row["before_recorded"] == window["tokens"]
        assert (
            row["after_recorded"] == data("show", f"{NAME}@k1", "--context", "--db", db)["tokens"]
        )
        assert window["told"] == 155_000
        text = run("log", NAME, "--width", str(width), "--db", db).stdout
        after = f"≈{window['tokens']} → ≈{row['after_recorded']} (agent"
        assert f"{after}'s count: 155k)" in text or f"{after}: 155k)" in text
        assert "the agent counted 155k" in run("show", f"{NAME}@k1^", "--db", db).stdout
        assert after in run("show", f"{NAME}@k1", "--db", db).stdout

    def test_a_fork_shows_its_parents_events_and_where_it_began(self, db: Path) -> None:
        answer = data("log", "retry", "--db", db)
        assert answer["fork_of"] == f"{KEY}@13"
        assert [row["ref"] for row in answer["rows"]] == [
            "3", "4", "6", "8", "10", "12", "13", "14", "15",
        ]  # fmt: skip


class TestShow:
    """One event, or the whole window: what an agent's own interface does not show."""

    def test_the_original_is_still_there_behind_the_summary(self, db: Path) -> None:
        assert "ORD-77120" in run("show", f"{NAME}@4", "--db", db).stdout

    def test_renditions_are_told_apart(self, db: Path) -> None:
        assert data("show", f"{NAME}@8", "--db", db)["item"]["form"] == "original"
        cleared = data("show", f"{NAME}@8@12", "--db", db)["item"]
        assert (cleared["form"], cleared["text"]) == ("cleared", "[cleared]")

    def test_a_pass_shows_every_item_that_it_cleared(self, cleared: Path) -> None:
        for position in (201, 300):
            result = run("show", f"c@{position}", "--db", cleared)
            assert result.stdout.count("62→15  bash         out out") == 200
            assert "{" not in result.stdout
        found = data("show", "c@201", "--db", cleared)["substitutions"]
        assert [(i["item"], i["position"]) for i in found["items"]][-1] == ("200", 400)
        assert json.loads(run("show", "c@201", "--raw", "--db", cleared).stdout.split("\n\n")[1])

    def test_an_item_says_what_became_of_it_before_it_left(self, db: Path) -> None:
        told = run("show", f"{NAME}@8", "--db", db).stdout
        assert "folded into a summary with event 16; cleared with event 12 before that" in told
        assert data("show", f"{NAME}@8", "--db", db)["changed_at"] == 12
        assert "stands in the context, revised with event 20" in run(
            "show", f"{NAME}@13", "--db", db
        ).stdout  # fmt: skip
        assert data("show", f"{NAME}@4", "--db", db)["changed_at"] is None

    def test_an_item_that_stands_as_a_placeholder_says_since_when(self, cleared: Path) -> None:
        told = run("show", "c@5", "--db", cleared).stdout
        assert "stands there as a placeholder, cleared with event 205" in told

    def test_the_window_before_and_after_a_compaction(self, db: Path) -> None:
        before = data("show", f"{NAME}@k1^", "--db", db)
        after = data("show", f"{NAME}@k1", "--context", "--db", db)
        assert [i["rendition"] for i in before["items"]] == ["3", "4", "6", "8@12", "10", "13"]
        assert [i["rendition"] for i in after["items"]] == ["3", "16.0", "13"]

    def test_the_window_of_a_call_has_what_was_billed_beside_the_estimate(self, db: Path) -> None:
        window = data("show", f"{NAME}@c2", "--context", "--db", db)
        assert window["billed"] == 220
        assert window["tokens"] == sum(item["tokens"] for item in window["items"])
        text = run("show", f"{NAME}@c2", "--context", "--db", db).stdout
        assert f"≈{window['tokens']}" in text
        assert "220" in text

    def test_a_call_without_an_answer_says_so(self, tmp_path: Path) -> None:
        from small_log import called

        path = tmp_path / "u.db"
        with open_log(path) as live:
            live.append("a/b/c", said("user", "hello"), called())
        assert data("show", "c@c1", "--db", path)["call"]["outcome"] == "unknown"

    def test_a_stored_event_can_be_seen_as_it_is(self, db: Path) -> None:
        raw = run("show", f"{NAME}@4", "--raw", "--db", db).stdout
        assert json.loads(raw[raw.index("\n{") :])["message"]["role"] == "user"

    def test_a_log_that_cannot_be_written_can_be_looked_at(
        self, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import os

        can = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and can(path, mode))
        assert data("show", NAME, "--context", "--db", db)["items"]
        result = run("fork", NAME, "--db", db)
        assert result.exit_code == 5


class TestReplay:
    """What is replayed is sent to a model by somebody: it has to be acceptable to the provider."""

    @pytest.mark.parametrize("form", ["openai", "anthropic", "responses"])
    @pytest.mark.parametrize("at", ["c1", "c2", "c3", "c4", "k1^", "k1", "8", "18", "now"])
    def test_any_place_gives_a_request_that_the_provider_takes(
        self, db: Path, form: str, at: str
    ) -> None:
        names = {"openai": "openai_chat", "responses": "openai_responses"}
        result = run("replay", f"{NAME}@{at}", "--format", form, "--db", db)
        assert result.exit_code == 0, result.output
        body = json.loads(result.stdout)
        assert body["model"] == "gpt-test"
        assert dialect(names.get(form, form)).validate(body) == []

    def test_repairs_are_told_on_stderr(self, db: Path) -> None:
        result = run("replay", f"{NAME}@6", "--db", db)
        assert "unanswered call" in result.stderr
        assert "no result was recorded" in result.stdout

    def test_what_was_never_recorded_is_told(self, db: Path, tmp_path: Path) -> None:
        bundled = ROOT / "cli" / "demo" / "refund-rounding.jsonl"
        run("import", bundled, "--db", tmp_path / "d.db")
        for options in ([], ["--format", "text"], ["--format", "openai"]):
            told = run("replay", "last@c5", *options, "--db", tmp_path / "d.db").stderr
            assert "never recorded: the system prompt and the tool definitions\n" in told
        assert "never recorded" not in run("replay", f"{NAME}@c3", "--db", db).stderr

    def test_a_recorded_request_is_shown_as_it_was_sent(self, tmp_path: Path) -> None:
        path = tmp_path / "sent.db"
        body = {
            "model": "gpt-test",
            "temperature": 0.5,
            "messages": [
                {"role": "system", "content": "Be brief.", "name": None},
                {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            ],
        }
        with open_log(path) as live:
            recorded_calls.record(live, StreamKey("a", "b", "c"), "openai_chat", body)
        result = run("replay", "c@c1", "--db", path)
        assert json.loads(result.stdout) == body
        assert data("replay", "c@c1", "--db", path)["kind"] == "as_sent"
        text = run("replay", "c@c1", "--format", "text", "--db", path).stdout
        assert "as sent" in text

    def test_it_can_be_written_to_a_file_of_ones_own(self, db: Path, tmp_path: Path) -> None:
        out = tmp_path / "request.json"
        assert run("replay", NAME, "--out", out, "--db", db).stdout == ""
        assert json.loads(out.read_text())["messages"]
        assert out.stat().st_mode & 0o777 == 0o600

    def test_a_file_that_is_there_stays(self, db: Path, tmp_path: Path) -> None:
        out = tmp_path / "mine.json"
        out.write_text("precious")
        assert run("replay", NAME, "--out", out, "--db", db).exit_code == 2
        assert out.read_text() == "precious"
        assert run("replay", NAME, "--out", out, "--force", "--db", db).exit_code == 0
        assert out.read_text() != "precious"
        assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []

    def test_a_session_without_a_message_has_no_context(self, db: Path) -> None:
        result = run("replay", f"{NAME}@2", "--db", db)
        assert result.exit_code == 3
        assert "no message" in result.stderr


class TestSessionsAndStats:
    """The way in: which session was it, and how big."""

    def test_the_newest_stands_first_and_the_number_can_be_limited(self, db: Path) -> None:
        both = [row["key"] for row in data("sessions", "--db", db)["sessions"]]
        assert both == ["ann/bot/retry", "ann/bot/refunds-0001"]
        assert len(data("sessions", "-n", "1", "--db", db)["sessions"]) == 1

    def test_an_agent_that_has_none_is_told_as_that(self, db: Path) -> None:
        assert "there are bot" in run("sessions", "--agent", "other", "--db", db).stderr

    @pytest.mark.parametrize(
        ("width", "told"),
        [(100, ""), (60, "no room for: known as, agent (--width and --json have it)")],
    )
    def test_a_column_without_room_is_told(self, db: Path, width: int, told: str) -> None:
        result = run("sessions", "--width", str(width), "--db", db)
        assert result.stderr.strip() == told
        assert ("known as" in result.stdout) is not bool(told)

    @pytest.mark.parametrize("args", [["sessions"], ["audit", "--all"], ["search", "refunds"]])
    def test_one_long_name_leaves_the_other_columns_their_room(
        self, db: Path, args: list[str]
    ) -> None:
        """A header of a request can name a session at any length."""
        front = "the refund run of monday " * 14
        with open_log(db) as live:
            for end in "ab":  # alike to the end: no beginning is enough
                live.append(StreamKey("local", "proxy", front + end), said("user", "refunds 7"))
        shown = run(*args, "--db", db)
        assert "no room for" not in shown.stderr
        lines = shown.stdout.splitlines()
        assert max(map(len, lines)) <= 100
        long = [line for line in lines if line.lstrip(" ●").startswith("the refund run")]
        assert len(long) == 2
        behind = {"sessions": " proxy ", "audit": "no calls", "search": "[refunds] 7"}[args[0]]
        assert all("…" in line and behind in line for line in long)
        other = next(line for line in lines if "refunds-0001" in line)
        assert len(other.split()) > 3

    def test_one_long_name_leaves_what_was_lost_its_room(self, tmp_path: Path) -> None:
        front = "the refund run of monday " * 14
        demo = demo_log(tmp_path)
        short = data("sessions", "--db", demo)["sessions"][0]["key"]
        with open_log(demo) as live:
            for end in "ab":
                key = StreamKey("local", "proxy", front + end)
                live.log.fork(key, short, live.log.version(short))
        both = [str(StreamKey("local", "proxy", front + end)) for end in "ab"]
        shown = run("compare", *both, "--strategy", "truncate:turns=1", "--db", demo)
        assert shown.exit_code == 0, shown.stderr
        rows = [line for line in shown.stdout.splitlines() if " → c" in line]
        assert rows
        assert all("…@" in row and len(row) <= 100 for row in rows)

    @pytest.mark.parametrize("width", [40, 60, 80, 100])
    def test_what_is_listed_as_a_name_is_taken_as_one(self, tmp_path: Path, width: int) -> None:
        path, root = tmp_path / "many.db", "fe5e1c67-53e7-4862-81ae-d0e013e3270b"
        with open_log(path) as live:
            for session in (
                "aaaaaaaa-1111-2222-3333",
                "aaaaaaaa-1112-2222-3333",
                "short",
                "x@c1",
                root,
                f"{root}.6690d10e-f521-4ac0",
                f"{root}.60dade70-20bb-4edb",
            ):
                live.append(StreamKey("u", "a", session), said("user", session))
            live.append(StreamKey("v", "a", "short"), said("user", "other"))
            for suffix in (".fork1", ".fork10", "~2"):
                live.log.fork(StreamKey("u", "a", root + suffix), StreamKey("u", "a", root), 1)
        lines = run("sessions", "--width", str(width), "--db", path).stdout.splitlines()[1:]
        assert max(map(len, lines)) <= width
        names = [line.split("  ")[0] for line in lines]
        found = {data("stats", name, "--db", path)["key"] for name in names}
        assert len(names) == len(set(names)) == len(found) == 11
        assert data("stats", "fe5e", "--db", path)["key"] == f"u/a/{root}"
        newest = run("sessions", "-n", "1", "--width", str(width), "--db", path).stdout
        assert newest.splitlines()[1].split("  ")[0] == names[0]

    def test_a_deleted_session_is_listed_with_the_name_that_it_still_answers_to(
        self, db: Path
    ) -> None:
        from eventlog.events import SessionDeleted

        with open_log(db) as live:
            live.append(KEY, SessionDeleted())
        assert KEY.session not in run("sessions", "--db", db).stdout
        lines = run("sessions", "--deleted", "--db", db).stdout.splitlines()[1:]
        (hidden,) = [line for line in lines if "(deleted)" in line]
        assert data("stats", hidden.split()[0], "--db", db)["key"] == str(KEY)
        rows = data("sessions", "--deleted", "--db", db)["sessions"]
        assert [row["key"] for row in rows if row["is_deleted"]] == [str(KEY)]

    def test_a_time_of_importing_is_not_shown_as_one_of_the_session(self, tmp_path: Path) -> None:
        path = tmp_path / "b.db"
        with open_log(path) as live:
            live.append("a/b/live", said("user", "go"))
            live.append("a/b/wrapped", SessionStarted(ownership="observed"), said("user", "on"))
            started = SessionStarted(ownership="observed", format="openai-chat")
            live.append("a/b/old", started, said("user", "went"))
        lines = run("sessions", "--db", path).stdout.splitlines()
        brackets = {line.split()[0]: "(20" in line for line in lines[1:]}
        assert brackets == {"live": False, "wrapped": False, "old": True}
        assert "its source has no clock" in run("stats", "old", "--db", path).stdout
        assert "its source has no clock" not in run("stats", "live", "--db", path).stdout

    def test_tokens_that_no_provider_counted_are_not_told_as_none(self, tmp_path: Path) -> None:
        path = tmp_path / "b.db"
        called = ModelCalled(model="m", dialect="openai_chat")
        with open_log(path) as live:
            live.append("a/b/c", said("user", "go"), called, ModelResponded(call=2))
        assert (
            "billed tokens  - (no answer has its count)" in run("stats", "c", "--db", path).stdout
        )
        assert data("stats", "c", "--db", path)["usage"] is None
        with open_log(path) as live:
            live.append("a/b/c", called, ModelResponded(call=4, usage=Usage(input=7)))
        text = run("stats", "c", "--db", path).stdout
        assert "input 7, cached -, cache write -, output -, of 1 of 2 answers" in text
        assert "of 1 of 2 answers" in text

    def test_a_fork_says_where_what_it_inherits_is_counted(self, db: Path) -> None:
        assert "2 of its own; 13 inherited ones are counted in the parent" in run(
            "stats", "retry", "--db", db
        ).stdout  # fmt: skip
        assert "inherited" not in run("stats", NAME, "--db", db).stdout

    def test_a_session_has_the_same_figures_in_the_list_and_alone(self, db: Path) -> None:
        listed = {row["key"]: row for row in data("sessions", "--db", db)["sessions"]}
        for key, row in listed.items():
            assert data("stats", key, "--db", db) == row


class TestSamples:
    """Real transcripts of many versions and shapes go through every command that looks."""

    def test_every_command_takes_them(self, samples: Path, tmp_path: Path) -> None:
        path = tmp_path / "s.db"
        result = run("import", samples / "claude-code", samples / "openai-chat", "--db", path)
        assert result.exit_code in (0, 1), result.output
        sessions = data("sessions", "--db", path)["sessions"]
        assert len(sessions) > 10
        for row in sessions[::3]:
            key = row["key"]
            assert data("log", key, "--db", path)["rows"]
            for place in (
                "",
                *(["@c1"] if row["calls"] else []),
                *(["@k1^"] if row["compactions"] else []),
            ):
                replayed = run("replay", f"{key}{place}", "--db", path)
                assert replayed.exit_code in (0, 3), replayed.output
                assert run("show", f"{key}{place}", "--context", "--db", path).exit_code == 0

    def test_the_sql_views_say_what_the_list_says(self, samples: Path, tmp_path: Path) -> None:
        path = tmp_path / "s.db"
        run("import", samples, "--db", path)
        listed = data("sessions", "--db", path)["sessions"]
        assert len(listed) > 40
        names = ("title", "happened_at", "output_is_partial")
        wanted = {row["key"]: [row[name] for name in names] for row in listed}
        query = "select session, title, happened_at, output_is_partial from sessions_readable"
        rows = data("sql", query, "--db", path)["rows"]
        assert {key: [title or "", *rest] for key, title, *rest in rows} == wanted


def test_json_of_the_library_reads_as_the_message_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    message = {"role": "user", "content": "a \ud83d b"}
    with open_log(path) as live:
        live.append(
            "a/b/c",
            MessageAppended(dialect="openai_chat", source="human", message=Json(message)),
            ContextCompacted(
                covered=(), messages=(NewMessage(dialect="openai_chat", message=Json(message)),)
            ),
        )
    assert data("show", "a/b/c@1", "--db", path)["item"]["message"] == message


class TestTheSourcesClock:
    """Without it a source that counts seconds since 1970 has no time that a person can read."""

    @pytest.mark.parametrize(
        ("label", "at", "shown"),
        [
            ("1767323045.678", "2026-01-02T03:04:05.678Z", "05.678Z (the source's clock: 1767323"),
            ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05.000Z", "clock: 2026-01-02T05:04:05"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z", "05Z (the source's clock)"),
            ("then", None, "then (the source's clock, which cannot be read)"),
        ],
    )
    def test_every_look_says_the_same(
        self, tmp_path: Path, label: str, at: str | None, shown: str
    ) -> None:
        path = tmp_path / "t.db"
        with open_log(path) as live:
            live.append("a/b/c", Draft(said("user", "one"), occurred_at=label))
        event = data("show", "c@1", "--db", path)
        assert event["happened_at"] == (at or event["recorded_at"])
        assert event["occurred_at"] == label
        assert shown in run("show", "c@1", "--db", path).stdout
        (row,) = data("log", "c", "--db", path)["rows"]
        (hit,) = data("search", "one", "--db", path)["hits"]
        (listed,) = data("sessions", "--db", path)["sessions"]
        told = [row["happened_at"], hit["happened_at"], listed["happened_at"]]
        assert told == [event["happened_at"]] * 3
        for view in ("sessions_readable", "messages_readable", "events_readable"):
            answer = data("sql", f"select happened_at from {view}", "--db", path)
            assert answer["rows"] == [[event["happened_at"]]]
