"""Keys that a file holds beside the conversation never reach the log, whatever its format."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_lines import Transcript, call, text
from codex_lines import Rollout
from hanging import no_hang
from imported import shape
from openhands_sessions import small_v0, small_v1
from request_logs import small_session

from eventlog import EventLog
from eventlog.events import (
    DecidedBy,
    ModelCalled,
    ModelFailed,
    Origin,
    PlaceholderSubstituted,
    RecordUnrecognized,
    SessionStarted,
    ToolResultRecorded,
)
from eventlog.jsonvalue import Json
from eventlog.transfer import export
from harness.exchange.secret_text import (
    Withheld,
    is_secret_name,
    may_hold_secrets,
    text_without_secrets,
)
from harness.exchange.withheld import event_without_secrets, without_secrets
from harness.importers import ImportReport, Options, import_path
from harness.importers.formats import FORMATS
from projections import open_log
from projections.live import Live

CORE = "pl4ntedK3y"
SPOKEN = "sk-proj-spoken-0123456789-in-the-conversation"
"""What was said, called or returned: it stays."""


class Keys:
    """Hands out keys, each another one, so that none is found by another."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, begins: str = "") -> str:
        self.count += 1
        return f"{begins}{CORE}{self.count:03}"


def settings(key: Callable[..., str]) -> dict[str, Any]:
    """What agents write down of their configuration, with a key in every place."""
    server = {
        "type": "url",
        "url": f"https://me:{key()}@host/sse?api_key={key()}",
        "authorization_token": key(),
        "env": {"HF_TOKEN": key(), "DB_PASSWORD": key(), "PAGER": "cat"},
        "command": "npx",
        "args": ["--api-key", key(), f"--token={key()}", "-H", f"Authorization: Basic {key()}"],
    }
    model = {"name": "some-model", "api_key": key(), "temperature": 0.5, "max_tokens": 512}
    return {
        "model": model,
        "apiKey": key(),
        "model_kwargs": {"extra_headers": {"X-Whatever": key(), "anthropic-beta": "b"}},
        "http": {"headers": [["Cookie", key()], {"name": "Authorization", "value": key()}]},
        "environment": [f"OPENAI_API_KEY={key()}", "TERM=dumb"],
        "mcp_servers": [server],
        "secrets": {"A": key(), "more": [{"B": key()}]},
        "auth": ["user", key()],
        "cookies": [{"name": "sid", "value": key()}],
        "variables": [{"name": "GITHUB_TOKEN", "value": key()}],
        "mcp": {"command": f"env GITHUB_TOKEN={key()} npx x", "args": {"api_key": key()}},
        "install": {"command": f'curl -H "x-api-key: {key()}"', "input": f"DB_PWD={key()}"},
        "agent": {"system": {"api_key": key()}, "prompt": [f"GH_PAT={key()}"]},
        "history": [{"text": {"password": key()}, "stdout": f"token={key()}"}],
        "tokens": {"access": key(), "input": 12_000},
        "keys": {key("sk-ant-api03-0123456789"): {"rpm": 5}},
        "note": f"export ANTHROPIC_API_KEY='{key()}'; password: {key()}",
        "shaped": key("sk-ant-api03-0123456789"),
        "replay": json.dumps({"agent": {"api_key": key(), "inner": json.dumps({"token": key()})}}),
        "é": {"pass\u0077ord": key(), "masked": {"api_key": "**********", "secret": "${FROM_ENV}"}},
    }


UNREADABLE = (
    '{{"headers": {{"authorization": "Basic {0}", "x-api-key" : "{1}",'
    ' "Cookie":"a=\\"{2}\\"; b={3}"}},'
    ' "har": [{{"name": "Set-Cookie", "value": "{4}"}}, ["x-api-key", "{5}"]],'
    ' "again": "{{\\"api_key\\": \\"{6}\\",'
    ' \\"in\\": \\"{{\\\\\\"token\\\\\\": \\\\\\"{7}\\\\\\"}}\\"}}",'
    ' "secrets": {{"a": "{8}"}}, "raw": "GET / 1.1\\r\\nProxy-Authorization: Digest r={9}\\r\\n"'
    ', "url": "https://me:{10}@host/", "kept": "as it is", "access_token": "{11}'
)


