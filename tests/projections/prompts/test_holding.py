"""A recorded prompt is proved by what was recorded of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompted import FIRST, KEY, SALT, appended, called, said, session, told_of

from eventlog import events
from eventlog.events import PromptRendered
from projections import open_log
from projections.erasure import apply, plan
from projections.live import Live
from projections.prompts.holding import holding
from projections.prompts.template import Template, rendered_event

VALUES = {"language": "C", "tone": "kind"}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def states(live: Live) -> list[str]:
    return [holding(prompt).state for call in told_of(live).calls for prompt in call.prompts]


class TestHolding:
    """Without these a template's name is believed whatever the model was given."""

    def test_what_was_rendered_holds_and_a_text_has_no_template(self, live: Live) -> None:
        live.append(KEY, *session())
        assert states(live) == ["holds"] * 4 + ["no_template"]

    @pytest.mark.parametrize(
        "value",
        [
            *("{tone}", "a\nb", "\ud800", "", "naïve \u202e", "\\1"),
            *(3, 1.50, None, True, 10**20, 1e300),
            ["x", {"b": 1, "a": [None]}],
            {"b": {"z": 1, "a": "é"}, "a": 2},
        ],
    )
    def test_whatever_a_variable_was(self, live: Live, value: object) -> None:
        live.append(KEY, *appended(FIRST, 1, language=value, tone="{language}"), called())
        assert states(live) == ["holds"]

    def test_braces_that_were_no_variable_stay(self, live: Live) -> None:
        code = Template("code", system="{{a}} {b} {} {0} { c }", declared=("a",))
        live.append(KEY, *appended(code, 1, a="x"), called())
        assert states(live) == ["holds"]
        assert told_of(live).calls[0].prompts[0].text == "x {b} {} {0} { c }"

    def test_of_an_erased_one_nothing_is_proved(self, live: Live) -> None:
        live.append(KEY, *session()[:5])
        apply(live, plan(live, KEY, ["1"]))
        assert states(live) == ["erased"]

    @pytest.mark.parametrize(
        ("changed", "fault"),
        [
            ({"template_text": "You review {language}!"}, "was digested"),
            ({"template_digest": "00"}, "was digested"),
            ({"salt": "01" * 16}, "was digested"),
            ({"salt": "no"}, "no salt"),
            ({"rendered_digest": "00"}, "the text of item 1 is not"),
            ({"variables": {"language": "D", "tone": "kind"}}, "do not give that text"),
            ({"variables": None}, "do not give that text"),
        ],
    )
    def test_what_does_not_fit_is_told(
        self, live: Live, changed: dict[str, object], fault: str
    ) -> None:
        message, event = appended(FIRST, 1, **VALUES)
        payload = {**event.model_dump(), "variables": VALUES, **changed}
        live.append(KEY, message, PromptRendered.model_validate(payload), called())
        found = holding(told_of(live).calls[0].prompts[0])
        assert found.state == "broken"
        assert fault in found.fault

    def test_another_text_than_the_one_that_was_rendered(self, live: Live) -> None:
        event = rendered_event(FIRST.render(**VALUES), "1", salt=SALT)
        live.append(KEY, said("system", "You review C. Be rude."), event, called())
        assert states(live) == ["broken"]

    def test_a_text_that_somebody_wrote_over_it_is_no_fault(self, live: Live) -> None:
        over = events.MessageRevised(item="1", patch={"content": "x"})
        live.append(KEY, *appended(FIRST, 1, **VALUES), over, called())
        assert states(live) == ["no_template"]
