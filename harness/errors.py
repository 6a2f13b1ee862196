"""What goes wrong between us and a model, or a tool.

CtxlogError
├── UpstreamFault        a model's endpoint gave no answer that can be used
│   ├── Unreachable      no connection, no answer in time, no key, no such model, too many calls
│   └── RequestRejected  it was reached, and does not take this request
├── ReplyFailed          an agent's reply came to no answer
└── ToolFailed           a tool did not do what it was asked for; the model is told
"""

from __future__ import annotations

from eventlog.errors import CtxlogError


class UpstreamFault(CtxlogError):
    """A model's endpoint gave no answer that can be used."""

    def __init__(self, model: str, url: str, detail: str) -> None:
        self.model, self.url, self.detail = model, url, detail
        super().__init__(f"{model} at {url}: {detail}")


class Unreachable(UpstreamFault):
    """No connection, no answer in time, a key that is not taken, no such model, too many calls."""


class RequestRejected(UpstreamFault):
    """The endpoint does not take this request: it is larger than the model's window, say."""


class ReplyFailed(CtxlogError):
    """The agent's reply came to no answer: ``outcome`` says how it ended."""

    def __init__(self, outcome: str, detail: str) -> None:
        self.outcome = outcome
        self.detail = detail
        super().__init__(f"the reply {outcome}: {detail}" if detail else f"the reply {outcome}")


class ToolFailed(CtxlogError):
    """A tool did not do what it was asked for. The message is the result that the model is given,
    as it stands, so it says what can be done."""
