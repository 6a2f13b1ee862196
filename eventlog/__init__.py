"""What happened: an append-only, tamper-evident log of conversation events in one SQLite file."""

from eventlog.errors import CtxlogError
from eventlog.jsonvalue import Json
from eventlog.log import EventLog
from eventlog.recorded import Appended, Draft, RecordedEvent, StreamInfo, StreamKey

__all__ = [
    "Appended",
    "CtxlogError",
    "Draft",
    "EventLog",
    "Json",
    "RecordedEvent",
    "StreamInfo",
    "StreamKey",
]
