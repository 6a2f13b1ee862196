"""A session whose system prompt was rendered from a template, and rendered anew."""

from __future__ import annotations

from typing import Any

from eventlog import StreamKey, events
from eventlog.events import Event
from projections.live import Live
from projections.prompts.in_force import Told, told
from projections.prompts.template import Part, Template, rendered_event

KEY = StreamKey("local", "agent", "prompted")
SALT = bytes(range(16))
FIRST = Template("review", "coder", version="1", system="You review {language}. Be {tone}.")
SECOND = Template("review", "coder", version="2", system="You review {language}. Say why.")


def said(role: str, text: str, **more: Any) -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    message = {"role": role, "content": text}
    fields = {"dialect": "openai_chat", "source": source, "message": message, **more}
    return events.MessageAppended.model_validate(fields)


def appended(template: Template, item: int, part: Part = "system", **values: object) -> list[Event]:
    """A message that was rendered, and the event that says so."""
    rendered = template.render(**values)
    role = "system" if part == "system" else "user"
    event = rendered_event(rendered, str(item), part=part, salt=SALT)
    return [said(role, rendered.part(part)), event]


def revised(template: Template, item: int, **values: object) -> list[Event]:
    """The same for an item that is there already."""
    rendered = template.render(**values)
    change = events.MessageRevised(item=str(item), patch={"content": rendered.system})
    return [change, rendered_event(rendered, str(item), salt=SALT)]


def tool(name: str, description: str = "") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description}}


def called(**fields: Any) -> events.ModelCalled:
    return events.ModelCalled.model_validate({"model": "m", "dialect": "openai_chat", **fields})


def session() -> list[Event]:
    """Positions behind the lines."""
    return [
        *appended(FIRST, 1, language="Python", tone="kind"),  # 1, 2
        events.ToolsDeclared(dialect="openai_chat", definitions=[tool("read"), tool("run")]),  # 3
        said("user", "hello"),  # 4
        called(),  # 5: c1
        said("assistant", "hi", call=5),  # 6
        called(),  # 7: c2
        *revised(FIRST, 1, language="Rust", tone="kind"),  # 8, 9
        called(),  # 10: c3
        *revised(SECOND, 1, language="Rust"),  # 11, 12
        events.ToolsDeclared(dialect="openai_chat", definitions=[tool("read", "a file")]),  # 13
        called(),  # 14: c4
        events.MessageRevised(item="1", patch={"content": "Do as you like."}),  # 15
        called(),  # 16: c5
    ]


def told_of(live: Live, *places: int, key: StreamKey = KEY) -> Told:
    return told(live.log.read(key), places)
