"""Views of the log for people with SQL: payloads, ids and times as columns.

Nothing in this program reads them, so nothing rests on them. They are those of format 3
(``readable_3``) with what format 4 brought: when each event happened, by its source's clock where
that can be read; the title of a session as the list of sessions has it; which figures of output
tokens are a lower bound; under which session the item of a decision stands, where a fork took it.

The text is part of the format (``schema``): it changes only by a new migration step.
"""

from __future__ import annotations

from eventlog.happened import recorded_sql, source_sql
from eventlog.readable_3 import (
    CALLS,
    COMPACTIONS,
    DECISIONS,
    END,
    MESSAGES,
    PLACEHOLDERS,
    SESSION,
    TOOL_CALLS,
    WHEN,
    Readable,
    of,
    texts,
)

PARTIAL = ("claude-code",)
"""Formats that write usage while an answer streams, in some versions never the final count."""

_RECORDED = f"{recorded_sql('e.recorded_at')} as recorded_at"
_HAPPENED = f"coalesce({source_sql('e')}, {recorded_sql('e.recorded_at')}) as happened_at"
_CLOCKS = {
    "happened_at": "When, UTC: by the source's clock where that can be read, else `recorded_at`.",
    "occurred_at": WHEN["occurred_at"],
    "recorded_at": WHEN["recorded_at"],
}
_END = f"""{_HAPPENED},
  e.occurred_at, {_RECORDED},
  e.erased is not null as erased, e.sequence"""

_FORMATS = """started (stream, format) as materialized (
  select stream, nullif(json_extract(payload, '$.format'), '') from events
  where type = 'session_started'
),
source (stream, owner) as (
  select row, row from streams
  union
  select o.stream, s.parent from source o join streams s on s.row = o.owner
  join events f on f.stream = s.row and f.position = s.base + 1
  where f.type = 'session_forked' and json_extract(f.payload, '$.ownership') = 'observed'
),
formats (stream, format) as materialized (
  select o.stream, max(b.format) from source o join started b on b.stream = o.owner
  group by o.stream
)"""
"""Which agent wrote each import; a fork that is an import, too, has that of its parent."""

_IS_PARTIAL = "coalesce(f.format in ('" + "', '".join(PARTIAL) + "'), 0)"


def _clocked(view: Readable) -> Readable:
    """The view of format 3, with when each of its rows happened."""
    if END not in view.sql:
        raise ValueError(view.name)
    columns = {name: about for name, about in view.columns.items() if name not in WHEN}
    ends = {**_CLOCKS, "erased": WHEN["erased"], "sequence": WHEN["sequence"]}
    return view._replace(columns={**columns, **ends}, sql=view.sql.replace(END, _END))


_OWNERS = """line (stream, owner, last, depth) as (
  select row, row, 9223372036854775807, 0 from streams
  union
  select l.stream, s.parent, min(l.last, s.base), l.depth + 1
  from line l join streams s on s.row = l.owner
  where s.parent is not null and l.depth < (select count(*) from streams)
)"""
"""Of which streams each has the events, itself first, and up to where."""


def _owned(view: Readable) -> Readable:
    """The view of placeholders, with the session that the item stands under."""
    columns: dict[str, str] = {}
    for name, about in view.columns.items():
        columns[name] = about
        if name == "item":
            columns["item_session"] = (
                "Under which session that stands: where a fork decided, mostly its parent."
            )
    owner = f"""(select o.user || '/' || o.agent || '/' || o.session
    from line l join streams o on o.row = l.owner
    where l.stream = e.stream and cast({of("item")} as integer) <= l.last
    order by l.depth desc limit 1)"""
    sql = view.sql
    for old, new in (
        (
            "placeholders_readable as\nselect",
            f"placeholders_readable as\nwith recursive {_OWNERS}\nselect",
        ),
        (
            "as item,",
            f"as item,\n  case when {of('item')} is not null then {owner} end as item_session,",
        ),
    ):
        if sql.count(old) != 1:
            raise ValueError(old)
        sql = sql.replace(old, new)
    return view._replace(columns=columns, sql=sql)


def _billed(view: Readable) -> Readable:
    """The view of calls, with which figures of output are a lower bound."""
    columns: dict[str, str] = {}
    for name, about in view.columns.items():
        if name == "is_recorded":
            columns["output_is_partial"] = (
                "1 where the source keeps a part of the output only, so that it is at least so "
                "much; `stats` says so, too."
            )
        columns[name] = about
    sql = view.sql
    for old, new in (
        ("as reasoning,", f"as reasoning, {_IS_PARTIAL} as output_is_partial,"),
        ("answered (stream,", f"{_FORMATS},\nanswered (stream,"),
        (
            "left join answered a",
            "left join formats f on f.stream = e.stream\nleft join answered a",
        ),
    ):
        if sql.count(old) != 1:
            raise ValueError(old)
        sql = sql.replace(old, new)
    return view._replace(columns=columns, sql=sql)


# -- sessions -------------------------------------------------------------------------------------

_NOTES = (
    "'item_pinned', 'item_unpinned', 'redacted', 'session_deleted', 'session_titled', "
    "'task_classified'"
)
"""What is said about a session, and does not carry it on."""

_TITLE = 60
"""Characters of the first human message that stand for a title."""


def _one_line(text: str) -> str:
    """What stands there, each run of blanks and line ends as one blank."""
    for code in (9, 10, 13):
        text = f"replace({text}, char({code}), ' ')"
    marked = f"replace({text}, ' ', ' ' || char(1))"
    return f"trim(replace(replace({marked}, char(1) || ' ', ''), char(1), ''))"