def unreadable(key: Callable[..., str]) -> str:
    """A record that breaks off, with keys in every form that a header may have."""
    return UNREADABLE.format(*(key() for _ in range(12)))


MESSAGES: list[Any] = [
    {"role": "user", "content": f"My password is {SPOKEN}."},
    {"role": "assistant", "content": "I see."},
]


def anthropic(folder: Path, key: Callable[..., str]) -> Path:
    tools = [
        {"type": "mcp", "name": "m", "authorization": key(), "headers": {"X-A": key()}},
        {"name": "login", "input_schema": {"properties": {"password": {"type": "string"}}}},
    ]
    use = {"type": "tool_use", "id": "t1", "name": "login", "input": {"password": SPOKEN}}
    returned = {"type": "tool_result", "tool_use_id": "t1", "content": f"token={SPOKEN}"}
    said = [*MESSAGES[:1], {"role": "assistant", "content": [use]}]
    said.append({"role": "user", "content": [returned]})
    odd = {"role": "odd", "config": settings(key), "content": SPOKEN}
    value = {**settings(key), "system": "Be kind.", "tools": tools, "messages": [*said, odd]}
    return _json(folder / "c.json", value)


def openai_chat(folder: Path, key: Callable[..., str]) -> Path:
    odd = {"role": "odd", "config": settings(key)}
    return _json(folder / "c.json", {**settings(key), "messages": [*MESSAGES, odd]})


def mini_swe_agent(folder: Path, key: Callable[..., str]) -> Path:
    messages = [{**each, "extra": {"model": settings(key), "output": SPOKEN}} for each in MESSAGES]
    messages += [{"role": "exit", "content": "", "extra": settings(key)}]
    info = {"config": settings(key), "exit_status": "Submitted", "mini_version": "2.0.0"}
    value = {"info": info, "messages": messages, **settings(key)}
    return _json(folder / "run.traj.json", {**value, "trajectory_format": "mini-swe-agent-1.1"})


def swe_agent(folder: Path, key: Callable[..., str]) -> Path:
    history = [{**each, "agent": "main", "config": settings(key)} for each in MESSAGES]
    step = {"response": "I see.", "action": "", "observation": SPOKEN, "extra_info": settings(key)}
    value = {
        "trajectory": [{**step, "query": MESSAGES[:1]}, {"lost": settings(key), "response": None}],
        "history": history,
        "info": {**settings(key), "exit_status": "submitted"},
        "replay_config": json.dumps(settings(key)),
        "environment": json.dumps({"deployment": {"env": {"SECRET": key()}}}),
    }
    return _json(folder / "run.traj", value)


def openhands_v0(folder: Path, key: Callable[..., str]) -> Path:
    v0 = small_v0(0)
    completion = {**v0.completion("r1", "c1"), **settings(key)}
    action = v0.runs("c1", completion)
    v0.ran(action, "c1", completion, said=f"token={SPOKEN}")
    v0.events[-1]["extras"].update(settings(key))
    v0.events[-1]["llm_config"] = settings(key)
    v0.event("environment", observation="agent_state_changed", content="", extras=settings(key))
    v0.event("environment", llm_config=settings(key))
    run = {"instance_id": "kiln-1", "metadata": {"llm_config": settings(key)}, "history": v0.events}
    path = folder / "output.jsonl"
    path.write_text(json.dumps(run) + "\n")
    return path


def openhands_v0_folder(folder: Path, key: Callable[..., str]) -> Path:
    v0 = small_v0(1)
    v0.event("environment", observation="agent_state_changed", content="", extras=settings(key))
    v0.events[1]["args"]["content"] = SPOKEN
    path = v0.write(folder / "session")
    (path / "metadata.json").write_text(json.dumps({**settings(key), "title": "T"}))
    (path / "events" / "2.json").write_text(unreadable(key))
    return path


