"""What ``record`` and ``proxy`` share: the proxy as the command line and the environment ask for
it, and what is said of it at the end.

The addresses of the providers come from the environment or from the command line: never from a
config, which a folder that somebody else made may hold, and which would then say where a session is
sent.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cli.child import unsignalled
from cli.endpoints import DEFAULT_URL, LOOPBACK
from cli.models_recording import RecordedData
from cli.naming import typed_name
from cli.options import Settings
from cli.output import Output, envelope, json_text, to_stderr
from cli.paths import current_database, current_program, nearest
from cli.safetext import safe_text
from cli.style import typed

if TYPE_CHECKING:
    from eventlog import StreamKey
    from harness.recording.proxy import Proxy, Tally
    from harness.recording.upstreams import Api, Upstreams
    from projections import Live

OPENAI, ANTHROPIC = "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"
OLDER = "OPENAI_API_BASE"
"""What older clients of OpenAI, and some libraries still, read instead."""

_DEFAULTS = {"openai": (OPENAI, DEFAULT_URL), "anthropic": (ANTHROPIC, "https://api.anthropic.com")}


@contextlib.contextmanager
def recording(
    settings: Settings,
    session: str | None,
    upstream: Sequence[str] | None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
) -> Iterator[Proxy]:
    """A proxy that listens and does not answer yet; it ends, and the log is closed, with the block.

    Raises InputRefused, and whatever opening the log raises.
    """
    from eventlog.errors import InputRefused

    with unsignalled():
        from harness.recording.proxy import Proxy
        from harness.recording.recorder import Recorder
        from harness.recording.sessions import session_key
        from projections import open_log

    to = upstreams(upstream or (), os.environ)
    path = current_database(settings.db)
    key = session_key(session) if session is not None else None
    with open_log(path) as live:  # a recorder does not wait long, and here nothing has begun yet
        before = _calls_before(live, key) if key is not None else None
        if before is not None and not (settings.quiet or settings.as_json):
            name = safe_text(typed_name(live, str(key)), newlines=False)
            to_stderr(f"ctxlog: goes on in {name} ({_many(before, 'call')} before)")
    with (
        _told(),
        contextlib.closing(Recorder(path, session=key)) as recorder,
    ):
        try:
            proxy = Proxy(recorder, to, host=host, port=port, token=token)
        except OSError as error:
            reason = error.strerror or error
            raise InputRefused(f"cannot listen on {host}, port {port}: {reason}") from None
        with contextlib.closing(proxy):
            yield proxy


def _calls_before(live: Live, key: StreamKey) -> int | None:
    """How many calls a session has; None where there is no such session."""
    from eventlog.errors import StreamNotFound

    try:
        return sum(1 for _ in live.log.read(key, types=["model_called"]))
    except StreamNotFound:
        return None


def upstreams(given: Sequence[str], environment: Mapping[str, str]) -> Upstreams:
    """Where the calls of each API go. Raises InputRefused."""
    from eventlog.errors import InputRefused
    from harness.recording.upstreams import Address, Upstream, Upstreams

    named: dict[str, str] = {}
    for text in given:
        name, separator, url = text.partition("=")
        api, url = (name, url) if separator and name in _DEFAULTS else ("openai", text)
        if api in named:
            raise InputRefused(f"--upstream names {api} twice")
        named[api] = url

    told = {name: environment.get(name, "").strip() for name in (OPENAI, ANTHROPIC, OLDER)}
    if "openai" not in named and told[OLDER]:
        if told[OPENAI] and told[OPENAI].rstrip("/") != told[OLDER].rstrip("/"):
            raise InputRefused(
                f"{OPENAI} and {OLDER} lead to two addresses; unset one, or say --upstream URL"
            )
        told[OPENAI] = told[OLDER]

    def made(api: Api) -> Upstream:
        variable, default = _DEFAULTS[api]
        source = "--upstream" if api in named else variable
        url = named.get(api) or told[variable] or default
        try:
            address = Address.of(url)
            return Upstream(api, address, _way(address.scheme, address.host))
        except InputRefused as fault:
            raise InputRefused(f"{source}: {fault}") from None

    return Upstreams(made("openai"), made("anthropic"))


def _way(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for an address; none for this machine."""
    from urllib.request import getproxies, proxy_bypass

    if host in LOOPBACK or proxy_bypass(host):
        return None
    found = getproxies()
    return found.get(scheme) or found.get("all")


def environment_of(proxy: Proxy) -> dict[str, str]:
    """What points an agent at the proxy."""
    return {
        OPENAI: proxy.openai_url,
        OLDER: proxy.openai_url,
        ANTHROPIC: proxy.anthropic_url,
    }


def recorded_data(settings: Settings, tally: Tally, code: int | None) -> RecordedData:
    """What was recorded."""
    return RecordedData(
        calls=tally.calls,
        sessions=[str(key) for key in tally.sessions],
        failed=tally.failed,
        missed=tally.missed,
        is_lost=tally.is_lost,
        log=str(current_database(settings.db)),
        exit=code,
    )


def tell(out: Output, data: RecordedData) -> None:
    """The summary, on stderr: stdout belongs to the command that was recorded."""
    if out.as_json:
        to_stderr(json_text(envelope(out.settings.command, data.model_dump()), indent=None))
    else:
        out.note(f"ctxlog: {summary(out.settings, data)}")


def summary(settings: Settings, data: RecordedData) -> str:
    """What was recorded, and how to look at it, in one line."""
    if not data.calls:
        return f"no call of a model came; an agent has to use {OPENAI} or {ANTHROPIC}"
    if data.is_lost:
        log = nearest(current_database(settings.db))
        return (
            f"{_many(data.calls, 'call')} NOT recorded: {log} was moved, deleted or replaced "
            "meanwhile"
        )
    parts = [_many(data.calls, "call")]
    if data.sessions:
        parts[0] += f" in {_many(len(data.sessions), 'session')}"
    if data.failed:
        parts.append(f"{data.failed:,} without an answer")
    if data.missed:
        parts.append(f"{data.missed:,} NOT recorded")
    text = ", ".join(parts)
    if not data.sessions:
        return text
    look = "sessions"
    if len(data.sessions) == 1:
        look = f"audit {_look(settings, data.sessions[0])}"
    log = f" --db {nearest(current_database(settings.db))}" if settings.db else ""
    return f"{text}; to look: {current_program()} {look}{log}"


def _look(settings: Settings, key: str) -> str:
    """A session as it can be typed now."""
    from eventlog.errors import CtxlogError
    from projections import open_log

    try:
        with open_log(current_database(settings.db), read_only=True) as live:
            return typed_name(live, key)
    except CtxlogError:  # the key is never wrong
        return typed(key)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say on stderr, in one line and also with ``--quiet``, that calls could not be recorded."""
    from harness.recording.complaints import RecordingWarning

    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, RecordingWarning):
            to_stderr(f"ctxlog: {safe_text(str(message), newlines=False)}")
        else:
            before(message, category, *rest)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RecordingWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def flush() -> None:
    """What was written before another process writes to the same places."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
