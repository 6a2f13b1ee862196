"""What should not be in a log is found where it stands, and is not shown by the finding."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hanging import no_hang
from secrets_made import MADE_UP, OF_DETECTORS

from eventlog import StreamKey, events
from eventlog.redaction import Target, redact
from projections import findings, open_log
from projections.findings import (
    DETECTORS,
    detectors,
    for_secrets,
    masked,
    matching,
    secrets,
    standing,
)
from projections.live import Live
from projections.secret_shapes import SHAPES

KEY = StreamKey("local", "agent", "s")
OTHER = StreamKey("local", "agent", "s2")

# Put together here, so that no scanner of repositories takes this file for a leak.
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


def result(text: str) -> events.ToolResultRecorded:
    return events.ToolResultRecorded(tool_call_id="x", dialect="openai_chat", content=text)


class TestSecrets:
    """Without these the keys that tools print stay in the log for ever."""

    def test_a_key_is_found_where_it_stands_and_is_shown_masked(self, live: Live) -> None:
        live.append(KEY, said("run it"), result(f"env:\nTOKEN={GITHUB}\nPATH=/bin"))
        live.append(OTHER, said(f"use {AWS} please"))
        found = {(f.stream, f.position, f.item, f.rule): f.preview for f in secrets(live)}
        assert found == {
            (KEY, 2, "2", "github_token"): "ghp_… (40 characters)",
            (OTHER, 1, "1", "aws"): "AKIA… (20 characters)",
        }

    @pytest.mark.parametrize("name", SHAPES)
    def test_of_services_that_agents_talk_to(self, live: Live, name: str) -> None:
        for number, key in enumerate(MADE_UP[name], 1):
            live.append(KEY, said(f"export KEY='{key}'; run"))
            found = {f.rule: f.texts for f in secrets(live) if f.position == number}
            assert found[f"ctxlog:{name}"] == (key,)

    @pytest.mark.parametrize("name", DETECTORS)
    def test_by_each_pattern_of_every_detector(self, live: Live, name: str) -> None:
        for number, secret in enumerate(OF_DETECTORS[name], 1):
            live.append(KEY, said(f'it is "{secret}"'))
            assert name in {f.rule for f in secrets(live) if f.position == number}
        patterns = detectors()[name].denylist
        assert all(any(p.search(secret) for secret in OF_DETECTORS[name]) for p in patterns)

    def test_behind_a_line_end_that_json_wrote_out(self, live: Live) -> None:
        keys = [MADE_UP[name][-1] for name in ("hugging_face", "npm_access", "slack_app")]
        live.append(KEY, *[said(json.dumps(f"keys:\n{key}")) for key in keys])
        assert [f.texts for f in secrets(live)] == [(key,) for key in keys]

    def test_a_word_that_only_begins_like_one_is_none(self, live: Live) -> None:
        words = [
            "sk-ant-api03-short",
            "github_pat_",
            "AIzawa",
            "hf_" + "x" * 20,
            "npm_config_cache",
        ]
        words += ["shf_" + "x" * 40, "sk-anthropic-" + "y" * 60, "xapp-release-2024", "sk-or-v1-no"]
        words += ["sk-learn-estimators-2-of-3", "sk-learnestimatorsandothers", "disk-" + "0a1b" * 6]
        words += ["sk-" + "1" * 30, "sk-proj-the-name-of-a-project-of-mine", "sk-container-id-1"]
        words += ["Authorization: Bearer YOUR_ACCESS_TOKEN_HERE", "Authorization: Bearer ${KEY_12}"]
        words += ["x-api-key: settings.anthropic_key", '"x-api-key": os.environ["KEY_12_OF_34"]']
        live.append(KEY, said(" ".join(words)))
        assert secrets(live) == []

    def test_only_in_the_sessions_that_were_asked_for(self, live: Live) -> None:
        live.append(KEY, said(GITHUB))
        live.append(OTHER, said(GITHUB))
        assert [f.stream for f in secrets(live, [OTHER])] == [OTHER]

    def test_an_inherited_one_is_found_once(self, live: Live) -> None:
        live.append(KEY, said(GITHUB))
        live.log.fork(OTHER, KEY, at=1)
        assert [f.stream for f in secrets(live)] == [KEY]

    def test_in_a_summary_a_placeholder_and_a_title(self, live: Live) -> None:
        new = events.NewMessage(
            dialect="openai_chat", message={"role": "user", "content": f"key {GITHUB}"}
        )
        live.append(
            KEY,
            said("x"),
            events.PlaceholderSubstituted(item="1", content=f"[was {GITHUB}]"),
            events.ContextCompacted(covered=("1",), messages=(new, new)),
            events.SessionTitled(title=GITHUB),
        )
        assert [(f.position, f.item) for f in secrets(live)] == [
            (2, "1"),
            (3, "3.0"),
            (3, "3.1"),
            (4, ""),
        ]

    def test_in_what_an_agent_keeps_beside_the_conversation(self, live: Live) -> None:
        prompt = {"item": "1", "template": "t", "salt": "00", "template_digest": "0a"}
        live.append(
            KEY,
            said("x"),
            events.PromptRendered.model_validate(
                {**prompt, "rendered_digest": "0b", "variables": {"name": GITHUB}}
            ),
            events.TasksSet(tasks=(events.Task(id="1", title=f"use {GITHUB}"),)),
            events.OutputProduced(reply_id="r", value={"id": [GITHUB]}),
            events.MiddlewareStateSet(name="m", state={"type": GITHUB}),
            events.PermissionsSet(allow=(f"shell(curl -H {GITHUB}*)",)),
        )
        assert [(f.position, f.item) for f in secrets(live)] == [
            (2, "1"),
            *((position, "") for position in (3, 4, 5, 6)),
        ]

    def test_an_erased_one_is_found_no_more(self, live: Live) -> None:
        live.append(KEY, said(GITHUB))
        redact(live.log, [Target(KEY, 1)], stream=KEY)
        assert secrets(live) == []

    def test_every_detector_that_is_named_is_there_and_none_goes_by_entropy(self) -> None:
        assert detectors().keys() == DETECTORS.keys() | {f"ctxlog:{name}" for name in SHAPES}
        assert not {"high_entropy_strings", "keyword", "ip_public"} & DETECTORS.keys()

    def test_nothing_is_asked_of_a_network(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*arguments: object, **more: object) -> None:
            raise AssertionError("a detector reached for the network")

        live.append(KEY, said(f"{GITHUB} {AWS}"))
        monkeypatch.setattr(socket, "socket", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        assert len(secrets(live)) == 2

    def test_a_secret_at_the_seam_of_two_pieces_of_a_long_line_is_found(self, live: Live) -> None:
        live.append(KEY, *[said("x" * before + f" {GITHUB} ") for before in range(1950, 2350, 40)])
        assert len(secrets(live)) == 10

    def test_in_any_line_of_a_long_text(self) -> None:
        lines = ["nothing"] * 40
        for at in range(40):
            found = list(for_secrets().scan("\n".join([*lines[:at], GITHUB, *lines])))
            assert [secret for _, _, secret in found] == [GITHUB]

    def test_by_a_detector_that_looks_in_a_way_of_its_own(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        live.append(KEY, said("nothing of its pattern"))
        own = detectors()["mailchimp"]
        monkeypatch.setattr(type(own), "analyze_string", lambda self, text: [text])
        cached = findings._sieve
        monkeypatch.setattr(findings, "_sieve", cached.__wrapped__)
        assert [f.rule for f in secrets(live)] == ["mailchimp"]

    def test_a_long_line_is_gone_through(self, live: Live) -> None:
        live.append(KEY, *[said(unit * (300_000 // len(unit))) for unit in ("://a:", "a", "AKC1 ")])
        with no_hang():
            secrets(live)

    @pytest.mark.parametrize("secret", ["", "abc", "hunter2", "x" * 50])
    def test_a_preview_shows_a_fifth_at_most(self, secret: str) -> None:
        shown = masked(secret).partition("…")[0]
        assert len(shown) * 5 <= len(secret)
        assert len(shown) <= 4


class TestPatterns:
    """Without these a person erases one copy by hand and misses the next."""

    def test_a_pattern_is_found_in_any_text_and_not_in_names(self, live: Live) -> None:
        message = {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "user", "name": "user", "input": {"a": "user"}}],
        }
        live.append(
            KEY,
            said("nothing"),
            events.MessageAppended(dialect="anthropic", source="model", message=message),
            result("the user\nleft"),
        )
        found = matching(live, re.compile("us[e]r"))
        assert [(f.item, f.rule, f.preview) for f in found] == [
            ("2", "us[e]r", "user"),
            ("3", "us[e]r", "the user left"),
        ]

    def test_it_may_span_lines(self, live: Live) -> None:
        live.append(KEY, said("one\ntwo"))
        assert len(matching(live, re.compile(r"one\ntwo"))) == 1


class TestBinaryParts:
    """Without these a secret in a picture's comment or in an attached file is not looked for."""

    def picture(self, data: bytes) -> events.MessageAppended:
        url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        part = {"type": "image_url", "image_url": {"url": url}}
        return events.MessageAppended(
            dialect="openai_chat", source="human", message={"role": "user", "content": [part]}
        )

    @pytest.mark.parametrize("size", [200, 40_000])
    def test_a_text_inside_is_found_by_pattern_and_by_shape(self, live: Live, size: int) -> None:
        noise = bytes(range(128, 256)) * (size // 128)
        live.append(KEY, said("no"), self.picture(noise + f"\0key {GITHUB}".encode() + noise))
        [found] = matching(live, re.compile("key ghp_[a-z0-9]{6}", re.IGNORECASE))
        assert (found.position, found.item, found.texts) == (2, "2", ("key " + GITHUB[:10],))
        assert [f.rule for f in secrets(live)] == ["github_token"]

    def test_a_short_match_says_nothing_there(self, live: Live) -> None:
        live.append(KEY, self.picture(b"\0 the pin is 4711 \0" + os.urandom(40_000)))
        assert matching(live, re.compile(r"\b4711\b")) == []


class TestTheTextItself:
    """Without these a secret is erased where a pattern reads it, and stays where it was encoded."""

    def test_in_base64_in_json_inside_a_text_and_in_a_picture(self, live: Live) -> None:
        secret = 'swordfish "7"'
        encoded = base64.b64encode(f"key: {secret}".encode()).decode()
        data = base64.b64encode(os.urandom(30_000) + secret.encode()).decode()
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        picture = events.MessageAppended(
            dialect="openai_chat", source="human", message={"role": "user", "content": [url]}
        )
        live.append(
            KEY,
            said(f"it is {secret}"),
            result(f"Authorization: {encoded}"),
            result(f"log: {json.dumps(json.dumps({'a': secret}))}"),
            picture,
            said("a sword and a fish"),
        )
        found = matching(live, re.compile("swordfish [^ ]+"))
        assert [(f.position, f.item, f.rule) for f in found] == [
            (at, str(at), "swordfish [^ ]+") for at in (1, 2, 3, 4)
        ]

    def test_each_of_several_in_one_text(self, live: Live) -> None:
        live.append(KEY, said("keys: first-key-1 and first-key-2"), result("Zmlyc3Qta2V5LTI="))
        assert [f.position for f in matching(live, re.compile(r"first-key-\d"))] == [1, 2]

    def test_a_short_one_is_not_looked_for_inside_other_words(self, live: Live) -> None:
        live.append(KEY, said("pin 4711"), said("order 9471123"))
        assert [f.position for f in matching(live, re.compile(r"\b4711\b"))] == [1]

    def test_other_sessions_are_asked_separately(self, live: Live) -> None:
        live.append(KEY, said(GITHUB))
        live.append(OTHER, said("no"), result(base64.b64encode(GITHUB.encode()).decode()))
        found = secrets(live, [KEY])
        assert [(f.stream, f.position) for f in found] == [(KEY, 1)]
        assert [(f.stream, f.position) for f in standing(live, found, [OTHER])] == [(OTHER, 2)]

    def test_a_finding_does_not_tell_it_when_it_is_printed(self, live: Live) -> None:
        live.append(KEY, said(GITHUB))
        assert GITHUB not in repr(secrets(live))
