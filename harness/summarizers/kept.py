"""A summarizer that is asked once: what it wrote is kept in the log, and found the next time.

So a second run is free and gives the same bytes. Kept is also that a text was of no use, since it
was paid for; that the model could not be asked is not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eventlog.errors import IntegrityFault
from eventlog.events import Usage
from eventlog.outputs import Outputs
from eventlog.recorded import StreamKey
from harness.summarizers.base import Prompt, Summarizer, prompt
from projections.items import Item
from projections.shown import shown
from projections.strategies.decisions import Summary
from projections.written import Written

KIND = "summary"


class InMemory:
    """Keeps outputs as long as the process lives: for a summarizer that costs nothing."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def find(self, kind: str, determined_by: Any) -> Any | None:
        """The output that these determined."""
        return self._kept.get(json.dumps([kind, determined_by], sort_keys=True))

    def keep_if_possible(
        self, stream: StreamKey | str, kind: str, determined_by: Any, output: Any
    ) -> tuple[Any, bool]:
        """Keep an output; the first one stays."""
        key = json.dumps([kind, determined_by], sort_keys=True)
        return self._kept.setdefault(key, output), True


class KeptSummarizer:
    """Another summarizer's summaries of one session, each of them written once."""

    def __init__(
        self, summarizer: Summarizer, outputs: Outputs | InMemory, stream: StreamKey
    ) -> None:
        self._summarizer = summarizer
        self._outputs = outputs
        self._stream = stream
        self.unkept = 0
        """Summaries that could not be kept: the next run asks for them again."""

    @property
    def name(self) -> str:
        """The other's."""
        return self._summarizer.name

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        """The summary as it was written first. Raises what the other raises.

        One that cannot be kept, since the log is open for reading or somebody else writes to it
        for long, is used all the same: it was paid for.
        """
        instruction = prompt(wanted.prompt)
        determined = {
            "summarizer": self._summarizer.name,
            "prompt": instruction.digest,
            "max_tokens": wanted.max_tokens,
            "shown": [
                text for item in items if (text := shown(item, texts_only=wanted.texts_only))
            ],
        }
        known = self._outputs.find(KIND, determined)
        if known is not None:
            return _written(known)
        written = self._summarizer.summarize(wanted, items)
        if written.fault == "unreachable" or (written.fault == "failed" and not written.usage):
            return written
        output = _output(written, instruction)
        output, is_kept = self._outputs.keep_if_possible(self._stream, KIND, determined, output)
        self.unkept += not is_kept
        return _written(output)


def _output(written: Written, instruction: Prompt) -> dict[str, Any]:
    usage = written.usage
    return {
        "prompt": {"name": instruction.name, "digest": instruction.digest},
        "text": written.text,
        "model": written.model,
        "fault": written.fault,
        "detail": written.detail,
        "usage": usage.model_dump(mode="json") if usage is not None else None,
    }


def _written(output: dict[str, Any]) -> Written:
    try:
        usage = output["usage"]
        return Written(
            output["text"],
            output["model"],
            output["fault"],
            output["detail"],
            Usage.model_validate(usage) if usage is not None else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityFault(f"a kept output is not what was kept: {error!r}") from None