def openhands_v1(folder: Path, key: Callable[..., str]) -> Path:
    v1 = small_v1(1)
    v1.user(f"My password is {SPOKEN}.")
    v1.state["agent"]["llm"].update(settings(key))
    v1.state["agent"]["condenser"]["llm"] = settings(key)
    v1.state["secret_registry"] = {"secret_sources": {"GITHUB_TOKEN": {"value": key()}}}
    v1.event("ConversationStateUpdateEvent", key="agent", value=settings(key))
    v1.event("LLMCompletionLogEvent", filename="f", log_data=json.dumps(settings(key)))
    v1.event("NobodyKnowsEvent", config=settings(key))
    v1.event("MessageEvent", "user", llm_message=MESSAGES[0], sender_config=settings(key))
    path = v1.write(folder / "conversation")
    (path / "events" / "event-00000-0000000000.json").write_text(unreadable(key))
    return path


def openhands_v1_runs(folder: Path, key: Callable[..., str]) -> Path:
    v1 = small_v1(1)
    v1.user(SPOKEN)
    run = {"instance_id": "kiln-1", "metadata": settings(key), "history": v1.events}
    path = folder / "output.jsonl"
    path.write_text(json.dumps({**run, "metrics": settings(key)}) + "\n")
    return path


def claude_code(folder: Path, key: Callable[..., str]) -> Path:
    lines = Transcript()
    lines.user(f"My password is {SPOKEN}.", mcp=settings(key))
    lines.answer("m1", text("Yes."), call("t1", password=SPOKEN), requestConfig=settings(key))
    lines.result("t1", f"token={SPOKEN}", toolUseResult={"token": SPOKEN})
    lines.record("system", subtype="mcp", mcpServers=settings(key))
    lines.bare("nobody-knows", sessionId=lines.session, config=settings(key))
    lines.record("attachment", attachment={"type": "hook", "content": "c", "env": settings(key)})
    path = lines.write(folder / "session.jsonl")
    path.write_bytes(path.read_bytes() + unreadable(key).encode() + b"\n")
    return path


def codex(folder: Path, key: Callable[..., str]) -> Path:
    lines = Rollout(mcp=settings(key), git={"repository_url": f"https://me:{key()}@host/r.git"})
    odd = {**settings(key), "model": key("sk-ant-api03-0123456789")}
    lines.line("turn_context", odd)
    lines.line("turn_context", {**settings(key), "model": "gpt-kiln-1"})
    lines.user(f"My password is {SPOKEN}.")
    lines.say("I see.")
    lines.event("mcp_startup", servers=settings(key))
    lines.line("nobody_knows", settings(key))
    lines.ends()
    path = lines.write(folder / "rollout.jsonl")
    path.write_bytes(path.read_bytes() + unreadable(key).encode() + b"\n")
    return path


def requests(folder: Path, key: Callable[..., str]) -> Path:
    recorder = small_session()
    recorder.pairs[0]["request"]["body"]["messages"][0]["content"] = SPOKEN
    recorder.pairs[1]["request"]["body"].update(settings(key))
    recorder.pairs[2]["request"]["headers"] = {"Authorization": key(), "x-odd": key()}
    recorder.pairs[2]["recorder"] = settings(key)
    url = "https://api.anthropic.com/v1/messages/count_tokens"
    counted = {**settings(key), "messages": MESSAGES}
    recorder.pairs.insert(1, {"request": {"url": url, "body": counted}, "response": None})
    recorder.pairs.insert(1, {"request": {"url": url, "body": json.dumps(counted)}})
    failed = {"error": {"type": "e", "message": f"bad key {key('sk-ant-api03-0123456789')}"}}
    recorder.pairs[-1]["response"] = {"status_code": 401, "body": failed}
    path = recorder.write(folder / "log.jsonl")
    path.write_text(path.read_text() + unreadable(key) + "\n")
    return path


def _json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


MAKERS: dict[str, tuple[str, Callable[[Path, Callable[..., str]], Path]]] = {
    "anthropic": ("anthropic", anthropic),
    "openai-chat": ("openai-chat", openai_chat),
    "mini-swe-agent": ("mini-swe-agent", mini_swe_agent),
    "swe-agent": ("swe-agent", swe_agent),
    "openhands-v0 runs": ("openhands-v0", openhands_v0),
    "openhands-v0 folder": ("openhands-v0", openhands_v0_folder),
    "openhands-v1 folder": ("openhands-v1", openhands_v1),
    "openhands-v1 runs": ("openhands-v1", openhands_v1_runs),
    "claude-code": ("claude-code", claude_code),
    "codex": ("codex", codex),
    "requests": ("anthropic", requests),
}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def forms(core: str) -> Iterator[bytes]:
    """A text as it is, as JSON escapes, as hexadecimal, and as base64 wherever it begins."""
    yield core.encode()
    yield "".join(f"\\u{ord(c):04x}" for c in core).encode()
    yield core.encode().hex().encode()
    for shift in range(3):
        coded = base64.b64encode(b"x" * shift + core.encode())
        yield coded[4 if shift else 0 : -4]


