"""Images, documents and sound: one reading of each provider's block, and its writing in another's.

A file id belongs to the account that uploaded it, so it is not translated. What cannot be said in
the other dialect is left to the caller, who writes a note in its place; the log keeps the block.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_DATA_URL = re.compile(r"data:([\w.+/-]+)(?:;[\w=.-]+)*;base64,(.*)", re.DOTALL)
_ANTHROPIC_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_AUDIO_FORMATS = ("wav", "mp3")


class Media(NamedTuple):
    """One piece of media; either ``data`` (base64) or ``url`` is set."""

    kind: str
    """image, document or audio."""
    type: str
    data: str
    url: str
    name: str = ""


def read(block: Any) -> Media | None:
    """The media of a native block of any dialect, or None when it is bound to its provider."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind in ("image", "document"):
        return _of_source(str(kind), block)
    if kind == "image_url":
        inner = block.get("image_url")
        return _of_url("image", inner.get("url") if isinstance(inner, dict) else inner)
    if kind == "input_image":
        return _of_url("image", block.get("image_url"))
    if kind in ("file", "input_file"):
        inner = block.get("file") if kind == "file" else block
        return _of_file(inner) if isinstance(inner, dict) else None
    if kind == "input_audio":
        inner = block.get("input_audio")
        if (
            isinstance(inner, dict)
            and inner.get("format") in _AUDIO_FORMATS
            and _full(inner, "data")
        ):
            return Media("audio", str(inner["format"]), inner["data"], "")
    return None


def _full(mapping: dict[str, Any], key: str) -> bool:
    return isinstance(mapping.get(key), str) and bool(mapping[key])


def _of_source(kind: str, block: dict[str, Any]) -> Media | None:
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    title = block.get("title")
    name = title if isinstance(title, str) else ""
    if source.get("type") == "base64" and _full(source, "data") and _full(source, "media_type"):
        return Media(kind, source["media_type"], source["data"], "", name)
    if source.get("type") == "url" and _full(source, "url"):
        return Media(kind, "", "", source["url"], name)
    return None


def _of_url(kind: str, url: Any, name: str = "") -> Media | None:
    if not isinstance(url, str) or not url:
        return None
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return Media(kind, inline[1], inline[2], "", name) if inline[2] else None
    return Media(kind, "", "", url, name) if url.startswith(("http://", "https://")) else None


def _of_file(inner: dict[str, Any]) -> Media | None:
    filename = inner.get("filename")
    name = filename if isinstance(filename, str) else ""
    return _of_url("document", inner.get("file_data") or inner.get("file_url"), name)


def _data_url(media: Media) -> str:
    return media.url or f"data:{media.type};base64,{media.data}"


def to_chat(media: Media) -> dict[str, Any] | None:
    """A content part of a chat message."""
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": _data_url(media)}}
    if media.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": media.type}}
    if media.url:
        return None
    file = {"filename": media.name or "document", "file_data": _data_url(media)}
    return {"type": "file", "file": file}


def to_responses(media: Media) -> dict[str, Any] | None:
    """A content part of a Responses message."""
    if media.kind == "image":
        return {"type": "input_image", "image_url": _data_url(media), "detail": "auto"}
    if media.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": media.type}}
    if media.url:
        return {"type": "input_file", "file_url": media.url}
    name = media.name or "document"
    return {"type": "input_file", "filename": name, "file_data": _data_url(media)}


def to_anthropic(media: Media) -> dict[str, Any] | None:
    """A content block of an Anthropic user message."""
    if media.kind == "audio":
        return None
    allowed = _ANTHROPIC_IMAGES if media.kind == "image" else {"application/pdf"}
    if media.url:
        return {"type": media.kind, "source": {"type": "url", "url": media.url}}
    if media.type not in allowed:
        return None
    source = {"type": "base64", "media_type": media.type, "data": media.data}
    return {"type": media.kind, "source": source}
