"""One base to catch, leaves that say what is wrong, numbers and names as attributes."""

from __future__ import annotations

import inspect
import re

import pytest

from eventlog import CtxlogError, errors

LEAVES = [
    (errors.WrongExpectedVersion("a/b/c", 3, 5), {"stream": "a/b/c", "expected": 3, "actual": 5}),
    (
        errors.EventIdConflict("id", "a/b", 7),
        {"event_id": "id", "stream": "a/b", "position": 7},
    ),
    (errors.PartialRepeat(1, 2), {"known": 1, "new": 2}),
    (errors.EventInvalid("why"), {"reason": "why"}),
    (errors.EventTooLarge(2_000, 1_000), {"size": 2_000, "limit": 1_000}),
    (errors.OutcomeUnknown("disk I/O error"), {"cause": "disk I/O error"}),
    (errors.Busy("log.db", 0.5), {"path": "log.db", "seconds": 0.5}),
    (errors.LogFull("log.db"), {"path": "log.db"}),
    (errors.ReadOnlyLog("log.db", "no space"), {"path": "log.db", "reason": "no space"}),
    (errors.LogClosed("log.db"), {"path": "log.db"}),
    (errors.NotALog("log.db", "a folder"), {"path": "log.db", "what": "a folder"}),
    (errors.NewerFormat("log.db", 2, 1), {"path": "log.db", "found": 2, "known": 1}),
    (errors.LogNotFound("log.db"), {"path": "log.db"}),
    (errors.UnsafePath("log.db", "a link"), {"path": "log.db", "reason": "a link"}),
    (errors.DamagedLog("log.db", "torn"), {"path": "log.db", "detail": "torn"}),
    (errors.DiskFault("log.db", "i/o"), {"path": "log.db", "detail": "i/o"}),
    (errors.StreamNotFound("a/b/c"), {"stream": "a/b/c"}),
    (errors.PositionNotFound("a/b/c", "call 9"), {"stream": "a/b/c", "what": "call 9"}),
    (errors.ItemNotFound("a/b/c", "57.0"), {"stream": "a/b/c", "item": "57.0"}),
    (errors.Ambiguous("ab", ["abc", "abd"]), {"name": "ab", "candidates": ("abc", "abd")}),
    (
        errors.CriticalUnknown("a/b/c", 4, "mood_changed"),
        {"stream": "a/b/c", "position": 4, "type_name": "mood_changed"},
    ),
    (errors.NoContext("a/b/c", 1), {"stream": "a/b/c", "position": 1}),
    (errors.SourceForgotten("a/b/c"), {"stream": "a/b/c"}),
    (errors.ForksAlive("a/b/c", ["a/b/d"]), {"stream": "a/b/c", "forks": ("a/b/d",)}),
]


class TestTree:
    """Without it a caller cannot catch one kind of fault without catching all, or none."""

    def test_the_drawing_is_the_tree(self) -> None:
        drawn: dict[str, str] = {}
        levels: list[str] = []
        for line in (errors.__doc__ or "").splitlines():
            found = re.match(r"    ((?:│   |    )*(?:[├└]── )?)(\w+)", line)
            if found is None:
                continue
            depth = len(found[1]) // 4
            del levels[depth:]
            drawn[found[2]] = levels[-1] if levels else "Exception"
            levels.append(found[2])
        real = {
            name: cls.__base__.__name__
            for name, cls in vars(errors).items()
            if inspect.isclass(cls) and issubclass(cls, Exception)
        }
        assert drawn == real

    def test_all_have_the_one_base(self) -> None:
        for error, _ in LEAVES:
            assert isinstance(error, CtxlogError)
            assert not isinstance(error, ValueError | KeyError | OSError)


class TestLeaves:
    """Without it a caller has to read numbers and paths out of a sentence."""

    @pytest.mark.parametrize(("error", "data"), LEAVES, ids=lambda x: type(x).__name__)
    def test_what_is_wrong_stands_in_attributes_and_in_the_message(
        self, error: Exception, data: dict[str, object]
    ) -> None:
        assert {name: getattr(error, name) for name in data} == data
        text = str(error)
        for value in data.values():
            for part in value if isinstance(value, tuple) else (value,):
                shown = f"{part:,}" if isinstance(part, int) else str(part)
                if not (isinstance(error, errors.PartialRepeat) and part == 2):  # shown as a sum
                    assert shown in text
        assert not text.endswith(".")

    def test_every_leaf_with_data_is_tried_here(self) -> None:
        tried = {type(error) for error, _ in LEAVES}
        own = {
            cls
            for cls in vars(errors).values()
            if inspect.isclass(cls) and issubclass(cls, Exception) and "__init__" in vars(cls)
        }
        assert own <= tried

    def test_many_candidates_are_cut(self) -> None:
        text = str(errors.Ambiguous("a", [f"a{n}" for n in range(20)]))
        assert "names 20 sessions" in text
        assert "a7 …" in text
        assert "a8" not in text
