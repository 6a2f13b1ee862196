"""The knowledge graph: what the standing memories speak of, and how it is related.

A pure fold over memories. Names that differ in case or blanks are one entity; each node and each
edge names the memories that it came from, so what was forgotten is in it no more.
"""

from __future__ import annotations

from collections.abc import Iterable

from eventlog.values import Value
from projections.memory.memory import Memory, same_subject


class Node(Value):
    """An entity."""

    name: str
    """As the oldest memory writes it."""
    kind: str = ""
    memories: tuple[int, ...] = ()
    """Those that speak of it."""


class Edge(Value):
    """A relation between two entities."""

    subject: str
    predicate: str
    object: str
    memories: tuple[int, ...] = ()
    """Those that say so."""


class Graph(Value):
    """Entities and relations, each by their names."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def find(self, name: str) -> tuple[Node, ...]:
        """The entity of that name, in any case; where there is none, those that hold it."""
        wanted = same_subject(name)
        if not wanted:
            return ()
        exact = tuple(node for node in self.nodes if same_subject(node.name) == wanted)
        return exact or tuple(node for node in self.nodes if wanted in same_subject(node.name))

    def around(self, name: str, depth: int = 1) -> Graph:
        """The entities of that name (see ``find``), those that ``depth`` relations lead to, and
        the relations between all of them; empty where nothing has the name."""
        near = {same_subject(node.name) for node in self.find(name)}
        beside: dict[str, set[str]] = {}
        for edge in self.edges:
            one, other = same_subject(edge.subject), same_subject(edge.object)
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
        edge_of_it = set(near)
        for _ in range(max(0, depth)):
            edge_of_it = {next_ for each in edge_of_it for next_ in beside.get(each, ())} - near
            if not edge_of_it:
                break
            near |= edge_of_it
        return Graph(
            nodes=tuple(node for node in self.nodes if same_subject(node.name) in near),
            edges=tuple(
                edge
                for edge in self.edges
                if same_subject(edge.subject) in near and same_subject(edge.object) in near
            ),
        )


def graph_of(memories: Iterable[Memory]) -> Graph:
    """The graph of those memories that stand, in whatever order they come."""
    names: dict[str, tuple[str, str]] = {}
    spoken: dict[str, set[int]] = {}
    related: dict[tuple[str, str, str], set[int]] = {}
    for memory in sorted((each for each in memories if each.stands), key=lambda each: each.id):
        found = [(each.name, each.kind) for each in memory.entities]
        found += [(name, "") for each in memory.relations for name in (each.subject, each.object)]
        for name, kind in found:
            key = same_subject(name)
            if not key:
                continue
            known = names.setdefault(key, (name, kind))
            if kind and not known[1]:
                names[key] = (known[0], kind)
            spoken.setdefault(key, set()).add(memory.id)
        for each in memory.relations:
            one, other = same_subject(each.subject), same_subject(each.object)
            if one and other:
                edge = (one, same_subject(each.predicate), other)
                related.setdefault(edge, set()).add(memory.id)
    return Graph(
        nodes=tuple(
            Node(name=names[key][0], kind=names[key][1], memories=tuple(sorted(spoken[key])))
            for key in sorted(names)
        ),
        edges=tuple(
            Edge(
                subject=names[one][0],
                predicate=predicate,
                object=names[other][0],
                memories=tuple(sorted(related[one, predicate, other])),
            )
            for one, predicate, other in sorted(related)
        ),
    )
