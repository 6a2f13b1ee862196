"""A log that cannot be written never breaks the agent, and says what it missed."""

from __future__ import annotations

import gc
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from model_server import ModelServer, completion, serving
from openai import OpenAI
from recorded_calls_of import KEY, Told, held

from eventlog.errors import Busy, DatabaseFault, InputRefused, LogClosed, OutcomeUnknown
from eventlog.events import MessageAppended
from eventlog.log import EventLog
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder, RecordingWarning, lifetimes, wrap
from harness.recording import recorder as recorder_module
from harness.recording import transport as transport_module
from harness.recording.lifetimes import _at_exit as at_exit
from harness.recording.placing import Placing
from harness.recording.transport import RecordingTransport
from harness.recording.wire import Answering
from projections import open_log


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as found:
        yield found


def ask(client: OpenAI, *texts: str) -> None:
    said: list[Any] = [{"role": "user", "content": text} for text in texts]
    assert client.chat.completions.create(model="m", messages=said).choices


def settled(recorder: Recorder) -> None:
    """Wait until nothing waits any more, and the thread that saw to it is gone."""
    until = time.monotonic() + 60
    while recorder.waiting or recorder._flusher._is_awake:
        assert time.monotonic() < until
        time.sleep(0.01)


def request(*messages: Any) -> bytes:
    """The body of a request."""
    body = {"model": "m", "messages": messages}
    return json.dumps(body, separators=(",", ":")).encode()


def unreadable(*_: Any, **__: Any) -> Any:
    raise DatabaseFault("disk I/O error")


