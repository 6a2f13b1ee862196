"""A Claude Code transcript: which record belongs to which session.

A file is one session, named by its first session id, with the sub-agents that older versions wrote
into the same file (``isSidechain``), each a stream of its own: ``<id>.<first uuid>``. A file that
a newer version wrote for one sub-agent is the stream ``<id>.<agent id>``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eventlog import Json, StreamKey
from eventlog.events import Origin, SessionStarted
from harness.importers.claude_chain import Chain
from harness.importers.claude_events import Maker
from harness.importers.claude_records import text_of
from harness.importers.job import Job, session_name
from harness.importers.records import Record, read_records
from harness.importers.stream_writer import StreamWriter

FORMAT = "claude-code"
IMPORTER_VERSION = 1
MAX_HELD = 10_000
"""Records that are held until the session has a name; then it is named after the file."""

_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
_FIRST = {
    "summary": "leafUuid",
    "file-history-snapshot": "messageId",
    "queue-operation": "operation",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "permission-mode": "permissionMode",
    "mode": "mode",
    "agent-name": "agentName",
}
"""Types of records without a message, and a field that each of them has."""

_KIND = re.compile(r'\{\s*"type"\s*:\s*"([a-z-]+)"')
_TASK_TOOLS = frozenset({"Task", "Agent"})
_BASE = (
    "sessionId",
    "session_id",
    "cwd",
    "version",
    "gitBranch",
    "entrypoint",
    "userType",
    "slug",
    "agentId",
)
_METADATA = ("cwd", "version", "gitBranch", "entrypoint", "slug", "agentId")

OpenWriter = Callable[[str, str, str], StreamWriter]
"""(session name, format, foreign session id) to a writer."""


def recognizes(value: Any) -> bool:
    """Whether a record is one of Claude Code's."""
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return False
    if kind in _TYPES and ("sessionId" in value or "isSidechain" in value):
        return True
    if kind in ("user", "assistant") and isinstance(value.get("message"), dict):
        return True
    return _FIRST.get(kind, "\0") in value


def begins(text: str, cut: bool) -> bool:
    """Whether a first record that is longer than what was read of it, as one with an image may be,
    is one of Claude Code's."""
    if not cut or "\n" in text or text[:1] != "{":
        return False
    kind = _KIND.match(text)
    return ('"sessionId"' in text and '"type"' in text) or (kind is not None and kind[1] in _FIRST)


def may_be(value: Any) -> bool:
    """Whether a record names a session, as all of theirs may."""
    return isinstance(value, dict) and "sessionId" in value and "messages" not in value


def read(job: Job) -> None:
    """Import a transcript."""
    links = job.shared.setdefault(FORMAT, {})
    file = ClaudeCodeFile(
        job.open_writer,
        file=job.file,
        stem=job.path.stem if job.path is not None else job.options.session,
        session=job.options.session,
        links=lambda session_id: links.setdefault(session_id, Links()),
    )
    for record in read_records(job.source):
        if not job.waits(record):
            file.feed(record)
            job.relieve()
    file.finish(job.options.final)
    job.report.pending += file.held
    job.finish()


@dataclass(slots=True)
class Link:
    """A call that started a sub-agent."""

    parent: StreamKey
    call_id: str
    answered: bool = False


@dataclass(slots=True)
class Links:
    """What a session's files say about its sub-agents."""

    by_prompt: dict[str, list[Link]] = field(default_factory=dict)
    by_agent: dict[str, Link] = field(default_factory=dict)
    by_call: dict[str, Link] = field(default_factory=dict)

    def of_agent(self, agent_id: str, prompt: str) -> Link | None:
        """The call that started a sub-agent: by its id, else by the prompt that it was given."""
        found = self.by_agent.get(agent_id)
        if found is not None:
            return found
        waiting = self.by_prompt.get(prompt)
        return waiting.pop(0) if waiting else None