def stored(log: EventLog) -> bytes:
    """Every byte of the log, and of an export of it."""
    out = io.StringIO()
    export(log, out)
    assert log.path is not None
    files = sorted(log.path.parent.glob(log.path.name + "*"))
    assert any(file.name.endswith("-wal") for file in files)
    return b"".join(file.read_bytes() for file in files) + out.getvalue().encode()


def imports(live: Live, path: Path, format: str) -> ImportReport:
    report = import_path(live.log, path, Options(final=True))
    assert [file.format for file in report.files] == [format]
    assert report.errors == []
    return report


def test_every_format_has_a_document_here() -> None:
    """A new format cannot forget it: what is withheld is withheld where events are appended."""
    assert {format for format, _ in MAKERS.values()} == set(FORMATS)


@pytest.mark.parametrize("name", MAKERS)
class TestEveryFormat:
    """A key in a log is in every copy of it, and nobody looks for it there."""

    def test_no_key_reaches_the_log_and_that_is_told(
        self, live: Live, tmp_path: Path, name: str
    ) -> None:
        format, make = MAKERS[name]
        key = Keys()
        path = make(tmp_path, key)
        report = imports(live, path, format)
        assert live.log.query("select count(*) from events").fetchone()[0] > 3
        held = stored(live.log)
        left = sorted({held[at : at + 13] for at in _places(held, CORE.encode())})
        assert left == []
        assert [form for form in forms(CORE) if form in held] == []
        assert report.withheld > 10
        (note,) = [n for n in report.files[0].notes if n.startswith("left out, since it may")]
        assert "api_key" in note
        assert CORE not in report.model_dump_json()

    def test_what_was_said_called_and_returned_stays_as_it_was(
        self, live: Live, tmp_path: Path, name: str
    ) -> None:
        format, make = MAKERS[name]
        path = make(tmp_path, Keys())
        imports(live, path, format)
        lines = [json.dumps(e.payload) for s in live.log.streams() for e in live.log.read(s.key)]
        given = path.read_text() if path.is_file() else "".join(
            each.read_text() for each in path.rglob("*.json")
        )  # fmt: skip
        assert SPOKEN in given
        assert any(SPOKEN in line for line in lines)

    def test_importing_again_adds_and_withholds_nothing(
        self, live: Live, tmp_path: Path, name: str
    ) -> None:
        format, make = MAKERS[name]
        path = make(tmp_path, Keys())
        imports(live, path, format)
        before = shape(live.log)
        report = imports(live, path, format)
        assert (report.new, report.withheld) == (0, 0)
        assert shape(live.log) == before


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "mini-swe-agent", "swe-agent"])
def test_another_key_in_the_configuration_is_no_other_conversation(
    live: Live, tmp_path: Path, name: str
) -> None:
    format, make = MAKERS[name]
    other = {"anthropic": "odd", "openai-chat": "odd"}.get(name, "")
    path = make(tmp_path, Keys())
    value = json.loads(path.read_text())
    if other:
        value["messages"] = [each for each in value["messages"] if each["role"] != other]
    path.write_text(json.dumps(value))
    assert imports(live, path, format).new > 0
    for field in ("info", "replay_config", "model", "apiKey"):
        if field in value:
            text = json.dumps(value[field])
            value[field] = json.loads(text.replace(CORE, CORE + "new"))
    path.write_text(json.dumps(value))
    report = imports(live, path, format)
    assert (report.new, [s.forks for s in report.sessions]) == (0, [[]])


def _places(held: bytes, core: bytes) -> Iterator[int]:
    at = held.find(core)
    while at >= 0:
        yield at
        at = held.find(core, at + 1)


