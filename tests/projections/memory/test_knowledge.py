"""Entities and relations, read out of the text of a memory."""

from __future__ import annotations

import pytest

from eventlog.events import Entity, Relation, Remembered
from projections.memory.knowledge import MOST, entities, relations, with_knowledge


def related(text: str) -> list[tuple[str, str, str]]:
    return [(each.subject, each.predicate, each.object) for each in relations(text)]


class TestRelations:
    """By their words, in both languages."""

    @pytest.mark.parametrize(
        ("text", "relation"),
        [
            ("The API depends on Redis.", ("API", "depends on", "Redis")),
            ("billing service uses PostgreSQL", ("billing service", "uses", "PostgreSQL")),
            ("The worker runs on Kubernetes", ("worker", "runs on", "Kubernetes")),
            ("The parser is written in Rust", ("parser", "is written in", "Rust")),
            ("ledger is part of the core", ("ledger", "is part of", "core")),
            ("src/a.py belongs to the parser", ("src/a.py", "is part of", "parser")),
            ("The config is stored in etc/app.yaml", ("config", "is in", "etc/app.yaml")),
            ("app requires node.js 20", ("app", "depends on", "node.js 20")),
            ("However, API imports requests", ("API", "imports", "requests")),
            ("Ada works on the billing service", ("Ada", "works on", "billing service")),
            ("We decided to use PostgreSQL for the store.", ("store", "uses", "PostgreSQL")),
            ("前端使用 React", ("前端", "uses", "React")),
            ("测试用 pytest", ("测试", "uses", "pytest")),
            ("代码在 src 目录里", ("代码", "is in", "src")),
            ("我们的后端依赖 Redis", ("后端", "depends on", "Redis")),
            ("配置文件位于 etc 目录", ("配置文件", "is in", "etc")),
            ("解析器是用 Rust 编写的", ("解析器", "is written in", "Rust")),
            ("账本模块属于核心库", ("账本模块", "is part of", "核心库")),
        ],
    )
    def test_they_are_read(self, text: str, relation: tuple[str, str, str]) -> None:
        assert [tuple(s.strip() for s in each) for each in related(text)] == [relation]

    def test_several_objects_are_several_relations(self) -> None:
        assert related("The API uses Redis and Kafka") == [
            ("API", "uses", "Redis"),
            ("API", "uses", "Kafka"),
        ]
        assert [each[2] for each in related("后端使用 Redis 和 Kafka")] == ["Redis", "Kafka"]
        tools = related("The project uses pytest, ruff and mypy.")
        assert [each[2] for each in tools] == ["pytest", "ruff", "mypy"]

    def test_two_predicates_keep_their_own_subjects_and_objects(self) -> None:
        assert related("the app is written in Go and uses Vite") == [
            ("app", "is written in", "Go"),
            ("app", "uses", "Vite"),
        ]
        assert related("The database runs on db1 and the API uses Redis") == [
            ("database", "runs on", "db1"),
            ("API", "uses", "Redis"),
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "I use vim",
            "it depends on the weather",
            "we use tabs",
            "uses",
            "我使用 vim",
            "",
            "use it",
        ],
    )
    def test_a_pronoun_names_nothing(self, text: str) -> None:
        assert related(text) == []


class TestEntities:
    """What is named by its shape."""

    def test_paths_addresses_commands_and_ids(self) -> None:
        text = "Run `npm test -- --ci` in src/app/main.ts, see https://example.org/x and ABC-1234"
        assert {(each.name, each.kind) for each in entities(text)} == {
            ("npm test -- --ci", "command"),
            ("src/app/main.ts", "file"),
            ("https://example.org/x", "url"),
            ("ABC-1234", "id"),
        }

    def test_what_is_related_is_one_too(self) -> None:
        assert [each.name for each in entities("The API depends on Redis")] == ["API", "Redis"]

    @pytest.mark.parametrize(
        "piece",
        ["a uses b. ", "src/a.py ", "使用", "and ", "the ", "x depends on ", "http://a.b/c "],
    )
    def test_a_long_text_gives_few(self, piece: str) -> None:
        text = piece * (10_000_000 // len(piece))
        assert len(entities(text)) <= MOST
        assert len(relations(text)) <= MOST


class TestWithKnowledge:
    """A memory is stored with what it speaks of."""

    def test_what_it_names_already_stays_in_front(self) -> None:
        given = Remembered(
            text="The API depends on Redis",
            entities=(Entity(name="redis", kind="service"),),
            relations=(Relation(subject="API", predicate="is", object="slow"),),
        )
        found = with_knowledge(given)
        assert [each.name for each in found.entities] == ["redis", "API"]
        assert [each.predicate for each in found.relations] == ["is", "depends on"]
        assert with_knowledge(found) == found
