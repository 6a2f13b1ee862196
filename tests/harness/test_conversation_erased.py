"""A conversation goes on behind an erasure: what was erased is sent as what is left of it, each
call is proved, and nothing is said or repaired again and again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conversing import LOOK, InOrder, called, holds, requests_of, said, types
from model_server import serving

from eventlog.events import PromptRendered
from harness.conversation import Conversation
from projections import Live, erasure, open_log
from projections.audit.auditing import audit
from projections.prompts.parsing import parse

SECRET = "The word is swordfish."
ERASED = {"role": "system", "content": "[redacted]"}
OTHER = {"role": "system", "content": "Be brief."}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


@dataclass
class Talk:
    """A conversation, and what its server was asked."""

    of: Conversation
    answers: InOrder

    def open(self, **more: Any) -> None:
        """Open the session anew, as another process does."""
        of = self.of
        given = {"session": of.key, "tools": [LOOK], "strategy": "none", **more}
        self.of = Conversation(of.live, of.client, of.model, **given)

    def erase(self, item: str) -> None:
        """Erase an item, and let the conversation see it."""
        live = self.of.live
        erasure.apply(live, erasure.plan(live, self.of.key, [item], quotes=False))
        self.of.refresh()

    def ask(self, text: str) -> list[dict[str, Any]]:
        """The messages with which that went out."""
        self.of.ask(text)
        return requests_of(self.answers.asked)[-1]

    def verdicts(self) -> list[str]:
        """Of all calls; whatever else has to hold does."""
        holds(self.of, verdicts=("exact", "erased"))
        return [row.verdict for row in audit(self.of.live, self.of.key).calls]

    def last_manifest(self) -> list[str]:
        """What the last request names."""
        calls = list(self.of.live.log.read(self.of.key, types=["model_called"]))
        return list(calls[-1].data["manifest"])


@contextmanager
def talking(live: Live, *answers: Any) -> Iterator[Talk]:
    given = InOrder(*answers, said("ok"))
    with serving(given) as server:
        tools = {"tools": [LOOK], "strategy": "none"}
        of = Conversation(live, server.client(), "m", session="s", system=SECRET, **tools)
        yield Talk(of, given)


class TestARevisedPrompt:
    """Both its texts go with the item, and the revision stays in force."""

    def test_what_is_left_of_it_is_sent_and_the_call_is_erased(self, live: Live) -> None:
        with talking(live) as talk:
            talk.ask("hello")
            talk.of.prompt("The other word is haddock.")
            talk.ask("again")
            talk.erase("2")
            assert talk.ask("more")[0] == ERASED
            assert talk.last_manifest()[0] == "2@redacted"
            talk.open()
            assert talk.ask("and more")[0] == ERASED
            assert talk.verdicts() == ["erased"] * 4


class TestAnotherPrompt:
    """It takes the place of one that was erased."""

    def test_the_model_is_given_it_and_the_call_is_exact(self, live: Live) -> None:
        with talking(live) as talk:
            talk.ask("hello")
            talk.erase("2")
            talk.of.prompt(OTHER["content"])
            talk.of.prompt(OTHER["content"])
            assert types(live, talk.of.key)[-2:] == ["context_compacted", "message_appended"]
            sent = talk.ask("again")
            assert [each["role"] for each in sent] == ["system", "user", "assistant", "user"]
            assert sent[0] == OTHER
            talk.open()
            assert talk.ask("more")[0] == OTHER
            assert talk.verdicts() == ["erased", "exact", "exact"]

    def test_so_does_the_one_that_a_session_is_opened_with(self, live: Live) -> None:
        with talking(live) as talk:
            talk.ask("hello")
            talk.erase("2")
            talk.open(system=SECRET)
            assert talk.ask("again")[0] == {"role": "system", "content": SECRET}
            assert talk.verdicts() == ["erased", "exact"]

    def test_so_does_one_that_a_revision_did_not_show(self, live: Live) -> None:
        with talking(live) as talk:
            talk.ask("hello")
            talk.of.prompt("The other word is haddock.")
            talk.erase("2")
            talk.of.prompt(OTHER["content"])
            assert talk.ask("again")[0] == OTHER
            assert talk.verdicts() == ["erased", "exact"]

    def test_before_anything_was_said_it_stands_alone(self, live: Live) -> None:
        with talking(live) as talk:
            talk.erase("2")
            talk.of.prompt(OTHER["content"])
            assert talk.ask("hello") == [OTHER, {"role": "user", "content": "hello"}]
            assert talk.verdicts() == ["exact"]

    def test_of_a_template_the_log_says_that_it_is_that_one(self, live: Live) -> None:
        template = parse("brief: {system: 'Be {how}.'}", "styles")["brief"]
        with talking(live) as talk:
            talk.erase("2")
            talk.of.prompt(template.render(how="brief"))
            told = [event.event for event in live.log.read(talk.of.key, types=["prompt_rendered"])]
            assert isinstance(told[0], PromptRendered)
            assert told[0].item == talk.of.items()[0].id
            assert talk.ask("hello")[0] == OTHER


class TestAnIdThatCameTwice:
    """A repair gave the later call another one, and what is left of it keeps that."""

    @pytest.mark.parametrize("role", ["assistant", "tool"])
    def test_nothing_is_repaired_again(self, live: Live, role: str) -> None:
        first, second = (called(("c1", "look", {"n": n})) for n in (1, 2))
        with talking(live, first, said("one"), second, said("two")) as talk:
            talk.ask("look at 1")
            talk.ask("look at 2")
            repairs = types(live, talk.of.key).count("repair_applied")
            item = [i.id for i in talk.of.items() if i.role == role and _pairs(i.message)][-1]
            talk.erase(item)
            sent = talk.ask("more")
            named = [each for each in talk.last_manifest() if each.endswith("@redacted")]
            assert named == [f"{item}@redacted"]
            calls = [c["id"] for each in sent for c in each.get("tool_calls", ())]
            assert calls == [each["tool_call_id"] for each in sent if each["role"] == "tool"]
            assert len(set(calls)) == 2
            assert talk.ask("and more")[: len(sent)] == sent
            talk.open()
            assert talk.ask("and that is all")[: len(sent)] == sent
            assert types(live, talk.of.key).count("repair_applied") == repairs == 1
            assert talk.verdicts()[-4:] == ["erased"] * 4
            assert "exact" in talk.verdicts()


def _pairs(message: Any) -> bool:
    """Whether it calls a tool, or answers a call."""
    return bool(message.get("tool_calls") or message.get("tool_call_id"))
