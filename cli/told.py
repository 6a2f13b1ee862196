"""What a session was told, by its calls, and what changed between two places, as data."""

from __future__ import annotations

from collections.abc import Iterable

from cli.models_told import (
    PromptData,
    PromptDiffData,
    PromptLogData,
    PromptPairData,
    PromptSpanData,
    ToolData,
    ToolsSpanData,
    VariableData,
)
from cli.naming import place, ref_of
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.messages import SYSTEM_ROLES
from harness.prompts import Prompts
from projections import Live, tokens
from projections.one_session import in_one_session
from projections.prompts.difference import Pair, Tool, by_name, difference, is_other
from projections.prompts.history import history
from projections.prompts.holding import holding
from projections.prompts.in_force import InForce, Prompt, Told, told
from projections.prompts.template import PARTS, Part, Template
from projections.references import Reference

_READ = ("message_appended", "prompt_rendered", "tools_declared", "model_called")


def told_in(live: Live, stream: StreamKey, *places: int) -> Told:
    """What a session was told, and what stood after some positions.

    It is read to its end: what says of a text that it was rendered may stand behind it.
    """
    return told(live.history(stream, None, _READ), places)


def in_force_at(live: Live, where: Reference) -> InForce:
    """What was in force at a place."""
    return _at(told_in(live, where.stream, *_asked(where)), where)


def rendered_by(live: Live, stream: StreamKey) -> dict[str, str]:
    """The template that gave each prompt, by rendition: ``review/coder v2``. Where another one
    gave the same bytes later, the last."""
    if next(iter(live.log.read(stream, types=["prompt_rendered"])), None) is None:
        return {}
    found = told_in(live, stream)
    prompts = [*(p for call in found.calls for p in call.prompts), *found.unused]
    return {prompt.item.rendition: prompt.label for prompt in prompts if prompt.template}


def log_data(live: Live, stream: StreamKey) -> PromptLogData:
    """Its prompts and tools, each once."""
    found = history(told_in(live, stream))
    return PromptLogData(
        key=str(stream),
        calls=found.calls,
        prompts=[
            PromptSpanData(
                prompt=prompt_data(span.prompt),
                renditions=span.renditions,
                calls=span.calls,
                before=prompt_data(span.before) if span.before is not None else None,
                changed=list(span.change.changed),
                variables=_variables(span.change) if span.before is not None else [],
            )
            for span in found.prompts
        ],
        tools=[
            ToolsSpanData(
                position=span.tools.position,
                names=list(by_name(span.tools.definitions)),
                calls=span.calls,
                changes=_tools(span.changes),
            )
            for span in found.tools
        ],
        without_prompt=found.without_prompt,
        without_tools=found.without_tools,
    )


# -- between two places ---------------------------------------------------------------------------


def diff_data(live: Live, first: str, second: str | None) -> PromptDiffData:
    """What changed between two places of a session; one is held against the last call that was told
    something else.

    Raises NotFound, InputRefused.
    """
    one = place(live, first)
    if second is None:
        return _since(live, one)
    own = f"{one.stream}{second}" if second.startswith("@") else second
    one, other = in_one_session(live, one, place(live, own))
    found = told_in(live, one.stream, *_asked(one), *_asked(other))
    return _between(one.stream, ref_of(one), ref_of(other), _at(found, one), _at(found, other))


def _since(live: Live, where: Reference) -> PromptDiffData:
    found = told_in(live, where.stream, *_asked(where))
    here = _at(found, where)
    before = [call for call in found.calls if call.position < here.position]
    if not before:
        raise InputRefused(f"there is no call before {ref_of(where)}: name a second place")
    other = next((call for call in reversed(before) if is_other(call, here)), None)
    left = other or before[0]
    data = _between(where.stream, f"c{left.call}", ref_of(where), left, here)
    behind = [call.call for call in found.calls if left.position < call.position <= here.position]
    data.since = (min(behind) if behind else None) if other is not None else before[0].call
    if other is None:
        data.notes.append("nothing changed since the first call")
    return data


