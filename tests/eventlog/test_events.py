"""The events: frozen, named in the past tense, and refused when they say nothing or two things."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any, get_args

import pytest
from examples import BARE, FULL
from pydantic import BaseModel, TypeAdapter, ValidationError

from eventlog import codec, events
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import Json

TYPES = get_args(events.Event)
ALL = (*FULL, *BARE)


def nested(model: BaseModel) -> list[BaseModel]:
    """The model and every model inside it."""
    found, stack = [], [model]
    while stack:
        node = stack.pop()
        found.append(node)
        for value in node.__dict__.values():
            values = value if isinstance(value, tuple) else (value,)
            stack.extend(v for v in values if isinstance(v, BaseModel))
    return found


class TestTags:
    """Without it renaming a class would make the rows of its old name unreadable."""

    @pytest.mark.parametrize("cls", TYPES, ids=lambda cls: cls.__name__)
    def test_a_tag_is_the_class_name_in_snake_case(self, cls: type[events.EventBase]) -> None:
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        assert cls.model_fields["type"].default == snake
        assert get_args(cls.model_fields["type"].annotation) == (snake,)

    def test_every_event_of_the_module_is_in_the_union(self) -> None:
        defined = {
            value
            for value in vars(events).values()
            if isinstance(value, type)
            and issubclass(value, events.EventBase)
            and value is not events.EventBase
        }
        assert defined == set(TYPES)

    def test_every_event_is_tried_here(self) -> None:
        assert {type(e) for e in FULL} == {type(e) for e in BARE} == set(TYPES)

    @pytest.mark.parametrize("event", ALL, ids=lambda e: e.type)
    def test_the_tagged_union_finds_the_class_by_its_tag(self, event: Any) -> None:
        adapter: TypeAdapter[Any] = TypeAdapter(events.TaggedEvent)
        assert adapter.validate_python(event.model_dump()) == event


class TestFrozen:
    """Without it a fact of the past could be edited after it was recorded."""

    @pytest.mark.parametrize("event", FULL, ids=lambda e: e.type)
    def test_no_field_can_be_set_or_deleted_at_any_depth(self, event: Any) -> None:
        for model in nested(event):
            for name in type(model).model_fields:
                with pytest.raises(ValidationError, match="frozen"):
                    setattr(model, name, getattr(model, name))
                with pytest.raises(ValidationError, match="frozen"):
                    delattr(model, name)

    @pytest.mark.parametrize("event", FULL, ids=lambda e: e.type)
    def test_no_value_inside_is_a_list_or_a_dict(self, event: Any) -> None:
        allowed = (str, int, float, type(None), Json, tuple, BaseModel)
        for model in nested(event):
            for value in model.__dict__.values():
                flat = value if isinstance(value, tuple) else (value,)
                assert all(isinstance(v, allowed) for v in (value, *flat))

    def test_a_later_change_of_the_caller_s_message_does_not_reach_it(self) -> None:
        message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "a"}]}
        event = events.MessageAppended(dialect="openai_chat", source="human", message=message)
        message["content"][0]["text"] = "b"
        event.message.value["content"].clear()
        assert event.message.value["content"] == [{"type": "text", "text": "a"}]

    @pytest.mark.parametrize("event", ALL, ids=lambda e: e.type)
    def test_it_is_equal_hashable_and_survives_a_copy(self, event: Any) -> None:
        for other in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
            assert other == event
            assert hash(other) == hash(event)


class TestWhatIsRefused:
    """Without it a misspelt field or an impossible decision would be stored for ever."""

    @pytest.mark.parametrize("cls", TYPES, ids=lambda cls: cls.__name__)
    def test_an_unknown_field(self, cls: type[events.EventBase]) -> None:
        example = next(e for e in BARE if type(e) is cls)
        with pytest.raises(ValidationError, match="Extra inputs"):
            cls(**dict(example), extra_field=1)

    @pytest.mark.parametrize(
        "item", ["", "0", "01", "12.", ".1", "12@340", "12-14", "=3", "-1", "1 ", "²", "12\n"]
    )
    def test_an_item_id_that_is_none(self, item: str) -> None:
        with pytest.raises(ValidationError, match="not an item id"):
            events.ItemPinned(item=item)

    @pytest.mark.parametrize(
        "entry",
        [
            *("", "0", "12@", "12@0", "12@x", "1-2-3", "57.0-58", "=", "7@Redacted", "12/", "a"),
            *("=0", "12/1"),
        ],
    )
    def test_an_entry_that_is_none(self, entry: str) -> None:
        with pytest.raises(ValidationError, match="not an entry"):
            events.ContextCompacted(covered=(entry,))

    @pytest.mark.parametrize(
        "entry", ["12", "57.0", "12@340", "7@redacted", "58-120", "58-", "57.0@60"]
    )
    def test_an_entry_that_is_one_is_taken(self, entry: str) -> None:
        assert events.ContextCompacted(covered=(entry,)).covered == (entry,)

    @pytest.mark.parametrize("entry", ["", "x", "=0", "12/1", "m", "m00", "m-1", "M0"])
    def test_a_layout_that_names_nothing(self, entry: str) -> None:
        with pytest.raises(ValidationError, match="neither an entry"):
            events.ContextCompacted(covered=(), layout=(entry,))

    @pytest.mark.parametrize("entry", ["=0", "12/1", "57.0/2@60", "12", "58-120", "7@redacted"])
    def test_a_part_or_a_beginning_stands_in_manifests_alone(self, entry: str) -> None:
        called = events.ModelCalled(model="m", dialect="openai_chat", manifest=(entry,))
        assert called.manifest == (entry,)

    @pytest.mark.parametrize(
        "manifest", [("3", "=5"), ("=5", "=3"), (("=5", "3"),), ("=5", ("=3",))]
    )
    def test_a_manifest_that_goes_on_from_another_in_its_middle(self, manifest: Any) -> None:
        with pytest.raises(ValidationError, match="it stands first"):
            events.ModelCalled(model="m", dialect="openai_chat", manifest=manifest)

    def test_a_result_with_no_body_or_with_two(self) -> None:
        for body in ({}, {"content": "x", "native": {}}):
            with pytest.raises(EventInvalid, match="either"):
                events.ToolResultRecorded(tool_call_id="c", dialect="openai_chat", **body)

    def test_a_revision_that_says_nothing_or_two_things(self) -> None:
        for body in ({}, {"patch": {}, "message": {}}):
            with pytest.raises(EventInvalid, match="either"):
                events.MessageRevised(item="1", **body)

    def test_an_undo_that_names_nothing_or_two_things(self) -> None:
        for body in ({}, {"target": 1, "pass_id": "p"}):
            with pytest.raises(EventInvalid, match="either"):
                events.DecisionUndone(**body)

    @pytest.mark.parametrize("position", [0, -1])
    def test_a_position_before_the_first(self, position: int) -> None:
        with pytest.raises(ValidationError):
            events.ModelResponded(call=position)

    def test_a_dialect_or_a_source_that_nobody_speaks(self) -> None:
        for field, word in (("dialect", "morse"), ("source", "ghost")):
            good = {"dialect": "openai_chat", "source": "human", "message": {}}
            with pytest.raises(ValidationError, match=field):
                events.MessageAppended(**{**good, field: word})

    def test_a_message_that_json_cannot_say(self) -> None:
        for value in ({"a": float("nan")}, {"a": float("inf")}, {"a": b"x"}, {"a": {1, 2}}):
            with pytest.raises(EventInvalid):
                events.MessageAppended(dialect="openai_chat", source="human", message=value)


class TestMessagesAreObjects:
    """A message that no reader can read would stand in the log for good."""

    @pytest.mark.parametrize("message", ["hello", None, 7, ["a"], True])
    def test_anything_else_is_refused_before_it_is_appended(self, message: Any) -> None:
        with pytest.raises(ValidationError, match="JSON object"):
            events.MessageAppended(dialect="openai_chat", source="human", message=message)
        with pytest.raises(ValidationError, match="JSON object"):
            events.NewMessage(dialect="openai_chat", message=message)

    def test_a_stored_one_that_is_none_is_a_damaged_row(self) -> None:
        payload = '{"dialect":"openai_chat","source":"human","message":"hello"}'
        with pytest.raises(EventInvalid, match="message"):
            codec.decode("message_appended", 1, True, payload)
