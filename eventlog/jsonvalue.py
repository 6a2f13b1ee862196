"""JSON that cannot change: the value inside an event.

A frozen model that holds a dict is not frozen. ``Json`` keeps the *text*, made once when it is
built, so a later change of the caller's object cannot reach the event and the bytes that are stored
are the bytes that were given. Key order is kept; nothing is ever re-sorted or re-written.

Reading is exact where Python is exact: integers of any size, keys in order. A lone surrogate, which
UTF-8 cannot carry, is written as an ASCII escape and read back by the ``json`` module, since faster
readers refuse it. NaN and infinities are not JSON and are refused.
"""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema, from_json

from eventlog.errors import EventInvalid

MAX_DEPTH = 100
"""Nesting above this is refused: SQLite, pydantic and Python each have a limit of their own."""


# Made once, not at each call. A value that holds itself ends in a RecursionError. Writing ASCII is
# almost twice as fast, and gives the same text wherever it needed no ``\\u`` escape.
_ENCODER, _ASCII_ENCODER = (
    json.JSONEncoder(
        ensure_ascii=ascii, allow_nan=False, check_circular=False, separators=(",", ":")
    )
    for ascii in (False, True)
)


def quoted(text: str) -> str:
    """A text as a JSON string, as ``dumps`` writes it, before ``utf8_clean``."""
    if text.isascii():
        written: str = encode_basestring_ascii(text)
        if "\\u" not in written:
            return written
    return str(encode_basestring(text))


def dumps(value: Any) -> str:
    """JSON text of a value: compact, keys in their order, UTF-8 clean.

    Raises EventInvalid for NaN, for nesting above ``MAX_DEPTH`` and for what is not JSON.
    """
    try:
        text = _ASCII_ENCODER.encode(value)
        if "\\u" in text:
            text = _ENCODER.encode(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise EventInvalid(f"not storable as JSON: {error}") from None
    _check_depth(text, value)
    return utf8_clean(text)


def utf8_clean(text: str) -> str:
    """JSON text with its lone surrogates, if any, as ASCII escapes: they only stand in strings."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(_escaped, text)
    return text


_SURROGATE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def _escaped(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return f"\\u{ord(found):04x}"
    # Two halves beside each other are one character to every reader of JSON.
    return chr(0x10000 + ((ord(found[0]) - 0xD800) << 10) + ord(found[1]) - 0xDC00)


def loads(text: str | bytes) -> Any:
    """The value of JSON text.

    Raises EventInvalid when it is not JSON, when it is nested deeper than Python can follow, and
    for an integer of more than 4,300 digits.
    """
    try:
        return from_json(text, allow_inf_nan=False, cache_strings="all")
    except (ValueError, TypeError):
        # from_json refuses lone surrogates, in escapes or as they are; json reads them.
        return _loads_exactly(text)


def _loads_exactly(text: str | bytes) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, TypeError, RecursionError) as error:
        raise EventInvalid(f"not JSON: {why_no_json(error)}") from None


def why_no_json(error: Exception) -> str:
    """Why Python's reader refused a text; of a long number it would name a setting of its own."""
    return "an integer of more than 4,300 digits" if "int_max_str" in str(error) else str(error)


def value_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at a place of a text, and where it ends.

    Raises EventInvalid like ``loads``.
    """
    try:
        found: tuple[Any, int] = _DECODER.scan_once(text, at)
        return found
    except StopIteration:
        raise EventInvalid(f"not JSON: no value at {at}") from None
    except (ValueError, RecursionError) as error:
        raise EventInvalid(f"not JSON: {error}") from None


_HUGE = re.compile(r"[eE]\+?\d{3}|\d{309}")
"""What a number must hold to be over the range of a float: from_json makes it infinite."""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:40]} is over the range of a float")
    return number


def _check_depth(text: str, value: Any) -> None:
    if text.count("{") + text.count("[") > MAX_DEPTH and depth(value) > MAX_DEPTH:
        raise EventInvalid(f"JSON nested more than {MAX_DEPTH} deep")


_CONTAINERS = (dict, list, tuple)


def depth(value: Any) -> int:
    """How deep containers nest, counted up to just above the limit."""
    level, nodes = 0, [value] if isinstance(value, _CONTAINERS) else []
    while nodes and level <= MAX_DEPTH:
        level += 1
        nodes = [
            child
            for node in nodes
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, _CONTAINERS)
        ]
    return level


_DECODER: Any = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)

_SHAPE = bytes.maketrans(b"0123456789E", b"0000000000e")
_SHAPED_HUGE = (b"e000", b"e+000", b"0" * 300)


def value_fault(value: Any, raw: bytes) -> str:
    """Why a value that was read cannot be stored; empty when it can."""
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and depth(value) > MAX_DEPTH:
        return f"nested more than {MAX_DEPTH} deep"
    shape = raw.translate(_SHAPE)
    if any(huge in shape for huge in _SHAPED_HUGE) and not _is_finite(value):
        return "holds a number that is not finite"
    return ""


def _is_finite(value: Any) -> bool:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list):
            stack.extend(node.values() if isinstance(node, dict) else node)
        elif isinstance(node, float) and not math.isfinite(node):
            return False
    return True


ADOPT: Any = {"adopt": True}
"""Validation context of a decoder: the values are freshly read, so nobody else can change them."""


class Json:
    """An immutable JSON value. Equal when its text is equal."""

    __slots__ = ("_text", "_value")
    _text: str | None
    _value: Any

    def __init__(self, value: Any) -> None:
        if isinstance(value, Json):
            value = value.text
            object.__setattr__(self, "_text", value)
            object.__setattr__(self, "_value", _UNREAD)
            return
        object.__setattr__(self, "_text", dumps(value))
        object.__setattr__(self, "_value", _UNREAD)

    @classmethod
    def of_text(cls, text: str) -> Json:
        """From JSON text that is kept as it is; raises EventInvalid for what ``Json`` refuses."""
        value = _loads_exactly(text) if _HUGE.search(text) else loads(text)
        _check_depth(text, value)
        self = cls.__new__(cls)
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_text", utf8_clean(text))
        return self

    @classmethod
    def adopt(cls, value: Any) -> Json:
        """From a decoded value that nobody else holds; its text is made when first asked for."""
        self = cls.__new__(cls)
        object.__setattr__(self, "_text", None)
        object.__setattr__(self, "_value", value)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Json.of_text, (self.text,)  # for copy and pickle, which would set attributes

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Json is immutable: {name}")

    @property
    def text(self) -> str:
        """The JSON text."""
        if self._text is None:
            object.__setattr__(self, "_text", dumps(self._value))
        assert self._text is not None
        return self._text

    @property
    def is_object(self) -> bool:
        """Whether it is a JSON object; known without reading the text."""
        if self._value is _UNREAD:
            return self._text is not None and self._text.startswith("{")
        return isinstance(self._value, dict)

    @property
    def value(self) -> Any:
        """A new copy of the value, the caller's to change."""
        return loads(self.text)

    @property
    def peek(self) -> Any:
        """The shared value, for reading only: for loops where a copy would be felt."""
        if self._value is _UNREAD:
            object.__setattr__(self, "_value", loads(self.text))
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        text = self.text
        return f"Json({text if len(text) <= 80 else text[:77] + '...'})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def validate(value: Any, info: core_schema.ValidationInfo) -> Json:
            if isinstance(value, cls):
                return value
            return cls.adopt(value) if info.context is ADOPT else cls(value)

        return core_schema.with_info_plain_validator_function(
            validate,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda j: j.value),
        )


_UNREAD: Any = object()