class TestNames:
    """A name too many makes holes in the record, a name too few lets a key in."""

    @pytest.mark.parametrize(
        "name",
        [
            *("api_key", "apiKey", "OPENAI_API_KEY", "api-key", "X-Api-Key", "authorization"),
            *("Proxy-Authorization", "token", "access_token", "authToken", "HF_TOKEN", "secret"),
            *("client_secret", "password", "DB_PASSWD", "passphrase", "cookie", "Set-Cookie"),
            *("credentials", "private_key", "aws_secret_access_key", "bearer", "auth"),
            *("authorization_token", "sessionKey", "aws_access_key_id", "apiKeys"),
            *("GH_PAT", "DB_PWD", "db-pwd"),
        ],
    )
    def test_of_secrets(self, name: str) -> None:
        assert is_secret_name(name)
        for held in (json.dumps({name: "x"}), json.dumps(json.dumps({name: "x"})), f"{name}=x"):
            assert may_hold_secrets(held)

    @pytest.mark.parametrize(
        "name",
        [
            *("max_tokens", "prompt_tokens", "token_count", "tokenizer", "eos_token", "key"),
            *("stop_token", "author", "sessionId", "keyboard", "cwd", "keep_first"),
            *("auth_mode", "monkey", "token_usages", "input", "cache_key"),
            *("PWD", "OLDPWD", "path_pattern", "pat", "tokens"),
        ],
    )
    def test_of_no_secrets(self, name: str) -> None:
        assert not is_secret_name(name)


