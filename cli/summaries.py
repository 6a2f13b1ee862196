"""What writes summaries for a command: sentences picked without a model, nothing, or a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cli.endpoints import model_named
from cli.style import plural
from cli.style import tokens as short_tokens
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.events import Usage
from eventlog.outputs import Outputs
from eventlog.values import known_sum
from harness.conversation.summarised_memories import with_memories_as_they_are
from harness.errors import Unreachable
from harness.summarizers import ExtractiveSummarizer, KeptSummarizer, Summarizer
from harness.summarizers.endpoint import WINDOW, EndpointSummarizer
from harness.summarizers.kept import InMemory
from projections import Live, tokens
from projections.applying import Asked
from projections.items import Item
from projections.strategies.decisions import Summary
from projections.written import Summarize, Written

EXTRACTIVE, NONE = "extractive", "none"

WITHOUT_MODEL = (
    "summaries are sentences picked without a model (extractive/1); a model would say it otherwise"
)
WITHOUT_ANY = "no summarizer: where a summary was wanted, the strategy took its next step instead"


class Summarized(Protocol):
    """A what-if, as far as its summaries go."""

    @property
    def asked(self) -> Sequence[Asked]:
        """Those that were asked for."""
        ...

    @property
    def needs_summary(self) -> int:
        """Those that could not be had."""
        ...


@dataclass(slots=True)
class Summaries:
    """The summaries of one command."""

    live: Live
    name: str
    base_url: str | None = None
    note: Callable[[str], None] = lambda text: None
    """Told what is being waited for."""
    shared_url: bool = False
    """The address is another model's too, so it may be given without one here."""
    asked: int = 0
    spent: list[Written] = field(default_factory=list)
    _writer: Summarizer | None = None
    _kept: list[KeptSummarizer] = field(default_factory=list)
    _memory: InMemory = field(default_factory=InMemory)
    outputs: Outputs = field(init=False)
    """Of the log, opened before anything is read that a model is shown."""

    def __post_init__(self) -> None:
        self.outputs = Outputs(self.live.log)
        if not self.name.strip():
            raise InputRefused("--summarizer: extractive, none, or the name of a model")
        if self.base_url is not None and not self.by_model and not self.shared_url:
            raise InputRefused("--base-url is a model's: name that with --summarizer")
        counting = tokens.counter()
        if self.name == EXTRACTIVE:
            self._writer = ExtractiveSummarizer(counting)
        elif self.name != NONE:
            found = model_named(self.name, self.base_url)
            asking = _Asking(
                EndpointSummarizer(
                    found.endpoint, window=found.window or WINDOW, counting=counting
                ),
                self,
            )
            self._writer = asking

    @property
    def by_model(self) -> bool:
        """Whether a model writes them."""
        return self.name not in (EXTRACTIVE, NONE)

    def of(self, stream: StreamKey | str) -> Summarize | None:
        """What writes the summaries of one session; None where nothing does."""
        if self._writer is None:
            return None
        key = StreamKey.parse(stream) if isinstance(stream, str) else stream
        outputs = self.outputs if self.by_model else self._memory
        self._kept.append(KeptSummarizer(self._writer, outputs, key))
        return with_memories_as_they_are(self.live, key, self._kept[-1].summarize)

    def said(self, runs: Sequence[Summarized]) -> list[str]:
        """What has to be said of the summaries of some what-ifs."""
        written = sum(each.written.fault is None for run in runs for each in run.asked)
        faults = [each.written.fault for run in runs for each in run.asked if each.written.fault]
        failed = sum(run.needs_summary for run in runs)
        notes = [self.label(True)] if written or (failed and self.name == NONE) else []
        if failed and self.name != NONE:
            why = f" ({', '.join(dict.fromkeys(faults))})" if faults else ""
            notes.append(
                f"{plural(failed, 'summary', 'summaries')} could not be had{why}: "
                "the strategy took its next step instead"
            )
        return notes

    def label(self, used: bool) -> str:
        """What has to be said of summaries, where any was wanted."""
        if not used:
            return ""
        if self.by_model:
            return f"summaries are written by {self.name}; each was written once, and is kept"
        return WITHOUT_MODEL if self.name == EXTRACTIVE else WITHOUT_ANY

    def told(self) -> str:
        """What the model was asked in this run; empty where it was not."""
        if not self.asked:
            return ""
        did = f"{self.name} wrote {plural(self.asked, 'summary', 'summaries')}"
        usages = [written.usage for written in self.spent]
        return spent(did, usages, sum(each.unkept for each in self._kept))


def spent(did: str, usages: Sequence[Usage | None], unkept: int) -> str:
    """What a model did in this run, what that cost, and what the next run will cost."""
    known = [usage for usage in usages if usage is not None]
    if known:
        read = known_sum(usage.prompt for usage in known)
        wrote = known_sum(usage.output for usage in known)
        both = ((read, "tokens in"), (wrote, "out"))
        told = [f"{short_tokens(count, True)} {way}" for count, way in both if count is not None]
        did += f" ({', '.join(told)})" if told else ""
    if unkept:
        return f"{did}; {unkept} could not be kept, so the next run asks for them again"
    return f"{did}; they are kept, so the next run is free"


@dataclass(slots=True)
class _Asking:
    """A model's summarizer whose silence ends the command: nobody asked for the next rung then."""

    summarizer: EndpointSummarizer
    of: Summaries

    @property
    def name(self) -> str:
        return self.summarizer.name

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        self.of.note(f"asking {self.of.name} for a summary of {plural(len(items), 'item')}")
        written = self.summarizer.summarize(wanted, items)
        if written.fault == "unreachable":
            raise Unreachable(written.model, self.summarizer.url, written.detail)
        if written.fault is not None:
            self.of.note(f"{self.of.name}: {written.fault}: {written.detail}")
        if written.fault is None or written.usage is not None:
            self.of.asked += 1
            self.of.spent.append(written)
        return written
