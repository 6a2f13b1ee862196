"""What happened: an append-only, tamper-evident log of conversation events in one SQLite file.

What is named here is loaded when it is first asked for: a look at a few rows (``glance``) needs no
event class, and to build those takes a tenth of a second.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventlog.errors import CtxlogError as CtxlogError
    from eventlog.jsonvalue import Json as Json
    from eventlog.log import EventLog as EventLog
    from eventlog.recorded import Appended as Appended
    from eventlog.recorded import Draft as Draft
    from eventlog.recorded import RecordedEvent as RecordedEvent
    from eventlog.recorded import StreamInfo as StreamInfo
    from eventlog.recorded import StreamKey as StreamKey

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

_MODULES = {"CtxlogError": "errors", "EventLog": "log", "Json": "jsonvalue"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"eventlog.{_MODULES.get(name, 'recorded')}")
    found = globals()[name] = getattr(module, name)
    return found
