"""The SQL views of format 3, as every log of that format has them. No text here ever changes.

Each is made of base tables and built-in functions of SQLite alone, so any program that opens the
file can use them. What they show of an erased event is that it was erased. ``json_extract`` and not
``->>``: that came with SQLite 3.38.

Own events only: what a fork inherits stands under its parent, as in every count of this program.
The numbers of calls and compactions go on from the parent's, as everywhere.

Today's views are made from these (``readable``).
"""

from __future__ import annotations

from typing import NamedTuple


class Readable(NamedTuple):
    """A view, and what it says."""

    name: str
    about: str
    columns: dict[str, str]
    """Each column in its order, and what it holds."""
    sql: str


SESSION = "s.user || '/' || s.agent || '/' || s.session"
PLACE = {"session": "The full key: user / agent / session.", "position": "In the session."}
WHEN = {
    "occurred_at": "The source's own clock, as it wrote it; may be null.",
    "recorded_at": "When it was appended, UTC.",
    "erased": "1 where the text was erased for good: what was in it is null.",
    "sequence": "In the whole log.",
}


def _iso(column: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%fZ', {column} / 1000000.0, 'unixepoch')"


def of(field: str, row: str = "e") -> str:
    """A field of the payload."""
    return f"json_extract({row}.payload, '$.{field}')"


END = f"""e.occurred_at, {_iso("e.recorded_at")} as recorded_at, e.erased is not null as erased,
  e.sequence"""
_FROM = "from events e join streams s on s.row = e.stream"

LINEAGE = """line (stream, owner, last) as (
  select row, parent, base from streams where parent is not null
  union
  select l.stream, s.parent, min(l.last, s.base) from line l join streams s on s.row = l.owner
  where s.parent is not null
)"""
"""Of which streams a fork has the events, and up to where."""


def _inherited(kind: str) -> str:
    return f"""inherited (stream, number) as materialized (
  select l.stream, count(*) from line l
  join events e on e.stream = l.owner and e.position <= l.last
  where e.type = '{kind}' group by l.stream
)"""


_NUMBER = """row_number() over (partition by e.stream order by e.position)
  + coalesce(i.number, 0)"""

_BODY = "coalesce(json_extract(e.payload, '$.message'), json_extract(e.payload, '$.native'))"
"""The native message, or block of a tool result, as JSON."""


def texts(path: str) -> str:
    """What a string, or an array of blocks with a text, says."""
    return f"""(select group_concat(case p.type when 'text' then p.value else coalesce(
    json_extract(p.value, '$.text'), json_extract(p.value, '$.thinking')) end, char(10))
    from json_each({_BODY}, '$.{path}') p where p.type in ('text', 'object'))"""


_ITEMS_TEXT = f"""(select group_concat(json_extract(p.value, '$.text'), char(10))
    from json_each({_BODY}, '$.items') i, json_each(i.value, '$.content') p
    where i.type = 'object' and p.type = 'object')"""


SESSIONS = Readable(
    "sessions_readable",
    "One row a session.",
    {
        "session": "The full key: user / agent / session.",
        "title": "The last that it was given, by itself: of a fork not its parent's.",
        "parent": "Of a fork: the key of the session that it goes on from.",
        "forked_at": "Of a fork: the position up to which it has the parent's events.",
        "parent_session": "Of a sub-agent: the key of the session that started it.",
        "format": "Of an import: which agent wrote it.",
        "version": "The position of its last event.",
        "events": "Its own.",
        "messages": "Of these messages,",
        "tool_results": "results of tools,",
        "calls": "calls to a model,",
        "compactions": "compactions,",
        "placeholders": "substitutions, one for each item,",
        "erased": "and erased ones.",
        "created_at": "When the session was made here, UTC.",
        "updated_at": "When its last event was appended, UTC.",
    },
    f"""create view sessions_readable as
with counted (stream, version, events, messages, tool_results, calls, compactions, placeholders,
  erased, recorded_at, started, titled) as materialized (
  select stream, max(position), count(*), sum(type = 'message_appended'),
    sum(type = 'tool_result_recorded'), sum(type = 'model_called'), sum(type = 'context_compacted'),
    sum(type = 'placeholder_substituted'), sum(erased is not null), max(recorded_at),
    min(case when type = 'session_started' then position end),
    max(case when type in ('session_started', 'session_titled')
      then case when json_extract(payload, '$.title') <> '' then position end end)
  from events group by stream
)
select {SESSION} as session, {of("title", "t")} as title,
  (select p.user || '/' || p.agent || '/' || p.session from streams p where p.row = s.parent)
    as parent,
  case when s.parent is not null then s.base end as forked_at,
  {of("parent_session", "b")} as parent_session, {of("format", "b")} as format,
  c.version, c.events, c.messages, c.tool_results, c.calls, c.compactions, c.placeholders, c.erased,
  {_iso("s.created_at")} as created_at, {_iso("c.recorded_at")} as updated_at
from streams s join counted c on c.stream = s.row
left join events b on b.stream = s.row and b.position = c.started
left join events t on t.stream = s.row and t.position = c.titled""",
)

MESSAGES = Readable(
    "messages_readable",
    "One row a message or tool result, as it came in; what a strategy made of it later stands in "
    "`placeholders_readable`.",
    {
        **PLACE,
        "type": "message_appended or tool_result_recorded.",
        "role": "system, developer, user, assistant or tool.",
        "source": "human, model, retrieval, memory or injected; of a tool result tool.",
        "label": "What kind of injected text it is.",
        "call": "Of an answer: the position of its call.",
        "tool_call_id": "Of a tool result: which call of a tool it answers.",
        "tool": "Of a tool result: the tool's name.",
        "is_error": "Of a tool result: 1 where the tool failed.",
        "text": "What is said in it, thinking included; calls stand in `tool_calls_readable`.",
        "dialect": "Of the message: openai_chat, openai_responses or anthropic.",
        "message": "The message, or the block of a tool result, as JSON and untouched.",
        **WHEN,
    },
    f"""create view messages_readable as
select {SESSION} as session, e.position, e.type,
  case when e.erased is not null then null when e.type = 'tool_result_recorded' then 'tool'
    when json_extract(e.payload, '$.dialect') = 'openai_responses'
      and json_extract({_BODY}, '$.role') is null then 'assistant'
    else coalesce(json_extract({_BODY}, '$.role'), 'user') end as role,
  case when e.type = 'tool_result_recorded' then 'tool' else {of("source")} end as source,
  nullif({of("label")}, '') as label, {of("call")} as call,
  {of("tool_call_id")} as tool_call_id, nullif({of("name")}, '') as tool,
  case when e.type = 'tool_result_recorded' and e.erased is null
    then coalesce({of("is_error")}, 0) end as is_error,
  coalesce(case when e.type = 'tool_result_recorded' then {of("content")} end,
    {texts("content")}, {_ITEMS_TEXT}, {texts("output")}) as text,
  {of("dialect")} as dialect, {_BODY} as message,
  {END}
{_FROM} where e.type in ('message_appended', 'tool_result_recorded')""",
)


def _called(dialect: str, each: str, kinds: str, name: str, arguments: str, call_id: str) -> str:
    return f"""select {SESSION} as session, e.position, json_extract(t.value, '$.{call_id}')
  as tool_call_id, {name} as tool, {arguments} as arguments,
  {END}
{_FROM}, json_each({each}) t
where e.type = 'message_appended' and {of("dialect")} = '{dialect}' and t.type = 'object'
  and json_extract(t.value, '$.type') in ({kinds})"""


_CHAT = _called(
    "openai_chat",
    "e.payload, '$.message.tool_calls'",
    "'function', 'custom'",
    "coalesce(json_extract(t.value, '$.function.name'), json_extract(t.value, '$.custom.name'))",
    "coalesce(json_extract(t.value, '$.function.arguments'), "
    "json_extract(t.value, '$.custom.input'))",
    "id",
)
_BLOCKS = _called(
    "anthropic",
    "e.payload, '$.message.content'",
    "'tool_use', 'server_tool_use', 'mcp_tool_use'",
    "json_extract(t.value, '$.name')",
    "json_extract(t.value, '$.input')",
    "id",
)
_RESPONSES = _called(
    "openai_responses",
    "coalesce(json_extract(e.payload, '$.message.items'), "
    "json_array(json_extract(e.payload, '$.message')))",
    "'function_call', 'custom_tool_call'",
    "json_extract(t.value, '$.name')",
    "coalesce(json_extract(t.value, '$.arguments'), json_extract(t.value, '$.input'))",
    "call_id",
)

TOOL_CALLS = Readable(
    "tool_calls_readable",
    "One row a call of a tool that an answer makes.",
    {
        **PLACE,
        "tool_call_id": "As the model wrote it; ids repeat in real logs.",
        "tool": "The tool's name.",
        "arguments": "As the model wrote them, mostly JSON.",
        **WHEN,
    },
    f"create view tool_calls_readable as\n{_CHAT}\nunion all {_BLOCKS}\nunion all {_RESPONSES}",
)

CALLS = Readable(
    "calls_readable",
    "One row a call to a model, with its outcome and its bill.",
    {
        "session": PLACE["session"],
        "call": "Its number, the 12 of c12.",
        "position": PLACE["position"],
        "model": "As asked for.",
        "dialect": "Of the request.",
        "outcome": "answered or failed; null where nothing of an answer is recorded.",
        "finish_reason": "Of an answer.",
        "error": "Of a failed call.",
        "input": "Tokens that were billed as uncached input,",
        "cached": "as read from a cache,",
        "cache_write": "as written to one,",
        "output": "as output,",
        "reasoning": "and of the output as reasoning. Null where nothing was recorded.",
        "is_recorded": "1 where the request itself was recorded, else its context is folded.",
        "strategy": "Which strategy was in force, where one was.",
        **WHEN,
    },
    f"""create view calls_readable as
with recursive {LINEAGE},
{_inherited("model_called")},
answered (stream, call, sequence) as materialized (
  select stream, cast(json_extract(payload, '$.call') as integer), min(sequence) from events
  where type in ('model_responded', 'model_failed') and payload is not null group by 1, 2
)
select {SESSION} as session, {_NUMBER} as call, e.position,
  {of("model")} as model, {of("dialect")} as dialect,
  case r.type when 'model_responded' then 'answered' when 'model_failed' then 'failed' end
    as outcome,
  nullif({of("finish_reason", "r")}, '') as finish_reason, {of("error", "r")} as error,
  {of("usage.input", "r")} as input, {of("usage.cached", "r")} as cached,
  {of("usage.cache_write", "r")} as cache_write, {of("usage.output", "r")} as output,
  {of("usage.reasoning", "r")} as reasoning,
  {of("request_digest")} is not null as is_recorded, nullif({of("strategy")}, '') as strategy,
  {END}
{_FROM} left join inherited i on i.stream = e.stream
left join answered a on a.stream = e.stream and a.call = e.position
left join events r on r.sequence = a.sequence
where e.type = 'model_called'""",
)

COMPACTIONS = Readable(
    "compactions_readable",
    "One row a compaction: what left the context, and what took its place.",
    {
        "session": PLACE["session"],
        "compaction": "Its number, the 3 of k3.",
        "position": PLACE["position"],
        "trigger": "Why it was made, as the agent said.",
        "by": "The strategy or the agent.",
        "covered": "Which items left, as JSON: 12, 57.0, or a run 58-120.",
        "messages": "How many messages took their place.",
        "summary": "What they say.",
        "pre_tokens": "Of the context before, by the agent's own count,",
        "post_tokens": "and after.",
        "is_inferred": "1 where it was found by comparing two requests.",
        "is_opaque": "1 where the provider keeps the summary encrypted.",
        **WHEN,
    },
    f"""create view compactions_readable as
with recursive {LINEAGE},
{_inherited("context_compacted")}
select {SESSION} as session, {_NUMBER} as compaction, e.position,
  nullif({of("trigger")}, '') as trigger, {of("by.name")} as by, {of("covered")} as covered,
  case when e.erased is null
    then coalesce(json_array_length(e.payload, '$.messages'), 0) end as messages,
  (select group_concat(case p.type when 'text' then p.value
    else json_extract(p.value, '$.text') end, char(10))
    from json_each(e.payload, '$.messages') m, json_each(m.value, '$.message.content') p
    where p.type in ('text', 'object')) as summary,
  {of("pre_tokens")} as pre_tokens, {of("post_tokens")} as post_tokens,
  coalesce({of("inferred")}, 0) as is_inferred, coalesce({of("opaque")}, 0) as is_opaque,
  {END}
{_FROM} left join inherited i on i.stream = e.stream
where e.type = 'context_compacted'""",
)

PLACEHOLDERS = Readable(
    "placeholders_readable",
    "One row an item whose content was replaced in the context; its original stays.",
    {
        **PLACE,
        "item": "Whose content: the position that brought it in, or 57.0.",
        "kind": "cut, cleared or deduplicated.",
        "reason": "As whoever decided it said.",
        "pass_id": "What was decided together has the same.",
        "by": "The strategy or the agent.",
        "content": "What stands there instead.",
        "is_implied": "1 where the agent's behaviour says so, and no file.",
        "is_inferred": "1 where it was found by comparing two requests.",
        **WHEN,
    },
    f"""create view placeholders_readable as
select {SESSION} as session, e.position, {of("item")} as item,
  case when e.erased is null then coalesce({of("kind")}, 'cleared') end as kind,
  nullif({of("reason")}, '') as reason, nullif({of("pass_id")}, '') as pass_id,
  {of("by.name")} as by, {of("content")} as content,
  coalesce({of("implied")}, 0) as is_implied, coalesce({of("inferred")}, 0) as is_inferred,
  {END}
{_FROM} where e.type = 'placeholder_substituted'""",
)

_DECISIONS = (
    "'placeholder_substituted', 'message_revised', 'context_compacted', 'compaction_declined', "
    "'decision_undone',\n  'session_rewound', 'repair_applied', 'item_pinned', 'item_unpinned', "
    "'task_classified'"
)

DECISIONS = Readable(
    "decisions_readable",
    "One row a decision, of every kind: what changed a context, or was to.",
    {
        **PLACE,
        "type": "The event's type.",
        "about": "The item, the covered items, the decision that was undone, the position that was "
        "gone back to, or the rule of a repair.",
        "reason": "As whoever decided it said.",
        "by": "The strategy or the agent.",
        "is_inferred": "1 where it was found by comparing two requests.",
        **WHEN,
    },
    f"""create view decisions_readable as
select {SESSION} as session, e.position, e.type,
  coalesce({of("item")}, {of("covered")}, {of("target")}, nullif({of("pass_id")}, ''),
    {of("to")}, {of("rule")}, {of("task_type")}) as about,
  coalesce(nullif({of("reason")}, ''), nullif({of("trigger")}, '')) as reason,
  case when json_type(e.payload, '$.by') = 'object' then {of("by.name")}
    else nullif({of("by")}, '') end as by,
  coalesce({of("inferred")}, 0) as is_inferred,
  {END}
{_FROM} where e.type in ({_DECISIONS})""",
)

VIEWS = (SESSIONS, MESSAGES, TOOL_CALLS, CALLS, COMPACTIONS, PLACEHOLDERS, DECISIONS)
