"""A session with hostile text in every field that takes one: a page shows it and never runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_log import KEY

from eventlog import Draft, Json
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    DecisionUndone,
    Event,
    ItemPinned,
    MemoryRecalled,
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelFailed,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    PromptRendered,
    RecordUnrecognized,
    Remembered,
    SessionRewound,
    SessionStarted,
    Summarizer,
    ToolResultRecorded,
    ToolsDeclared,
    Usage,
)
from projections import open_log
from projections.memory import memory_stream

RAN = "ctxlogRan"
"""The name that would be set in the page if anything of a session ran."""

PIECES = (
    f"</script><script>window.{RAN}=1</script>",
    "<!--<script>",
    f'<img src=x onerror="window.{RAN}=2">',
    f"\"'><svg onload=window.{RAN}=3>",
    f"javascript:window.{RAN}=4",
    f"[click](javascript:window.{RAN}=5)",
    "{{title}}{{script}}${7*7}",
    "__proto__",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "nul\u0000 esc\u001b[31m bell\u0007",
    "line\u2028para\u2029",
    "\ud83d lone \udc00",
    "\\ud83d \\u003c/script\\u003e ]]> &lt;b&gt; %3Cscript%3E",
    '{"__proto__": {"polluted": 1}, "constructor": null}',
    "z\u0351\u0300\u0310\u0317" * 30,
    "\u05e9\u05dc\u05d5\u05dd \u7ed3\u679c",
)
LONG = "L" * 100_000


def bad(field: str) -> str:
    """Hostile text that says where it stood."""
    return f"{field}: " + " ".join(PIECES)


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def tool_call(field: str) -> dict[str, Any]:
    function = {"name": bad(f"{field} name"), "arguments": bad(f"{field} arguments")}
    return {"id": bad(f"{field} id"), "type": "function", "function": function}


def said(source: str, body: dict[str, Any], call: int | None = None) -> MessageAppended:
    return MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": source,
            "call": call,
            "label": bad("label"),
            "message": body,
        }
    )


def events(of: str) -> tuple[Event, ...]:
    """All of the session; ``of`` is the stream of its memories."""
    definition = {
        "type": "function",
        "function": {"name": bad("tool"), "description": bad("description"), "parameters": {}},
    }
    summary = NewMessage(
        dialect="openai_chat",
        message=message("user", bad("summary")),
        label=bad("summary label"),
    )
    return (
        SessionStarted(title=bad("title"), metadata={bad("metadata"): bad("value")}),  # 1
        ToolsDeclared(dialect="openai_chat", definitions=Json([definition])),  # 2
        said("injected", message("system", bad("system"))),  # 3
        PromptRendered(
            item="3",
            template=bad("template"),
            role=bad("template role"),
            version=bad("version"),
            template_text=bad("template text"),
            variables={"__proto__": bad("variable")},
            salt="00",
            template_digest="00",
            rendered_digest="00",
        ),  # 4
        said("human", message("user", bad("question"), name=bad("name"))),  # 5
        said("memory", message("user", bad("memory shown"))),  # 6
        MemoryRecalled(of=of, item="6", memories=("1",), asked="5", query=bad("query")),  # 7
        ModelCalled(model=bad("model"), dialect="openai_chat"),  # 8: c1
        said(
            "model",
            message("assistant", bad("answer"), tool_calls=[tool_call("call")]),
            call=8,
        ),  # 9
        ModelResponded(call=8, finish_reason=bad("finish"), usage=Usage(input=9, output=2)),  # 10
        ToolResultRecorded(
            tool_call_id=bad("call id"),
            name=bad("tool name"),
            dialect="openai_chat",
            is_error=True,
            content=f"{bad('result')}\n{LONG}",
        ),  # 11
        said("human", message("user", LONG)),  # 12
        ModelCalled(model="__proto__", dialect="openai_chat"),  # 13: c2
        ModelFailed(call=13, error=bad("error"), status=529),  # 14
        PlaceholderSubstituted(
            item="11", content=bad("placeholder"), reason=bad("reason"), pass_id=bad("pass")
        ),  # 15
        ModelCalled(model="constructor", dialect="openai_chat"),  # 16: c3
        said("model", message("assistant", bad("second answer")), call=16),  # 17
        ModelResponded(call=16, finish_reason="stop", usage=Usage(input=9, output=2)),  # 18
        ContextCompacted(
            covered=("5", "6", "9", "11"),
            messages=(summary,),
            by=DecidedBy(name=bad("strategy"), parameters={bad("parameter"): bad("set")}),
            trigger=bad("trigger"),
            pre_tokens=9_000,
            summarizer=Summarizer(model=bad("summarizer"), shown=("5", "9")),
        ),  # 19: k1
        ItemPinned(item="12", reason=bad("pin")),  # 20
        said("human", message("user", bad("wrong turn"))),  # 21
        SessionRewound(to=20, reason=bad("rewind")),  # 22
        MessageRevised(
            item="12", reason=bad("revision"), patch=Json({"content": bad("revised")})
        ),  # 23
        ModelCalled(model=bad("other model"), dialect="openai_chat"),  # 24: c4
        said("model", message("assistant", bad("last answer")), call=24),  # 25
        ModelResponded(call=24, finish_reason="stop", usage=Usage(input=9, output=2)),  # 26
        RecordUnrecognized(file=bad("file"), line=9, offset=812, raw=bad("raw")),  # 27
        PlaceholderSubstituted(item="25", kind="cut", content="…", pass_id="p2"),  # 28
        DecisionUndone(target=28, reason=bad("undo")),  # 29
    )


def hostile_log(folder: Path) -> Path:
    """The log, as a file; its session is ``small_log.KEY``."""
    path = folder / "hostile.db"
    memories = memory_stream(KEY.user)
    with open_log(path) as live:
        live.append(memories, Remembered(text=bad("memory"), subject=bad("subject")))
        live.append(KEY, *(Draft(event) for event in events(str(memories))))
    return path