class TestValues:
    """Done twice it changes nothing: a request is proved by what stands in the log."""

    def test_twice_is_once(self) -> None:
        once = without_secrets(settings(Keys()), Withheld())
        again = Withheld()
        assert without_secrets(once, again) == once
        assert not again

    def test_what_holds_no_key_is_the_same_text(self) -> None:
        plain = {"api_key": None, "max_tokens": 5, "secret": "", "cookie": "***", "a": "[1,  2]"}
        raw = '{"api_key" :null, "token": "${T}", "authorization":  "[withheld]"}'
        withheld = Withheld()
        assert without_secrets(plain, withheld) == plain
        kept = RecordUnrecognized(file="f", line=1, offset=0, raw=raw)
        assert event_without_secrets(kept, withheld) is kept
        assert not withheld

    def test_a_name_that_stands_twice_hides_nothing(self) -> None:
        raw = f'{{"api_key": "{CORE}", "api_key": "x", "other": 1}}'
        kept = RecordUnrecognized(file="f", line=1, offset=0, raw=raw)
        found = event_without_secrets(kept, Withheld())
        assert isinstance(found, RecordUnrecognized)
        assert CORE not in found.raw
        assert '"other": 1' in found.raw

    def test_a_name_in_escapes(self) -> None:
        raw = f'{{"api\\u005fkey": "{CORE}", "in": "{{\\"to\\\\u006ben\\": \\"{CORE}\\"}}"}}'
        kept = RecordUnrecognized(file="f", line=1, offset=0, raw=raw)
        found = event_without_secrets(kept, Withheld())
        assert isinstance(found, RecordUnrecognized)
        assert CORE not in found.raw

    @pytest.mark.parametrize("name", ["command", "args", "input", "prompt", "system", "text"])
    def test_no_name_alone_makes_a_configuration_a_conversation(self, name: str) -> None:
        inner = {name: {"api_key": CORE, "env": f"GITHUB_TOKEN={CORE}"}}
        odd = {"agents": [{"role": "r", "content": f"api_key={CORE}"}]}
        odd["logged"] = [{"logprob": 1, "token": "a", "api_key": CORE}]
        for found in (inner, {"servers": {"g": inner}}, {"message": {"config": inner}}, odd):
            raw = json.dumps({"type": "mcp-config", **found})
            for kind in ("known", "unknown"):
                record = RecordUnrecognized(file="f", line=1, offset=0, kind=kind, raw=raw)  # type: ignore[arg-type]
                assert CORE not in str(event_without_secrets(record, Withheld()))
            called = ModelCalled(model="m", dialect="openai_chat", parameters=Json(found))
            assert CORE not in str(event_without_secrets(called, Withheld()))
            rest = Origin(records=(), rest=Json(found))
            assert CORE not in str(event_without_secrets(SessionStarted(origin=rest), Withheld()))

    def test_a_record_of_what_was_said_called_and_returned_stays(self) -> None:
        said = f"api_key={SPOKEN}"
        for value in (
            {"role": "odd", "content": [{"type": "text", "text": said}]},
            {"type": "x", "message": {"role": "user", "content": said}},
            {"payload": {"call_id": "c", "command": ["env", said], "stdout": said}},
            {"message": {"tools": [{"type": "tool_use", "id": "t", "input": {"token": said}}]}},
            {"toolUseResult": {"token": said}},
            {"step": {"observation": said, "thought": said}},
            {"choice": {"logprobs": [{"token": "api_key", "logprob": -1.0}]}},
        ):
            raw = json.dumps(value)
            kept = RecordUnrecognized(file="f", line=1, offset=0, raw=raw)
            assert event_without_secrets(kept, Withheld()) is kept

    def test_a_number_may_be_a_secret_and_a_count_is_none(self) -> None:
        found = without_secrets(
            {"password": 7737737731, "secret": {"version": 3, "on": True}, "max_tokens": 5000},
            Withheld(),
        )
        assert found == {
            "password": "[withheld]", "secret": {"version": 3, "on": True}, "max_tokens": 5000
        }  # fmt: skip
        assert "7737737731" not in text_without_secrets('{"password": 7737737731, "', Withheld())
        assert without_secrets({"tokens": {"input": 12_000}}, Withheld())["tokens"]["input"]

    def test_keys_that_are_names_stay_apart(self) -> None:
        names = [f"sk-ant-api03-0123456789{n}" for n in range(2)]
        found = without_secrets({"keys": {name: {"rpm": 5} for name in names}}, Withheld())
        assert found["keys"] == {"[withheld]": {"rpm": 5}, "[withheld] 2": {"rpm": 5}}
        again = Withheld()
        assert without_secrets(found, again) == found
        assert not again

    def test_every_value_of_an_event_but_the_conversation(self) -> None:
        by = DecidedBy(name="agent", parameters=Json({"api_key": CORE}))
        cut = PlaceholderSubstituted(item="2", kind="cut", reason="", by=by, content=f"key={CORE}")
        found = event_without_secrets(cut, Withheld())
        assert isinstance(found, PlaceholderSubstituted)
        assert found.by is not None
        assert found.by.parameters == Json({"api_key": "[withheld]"})
        assert CORE in found.content
        result = ToolResultRecorded(
            tool_call_id="a", dialect="openai_chat", content=f"api_key={CORE}"
        )
        assert event_without_secrets(result, Withheld()) is result
        failed = ModelFailed(call=1, error=f"wrong api_key={CORE}", detail=Json([f"Basic {CORE}"]))
        assert CORE not in str(event_without_secrets(failed, Withheld()))

    def test_a_key_in_many_layers_of_text(self) -> None:
        value: Any = {"token": CORE}
        for _ in range(12):
            value = {"config": json.dumps(value)}
        assert CORE not in json.dumps(without_secrets(value, Withheld()))

    def test_a_schema_names_parameters_and_no_values(self) -> None:
        schema = {"type": "object", "properties": {"password": {"type": "string", "token": "t"}}}
        found = without_secrets({"schema": schema}, Withheld())
        assert found["schema"]["properties"]["password"]["type"] == "string"


class TestTexts:
    """A record that breaks off is kept, and what is a key in it only its name tells."""

    def test_what_no_name_calls_a_secret_is_as_it_was(self) -> None:
        withheld = Withheld()
        found = text_without_secrets(unreadable(Keys()), withheld)
        assert CORE not in found
        assert '"kept": "as it is"' in found
        assert withheld.total() >= 11

    @pytest.mark.parametrize(
        "piece",
        [
            '"cookie', '"authorization\\"', '{"api_key": "', "Bearer ", 'token: [', 'secret: {"',
            '"token",\\\\\\"', "secret='", "://a:", "sk-", "-----BEGIN PRIVATE KEY-----",
            "api_key=", "authorization: x\\n", "eyJ", "token" + "\\" * 62 + '"',
            '["x-api-key","', "auth:\t",
        ],
    )  # fmt: skip
    def test_a_hostile_text_is_gone_through(self, piece: str) -> None:
        with no_hang():
            text_without_secrets(piece * (400_000 // len(piece)), Withheld())