def doubtful(monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    """The next append of an event of that type stands, and nobody can say so."""
    append, times = EventLog.append, iter([True])

    def broken(self: EventLog, stream: Any, *drafts: Any, **named: Any) -> Any:
        done = append(self, stream, *drafts, **named)
        if of in [getattr(each, "event", each).type for each in drafts] and next(times, False):
            raise OutcomeUnknown("disk I/O error")
        return done

    monkeypatch.setattr(EventLog, "append", broken)


class TestAnUnknownOutcome:
    """A commit failed, and nobody knows whether it stands: a call stands in the log once."""

    @pytest.mark.parametrize("stands", [False, True])
    @pytest.mark.parametrize("of", ["model_called", "model_responded"])
    def test_it_is_made_again_where_it_does_not_stand(
        self,
        tmp_path: Path,
        server: ModelServer,
        monkeypatch: pytest.MonkeyPatch,
        of: str,
        stands: bool,
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 0.0)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore")
        client = wrap(server.client(), recorder)
        ask(client, "one")
        append, times = EventLog.append, iter([True])

        def broken(self: EventLog, stream: Any, *drafts: Any, **named: Any) -> Any:
            kinds = [getattr(each, "event", each).type for each in drafts]
            if of not in kinds or not next(times, False):
                return append(self, stream, *drafts, **named)
            if stands:
                append(self, stream, *drafts, **named)
            raise OutcomeUnknown("disk I/O error")

        monkeypatch.setattr(EventLog, "append", broken)
        ask(client, "one", "two")
        ask(client, "one", "two", "three")
        recorder.close()
        found = Told(path)
        found.check(server.requests)
        assert next(times, None) is None
        assert found.types()["model_responded"] == 3
        assert len(found.events) == 1
        assert recorder.missed == 0

    @pytest.mark.parametrize("session", ["s", None])
    @pytest.mark.parametrize("of", ["model_called", "model_responded"])
    def test_it_stands_once_where_the_log_cannot_be_read_either(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: str | None, of: str
    ) -> None:
        """A disk that fails fails at reading, too; here at each step of finding out, once."""
        monkeypatch.setattr(recorder_module, "PAUSE", 0.0)
        path, body = (
            tmp_path / "log.db",
            b'{"model":"m","messages":[{"role":"user","content":"a"}]}',
        )
        recorder = Recorder(path, session=session, on_error="ignore")
        monkeypatch.setattr(recorder._flusher, "wake", lambda: None)
        doubtful(monkeypatch, of)
        call = recorder.begin("openai_chat", body)
        answer = outcome_of("openai_chat", json.dumps(completion("b")), 200)
        if of == "model_responded":
            call.ended(answer)
        for step in ("exists", "version", "salts", "read"):
            with monkeypatch.context() as patched:
                patched.setattr(EventLog, step, unreadable)
                recorder._flush()
        call.ended(answer)
        recorder.close()
        found = Told(path)
        found.check([json.loads(body)])
        assert found.types()["model_responded"] == 1
        assert recorder.missed == 0

    @pytest.mark.parametrize("of", ["session_started", "message_appended"])
    def test_what_is_kept_for_a_framework_stands_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str
    ) -> None:
        path, message = tmp_path / "log.db", {"role": "user", "content": "keep this"}
        event = MessageAppended(dialect="openai_chat", source="human", message=message)
        recorder = Recorder(path)
        doubtful(monkeypatch, of)
        recorder.write(KEY, lambda _: [event])
        recorder.close()
        assert Told(path).types() == {"session_started": 1, "message_appended": 1}

    def test_what_another_process_wrote_behind_it_is_not_taken_for_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 0.0)
        path, said = tmp_path / "log.db", [{"role": "user", "content": "a"}]
        recorder = Recorder(path, session="s", on_error="ignore")
        monkeypatch.setattr(recorder._flusher, "wake", lambda: None)
        doubtful(monkeypatch, "model_called")
        call = recorder.begin("openai_chat", request(*said))
        with open_log(path) as live:  # another process goes on in the same session
            message = {"role": "user", "content": "from elsewhere"}
            live.append(
                KEY, MessageAppended(dialect="openai_chat", source="human", message=message)
            )
        answer = outcome_of("openai_chat", json.dumps(completion("b")), 200)
        call.ended(answer)
        said += [{"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
        recorder.begin("openai_chat", request(*said)).ended(answer)
        recorder.close()
        found = Told(path)
        assert found.types()["context_compacted"] == 0, "nobody left out what came from elsewhere"
        assert found.types()["session_forked"] + found.types()["session_started"] == 2
        assert [v.name for v in found.verdicts] == ["exact", "exact"]


class TestABusyLog:
    def test_a_call_waits_a_quarter_of_a_second_and_is_written_later(
        self, tmp_path: Path, server: ModelServer
    ) -> None:
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s")
        client = wrap(server.client(), recorder)
        ask(client, "one")
        with held(path):
            begun = time.monotonic()
            with pytest.warns(RecordingWarning, match="not recorded now"):
                ask(client, "one", "two")
            ask(client, "one", "two", "three")  # and no other warning, which would be an error
            waited = time.monotonic() - begun
        assert waited < 10, "an agent is not held up by its log"
        assert recorder.waiting == 2
        recorder.close()
        assert recorder.missed == 0
        found = Told(path)
        found.check(server.requests)
        assert [c["messages"][-1]["content"] for c in found.bodies] == ["one", "two", "three"]
        assert found.types()["model_responded"] == 3
        assert found.types()["recording_interrupted"] == 0

    def test_the_next_call_brings_what_waited(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 0.0)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        with held(path):
            ask(client, "one")
        ask(client, "one", "two")
        assert recorder.waiting == 0
        recorder.close()
        Told(path).check(server.requests)

    def test_an_answer_that_comes_while_it_is_busy_is_written_later(
        self, tmp_path: Path, server: ModelServer
    ) -> None:
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        with (
            client.chat.completions.with_streaming_response.create(
                model="m", messages=[{"role": "user", "content": "one"}]
            ) as response,
            held(path),
        ):
            response.read()
        recorder.close()
        Told(path).check(server.requests)

    def test_it_is_raised_before_the_request_goes_out(
        self, tmp_path: Path, server: ModelServer
    ) -> None:
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="raise", patience=0.01)
        client = wrap(server.client(), recorder)
        with held(path), pytest.raises(Busy):
            ask(client, "one")
        assert not server.requests
        assert recorder.missed == 1
        recorder.close()

    def test_what_waits_is_written_without_another_call(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 0.02)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        ask(client, "one")
        assert not recorder._flusher._is_awake
        with held(path):
            ask(client, "one", "two")
            ask(client, "one", "two", "three")
            assert recorder.waiting == 2
        settled(recorder)
        found = Told(path)
        found.check(server.requests)
        assert [c["messages"][-1]["content"] for c in found.bodies] == ["one", "two", "three"]
        recorder.close()

    def test_a_child_leaves_what_waits_to_its_parent(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 0.02)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        with held(path):
            ask(client, "one")
            child = os.fork()
            if child == 0:
                os._exit(recorder.waiting or recorder._flusher._is_awake)
            assert os.waitpid(child, 0)[1] == 0
        settled(recorder)
        Told(path).check(server.requests)
        recorder.close()

    def test_what_waits_at_the_end_of_the_program_is_written(self, tmp_path: Path) -> None:
        path = tmp_path / "log.db"
        program = (
            "import fcntl, os, sys\n"
            "from harness.exchange.outcomes import Outcome, Failure\n"
            "from harness.recording import Recorder\n"
            "recorder = Recorder(sys.argv[1], session='s', on_error='ignore', patience=0.01)\n"
            "lock = os.open(sys.argv[1] + '.lock', os.O_RDWR)\n"
            "fcntl.flock(lock, fcntl.LOCK_EX)\n"
            'body = b\'{"model": "m", "messages": [{"role": "user", "content": "one"}]}\'\n'
            "recorder.begin('openai_chat', body).failed('no answer')\n"
            "assert recorder.waiting == 1 and recorder._flusher._is_awake\n"
            "os.close(lock)\n"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)
        found = Told(path)
        assert [v.name for v in found.verdicts] == ["exact"]
        assert found.types()["model_failed"] == 1

    def test_what_is_raised_meanwhile_does_not_put_off_the_next_try(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "PAUSE", 60.0)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="raise", patience=0.01)
        client = wrap(server.client(), recorder)
        with (
            client.chat.completions.with_streaming_response.create(
                model="m", messages=[{"role": "user", "content": "one"}]
            ) as response,
            held(path),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            response.read()
        until = recorder._resting
        assert until > time.monotonic()
        with pytest.raises(Busy):
            ask(client, "one", "two")
        assert recorder._resting == until
        recorder.close()
        found = Told(path)
        found.check(server.requests)
        assert found.of("recording_interrupted")[0]["calls_missed"] == 1

    def test_a_log_that_is_busy_again_just_behind_a_call_leaves_it_there_once(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore")
        client = wrap(server.client(), recorder)
        recorder.cannot(InputRefused("a fault"))
        append, times = EventLog.append, iter([True])

        def busy(self: EventLog, stream: Any, *drafts: Any, **named: Any) -> Any:
            kinds = [getattr(each, "event", each).type for each in drafts]
            if "recording_interrupted" in kinds and next(times, False):
                raise Busy(str(path), 0.25)
            return append(self, stream, *drafts, **named)

        monkeypatch.setattr(EventLog, "append", busy)
        ask(client, "one")
        ask(client, "one", "two")
        recorder.close()
        found = Told(path)
        found.check(server.requests)
        assert [told["calls_missed"] for told in found.of("recording_interrupted")] == [1]

    def test_more_than_may_wait_is_given_up_and_counted(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "MOST_WAITING", 300)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        with held(path):
            for number in range(5):
                ask(client, f"{number} " * 40)
        recorder.close()
        told = Told(path)
        (missed,) = told.of("recording_interrupted")
        assert missed["calls_missed"] == recorder.missed > 0
        assert len(told.bodies) + recorder.missed == 5

    def test_what_waits_outlives_its_client(self, tmp_path: Path, server: ModelServer) -> None:
        path = tmp_path / "log.db"

        def agent() -> None:
            with wrap(server.client(), path, on_error="ignore") as client, held(path):
                ask(client, "one")

        agent()
        gc.collect()
        at_exit()
        Told(path).check(server.requests)

    def test_a_call_that_ends_while_the_recorder_is_closed(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A stream that nobody holds any more ends at any moment."""
        path = tmp_path / "log.db"
        recorder = Recorder(path, on_error="ignore", patience=0.01)
        client = wrap(server.client(), recorder)
        left = recorder.begin("openai_chat", b'{"model":"m","messages":[{"role":"user"}]}')
        with held(path):
            ask(client, "one")
            ask(client, "two")
        begin = Placing.begin

        def interrupted(self: Placing, *given: Any) -> Any:
            left.failed("dropped")
            return begin(self, *given)

        monkeypatch.setattr(Placing, "begin", interrupted)
        recorder.close()
        told = Told(path)
        assert [body["messages"][0].get("content") for body in told.bodies] == [None, "one", "two"]
        assert told.types()["model_responded"] == 2
        assert {v.name for v in told.verdicts} == {"exact"}

    def test_what_comes_after_that_is_missed_and_waits_for_nothing(self, tmp_path: Path) -> None:
        path, answer = tmp_path / "log.db", outcome_of("openai_chat", completion("b"), 200)
        recorder = Recorder(path, session="s")
        calls = [recorder.begin("openai_chat", request({"role": "user", "content": "a"}))]
        calls += [recorder.begin("openai_chat", request({"role": "user", "content": "b"}))]
        recorder.close()
        calls[0].failed("dropped")  # a stream that nobody holds any more: nobody is told
        with pytest.warns(RecordingWarning, match="answer was not recorded: .* was closed"):
            calls[1].ended(answer)
        calls.append(recorder.begin("openai_chat", request({"role": "user", "content": "c"})))
        calls[2].ended(answer)
        assert recorder.missed == 1
        assert not recorder.waiting
        assert not recorder._flusher._is_awake
        assert recorder not in lifetimes._HOLDING
        recorder.close()
        assert Told(path).types()["model_called"] == 2

    def test_a_request_after_that_does_not_go_out_where_it_was_asked_for(
        self, tmp_path: Path
    ) -> None:
        recorder = Recorder(tmp_path / "log.db", on_error="raise")
        recorder.close()
        with pytest.raises(LogClosed):
            recorder.begin("openai_chat", request({"role": "user", "content": "a"}))


def _small_files(size: int) -> tuple[int, int]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    return before


class TestASingleCall:
    def test_a_body_that_is_none_is_one_call_and_not_the_end_of_recording(
        self, tmp_path: Path
    ) -> None:
        recorder = Recorder(tmp_path / "log.db", session="s")
        with pytest.warns(RecordingWarning, match=r"^a call was not recorded: "):
            recorder.begin("openai_chat", b"no JSON")
        with held(tmp_path / "log.db"), pytest.warns(RecordingWarning) as told:
            recorder.begin("openai_chat", b'{"model": "m", "messages": []}')
        (warning,) = told  # another kind of trouble, which is told too
        assert str(warning.message).startswith("calls are not recorded now, and wait: ")
        assert "try again" not in str(warning.message)
        recorder.close()
        assert recorder.missed == 1


class TestAFullDisk:
    def test_the_agent_goes_on(self, tmp_path: Path, server: ModelServer) -> None:
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s")
        client = wrap(server.client(), recorder)
        ask(client, "one")
        known = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = _small_files(path.with_name("log.db-wal").stat().st_size)
        try:
            with pytest.warns(RecordingWarning):
                ask(client, "one", "0" * 9000)
            for number in range(1, 4):
                ask(client, "one", f"{number}" * 9000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, known)
        recorder.close()
        told_of = Told(path)
        told_of.check(server.requests)

    def test_what_did_not_fit_to_the_end_is_told_afterwards(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "MOST_WAITING", 10_000)
        monkeypatch.setattr(recorder_module, "PAUSE", 0.0)
        path = tmp_path / "log.db"
        recorder = Recorder(path, session="s", on_error="ignore")
        client = wrap(server.client(), recorder)
        ask(client, "one")
        known = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = _small_files(path.with_name("log.db-wal").stat().st_size)
        try:
            for number in range(4):
                ask(client, "one", f"{number}" * 9000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, known)
        ask(client, "one", "last")
        recorder.close()
        found = Told(path)
        assert {v.name for v in found.verdicts} == {"exact"}
        (missed,) = found.of("recording_interrupted")
        assert missed["calls_missed"] == recorder.missed == 3
        assert len(found.bodies) == 3


class TestAFaultOfTheRecorder:
    """Whatever it is, the agent has its answer."""

    @pytest.mark.parametrize("where", [(Placing, "begin"), (Placing, "answered")])
    @pytest.mark.parametrize("on_error", ["warn", "ignore"])
    def test_it_never_reaches_the_agent(
        self,
        tmp_path: Path,
        server: ModelServer,
        monkeypatch: pytest.MonkeyPatch,
        where: tuple[type, str],
        on_error: Any,
    ) -> None:
        def broken(*given: Any, **named: Any) -> Any:
            raise ZeroDivisionError("a fault")

        recorder = Recorder(tmp_path / "log.db", session="s", on_error=on_error)
        client = wrap(server.client(), recorder)
        with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            patched.setattr(*where, broken)
            ask(client, "one")
            ask(client, "one")
        assert len(told) == (on_error == "warn")
        ask(client, "one", "two")
        recorder.close()
        found = Told(tmp_path / "log.db")
        assert {v.name for v in found.verdicts} == {"exact"}
        if where[1] == "begin":
            assert [m["calls_missed"] for m in found.of("recording_interrupted")] == [2]

    @pytest.mark.parametrize("name", ["_ended", "watch", "__init__"])
    def test_nor_one_in_reading_what_came_back(
        self,
        tmp_path: Path,
        server: ModelServer,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
    ) -> None:
        def broken(*given: Any, **named: Any) -> Any:
            raise ZeroDivisionError("a fault")

        recorder = Recorder(tmp_path / "log.db", session="s", on_error="ignore")
        client = wrap(server.client(), recorder)
        monkeypatch.setattr(Answering, name, broken)
        ask(client, "one")
        recorder.close()
        assert Told(tmp_path / "log.db").of("model_failed")

    @pytest.mark.parametrize("name", ["s", None])
    @pytest.mark.parametrize("number", [b"1e400", b"-1E+999", b"9" * 400 + b".0", b"NaN"])
    def test_a_number_that_no_log_can_hold(
        self, tmp_path: Path, number: bytes, name: str | None
    ) -> None:
        recorder = Recorder(tmp_path / "log.db", session=name)
        said = b'"messages": [{"role": "user", "content": "one"}]'
        with pytest.warns(RecordingWarning, match="not finite|NaN is not JSON"):
            recorder.begin("openai_chat", b'{"model": "m", "top_p": %b, %b}' % (number, said))
        recorder.begin(
            "openai_chat", b'{"model": "m", "top_p": 1e300, %b}' % said
        ) if name else None
        recorder.close()
        (missed,) = Told(tmp_path / "log.db").of("recording_interrupted")
        assert missed["calls_missed"] == recorder.missed == 1
        assert "not finite" in missed["reason"] or "NaN" in missed["reason"]

    def test_a_header_that_names_no_session(self, tmp_path: Path, server: ModelServer) -> None:
        recorder = Recorder(tmp_path / "log.db", session="s")
        client = wrap(server.client(default_headers={"X-Ctxlog-Session": "a//b"}), recorder)
        with pytest.warns(RecordingWarning):
            ask(client, "one")
        assert recorder.missed == 1
        recorder.close()

    def test_it_is_raised_where_that_was_asked_for(
        self, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*given: Any, **named: Any) -> Any:
            raise DatabaseFault("a fault")

        recorder = Recorder(tmp_path / "log.db", session="s", on_error="raise")
        client = wrap(server.client(), recorder)
        monkeypatch.setattr(Placing, "begin", broken)
        with pytest.raises(DatabaseFault, match="a fault"):
            ask(client, "one")
        assert not server.requests
        recorder.close()


class TestWhileItWrites:
    """Rubbish that is collected, and signals, come at any moment."""

    def test_a_call_within_a_call_waits(self, tmp_path: Path, server: ModelServer) -> None:
        recorder = Recorder(tmp_path / "log.db", session="s")
        client = wrap(server.client(), recorder)
        inner = wrap(server.client(), recorder)
        begin, times = Placing.begin, iter([True])

        def interrupted(self: Placing, *given: Any) -> Any:
            if next(times, False):
                ask(inner, "in between")
            return begin(self, *given)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Placing, "begin", interrupted)
            ask(client, "one")
        recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)


def test_an_answer_that_no_log_can_keep(tmp_path: Path) -> None:
    answer = (
        b'{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":1e999}}]}'
    )
    with serving(lambda request: answer) as server:
        recorder = Recorder(tmp_path / "log.db", session="s")
        client = wrap(server.client(), recorder)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        recorder.close()
    assert Told(tmp_path / "log.db").of("model_failed")


class TestAnswers:
    """Without these a call seems to be under way for ever, or to have been cut off by somebody."""

    BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'

    def test_one_that_is_too_long_is_told_as_that(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.recording.wire.MOST_BYTES", 1000)
        recorder = Recorder(tmp_path / "log.db")
        answering = Answering(recorder.begin("openai_chat", self.BODY), 200, bytes.decode)
        for _ in range(3):
            answering.take(b"x" * 400)
        answering.ended()
        recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert failed["error"] == "the answer is longer than 1,000 bytes and was not kept"

    def test_a_connection_that_cannot_be_closed_ends_its_call(self, tmp_path: Path) -> None:
        class Broken(httpx2.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                yield b"{"

            def close(self) -> None:
                raise OSError("it is gone")

        class Inner(httpx2.BaseTransport):
            def handle_request(self, request: httpx2.Request) -> httpx2.Response:
                return httpx2.Response(200, stream=Broken())

        recorder = Recorder(tmp_path / "log.db")
        sending = RecordingTransport(Inner(), recorder)
        url = "http://127.0.0.1/v1/chat/completions"
        response = sending.handle_request(httpx2.Request("POST", url, content=self.BODY))
        with pytest.raises(OSError, match="it is gone"):
            response.close()
        assert len(Told(tmp_path / "log.db").of("model_failed")) == 1
        recorder.close()

    def test_one_that_unpacks_to_too_much_is_not_unpacked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A few bytes may be gigabytes; a client that reads on does not keep them."""
        monkeypatch.setattr(transport_module, "MOST_BYTES", 1000)
        packed = gzip.compress(b" " * 100_000)
        with serving(lambda request: packed, {"content-encoding": "gzip"}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            with client.chat.completions.with_streaming_response.create(
                model="m", messages=[{"role": "user", "content": "x"}]
            ) as response:
                assert sum(map(len, response.iter_bytes())) == 100_000
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert "unpacks to more than is kept" in failed["error"]

    @pytest.mark.parametrize(
        "kind", ["application/json; charset=base64", "application/json; charset=utf-99"]
    )
    def test_one_that_names_no_charset_is_read_as_its_client_reads_it(
        self, tmp_path: Path, kind: str
    ) -> None:
        answer = b"\xef\xbb\xbf" + json.dumps(completion("ok")).encode()
        with serving(lambda request: answer, {"content-type": kind}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            ask(wrap(server.client(), recorder), "one")
            recorder.close()
        assert Told(tmp_path / "log.db").types()["model_responded"] == 1
