"""The knowledge graph of the memories that stand."""

from __future__ import annotations

import random

import pytest

from eventlog.events import Entity, Relation
from projections.memory.graph import graph_of
from projections.memory.memory import Memory


def memory(id: int, *relations: tuple[str, str, str], **more: object) -> Memory:
    return Memory.model_validate(
        {
            "id": id,
            "rendition": str(id),
            "kind": "fact",
            "text": "t",
            "importance": 0.5,
            "remembered_at": 0,
            "refreshed_at": 0,
            "relations": tuple(Relation(subject=s, predicate=p, object=o) for s, p, o in relations),
            **more,
        }
    )


MEMORIES = [
    memory(1, ("API", "depends on", "Redis"), entities=(Entity(name="redis", kind="service"),)),
    memory(2, ("api", "depends on", "REDIS"), ("Redis", "runs on", "db1")),
    memory(3, ("worker", "uses", "Kafka")),
    memory(4, ("db1", "is in", "Frankfurt")),
]


class TestGraph:
    """Nodes and edges name the memories that they came from."""

    def test_names_that_differ_in_case_are_one_entity(self) -> None:
        graph = graph_of(MEMORIES)
        redis = graph.find("redis")
        assert [(node.name, node.kind, node.memories) for node in redis] == [
            ("redis", "service", (1, 2))
        ]
        assert [edge.memories for edge in graph.edges if edge.object == "redis"] == [(1, 2)]

    def test_an_entity_is_found_by_its_name_then_by_a_part_of_it(self) -> None:
        graph = graph_of([memory(1, ("API", "uses", "API gateway"))])
        assert [node.name for node in graph.find("api")] == ["API"]
        assert [node.name for node in graph.find("gate")] == ["API gateway"]
        assert graph.find("") == graph.find("nothing") == ()

    @pytest.mark.parametrize(
        ("depth", "names"),
        [
            (0, {"API"}),
            (1, {"API", "redis"}),
            (2, {"API", "redis", "db1"}),
            (9, {"API", "redis", "db1", "Frankfurt"}),
        ],
    )
    def test_neighbours_are_as_near_as_asked(self, depth: int, names: set[str]) -> None:
        near = graph_of(MEMORIES).around("api", depth)
        assert {node.name for node in near.nodes} == names
        assert {name for edge in near.edges for name in (edge.subject, edge.object)} <= names

    def test_what_was_forgotten_superseded_or_erased_is_in_it_no_more(self) -> None:
        relation = ("API", "uses", "Redis")
        gone = [
            memory(1, relation, forgotten="asked"),
            memory(2, relation, superseded_by=9),
            memory(3, relation, is_erased=True),
        ]
        assert graph_of(gone).nodes == graph_of(gone).edges == ()

    def test_the_order_of_the_memories_does_not_matter(self) -> None:
        for seed in range(5):
            shuffled = random.Random(seed).sample(MEMORIES, len(MEMORIES))
            assert graph_of(shuffled) == graph_of(MEMORIES)