class ClaudeCodeFile:
    """Reads one file: feed it the records, then ``finish``."""

    def __init__(
        self,
        open_writer: OpenWriter,
        *,
        file: str,
        stem: str,
        session: str = "",
        links: Callable[[str], Links] | None = None,
    ) -> None:
        self.chains: list[Chain] = []
        self.held = 0
        """Records that wait because the session has no name yet."""
        self._open_writer = open_writer
        self._file = file
        self._stem = stem
        self._name = session
        self._all_links = links if links is not None else lambda _: Links()
        self._links = Links()
        self._held: list[Record] = []
        self._main: Chain | None = None
        self._session_id = ""
        self._base: dict[str, Any] = {}
        self._by_uuid: dict[str, Chain] = {}
        self._by_agent: dict[str, Chain] = {}
        self._by_call: dict[str, Chain] = {}
        self._by_name: dict[str, Chain] = {}
        self._last_side: Chain | None = None

    def feed(self, record: Record) -> None:
        """The next record of the file; a torn one counts as pending."""
        if self._main is not None:
            self._dispatch(record)
            return
        self._held.append(record)
        value = record.value if isinstance(record.value, dict) else {}
        self._session_id = self._session_id or text_of(value.get("sessionId"))
        named = self._session_id and ("cwd" in value or "message" in value)
        if named or len(self._held) >= MAX_HELD:
            self._start(value)

    def finish(self, final: bool) -> None:
        """The file ends. What is open stays pending, unless ``final``."""
        if self._main is None and self._held and final:
            self._start({})
        self.held = len(self._held)
        for chain in self.chains:
            link = self._links.by_call.get(chain.parent_call)
            chain.finish(final or (link is not None and link.answered))

    # -- streams --------------------------------------------------------------------------------

    def _start(self, value: dict[str, Any]) -> None:
        session_id = self._session_id or self._stem
        self._session_id = session_id
        self._links = self._all_links(session_id)
        agent_id = text_of(value.get("agentId"))
        name = session_name(self._name or session_id)
        self._base = {k: value[k] for k in _BASE if value.get(k) is not None}
        if agent_id and value.get("isSidechain") is True:
            parent = name
            name = self._name or f"{parent}.{session_name(agent_id)}"
            link = self._links.of_agent(agent_id, _prompt(value))
            self._main = self._chain(name, f"{session_id}.{agent_id}", value, link, parent, True)
        else:
            self._main = self._chain(name, session_id, value, None, "", False)
        held, self._held = self._held, []
        for record in held:
            self._dispatch(record)

    def _chain(
        self,
        name: str,
        foreign_id: str,
        first: dict[str, Any],
        link: Link | None,
        parent: str,
        sidechain: bool,
    ) -> Chain:
        writer = self._open_writer(name, FORMAT, foreign_id)
        metadata = {k: first[k] for k in _METADATA if first.get(k) is not None}
        parent_key = ""
        if link is not None:
            parent_key = str(link.parent)
        elif parent:
            parent_key = str(writer.key._replace(session=parent))
        started = SessionStarted(
            metadata=Json({**metadata, "file": self._file}),
            ownership="observed",
            parent_session=parent_key,
            parent_call=link.call_id if link is not None else "",
            format=FORMAT,
            importer_version=IMPORTER_VERSION,
            foreign_session_id=foreign_id,
            origin=Origin(records=()),
        )
        key = writer.key
        chain = Chain(
            writer,
            Maker(self._base, self._file, sidechain),
            started,
            self._session_id,
            lambda call: self._called(key, call),
        )
        if link is not None:
            chain.parent_call = link.call_id
            self._by_call[link.call_id] = chain
        self.chains.append(chain)
        return chain

    def _dispatch(self, record: Record) -> None:
        assert self._main is not None
        value = record.value if isinstance(record.value, dict) else {}
        if value.get("isSidechain") is True and not self._is_agent_file:
            self._side(record, value)
            return
        self._note_results(value)
        if _is_prompt(value):
            for chain in self.chains[1:]:
                chain.close()
        self._main.take(record)

    @property
    def _is_agent_file(self) -> bool:
        return bool(self.chains) and self.chains[0].sidechain

    def _side(self, record: Record, value: dict[str, Any]) -> None:
        """A record of an inline sub-agent: grouped by the record from which it descends."""
        uuid, parent = text_of(value.get("uuid")), text_of(value.get("parentUuid"))
        agent_id = text_of(value.get("agentId"))
        chain = self._by_uuid.get(parent) or self._by_agent.get(agent_id)
        if chain is None and not uuid and not parent:
            chain = self._last_side  # a record without any ids goes on with the last one
        if chain is None:
            root = uuid or f"line-{record.line}" + (f".{record.part}" if record.part else "")
            assert self._main is not None
            main = self._main.writer.report.key
            parent_name = StreamKey.parse(main).session
            name = f"{parent_name}.{session_name(root)}"
            chain = self._by_name.get(name)  # a root that repeats goes on with the first one
            if chain is None:
                link = self._links.of_agent(agent_id, _prompt(value))
                foreign_id = f"{self._session_id}.{root}"
                chain = self._chain(name, foreign_id, value, link, parent_name, True)
                self._by_name[name] = chain
        if uuid:
            self._by_uuid.setdefault(uuid, chain)
        if agent_id:
            self._by_agent[agent_id] = chain
        self._last_side = chain
        chain.take(record)

    # -- links ----------------------------------------------------------------------------------

    def _called(self, key: StreamKey, call: dict[str, Any]) -> None:
        given = call.get("input")
        prompt = given.get("prompt") if isinstance(given, dict) else None
        call_id = text_of(call.get("id"))
        if text_of(call.get("name")) in _TASK_TOOLS and call_id and isinstance(prompt, str):
            link = Link(key, call_id)
            self._links.by_call[call_id] = link
            self._links.by_prompt.setdefault(prompt.strip(), []).append(link)

    def _note_results(self, value: dict[str, Any]) -> None:
        """Which sub-agent a call started, and which of them are done."""
        data = value.get("data")
        if isinstance(data, dict) and text_of(data.get("agentId")):
            link = self._links.by_call.get(text_of(value.get("parentToolUseID")))
            if link is not None:
                self._links.by_agent[data["agentId"]] = link
        message, result = value.get("message"), value.get("toolUseResult")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                continue
            link = self._links.by_call.get(text_of(block.get("tool_use_id")))
            if link is not None:
                link.answered = True
                if (
                    link.call_id in self._by_call
                    and self.chains[0] is not self._by_call[link.call_id]
                ):
                    self._by_call[link.call_id].close()
                if isinstance(result, dict) and text_of(result.get("agentId")):
                    self._links.by_agent[result["agentId"]] = link


def _is_prompt(value: dict[str, Any]) -> bool:
    """Whether a person speaks: the sub-agents of the turn before are done."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if value.get("type") != "user" or value.get("isMeta"):
        return False
    blocks = content if isinstance(content, list) else []
    return not any(isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks)


def _prompt(value: dict[str, Any]) -> str:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return content.strip() if isinstance(content, str) else ""
