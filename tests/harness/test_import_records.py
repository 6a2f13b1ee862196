from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from harness.importers.records import Record, read_records


def read(data: bytes, **options: int) -> list[Record]:
    return list(read_records(io.BytesIO(data), **options))


class TestCleanLines:
    """A file as it should be: one object a line. Wrong offsets would make every report useless."""

    def test_each_line_is_a_record_with_its_line_and_offset(self) -> None:
        records = read(b'{"a":1}\n\n{"b":2}\n')
        assert [(r.line, r.part, r.offset, r.value) for r in records] == [
            (1, 0, 0, {"a": 1}),
            (3, 0, 9, {"b": 2}),
        ]

    def test_carriage_returns_and_a_byte_order_mark_are_no_part_of_a_record(self) -> None:
        records = read(b'\xef\xbb\xbf{"a":1}\r\n{"b":2}\r\n')
        assert [r.raw for r in records] == [b'{"a":1}', b'{"b":2}']
        assert [r.offset for r in records] == [3, 12]

    def test_only_a_newline_ends_a_line(self) -> None:
        separators = "\u2028\u2029\u0085\x0b\x0c"
        line = json.dumps({"a": separators}, ensure_ascii=False).replace("\\u000b", "\x0b")
        [record] = read(line.replace("\x0b", "\\u000b").encode())
        assert record.value == {"a": separators}

    def test_a_last_line_without_a_newline_is_complete_when_its_object_is(self) -> None:
        [record] = read(b'{"a":1}')
        assert record.value == {"a": 1}
        assert not record.torn

    def test_an_empty_file_has_no_records(self) -> None:
        assert read(b"") == read(b"\n\r\n  \n") == []


class TestBrokenLines:
    """Real files are torn, glued and padded. Stopping at the first bad line loses days of work."""

    def test_two_objects_on_one_line_are_two_records(self) -> None:
        records = read(b'{"a":1}{"b":2} {"c":3}\n')
        assert [(r.part, r.offset, r.value) for r in records] == [
            (0, 0, {"a": 1}),
            (1, 7, {"b": 2}),
            (2, 15, {"c": 3}),
        ]

    def test_a_torn_last_line_is_marked_as_torn(self) -> None:
        first, second = read(b'{"a":1}\n{"b":')
        assert not first.fault
        assert second.torn
        assert (second.line, second.offset, second.raw) == (2, 8, b'{"b":')

    def test_a_torn_line_in_the_middle_is_unreadable_and_the_rest_is_read(self) -> None:
        records = read(b'{"a":\n{"b":2}\n')
        assert [bool(r.fault) for r in records] == [True, False]
        assert not records[0].torn

    def test_a_block_of_nul_bytes_is_reported_and_what_follows_is_read(self) -> None:
        records = read(b'{"a":1}\n' + b"\0" * 512 + b'{"b":2}\n')
        assert records[1].fault == "512 NUL bytes"
        assert records[2].value == {"b": 2}

    def test_bytes_that_are_not_utf8_are_kept(self) -> None:
        [record] = read(b'{"a":"x\xff"}\n')
        assert record.raw == b'{"a":"x\xff"}'
        assert record.value == {"a": "x\udcff"}

    def test_lone_surrogates_are_read(self) -> None:
        [record] = read(b'{"a":"\\ud83d"}\n')
        assert record.value == {"a": "\ud83d"}

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            (b'{"a":NaN}', "NaN"),
            (b'{"a":-Infinity}', "Infinity"),
            (b'{"a":1e999}', "not finite"),
            (b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
            (b'{"a":' * 101 + b"1" + b"}" * 101, "nested more than 100 deep"),
            (b"[" * 50_000, "nested more than 100 deep"),
            (b"plain words", "not JSON"),
            (b"12", "neither an object nor an array"),
            (b'"text"', "neither an object nor an array"),
        ],
    )
    def test_what_cannot_be_stored_is_a_record_with_a_fault(self, line: bytes, fault: str) -> None:
        bad, good = read(line + b'\n{"b":2}\n')
        assert fault in bad.fault
        assert bad.value is None
        assert bad.raw == line
        assert good.value == {"b": 2}

    def test_a_hundred_levels_and_integers_of_any_size_are_read(self) -> None:
        deep = b'{"a":' * 100 + b"12345678901234567890123" + b"}" * 100
        [record] = read(deep + b"\n")
        assert not record.fault
        assert record.raw == deep


class TestSize:
    """One endless line, or an endless file, must not take the machine's memory."""

    def test_a_line_over_the_limit_is_counted_and_not_kept(self) -> None:
        long = b'{"a":"' + b"x" * 300_000 + b'"}'
        records = read(long + b'\n{"b":2}\n', max_line=100_000)
        assert str(f"{len(long):,}") in records[0].fault
        assert len(records[0].raw) <= 64 * 1024
        assert long.startswith(records[0].raw)
        assert (records[1].line, records[1].offset) == (2, len(long) + 1)

    def test_memory_does_not_grow_with_the_file(self) -> None:
        class Endless(io.RawIOBase):
            left = 40

            def read(self, size: int = -1) -> bytes:
                self.left -= 1
                return (b'{"a":"' + b"x" * 1000 + b'"}\n') * 1000 if self.left >= 0 else b""

        tracemalloc.start()
        count = sum(1 for _ in read_records(Endless()))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 40_000
        assert peak < 8 * 1024 * 1024
