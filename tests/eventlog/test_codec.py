"""The one door between events and stored text: what went in comes out, and old rows always load."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from examples import BARE, FULL
from given import KEY, plain, said
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from eventlog import EventLog, codec, events, upcasters
from eventlog.codec import UnknownEvent
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import Json

GOLDEN = Path(__file__).parent / "golden" / "v1.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_bytes().split(b"\n") if line]


class TestGoldenRows:
    """Without it a change of an event would leave the logs of last year unreadable.

    A new shape adds rows; no row is ever edited or taken out. To add one, append a line with the
    type, schema version, critical and payload that ``codec.encode`` gives for the new event.
    """

    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row["type_name"])
    def test_a_stored_row_decodes_for_ever(self, row: dict[str, Any]) -> None:
        event = codec.decode(**row)
        assert not isinstance(event, UnknownEvent)
        assert event.type == row["type_name"]
        if event.schema_version == row["schema_version"]:
            encoded = codec.encode(event)
            assert encoded.payload == row["payload"]
            assert encoded.critical == row["critical"]

    def test_every_type_is_there_in_each_of_its_schema_versions(self) -> None:
        wanted = {
            (name, version)
            for name, cls in codec.CLASSES.items()
            for version in range(1, cls.schema_version + 1)
        }
        assert {(row["type_name"], row["schema_version"]) for row in ROWS} == wanted

    def test_every_field_of_every_event_is_there(self) -> None:
        """A renamed field, or one that got another default, fails a row above."""
        seen: set[tuple[str, str]] = set()

        def note(model: BaseModel) -> None:
            for name, value in model:
                if value != type(model).model_fields[name].default:
                    seen.add((type(model).__name__, name))
                for inner in value if isinstance(value, tuple) else (value,):
                    if isinstance(inner, BaseModel):
                        note(inner)

        for row in ROWS:
            note(codec.decode(**row))  # type: ignore[arg-type]
        # A state of the packages above is made of such values too, and is no part of an event.
        parts = {m for m in events.Value.__subclasses__() if m.__module__.startswith("eventlog.")}
        models = {*get_args(events.Event), *parts} - {events.EventBase}
        fields = {(m.__name__, f) for m in models for f in m.model_fields if f != "type"}
        assert fields - seen == set()

    def test_the_examples_of_today_are_the_rows(self) -> None:
        today = [codec.encode(event) for event in (*FULL, *BARE)]
        assert {(e.type, e.payload) for e in today} <= {
            (r["type_name"], r["payload"]) for r in ROWS
        }


class TestRoundTrip:
    """Without it what a model saw would come back as something like it."""

    @pytest.mark.parametrize("event", [*FULL, *BARE], ids=lambda e: e.type)
    def test_an_event_comes_back_equal(self, event: Any) -> None:
        encoded = codec.encode(event)
        assert codec.decode(*encoded[:4]) == event
        assert json.loads(encoded.payload).keys() <= set(type(event).model_fields)

    values = st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters()),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )

    # No pair of surrogates in a text field: as JSON two halves are one character.
    labels = st.text(st.characters(exclude_categories=["Cs"]) | st.just("\ud83d"))

    @settings(max_examples=200)
    @given(values, labels)
    def test_any_json_and_any_text_do(self, value: Any, label: str) -> None:
        event = events.MessageAppended(
            dialect="openai_chat", source="human", label=label, message={"held": value}
        )
        encoded = codec.encode(event)
        encoded.payload.encode()  # storable
        back = codec.decode(*encoded[:4])
        assert back == event
        assert codec.encode(back).payload == encoded.payload

    @pytest.mark.parametrize(
        "text",
        [
            "half an emoji \ud83d",
            "the other half \ude00 of it",
            "halves the wrong way round \ude00\ud83d",
            "NUL \x00 inside",
            "lines \u2028 \u2029 \x85 \x0b \x0c \x1c \r\n",
            "escapes \x1b]52;c;AAAA\x07 \x9b2J",
            "bidi \u202e evil \u2066",
            "quotes \" ' \\ / \\u0041 \\n",
            "\U0010ffff \ufeff \ufffe",
        ],
    )
    def test_any_text_comes_back_through_the_file(self, log: EventLog, text: str) -> None:
        result = events.ToolResultRecorded(tool_call_id="c", dialect="openai_chat", content=text)
        log.append(KEY, said(text), said({text: [text]}), result)
        log.close()
        with EventLog(log.path, read_only=True) as reader:
            found = [e.event for e in reader.read(KEY)]
        assert found == [said(text), said({text: [text]}), result]

    def test_arguments_stay_the_string_that_the_model_wrote(self, log: EventLog) -> None:
        written = '{"n": 1e400, "id": 12345678901234567890123, "x": NaN,  "z":-0.0, "é":"\\u00e9"'
        call = {"id": "c", "function": {"name": "f", "arguments": written}}
        event = events.MessageAppended(
            dialect="openai_chat", source="model", message={"tool_calls": [call]}
        )
        log.append(KEY, event)
        (back,) = log.read(KEY)
        assert back.data["message"]["tool_calls"][0]["function"]["arguments"] == written

    def test_plain_sql_can_read_a_payload(self, log: EventLog) -> None:
        log.append(KEY, said("a message"))
        with plain(log.path) as db:
            found = db.execute("select payload ->> '$.message.content' from events").fetchone()
        assert found == ("a message",)

    def test_a_default_is_not_written(self) -> None:
        assert codec.encode(events.SessionStarted()).payload == "{}"
        assert codec.encode(events.ItemPinned(item="1")).payload == '{"item":"1"}'

    def test_long_fields_are_written_last(self) -> None:
        """Columns and keys behind a long text are slow to reach."""
        payload = codec.encode(FULL[5]).payload
        assert list(json.loads(payload))[-2:] == ["message", "origin"]


class TestNumbers:
    """Without it an id of 19 digits is rounded, and the model loops on a wrong one."""

    @pytest.mark.parametrize("text", ["9007199254740993", "1e22", "-0.0", "1.0", "1e-320", "0.1"])
    def test_a_number_that_python_holds_comes_back(self, text: str) -> None:
        value = json.loads(text)
        encoded = codec.encode(said(value))
        back = codec.decode(*encoded[:4])
        assert isinstance(back, events.MessageAppended)
        assert repr(back.message.value["content"]) == repr(value)

    def test_an_integer_of_5000_digits_is_refused_in_every_field(self) -> None:
        huge = 10**4999
        with pytest.raises(EventInvalid):
            said(huge)
        with pytest.raises(EventInvalid):
            codec.encode(events.ModelResponded(call=1, usage=events.Usage(input=huge)))


class TestUnknownTypes:
    """Without it the event of a plugin or of a later version makes the whole log unreadable."""

    @pytest.mark.parametrize("critical", [False, True])
    def test_it_is_kept_byte_for_byte(self, log: EventLog, critical: bool) -> None:
        payload = '{ "odd":  1.0, "odd": 1e2, "x": "\\ud83d", "blobs": [[["y"], "no", ""]] }'
        self.insert(log, "mood_changed", 1, critical, payload)
        (event,) = log.read(KEY, after=1)
        assert event.event == UnknownEvent("mood_changed", 1, critical, payload)
        assert event.payload == payload
        assert (event.type, event.critical) == ("mood_changed", critical)
        log.append(KEY, said("goes on"), expected_version=2)

    def test_a_later_schema_version_of_a_known_type_is_one_too(self, log: EventLog) -> None:
        self.insert(log, "item_pinned", 2, False, '{"items":["1","2"]}')
        (event,) = log.read(KEY, after=1)
        assert event.event == UnknownEvent("item_pinned", 2, False, '{"items":["1","2"]}')

    def insert(self, log: EventLog, kind: str, version: int, critical: bool, payload: str) -> None:
        """As another program would write it."""
        log.append(KEY, said("first"))
        with plain(log.path) as db:
            db.execute(
                "insert into events (sequence, stream, position, id, type, schema_version, "
                "critical, recorded_at, salt, chain, payload) "
                "values (2, 1, 2, randomblob(16), ?, ?, ?, 0, x'00', zeroblob(32), ?)",
                (kind, version, critical, payload),
            )

    def test_it_cannot_be_appended_as_an_event(self, log: EventLog) -> None:
        for stranger in (UnknownEvent("x", 1, False, "{}"), None, {"type": "item_pinned"}):
            with pytest.raises(EventInvalid, match="not an event"):
                log.append(KEY, stranger)  # type: ignore[arg-type]

    def test_a_class_of_our_own_making_is_not_an_event_either(self) -> None:
        class Pinned(events.ItemPinned):
            pass

        with pytest.raises(EventInvalid, match="Pinned is not an event"):
            codec.encode(Pinned(item="1"))


class MoodChanged(events.EventBase):
    """A made-up type in its third shape: ``mood`` became ``word``, then ``level`` joined it."""

    schema_version = 3
    type: Literal["mood_changed"] = "mood_changed"
    word: str
    level: int


class TestUpcasters:
    """Without it a new shape of an event would need the old rows to be re-written."""

    @pytest.fixture(autouse=True)
    def shapes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(codec.CLASSES, "mood_changed", MoodChanged)  # type: ignore[arg-type]
        steps: dict[tuple[str, int], upcasters.Step] = {
            ("mood_changed", 1): lambda old: {"word": old["mood"]},
            ("mood_changed", 2): lambda old: {**old, "level": len(old["word"])},
        }
        for key, step in steps.items():
            monkeypatch.setitem(upcasters.STEPS, key, step)

    @pytest.mark.parametrize(
        ("version", "payload"),
        [(1, '{"mood":"calm"}'), (2, '{"word":"calm"}'), (3, '{"word":"calm","level":4}')],
    )
    def test_each_old_shape_becomes_today_s(self, version: int, payload: str) -> None:
        event = codec.decode("mood_changed", version, False, payload)
        assert event == MoodChanged(word="calm", level=4)  # type: ignore[comparison-overlap]

    def test_the_stored_row_is_not_touched(self, log: EventLog) -> None:
        TestUnknownTypes().insert(log, "mood_changed", 1, False, '{"mood":"calm"}')
        (event,) = log.read(KEY, after=1)
        assert event.data == {"word": "calm", "level": 4}
        assert (event.payload, event.schema_version) == ('{"mood":"calm"}', 1)

    def test_a_missing_step_leaves_the_payload_as_it_is(self) -> None:
        assert upcasters.upcast("none", 1, {"a": 1}, 4) == {"a": 1}


class TestDamagedRows:
    """Without it a forged row gives a traceback, or an event that nobody recorded."""

    @pytest.mark.parametrize(
        "payload",
        [
            "",
            "{",
            "[]",
            "null",
            '"x"',
            '{"item":"1"',
            '{"item":"0"}',
            '{"item":1}',
            '{"item":"1","more":1}',
            '{"item":"1","type":"other"}',
            '{"item":NaN}',
            "[" * 100_000,
            '{"item":"1","blobs":1}',
            '{"item":"1","blobs":[1]}',
            '{"item":"1","blobs":[[[],"a",""]]}',
            '{"item":"1","blobs":[[["x","y"],"a",""]]}',
            '{"item":"1","blobs":[[["item",0],"a",""]]}',
            '{"item":"1","blobs":[[["item"],null,""]]}',
        ],
    )
    def test_a_payload_that_does_not_fit_is_a_typed_error(self, payload: str) -> None:
        with pytest.raises(EventInvalid):
            codec.decode("item_pinned", 1, False, payload)

    @settings(max_examples=300)
    @given(st.sampled_from(ROWS), st.integers(0, 10_000), st.sampled_from('"{}[],:0x\\ '))
    def test_a_changed_byte_gives_an_event_or_a_typed_error(
        self, row: dict[str, Any], place: int, byte: str
    ) -> None:
        at = place % (len(row["payload"]) + 1)
        changed = row["payload"][:at] + byte + row["payload"][at + 1 :]
        try:
            codec.decode(**{**row, "payload": changed})
        except EventInvalid:
            return


def binary(size: int, seed: int = 1) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


class TestBlobs:
    """Without it every screenshot is stored again with each event that carries it."""

    def round_trip(self, log: EventLog, event: events.Event) -> None:
        log.append(KEY, event)
        with EventLog(log.path, read_only=True) as reader:
            *_, last = reader.read(KEY)
            assert last.event == event
            assert "blobs" not in last.data

    def test_a_long_binary_part_leaves_the_payload_and_comes_back(self, log: EventLog) -> None:
        image = binary(50_000)
        source = {"type": "base64", "media_type": "image/png", "data": image}
        self.round_trip(log, said([{"type": "image", "source": source}]))
        (event,) = log.read(KEY)
        assert len(event.payload) < 500
        assert self.stored(log) == [(50_000, 50_000)]

    def test_a_data_url_keeps_its_head(self, log: EventLog) -> None:
        for head in ("data:image/png;base64,", "data:;base64,", 'data:a/b;c="é\\n;base64,'):
            self.round_trip(log, said([{"image_url": {"url": head + binary(30_000)}}]))
        assert len(self.stored(log)) == 1

    def test_it_is_stored_once_however_often_it_stands(self, log: EventLog) -> None:
        image = binary(40_000)
        self.round_trip(log, said([image, {"again": image}, "data:x;base64," + image, image + ""]))
        self.round_trip(log, said(image))
        assert self.stored(log) == [(40_000, 40_000)]
        with plain(log.path) as db:
            assert db.execute("select sequence from blob_references").fetchall() == [(1,), (2,)]

    def test_two_parts_keep_their_two_places(self, log: EventLog) -> None:
        first, second = binary(20_000, 1), binary(20_000, 2)
        self.round_trip(log, said([first, second, [second, first]]))
        assert len(self.stored(log)) == 2

    def test_a_short_one_and_a_text_stay_where_they_are(self, log: EventLog) -> None:
        for content in (binary(16 * 1024), "no base64! " * 5000, "A" * 40_001, "QQ=" * 20_000):
            self.round_trip(log, said(content))
        assert self.stored(log) == []

    def test_base64_that_would_come_back_otherwise_stays(self, log: EventLog) -> None:
        image = binary(30_001)  # ends in "="; the bits behind it may be anything
        assert image.endswith("=")
        other = image[:-3] + chr(ord(image[-3]) + 1) + image[-2:]
        for text in (other, image + "\n", image.replace("+", "-").replace("/", "_")):
            self.round_trip(log, said(text))

    def test_a_part_that_is_also_a_key_stays(self, log: EventLog) -> None:
        image = binary(20_000)
        self.round_trip(log, said({image: 1, "a": image}))
        self.round_trip(log, said({image: image}))

    def test_a_part_written_with_other_escapes_stays_whole(self, log: EventLog) -> None:
        image = binary(20_000)
        text = json.dumps({"role": "user", "content": [image, "x"]}).replace("/", "\\/")
        event = said().model_copy(update={"message": Json.of_text(text)})
        log.append(KEY, event)
        (back,) = log.read(KEY)
        assert back.data["message"]["content"] == [image, "x"]

    def test_a_field_named_blobs_inside_a_message_is_only_a_field(self, log: EventLog) -> None:
        self.round_trip(log, said({"blobs": [[["message"], "x", ""]], "data": binary(30_000)}))

    def test_a_part_of_another_log_has_another_name(self, log: EventLog, tmp_path: Path) -> None:
        """A plain digest would tell whoever holds the log whether a known picture was in it."""
        self.round_trip(log, said(binary(30_000)))
        with EventLog(tmp_path / "other.db") as other:
            self.round_trip(other, said(binary(30_000)))
            assert self.addresses(other).isdisjoint(self.addresses(log))

    def test_a_missing_part_is_said_in_its_place(self, log: EventLog) -> None:
        log.append(KEY, said("data:image/png;base64," + binary(30_000)))
        with plain(log.path) as db:
            db.execute("delete from blob_references")
            db.execute("delete from blobs")
        (event,) = log.read(KEY)
        content = event.data["message"]["content"]
        assert content.startswith("data:image/png;base64,[binary part ")
        assert content.endswith(" is not in this log]")

    def stored(self, log: EventLog) -> list[tuple[int, int]]:
        with plain(log.path) as db:
            return db.execute("select size, length(data) from blobs order by address").fetchall()

    def addresses(self, log: EventLog) -> set[str]:
        with plain(log.path) as db:
            return {row[0] for row in db.execute("select address from blobs")}