def _asked(where: Reference) -> list[int]:
    """The position after which a place lies, unless it is a call."""
    return [] if where.kind == "call" else [where.position]


def _at(found: Told, where: Reference) -> InForce:
    if where.kind == "call":
        return found.calls[where.number - 1]
    return found.places[where.position]


def _between(
    stream: StreamKey, left: str, right: str, one: InForce, other: InForce
) -> PromptDiffData:
    made = difference(one, other)
    return PromptDiffData(
        key=str(stream),
        left=left,
        right=right,
        same=made.is_same,
        prompts=[_pair(pair) for pair in made.prompts],
        tools=_tools(made.tools),
        tools_known=made.tools_known,
    )


# -- against a file -------------------------------------------------------------------------------


def file_data(
    live: Live, of: Prompts, name: str, where: Reference, role: str = ""
) -> PromptDiffData:
    """What was in force at a place of a prompt's templates, held against their file as it is now.

    ``role``: only that one of them. Raises InputRefused where no prompt of that name was in force
    there, PromptMissing, PromptUnreadable.
    """
    templates = of.roles(name)
    here = in_force_at(live, where)
    recorded = [
        prompt for prompt in here.prompts if prompt.template == name and role in ("", prompt.role)
    ]
    if not recorded:
        there = dict.fromkeys(prompt.label for prompt in here.prompts if prompt.template)
        hint = f"; there were {', '.join(map(repr, there))}" if there else ""
        label = f"{name}/{role}" if role else name
        raise InputRefused(f"no prompt {label!r} was in force at {ref_of(where)}{hint}")
    pairs = [_against(prompt, templates.get(prompt.role)) for prompt in recorded]
    return PromptDiffData(
        key=str(where.stream),
        left=ref_of(where),
        right=name,
        file=of.file_of(name),
        same=all(pair.state == "same" for pair in pairs),
        prompts=pairs,
        tools=[],
        tools_known=False,
    )


def _against(prompt: Prompt, template: Template | None) -> PromptPairData:
    left = prompt_data(prompt)
    part: Part = PARTS[0] if prompt.item.role in SYSTEM_ROLES else PARTS[1]
    text = template.part(part) if template is not None else ""
    if template is None or not text:
        return PromptPairData(state="removed", changed=[], left=left, right=None, variables=[])
    right = left.model_copy(
        update={
            **{"item": "", "rendition": "", "rendered_at": None, "variables": {}, "text": ""},
            **{"version": template.version, "template_text": text, "tokens": 0},
            **{"state": "no_template", "fault": ""},
        }
    )
    changed = [] if prompt.version == template.version else ["version"]
    changed += ["template_text"] if prompt.template_text != text or prompt.is_erased else []
    return PromptPairData(
        state="changed" if changed else "same",
        changed=changed,
        left=left,
        right=right,
        variables=[],
    )


# -- as data --------------------------------------------------------------------------------------


def prompt_data(prompt: Prompt) -> PromptData:
    """One prompt as data."""
    held = holding(prompt)
    return PromptData(
        item=prompt.item.id,
        rendition=prompt.item.rendition,
        message_role=prompt.item.role,
        template=prompt.template,
        role=prompt.role,
        version=prompt.version,
        rendered_at=prompt.event.position if prompt.event is not None else None,
        template_text=prompt.template_text,
        variables=dict(prompt.variables),
        text=prompt.text,
        tokens=tokens.count_item(tokens.counter(), prompt.item),
        state=held.state,
        fault=held.fault,
    )


def _pair(pair: Pair) -> PromptPairData:
    return PromptPairData(
        state=pair.state,
        changed=list(pair.changed),
        left=prompt_data(pair.left) if pair.left is not None else None,
        right=prompt_data(pair.right) if pair.right is not None else None,
        variables=_variables(pair),
    )


def _variables(pair: Pair) -> list[VariableData]:
    return [VariableData(**variable._asdict()) for variable in pair.variables]


def _tools(changes: Iterable[Tool]) -> list[ToolData]:
    return [ToolData(name=t.name, state=t.state, fields=list(t.fields)) for t in changes]
