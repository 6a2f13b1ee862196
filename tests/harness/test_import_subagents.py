from __future__ import annotations

from pathlib import Path

from claude_lines import SESSION, Transcript, call, text
from imported import KEY, events, imported, run, standing

from eventlog import EventLog


class TestSubAgents:
    """A sub-agent's turns in the main context would show the model what only the sub-agent saw."""

    def inline(self) -> Transcript:
        t = Transcript()
        t.user("Ask two helpers.")
        t.answer("msg_1", call("task_1", "Task", prompt="Count the bricks."))
        t.answer("msg_1", call("task_2", "Task", prompt="Count the shelves."))
        side = {"isSidechain": True}
        t.user("Count the shelves.", uuid="s2-1", parent=None, **side)
        t.user("Count the bricks.", uuid="s1-1", parent=None, **side)
        t.answer("side_2", call("x"), uuid="s2-2", parent="s2-1", **side)
        t.answer("side_1", text("A hundred."), uuid="s1-2", parent="s1-1", **side)
        t.result("x", "nine", uuid="s2-3", parent="s2-2", **side)
        t.answer("side_3", text("Nine."), uuid="s2-4", parent="s2-3", **side)
        t.result("task_1", "A hundred.")
        t.result("task_2", "Nine.")
        t.answer("msg_2", text("100 bricks, 9 shelves."))
        return t

    def test_inline_sidechains_are_streams_named_by_their_first_record(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        imported(log, tmp_path, self.inline())
        keys = sorted(str(info.key) for info in log.streams())
        assert keys == [KEY, f"{KEY}.s1-1", f"{KEY}.s2-1"]
        second = events(log, f"{KEY}.s2-1")
        assert [e.type for e in second[1:]] == [
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "model_called",
            "message_appended",
            "model_responded",
        ]
        assert second[1].data["source"] == "injected"

    def test_each_names_its_parent_and_the_call_that_started_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        imported(log, tmp_path, self.inline())
        for name, call_id in (("s1-1", "task_1"), ("s2-1", "task_2")):
            started = events(log, f"{KEY}.{name}")[0].data
            assert started["parent_session"] == KEY
            assert started["parent_call"] == call_id

    def test_the_last_answer_of_a_helper_is_complete_when_its_result_came(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        report = run(log, self.inline().write(tmp_path / "session.jsonl"))
        pending = {session.key: session.pending for session in report.sessions}
        assert pending == {KEY: 1, f"{KEY}.s1-1": 0, f"{KEY}.s2-1": 0}

    def test_a_boundary_in_a_sidechain_compacts_only_that(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Ask a helper.")
        side = {"isSidechain": True}
        t.user("Count.", uuid="s-1", parent=None, **side)
        t.record("system", subtype="compact_boundary", uuid="s-2", parent="s-1", **side)
        t.summary("Counted.", uuid="s-3", parent="s-2", **side)
        imported(log, tmp_path, t)
        assert standing(log) == ["2"]
        assert standing(log, f"{KEY}.s-1") == ["3.0"]

    def test_a_sidechain_without_any_ids_goes_on_with_the_last_one(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.bare("user", message={"role": "user", "content": "Hi."}, sessionId=SESSION)
        for content in ("Count.", "Count again."):
            message = {"role": "user", "content": content}
            t.bare("user", message=message, isSidechain=True, sessionId=SESSION)
        imported(log, tmp_path, t)
        assert len(events(log, f"{KEY}.line-2")) == 3

    def folder(self, tmp_path: Path) -> Path:
        t = Transcript()
        t.user("Ask a helper.")
        t.answer("msg_1", call("task_1", "Task", prompt="Count."))
        t.result("task_1", "Nine.", toolUseResult={"agentId": "a1b2", "status": "completed"})
        t.answer("msg_2", text("Nine."))
        root = tmp_path / "projects" / "-srv-kiln"
        t.write(root / f"{SESSION}.jsonl")
        helper = Transcript()
        more = {"isSidechain": True, "agentId": "a1b2"}
        first = helper.user("Count.", uuid="h-1", parent=None, **more)
        helper.answer("side_1", text("Nine."), uuid="h-2", parent=first, **more)
        helper.write(root / SESSION / "subagents" / "agent-a1b2.jsonl")
        return tmp_path / "projects"

    def test_a_folder_links_sub_agents_that_have_files_of_their_own(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        report = run(log, self.folder(tmp_path))
        started = events(log, f"{KEY}.a1b2")[0].data
        assert started["parent_session"] == KEY
        assert started["parent_call"] == "task_1"
        assert [s.pending for s in report.sessions] == [1, 0]

    def test_a_single_file_of_a_sub_agent_imports_itself(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = self.folder(tmp_path)
        run(log, next(folder.rglob("agent-*.jsonl")), final=True)
        assert [str(info.key) for info in log.streams()] == [f"{KEY}.a1b2"]
        assert log.version(f"{KEY}.a1b2") == 5
