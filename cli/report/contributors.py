"""What the tokens of a session went to: what a page cannot find out cheaply by itself.

In how many calls each row stood, by which tool and of which file a result is, which texts came in
several items, and what each declaration of tools weighs. A row that stood in a hundred calls was
paid for a hundred times. The contexts are differences already, so this costs what changes.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from projections.forms import written
from projections.strategies.dedup import path_of

if TYPE_CHECKING:
    from cli.report.model import ContextData, RowData
    from cli.report.session import Reading
    from cli.report.texts import Texts
    from eventlog import RecordedEvent

_NAME = 300
"""Characters of a name or a path that are told."""


class DeclarationData(BaseModel):
    """One declaration of tools. Its tokens are estimated, as the calls that sent it count them."""

    position: int
    tokens: int
    calls: list[tuple[int, int]] = []
    """The runs of calls that sent it: the first one, and how many."""
    tools: list[tuple[str, int]] = []
    """Each tool, and its part of the tokens by the length of its definition."""


class ToolData(BaseModel):
    """The results of one tool."""

    name: str
    """Empty where nothing says it."""
    rows: list[int]
    """Items as they came in."""


class FileData(BaseModel):
    """A file or an address that a tool was asked for at least twice."""

    path: str
    """As the arguments of the calls name it."""
    tool: str
    rows: list[int]
    """The results, as they came in."""


class RepeatedData(BaseModel):
    """A long text that came in several items."""

    text: int
    """Its number in the table."""
    tokens: int
    """Of the text alone, estimated."""
    rows: list[int]
    """The items, as they came in."""
    stood: int = 0
    """How often it was sent: in a call in which it stands twice, two times."""
    calls: int = 0
    """In how many calls."""


class ContributorsData(BaseModel):
    """What the tokens of a session went to."""

    times: list[int] = []
    """How often each row was sent, over all calls."""
    declarations: list[DeclarationData] = []
    tools: list[ToolData] = []
    files: list[FileData] = []
    repeated: list[RepeatedData] = []


def contributors(read: Reading, rows: Sequence[RowData], texts: Texts) -> ContributorsData:
    """Of a session that was read; ``rows`` are those of its page, ``texts`` their table."""
    stood = list(stays(read.contexts))
    times = [0] * len(rows)
    for stay in stood:
        times[stay.row] += stay.behind - stay.first
    tools, files = _results(read, rows)
    return ContributorsData(
        times=times,
        declarations=_declarations(read),
        tools=tools,
        files=files,
        repeated=_repeated(read, rows, texts, stood),
    )


class Stay(NamedTuple):
    """A row stood in the calls from the first one on, up to the one behind them."""

    row: int
    first: int
    behind: int


def stays(contexts: Sequence[ContextData]) -> Iterator[Stay]:
    """When each row stood at its place. One that moves leaves its place and comes again."""
    stands: list[tuple[int, int]] = []
    for call, context in enumerate(contexts, start=1):
        for row, since in stands[context.keep :]:
            yield Stay(row, since, call)
        del stands[context.keep :]
        for first, count in context.add:
            stands += ((row, call) for row in range(first, first + count))
    for row, since in stands:
        yield Stay(row, since, len(contexts) + 1)


# -- results --------------------------------------------------------------------------------------


def _results(read: Reading, rows: Sequence[RowData]) -> tuple[list[ToolData], list[FileData]]:
    """The results by their tools, and those of them that are of one file."""
    calls: dict[str, tuple[str, str]] = {}
    tools: dict[str, list[int]] = {}
    files: dict[tuple[str, str], list[int]] = {}
    for number, (item, row) in enumerate(zip(read.renditions, rows, strict=True)):
        if row.original is not None:
            continue
        for part in item.parts:
            if part.kind == "call" and part.id:
                calls[part.id] = part.name, path_of(part.text)
        if row.category != "result":
            continue
        asked = [calls[name] for name in item.result_ids if name in calls]
        names = dict.fromkeys(name for name, _ in asked if name)
        tool = item.tool_name or ", ".join(names)
        tools.setdefault(tool, []).append(number)
        path = next((path for _, path in asked if path), "")
        if path:
            files.setdefault((path, tool), []).append(number)
    return (
        [ToolData(name=_short(name), rows=found) for name, found in tools.items()],
        [
            FileData(path=_short(path), tool=_short(tool), rows=found)
            for (path, tool), found in files.items()
            if len(found) > 1
        ],
    )


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[:_NAME]}…"


# -- repeated texts -------------------------------------------------------------------------------


def _repeated(
    read: Reading, rows: Sequence[RowData], texts: Texts, stood: Iterable[Stay]
) -> list[RepeatedData]:
    """The texts of the table that stand in several items."""
    holders: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        if row.original is None:
            for text in dict.fromkeys(_long(row)):
                holders.setdefault(text, []).append(number)
    found = {text: numbers for text, numbers in holders.items() if len(numbers) > 1}
    steps: dict[int, list[tuple[int, int]]] = {}
    inside = [Counts(text for text in _long(row) if text in found) for row in rows]
    for stay in stood:
        for text, copies in inside[stay.row].items():
            steps.setdefault(text, []).extend(((stay.first, copies), (stay.behind, -copies)))
    return [
        RepeatedData(
            text=text,
            tokens=read.subject.counting.count(texts.all[text]),
            rows=numbers,
            stood=sum(-call * copies for call, copies in steps.get(text, ())),
            calls=_covered(sorted(steps.get(text, ()))),
        )
        for text, numbers in found.items()
    ]


def _long(row: RowData) -> Iterator[int]:
    return (text for _, _, text, _ in row.parts if isinstance(text, int))


def _covered(steps: Iterable[tuple[int, int]]) -> int:
    """In how many calls at least one copy stands."""
    calls, stand, since = 0, 0, 0
    for call, copies in steps:
        if stand:
            calls += call - since
        stand, since = stand + copies, call
    return calls


# -- definitions of tools -------------------------------------------------------------------------


def _declarations(read: Reading) -> list[DeclarationData]:
    steps = read.subject.recording.steps
    sizes = {step.position: step.tokens for step in steps if step.kind == "tools"}
    sent: dict[int, list[tuple[int, int]]] = {position: [] for position in sizes}
    calls = (step.to for step in steps if step.kind == "call")
    for call, position in enumerate(calls, start=1):
        if position not in sent:
            continue
        runs = sent[position]
        if runs and sum(runs[-1]) == call:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((call, 1))
    events = read.live.log.at(read.key, list(sizes))
    return [
        DeclarationData(
            position=position,
            tokens=size,
            calls=sent[position],
            tools=_parts(events.get(position), size),
        )
        for position, size in sizes.items()
    ]


def _parts(event: RecordedEvent | None, tokens: int) -> list[tuple[str, int]]:
    """Each tool of a declaration with its part of the tokens: they sum up to all of them. Nothing
    where the definitions were erased, or are none."""
    definitions = event.data["definitions"] if event is not None else None
    found = definitions if isinstance(definitions, list) else []
    tools = [each for each in found if isinstance(each, Mapping)]
    ends = list(accumulate(len(written(each)) for each in tools))
    parts = [round(tokens * end / ends[-1]) for end in ends]
    return [
        (_short(_tool_name(tool)), part - before)
        for tool, part, before in zip(tools, parts, [0, *parts], strict=False)
    ]


def _tool_name(definition: Mapping[str, Any]) -> str:
    """The name of a tool, by the form of any dialect; a tool of the provider has a type alone."""
    function = definition.get("function")
    named = function if isinstance(function, Mapping) else definition
    return str(named.get("name") or definition.get("type") or "")
