"""The knowledge graph of a person's memories, for the command line."""

from __future__ import annotations

from cli.memories import moment_of, users_instead
from cli.memories_changing import rows_of
from cli.memory_values import clean
from cli.models_memory import MemoryEdge, MemoryGraphData, MemoryNode
from harness.memory import UserMemory
from projections.memory.errors import EntityNotFound
from projections.memory.graph import Graph, Node, graph_of
from projections.memory.memory import same_subject
from projections.memory.stream import memory_name


def graph_data(memory: UserMemory, entity: str, depth: int, limit: int | None) -> MemoryGraphData:
    """What is around an entity, or the whole graph, at most so many nodes.

    Raises EntityNotFound, InputRefused.
    """
    graph = graph_of(memory.all())
    entity = clean(entity, "the entity").strip()
    if entity:
        graph = graph.around(entity, depth)
        if not graph.nodes:
            raise EntityNotFound(memory.user, entity, users_instead(memory))
    nodes = list(graph.nodes) if entity else sorted(graph.nodes, key=_first)
    shown = nodes[:limit]
    there = {same_subject(node.name) for node in shown}
    edges = [
        MemoryEdge(
            subject=edge.subject,
            predicate=edge.predicate,
            object=edge.object,
            memories=_names(edge.memories),
        )
        for edge in graph.edges
        if {same_subject(edge.subject), same_subject(edge.object)} <= there
    ]
    return MemoryGraphData(
        user=memory.user,
        entity=entity,
        depth=depth if entity else 0,
        nodes=[MemoryNode(name=n.name, kind=n.kind, memories=_names(n.memories)) for n in shown],
        edges=edges,
        cut=len(shown) < len(nodes),
        memories=rows_of(memory, _spoken(graph), moment_of("")) if entity else [],
    )


def _first(node: Node) -> tuple[int, str]:
    return -len(node.memories), node.name


def _names(ids: tuple[int, ...]) -> list[str]:
    return [memory_name(id) for id in ids]


def _spoken(graph: Graph) -> list[int]:
    """The memories that the nodes and edges came from, the newest first."""
    found = {id for node in graph.nodes for id in node.memories}
    found |= {id for edge in graph.edges for id in edge.memories}
    return sorted(found, reverse=True)


def entity_names(memory: UserMemory) -> list[str]:
    """What memories speak of, that first of which most do."""
    return [node.name for node in sorted(graph_of(memory.all()).nodes, key=_first)]
