"""Recordings made from a seed, for trying strategies: all that real sessions hold, and worse.

Batches of calls whose results come in any order, late, twice or never; repeated call ids; results
in one message; signed thinking and reasoning items; pictures, lone surrogates, Chinese; errors,
giants, empty texts; pins, revisions, rewinds, task types. The same seed gives the same recording on
every machine.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from projections.items import Item
from projections.recording import Recording, Step
from projections.tokens import Counter, Utf8Counter, count_item

DIALECTS = ("openai_chat", "openai_responses", "anthropic")
TOOLS = ("read_file", "bash", "edit", "search", "run_tests")
TEXTS = (
    "Fix the rounding of refunds in billing/refund.py, never touch migrations/.",
    "不要动 migrations/ 目录，先看日志里的错误。",
    'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: 12.50 EUR',
    "We decided to use half-even rounding, order 7f3a9c is the example.",
    "a\ud83db \U0001f600 done",
    "ok",
    "Run pytest -q tests/test_refund.py again, and tell me what fails.",
)


def made(
    seed: int, *, steps: int = 24, size: int = 1, counting: Counter | None = None
) -> Recording:
    """A recording of about so many rounds; ``size`` multiplies the length of tool results."""
    return _Maker(seed, size, counting or Utf8Counter()).run(steps)


class _Maker:
    def __init__(self, seed: int, size: int, counting: Counter) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.counting = counting
        self.dialect = DIALECTS[seed % 3]
        self.mixed = seed % 5 == 4
        self.returns = seed % 2 == 1
        self.steps: list[Step] = []
        self.late: list[tuple[str, str]] = []
        self.ids = 0
        self.last_call = 0
        self.humans = 0

    def run(self, rounds: int) -> Recording:
        """Let things happen."""
        for _ in range(self.random.choice((1, 1, 2, 0))):
            self._say("system", "You are an agent. Never touch migrations/. " * 3)
        self._human()
        for number in range(rounds):
            if self.returns and number == rounds * 2 // 3:
                self._return()
            self._round()
        self._call()
        return Recording(tuple(self.steps), {}, self.counting.name)

    # -- steps ----------------------------------------------------------------------------------

    @property
    def _position(self) -> int:
        return self.steps[-1].position + 1 if self.steps else 1

    def _step(self, kind: Any, **fields: Any) -> int:
        at = self._position
        self.steps.append(Step(kind, at, **fields))
        return at

    def _item(self, message: Mapping[str, Any], dialect: str, **fields: Any) -> int:
        at = self._position
        item = Item(id=str(at), rendition=str(at), dialect=dialect, message=message, **fields)
        return self._step("item", origin=at, item=item, tokens=count_item(self.counting, item))

    def _call(self) -> None:
        self.last_call = self._step("call", text="m")

    def _text(self) -> str:
        return self.random.choice(TEXTS) * self.random.choice((1, 1, 2, 6))

    def _any_dialect(self) -> str:
        return self.random.choice(DIALECTS) if self.mixed else self.dialect

    # -- what happens ---------------------------------------------------------------------------

    def _round(self) -> None:
        dice = self.random.random()
        if dice < 0.17:
            self._human()
        elif dice < 0.22:
            self._say("user", "<memory>prefers short answers</memory>", source="memory")
        elif dice < 0.25:
            self._say("system", "A reminder: keep to the rules.")
        elif dice < 0.32:
            self._aside()
        else:
            self._answer()

    def _aside(self) -> None:
        items = [step for step in self.steps if step.kind == "item"]
        chosen = self.random.choice(items)
        dice = self.random.random()
        if dice < 0.3:
            self._step("pin", origin=chosen.origin)
        elif dice < 0.45:
            self._step("unpin", origin=chosen.origin)
        elif dice < 0.6:
            chosen = self.random.choice([s for s in items if s.item and s.item.is_human])
            message = {"role": "user", "content": "revised: " + self._text()}
            item = Item(
                id=str(chosen.origin),
                rendition=f"{chosen.origin}@{self._position}",
                kind="message",
                dialect="openai_chat",
                role="user",
                message=message,
                source="human",
                form="revised",
            )
            tokens = count_item(self.counting, item)
            self._step("revise", origin=chosen.origin, item=item, tokens=tokens)
        elif dice < 0.7:
            self._step("rewind", to=self.random.choice(items[len(items) // 2 :]).position)
            self.late.clear()
        else:
            kinds = ("debugging", "code_review", "chat", "creative_writing", "cooking")
            self._step("task", text=self.random.choice(kinds))

    def _return(self) -> None:
        """Back to the middle: far enough that what a strategy did since is taken back with it."""
        items = [step.position for step in self.steps if step.kind == "item"]
        self._step("rewind", to=items[len(items) // 2])
        self.late.clear()

    def _human(self) -> None:
        self.humans += 1
        dialect = self._any_dialect()
        text = self._text() if self.humans > 1 else TEXTS[0]
        content: Any = text
        if self.random.random() < 0.1:
            content = [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ]
        message = {"role": "user", "content": content}
        self._item(message, dialect, kind="message", role="user", source="human")

    def _say(self, role: str, text: str, source: str = "injected") -> None:
        message = {"role": role, "content": text}
        self._item(message, self._any_dialect(), kind="message", role=role, source=source)

    def _answer(self) -> None:
        self._call()
        dialect = self._any_dialect()
        calls = []
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 4))):
            if self.random.random() < 0.85 or not self.ids:
                self.ids += 1
            tool = self.random.choice(TOOLS)
            path = self.random.choice(("a.py", "b.py", "c/d.py"))
            calls.append((f"call_{self.ids}", tool, f'{{"path": "{path}", "n": 1}}'))
        text = self._text() if not calls or self.random.random() < 0.4 else ""
        if dialect == "openai_responses":
            self._responses(text, calls)
        elif dialect == "anthropic":
            self._anthropic(text, calls)
        else:
            self._chat(text, calls)
        self._results(dialect, [(call_id, tool) for call_id, tool, _ in calls])

    def _chat(self, text: str, calls: list[tuple[str, str, str]]) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                for i, n, a in calls
            ]
            if self.ids % 5 == 0:  # as Gemini signs the first call of an answer
                message["tool_calls"][0]["extra_content"] = {
                    "google": {"thought_signature": "c2ln"}
                }
        self._model(message, "openai_chat")

    def _anthropic(self, text: str, calls: list[tuple[str, str, str]]) -> None:
        blocks: list[dict[str, Any]] = []
        if self.random.random() < 0.4:
            blocks.append({"type": "thinking", "thinking": "hm, " + text[:40], "signature": "c2ln"})
        if text or not calls:
            blocks.append({"type": "text", "text": text or "ok"})
        blocks += [
            {"type": "tool_use", "id": i, "name": n, "input": {"path": a}} for i, n, a in calls
        ]
        self._model({"role": "assistant", "content": blocks}, "anthropic")

    def _responses(self, text: str, calls: list[tuple[str, str, str]]) -> None:
        items: list[dict[str, Any]] = []
        self.ids += 1
        if self.random.random() < 0.5:
            sealed = {"id": f"rs_{self.ids}", "summary": [], "encrypted_content": "gAAA"}
            items.append({"type": "reasoning", **sealed})
        if text or not calls:
            said = [{"type": "output_text", "text": text or "ok"}]
            items.append({"type": "message", "role": "assistant", "content": said})
        items += [
            {"type": "function_call", "call_id": i, "name": n, "arguments": a} for i, n, a in calls
        ]
        if self.random.random() < 0.5:
            self._model({"items": items}, "openai_responses")
            return
        for each in items:
            self._model(each, "openai_responses")

    def _model(self, message: Mapping[str, Any], dialect: str) -> None:
        made = {"kind": "message", "role": "assistant", "source": "model"}
        self._item(message, dialect, call=self.last_call, **made)

    def _results(self, dialect: str, calls: list[tuple[str, str]]) -> None:
        self.random.shuffle(calls)
        for call_id, tool in calls:
            dice = self.random.random()
            if dice < 0.06:
                continue  # it is never answered
            if dice < 0.12:
                self.late.append((call_id, tool))
                continue
            self._result(dialect, call_id, tool)
            if dice > 0.96:
                self._result(dialect, call_id, tool)
        if self.late and self.random.random() < 0.3:
            call_id, tool = self.late.pop(0)
            self._result(dialect, call_id, tool)

    def _result(self, dialect: str, call_id: str, tool: str) -> None:
        text = self._text() * self.random.choice((1, 1, 3, 10, 40)) * self.size
        text = self.random.choice((text, text, text, ""))
        failed = self.random.random() < 0.15
        if dialect == "anthropic":
            content: Any = text
            if self.random.random() < 0.1:
                source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
                picture = {"type": "image", "source": source}
                content = [picture, {"type": "text", "text": text or "seen"}]
            message = {"type": "tool_result", "tool_use_id": call_id, "content": content}
            if failed:
                message["is_error"] = True
            if self.random.random() < 0.1:  # as a message of the user, with the block inside
                whole = {"role": "user", "content": [message]}
                self._item(whole, dialect, kind="message", role="user", source="injected")
                return
        elif dialect == "openai_responses":
            message = {"type": "function_call_output", "call_id": call_id, "output": text}
        else:
            message = {"role": "tool", "tool_call_id": call_id, "content": text}
        self._item(message, dialect, kind="tool_result", role="tool", source="tool", tool_name=tool)
