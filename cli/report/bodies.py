"""The requests of a session as they stand in a page: pieces in chunks, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from cli.report.chunks import Chunks, chunked
from cli.report.requests import Bodies, Body


class WayData(BaseModel):
    """What many requests of a session have in common."""

    kind: str
    """``as_sent``, or ``as_sendable`` where no request was recorded."""
    dialect: str
    url: str
    url_recorded: bool
    headers: dict[str, str] = {}
    notes: list[str] = []


class BodyData(BaseModel):
    """The request of one call."""

    runs: list[tuple[int, int]]
    """Of pieces: the first one, and how many. Joined they are the body."""
    way: int
    same_bytes: bool = False
    """Whether it is proved to be what was sent, to the byte; with nothing masked."""
    bytes: int


class RequestsData(BaseModel):
    """All requests of a session, without their pieces."""

    ways: list[WayData] = []
    bodies: dict[int, BodyData] = {}
    """By the number of the call."""
    left_out: list[int] = []
    """Calls whose request is not here, since making each would have taken too long."""
    faults: dict[int, str] = {}
    """Why a call has none."""
    chunks: list[int] = []
    """The number of the first piece of each chunk."""
    names: list[str] = []
    """Of a page that is served: by which each chunk is asked for."""


def requests_data(made: Bodies, mask: Callable[[Any], Any]) -> tuple[RequestsData, Chunks]:
    """The requests for a page, masked, and the chunks of their pieces."""
    ways: dict[str, int] = {}
    listed: list[WayData] = []

    def way(body: Body) -> int:
        found = WayData(
            kind=body.kind,
            dialect=body.dialect,
            url=body.url,
            url_recorded=body.url_recorded,
            headers=body.headers,
            notes=list(body.notes),
        )
        number = ways.setdefault(found.model_dump_json(), len(listed))
        if number == len(listed):
            listed.append(found)
        return number

    chunks = chunked(list(_literals(made.pieces, mask)))
    return RequestsData(
        bodies={
            number: BodyData(
                runs=list(body.runs), way=way(body), same_bytes=body.same_bytes, bytes=body.bytes
            )
            for number, body in made.bodies.items()
        },
        ways=listed,
        left_out=list(made.left_out),
        faults=made.faults,
        chunks=chunks.firsts,
    ), chunks


def _literals(pieces: Sequence[Any], mask: Callable[[Any], Any]) -> Iterator[Any]:
    """The pieces with their own text masked; those that stand again as they are."""
    for piece in pieces:
        if isinstance(piece, int):
            piece = pieces[piece]
        yield [mask(part) if isinstance(part, str) else part for part in piece]
