"""The one door between events and the JSON text that is stored.

``encode`` writes fields that differ from their default, the long ones last, and splices the text of
a ``Json`` as it stands. ``decode`` turns a stored row into an event of today's shape. A type that
this program does not know is kept as ``UnknownEvent``, byte for byte.

Long base64 strings (images, audio, documents) leave the payload: a list ``blobs`` beside the fields
says where each stood, so no marker inside a message can be mistaken for one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from eventlog import events
from eventlog.errors import EventInvalid, EventTooLarge
from eventlog.jsonvalue import ADOPT, Json, dumps, loads, quoted, utf8_clean
from eventlog.upcasters import upcast

MAX_PAYLOAD = 64 * 1024 * 1024
"""Bytes; a larger event is refused."""

BLOB_MIN = 16 * 1024
"""Bytes of decoded binary above which a part goes to the blobs."""

CLASSES: dict[str, type[events.EventBase]] = {
    cls.model_fields["type"].default: cls for cls in get_args(events.Event)
}


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a type, or of a schema version, that this program does not know."""

    type: str
    schema_version: int
    critical: bool
    payload: str
    origin: None = None


AnyEvent = events.Event | UnknownEvent


class Encoded(NamedTuple):
    """An event ready for storage."""

    type: str
    schema_version: int
    critical: bool
    payload: str
    blobs: tuple[tuple[str, bytes], ...] = ()
    """(address, bytes) of each binary part that left the payload."""


_INT64 = 1 << 63
_FIELDS: dict[type[BaseModel], tuple[tuple[str, str, Any], ...]] = {}


def _fields(cls: type[BaseModel]) -> tuple[tuple[str, str, Any], ...]:
    """(name, JSON key, default) of what is written: of an event no tag, and ``origin`` last."""
    names = list(cls.model_fields)
    if issubclass(cls, events.EventBase):
        names = [name for name in names if name not in ("type", "origin")] + ["origin"]
    return tuple((name, f'"{name}":', cls.model_fields[name].default) for name in names)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Json):
        return value.text
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if type(value) is int and -_INT64 <= value < _INT64:
        return str(value)
    if isinstance(value, tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, BaseModel):
        return _object(value)
    return dumps(value)


def _object(model: BaseModel) -> str:
    cls = type(model)
    fields = _FIELDS.get(cls)
    if fields is None:
        fields = _FIELDS[cls] = _fields(cls)
    values = model.__dict__
    written = []
    for name, key, default in fields:
        value = values[name]
        if value is default:
            continue
        kind = type(value)
        if kind is Json:  # never a default
            written.append(key + value.text)
        elif value != default:
            written.append(key + (quoted(value) if kind is str else _text(value)))
    return "{" + ",".join(written) + "}"


def encode(event: events.EventBase, address: Callable[[bytes], str] | None = None) -> Encoded:
    """The stored form of an event.

    ``address`` names a binary part (the log's keyed digest); without it nothing leaves the payload.
    Raises EventTooLarge, and EventInvalid for what JSON cannot say.
    """
    kind = _KINDS.get(type(event))
    if kind is None:
        raise EventInvalid(f"{type(event).__name__} is not an event of this program")
    payload = utf8_clean(_object(event))
    size = len(payload)
    if size > BLOB_MIN:
        size = len(payload.encode())
        if size > MAX_PAYLOAD:
            raise EventTooLarge(size, MAX_PAYLOAD)
    blobs: tuple[tuple[str, bytes], ...] = ()
    if address is not None and len(payload) * 3 // 4 > BLOB_MIN:
        payload, blobs = _extract(payload, address)
    return Encoded(*kind, payload, blobs)


_KINDS = {cls: (name, cls.schema_version, cls.critical) for name, cls in CLASSES.items()}


def decode(
    type_name: str,
    schema_version: int,
    critical: bool,
    payload: str,
    blob: Callable[[str], bytes | None] | None = None,
) -> AnyEvent:
    """The event of a stored row, in today's shape.

    Raises EventInvalid when the payload of a known type does not fit it (a damaged or forged row).
    """
    cls = CLASSES.get(type_name)
    if cls is None or schema_version > cls.schema_version:
        return UnknownEvent(type_name, schema_version, critical, payload)
    value = plain(type_name, schema_version, payload, blob)
    try:
        return cls.model_validate(value, context=ADOPT)  # type: ignore[return-value]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EventInvalid(f"a stored {type_name} does not fit: {where}: {first['msg']}") from None


def plain(
    type_name: str,
    schema_version: int,
    payload: str,
    blob: Callable[[str], bytes | None] | None = None,
) -> dict[str, Any]:
    """The payload as a dict in today's shape, with its binary parts; not validated."""
    value: dict[str, Any] = loads(payload)
    if type(value) is not dict:
        raise EventInvalid(f"a stored {type_name} is not a JSON object")
    if "blobs" in value:
        _restore(value, blob)
    cls = CLASSES.get(type_name)
    if cls is not None and schema_version < cls.schema_version:
        value = upcast(type_name, schema_version, value, cls.schema_version)
    return value


Path = tuple[str | int, ...]


def _strings(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    stack = [(value, path)]
    while stack:
        node, at = stack.pop()
        if isinstance(node, str):
            if len(node) * 3 // 4 > BLOB_MIN:
                yield at, node
        elif isinstance(node, dict):
            stack.extend((child, (*at, key)) for key, child in node.items())
        elif isinstance(node, list):
            stack.extend((child, (*at, index)) for index, child in enumerate(node))


def _extract(
    payload: str, address: Callable[[bytes], str]
) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    places: dict[str, list[Path]] = {}
    for path, text in _strings(loads(payload), ()):
        places.setdefault(text, []).append(path)
    named: list[tuple[Path, str, str]] = []
    blobs: list[tuple[str, bytes]] = []
    for text, paths in places.items():
        head = mark = ""
        body = text
        if text.startswith("data:"):
            head, mark, body = text.partition(";base64,")
        binary = _binary(body)
        literal = quoted(text)
        # A different count: it is written in another way there, or is a key somewhere.
        if binary is None or payload.count(literal) != len(paths):
            continue
        payload = payload.replace(literal, "null")
        name = address(binary)
        named.extend((path, name, head + mark) for path in paths)
        blobs.append((name, binary))
    if not named:
        return payload, ()
    return payload[:-1] + f',"blobs":{dumps(named)}}}', tuple(blobs)


def _binary(text: str) -> bytes | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    same = len(data) > BLOB_MIN and base64.b64encode(data).decode() == text
    return data if same else None


def _restore(value: dict[str, Any], blob: Callable[[str], bytes | None] | None) -> None:
    try:
        for path, address, prefix in value.pop("blobs"):
            data = blob(address) if blob is not None else None
            if data is None:
                text = f"{prefix}[binary part {address[:12]} is not in this log]"
            else:
                text = prefix + base64.b64encode(data).decode()
            node: Any = value
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = text
    except (LookupError, TypeError, ValueError):
        raise EventInvalid("a stored binary part has no place in its event") from None
