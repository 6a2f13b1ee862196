"""A request as what sends it again: a command for a shell, a script. Pure.

What is written here is pasted into a shell or run, and holds text that anybody may have chosen. So
it holds only characters that are safe on a terminal, and none of the text is ever code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import parse_qsl

from cli.models_request import RequestData
from cli.safetext import safe_text
from eventlog.errors import InputRefused

_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

ANTHROPIC_VERSION = "2023-06-01"
"""Of its API, where none was recorded: there is no other."""


def render_request(
    data: RequestData, form: Literal["json", "curl", "python"], *, ascii: bool = False
) -> str:
    """The body, or what sends it; ``ascii`` for a command or a script without other characters."""
    if form == "curl":
        return "\n".join(_curl(data, ascii=ascii))
    if form == "python":
        return "\n".join(_python(data, ascii=ascii))
    return data.text


def safe_json(body: str, *, ascii: bool = False) -> str:
    """JSON text whose unsafe characters are escapes: the same value, fit for a terminal."""
    return _escaped(body, _json_escape, ascii=ascii)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escaped(text: str, escape: Callable[[str], str], *, ascii: bool) -> str:
    """The text with every character escaped that a terminal obeys or hides."""
    if not ascii:
        found = _ODD.sub(lambda odd: odd[0] if _is_plain(odd[0]) else escape(odd[0]), text)
        if safe_text(found) == found:
            return found
    return _ODD.sub(lambda odd: escape(odd[0]), text)


_ODD = re.compile("[^ -~]")


@lru_cache(maxsize=4096)
def _is_plain(char: str) -> bool:
    return char > "\x7f" and unicodedata.category(char)[0] in "LMNPS" and safe_text(char) == char


def _is_anthropic(data: RequestData) -> bool:
    return data.dialect == "anthropic"


# -- curl -----------------------------------------------------------------------------------------


def _curl(data: RequestData, *, ascii: bool) -> Iterator[str]:
    """The body goes through a pipe, since an argument of a program can be too long for it; and the
    shell's own printf has no arguments that are."""
    yield f"{_printed(data.text, ascii=ascii)} |"
    streams = isinstance(data.request, dict) and bool(data.request.get("stream"))
    yield f"curl -sS{'N' if streams else ''} {_quoted(data.url)} \\"
    if _is_anthropic(data):
        yield '  -H "x-api-key: $ANTHROPIC_API_KEY" \\'
    else:
        yield '  -H "authorization: Bearer $OPENAI_API_KEY" \\'
    for name, value in _headers(data).items():
        yield f"  -H {_quoted(f'{name}: {value}')} \\"
    yield "  -H 'content-type: application/json' \\"
    yield "  --data-binary @-"


def _printed(body: str, *, ascii: bool) -> str:
    def escape(char: str) -> str:
        return "".join(f"\\0{byte:03o}" for byte in char.encode())

    escaped = _escaped(body, escape, ascii=ascii)
    if escaped == body:
        return f"printf %s {_quoted(body)}"
    doubled = body.replace("\\", "\\\\")
    return f"printf %b {_quoted(_escaped(doubled, escape, ascii=ascii))}"


def _quoted(text: str) -> str:
    r"""For any shell of POSIX; in single quotes nothing but a single quote is special."""
    return "'" + text.replace("'", "'\\''") + "'"


def _headers(data: RequestData) -> dict[str, str]:
    if _is_anthropic(data):
        return {"anthropic-version": ANTHROPIC_VERSION, **data.headers}
    return data.headers


# -- python ---------------------------------------------------------------------------------------

_LIBRARIES = {
    "openai_chat": (
        ("from openai import OpenAI, Stream",),
        ("from openai.types.chat import ChatCompletion, ChatCompletionChunk",),
        ("OpenAI", "ChatCompletion", "ChatCompletionChunk"),
    ),
    "openai_responses": (
        ("from openai import OpenAI, Stream",),
        ("from openai.types.responses import Response, ResponseStreamEvent",),
        ("OpenAI", "Response", "ResponseStreamEvent"),
    ),
    "anthropic": (
        ("from anthropic import Anthropic, Stream",),
        ("from anthropic.types import Message, RawMessageStreamEvent",),
        ("Anthropic", "Message", "RawMessageStreamEvent"),
    ),
}
_ENDS = {
    "openai_chat": "/chat/completions",
    "openai_responses": "/responses",
    "anthropic": "/v1/messages",
}


def _python(data: RequestData, *, ascii: bool) -> Iterator[str]:
    """With the provider's own client, which is given the body as it is."""
    try:
        json.dumps(data.request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputRefused(
            "the request holds half a character (a lone surrogate), which the client of Python "
            "cannot send: take --as curl"
        ) from None
    first, second, (client, answer, event) = _LIBRARIES[data.dialect]
    streams = isinstance(data.request, dict) and data.request.get("stream") is True
    address, _, query = data.url.partition("?")
    base, path = address.removesuffix(_ENDS[data.dialect]), _ENDS[data.dialect]
    if base == address:
        base, _, last = address.rpartition("/")
        path = f"/{last}"
    yield from first if streams else [line.removesuffix(", Stream") for line in first]
    yield from second if streams else [line.removesuffix(f", {event}") for line in second]
    yield ""
    yield f"# The key is read from {_KEYS['anthropic' if _is_anthropic(data) else 'openai']}."
    yield f"client = {client}(base_url={_literal(base)})"
    yield f"request = {_value(data.request, ascii=ascii)}"
    yield ""
    yield "answer = client.post("
    yield f"    {_literal(path)},"
    yield "    body=request,"
    options: dict[str, Any] = {}
    if data.headers:
        options["headers"] = data.headers
    if query:
        options["params"] = dict(parse_qsl(query))
    if options:
        yield f"    options={_literal(options)},"
    yield f"    cast_to={answer},"
    if streams:
        yield "    stream=True,"
        yield f"    stream_cls=Stream[{event}],"
    yield ")"
    if streams:
        yield "for event in answer:"
        yield "    print(event.model_dump_json())"
    else:
        yield "print(answer.model_dump_json(indent=2))"


_LEVELS = 4
"""Of a request that stand on lines of their own."""

_SHORT = 60
"""Characters of a value that stands on one line."""


def _value(value: Any, level: int = 1, *, ascii: bool) -> str:
    """A value of JSON as Python writes it."""
    if level <= _LEVELS and isinstance(value, dict | list) and len(repr(value)) > _SHORT:
        inner, outer = "    " * level, "    " * (level - 1)
        if isinstance(value, dict):
            lines = [
                f"{inner}{_literal(name, ascii=ascii)}: {_value(each, level + 1, ascii=ascii)},\n"
                for name, each in value.items()
            ]
            return "{\n" + "".join(lines) + outer + "}"
        lines = [f"{inner}{_value(each, level + 1, ascii=ascii)},\n" for each in value]
        return "[\n" + "".join(lines) + outer + "]"
    return _literal(value, ascii=ascii)


def _literal(value: Any, *, ascii: bool = False) -> str:
    def escape(char: str) -> str:
        return f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"

    return _escaped(repr(value), escape, ascii=ascii)
