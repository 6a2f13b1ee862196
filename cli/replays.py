"""The request at a place, in whatever dialect was asked for, and what had to be done for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cli.exports import odd_tools
from cli.models import ReplayData
from cli.naming import call_of, ref_of
from cli.windows import item_data, tool_names
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import NoContext
from eventlog.messages import SYSTEM_ROLES
from projections import Live, tokens
from projections.dialects import dialect
from projections.items import Item
from projections.legality import Sendable
from projections.references import Reference
from projections.repairs import Repair
from projections.verdicts import messages_alone

FORMATS = {"openai": "openai_chat", "responses": "openai_responses", "anthropic": "anthropic"}
"""What people call the dialects."""


def replay(live: Live, place: Reference, asked: str) -> tuple[ReplayData, list[str]]:
    """The request at a place, and why a provider would refuse it, were it not made legal.

    ``asked`` is a key of FORMATS, ``json`` or ``text``; empty for the call's own dialect. Raises
    NoContext.
    """
    call = call_of(live, place)
    own = own_dialect(live, place, call)
    wanted = FORMATS.get(asked, own)
    if call is not None and call.data.get("manifest") is not None:
        from projections.sent import Requests

        sent = Requests(live).sent(place.stream, call)
        if wanted == own and asked not in ("json", "text"):
            data = request_data(place, "as_sent", wanted, sent.items, (), sent.body)
            data.notes = _proved(call) + erased_items(sent.items)
            return data, []  # what was sent is shown, not judged
        if asked in ("json", "text"):
            data = request_data(place, "as_sent", asked, sent.items, (), _neutral(sent.items))
            data.notes = _proved(call) + erased_items(sent.items)
            return data, []
    made = live.sendable(place.stream, place.position)
    form = asked if asked in ("json", "text") else wanted
    body, problems, notes = rendered(live, place, call, made, form, own)
    data = request_data(place, "as_sendable", form, made.items, made.repairs, body)
    data.notes = notes
    return data, problems


def rendered(
    live: Live,
    place: Reference,
    call: RecordedEvent | None,
    made: Sendable,
    form: str,
    own: str,
) -> tuple[Any, list[str], list[str]]:
    """A legal context as a request, why a provider would refuse it, and what nobody recorded.

    ``form`` is a dialect, ``json`` or ``text``, ``own`` the dialect of the session there.
    """
    tools, parameters = _surroundings(live, place, call, form == own)

    def uses_tools() -> bool:
        return any(live.log.read(place.stream, types=["tool_result_recorded"]))

    if form in ("json", "text"):
        body: Any = _neutral(made.items)
        problems: list[str] = []
    else:
        body = dialect(form).render(made.items, tools, parameters)
        problems = dialect(form).validate(body)
    notes = [] if form in ("json", "text") else odd_tools(tools)
    return body, problems, [*notes, *never_recorded(made.items, tools, uses_tools)]


def never_recorded(
    items: Sequence[Item], tools: object, uses_tools: Callable[[], bool]
) -> list[str]:
    """What the true request held and nobody wrote down, as far as that can be known.

    ``uses_tools`` says whether a tool ever gave something back in the session.
    """
    missing = []
    if not any(item.role in SYSTEM_ROLES for item in items):
        missing.append("the system prompt")
    if tools is None and uses_tools():
        missing.append("the tool definitions")
    return ([f"never recorded: {' and '.join(missing)}"] if missing else []) + erased_items(items)


def _proved(call: RecordedEvent) -> list[str]:
    """What of the request was recorded, where that is not all of it."""
    told = messages_alone(call)
    return [f"recorded of this request: {told}"] if told else []


def erased_items(items: Sequence[Item]) -> list[str]:
    """That something of it is gone by now, and stands there as what is left of it."""
    return erased_told(sum(item.form == "redacted" for item in items))


def erased_told(count: int) -> list[str]:
    """That so many items of something are gone by now."""
    if not count:
        return []
    return [f"{count} of its items {'was' if count == 1 else 'were'} erased since"]


def own_dialect(live: Live, place: Reference, call: RecordedEvent | None) -> str:
    """Of the call; else of the last item, since that is what would be asked next."""
    if call is not None:
        return str(call.data["dialect"])
    items = live.items(place.stream, place.position)
    if not items:
        raise NoContext(str(place.stream), place.position)
    return items[-1].dialect


def _surroundings(
    live: Live, place: Reference, call: RecordedEvent | None, same: bool
) -> tuple[Any, dict[str, Any] | None]:
    """The tools in force and the parameters; those of another dialect mean nothing here.

    A call names its tools; behind it they hold until others are declared.
    """
    since = None
    if call is None:
        kinds = ["model_called", "tools_declared"]
        for event in live.log.read(place.stream, to=place.position, types=kinds):
            call, since = (event, None) if event.type == "model_called" else (call, event.position)
    data = call.data if call is not None else {}
    tools = _tools(live, place.stream, place.position, since or data.get("tools"))
    return tools, parameters_of(data, same=same)


def parameters_of(data: Mapping[str, Any], *, same: bool) -> dict[str, Any]:
    """The model and the parameters that a ModelCalled holds; of a dialect that is not the same one
    its model alone."""
    parameters: dict[str, Any] = {"model": data["model"]} if data.get("model") else {}
    if same and isinstance(data.get("parameters"), dict):
        parameters |= data["parameters"]
    return parameters


def _tools(live: Live, stream: StreamKey, position: int, named: object) -> Any:
    if isinstance(named, int):
        event = live.log.at(stream, [named]).get(named)
        return event.data.get("definitions") if event is not None else None
    declared = None
    for event in live.log.read(stream, to=position, types=["tools_declared"]):
        declared = event.data.get("definitions")
    return declared


def _neutral(items: Sequence[Item]) -> list[dict[str, Any]]:
    counter, names = tokens.counter(), tool_names(items)
    return [item_data(item, counter, names).model_dump() for item in items]


def request_data(
    place: Reference,
    kind: Any,
    form: str,
    items: Sequence[Item],
    repairs: Sequence[Repair],
    request: Any,
) -> ReplayData:
    """A request as data."""
    counter = tokens.counter()
    return ReplayData(
        key=str(place.stream),
        ref=ref_of(place),
        at=place.position,
        kind=kind,
        format=form,
        items=[item.rendition for item in items],
        tokens=sum(tokens.count_item(counter, item) for item in items),
        repairs=[describe(repair) for repair in repairs],
        request=request,
    )


def describe(repair: Repair) -> str:
    """A repair in one line."""
    words = [repair.rule.replace("_", " ")]
    if repair.dropped:
        words.append("left out " + ", ".join(repair.dropped))
    if repair.moved:
        words.append("moved " + ", ".join(repair.moved))
    for change in repair.renamed:
        words.append(f"{change.item}: call id {change.old!r} became {change.new!r}")
    for insertion in repair.inserted:
        where = f"behind {insertion.after}" if insertion.after is not None else "in front"
        words.append(f"put in a message {where}")
    for insertion in repair.replaced:
        words.append(f"changed {insertion.item.id}")
    return words[0] + ": " + "; ".join(words[1:]) if len(words) > 1 else words[0]