_OPENS, _CLOSES = "<system-reminder>", "</system-reminder>"
"""Around the notes of an agent at the beginning of a message, which are no part of its title."""

_BARE = f"""with recursive bare (t, n) as (
    select {texts("content")}, 0
    union all
    select ltrim(substr(t, instr(t, '{_CLOSES}') + {len(_CLOSES)}),
      ' ' || char(9) || char(10) || char(13)), n + 1
    from bare where substr(t, 1, {len(_OPENS)}) = '{_OPENS}' and instr(t, '{_CLOSES}')
  ) select substr(t, 1, 1000) as head from bare order by n desc limit 1"""
_SAID = f"""(select rtrim(substr({_one_line("head")}, 1, {_TITLE}))
      from ({_BARE}))"""


def _last(what: str) -> str:
    """The last event of a session for which something is so: it is near its end."""
    return f"""(select e.position from events e where e.stream = s.row and {what}
    order by e.position desc limit 1)"""


_WENT_ON = f"""coalesce(
    case when s.row in (select stream from observed) then
      {_last(f"e.type not in ({_NOTES}) and {source_sql('e')} is not null")} end,
    {_last(f"e.type not in ({_NOTES})")}, s.base + 1)"""

SESSIONS = Readable(
    "sessions_readable",
    "One row a session, deleted ones too.",
    {
        "session": "The full key: user / agent / session.",
        "title": "As `ctxlog sessions` shows it: the last that it was given, else its parent's, "
        "else how its first human message begins, or the task of a sub-agent (white space other "
        "than blanks, tabs and line ends as it is).",
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
        "output_is_partial": "1 where its output tokens are a lower bound.",
        "happened_at": "When it last went on, UTC, as `ctxlog sessions` says: by its source's "
        "clock where that can be read. Notes do not move it.",
        "created_at": "When the session was made here, UTC.",
        "recorded_at": "When its last event was appended, UTC.",
    },
    f"""create view sessions_readable as
with recursive {_FORMATS},
observed (stream) as materialized (
  select stream from events where type in ('session_started', 'session_forked')
  and json_extract(payload, '$.ownership') = 'observed'
),
titles (stream, position, type, title) as materialized (
  select stream, position, type, nullif(json_extract(payload, '$.title'), '') from events
  where type in ('session_started', 'session_titled')
),
{_OWNERS},
counted (stream, version, events, messages, tool_results, calls, compactions, placeholders,
  erased, recorded_at, started) as materialized (
  select stream, max(position), count(*), sum(type = 'message_appended'),
    sum(type = 'tool_result_recorded'), sum(type = 'model_called'), sum(type = 'context_compacted'),
    sum(type = 'placeholder_substituted'), sum(erased is not null), max(recorded_at),
    min(case when type = 'session_started' then position end)
  from events group by stream
)
select {SESSION} as session,
  coalesce((select title from (select l.depth, coalesce(
      (select t.title from titles t where t.stream = l.owner and t.position <= l.last
        and t.type = 'session_titled' order by t.position desc limit 1),
      (select t.title from titles t where t.stream = l.owner and t.position <= l.last
        and t.type = 'session_started' order by t.position desc limit 1)) as title
      from line l where l.stream = s.row)
    where title is not null order by depth limit 1),
    (select said from (select l.depth,
      (select {_SAID} from events e
        where e.stream = l.owner and e.position <= l.last and e.type = 'message_appended'
        and ({of("source")} = 'human' or {of("source")} = 'injected' and {of("label")} = 'task')
        and {_SAID} <> '' and not exists (
          select 1 from json_each(e.payload, '$.message.content') p
          where p.type = 'object' and json_extract(p.value, '$.type') = 'tool_result')
        order by e.position limit 1) as said
      from line l where l.stream = s.row)
    where said is not null order by depth desc limit 1)) as title,
  (select p.user || '/' || p.agent || '/' || p.session from streams p where p.row = s.parent)
    as parent,
  case when s.parent is not null then s.base end as forked_at,
  {of("parent_session", "b")} as parent_session, f.format,
  c.version, c.events, c.messages, c.tool_results, c.calls, c.compactions, c.placeholders, c.erased,
  {_IS_PARTIAL} as output_is_partial,
  (select {_HAPPENED.removesuffix(" as happened_at")} from events e
    where e.stream = s.row and e.position = {_WENT_ON}) as happened_at,
  {recorded_sql("s.created_at")} as created_at, {recorded_sql("c.recorded_at")} as recorded_at
from streams s join counted c on c.stream = s.row
left join events b on b.stream = s.row and b.position = c.started
left join formats f on f.stream = s.row""",
)

EVENTS = Readable(
    "events_readable",
    "One row an event: ids and times as text. All that the other views are made from.",
    {
        "sequence": "In the whole log.",
        "session": "The full key: user / agent / session.",
        "position": "In the session.",
        "type": "What happened.",
        "event_id": "In hexadecimal digits.",
        **_CLOCKS,
        "erased": WHEN["erased"],
        "characters": "Of the payload.",
        "payload": "The event as JSON, in the shape of its schema version.",
    },
    f"""create view events_readable as select
  e.sequence, {SESSION} as session, e.position, e.type,
  lower(hex(e.id)) as event_id, {_HAPPENED},
  e.occurred_at, {_RECORDED},
  e.erased is not null as erased, length(e.payload) as characters, e.payload
from events e join streams s on s.row = e.stream""",
)

VIEWS = (
    EVENTS,
    SESSIONS,
    *map(_clocked, (MESSAGES, TOOL_CALLS)),
    _clocked(_billed(CALLS)),
    *map(_clocked, (COMPACTIONS, _owned(PLACEHOLDERS), DECISIONS)),
)
"""All there are."""
