"""Whatever is remembered, revised, forgotten, undone and rewound: no request shows what does not
stand, nor anything twice, and every call is proved."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from model_server import ModelServer, serving
from remembered import memory_of, proved, received, shown, talking
from scripted import following

from eventlog.recorded import StreamKey
from harness.conversation import Conversation
from harness.memory import UserMemory
from projections import open_log
from projections.force import decisions_in_force

STEPS = 30
TOKEN = re.compile(r"\btoken\d+\b")


class Person:
    """Does something at random with the memories, and with the session."""

    def __init__(self, seed: int, talk: Conversation, memory: UserMemory) -> None:
        self.random, self.talk, self.memory = random.Random(seed), talk, memory
        self.count = 0

    def text(self) -> str:
        """A text that nothing else says."""
        self.count += 1
        return f"we deploy token{self.count}"

    def step(self) -> None:
        """One thing."""
        ids = [each.id for each in self.memory.all(standing=False)]
        some = self.random.choice(ids) if ids else 0
        what = self.random.choice(
            [
                *("add", "like", "revise", "forget", "forget", "restore", "recall", "undo"),
                *("rewind", "know", "know"),
            ]
        )
        if what == "like":
            self.memory.add(self.text(), kind="preference", area="technical", subject="deploy")
        elif what == "know":
            name = self.random.choice(["city", "name"])
            value = self.text() if self.random.random() < 0.7 else None
            self.memory.set_profile("basics", {name: value})
        elif what == "add" or not some:
            self.memory.add(self.text())
        elif what == "revise":
            self.memory.revise(some, text=self.text())
        elif what == "forget":
            self.memory.forget(some)
        elif what == "restore":
            self.memory.restore(some)
        elif what == "recall":
            self.talk.recall("deploy", 3)
        elif what == "undo":
            decided = [
                e.position for e in decisions_in_force(self.talk.live.history(self.talk.key))
            ]
            if decided:
                self.talk.undo(self.random.choice(decided))
        else:
            self.talk.rewind(self.random.randint(self.talk.version // 2 + 1, self.talk.version))

    def asked(self, server: ModelServer, number: int) -> None:
        """A call, and what it may show."""
        self.talk.ask(f"say {number}")
        tokens = TOKEN.findall(shown(received(server)))
        assert len(tokens) == len(set(tokens)), number
        known = [str(value) for value in self.memory.profile.section("basics").values()]
        texts = [*known, *(each.text for each in self.memory.all())]
        standing = {TOKEN.findall(text)[0] for text in texts}
        assert set(tokens) <= standing, number


@pytest.mark.parametrize("seed", range(6))
def test_no_request_shows_what_does_not_stand_nor_anything_twice(tmp_path: Path, seed: int) -> None:
    with (
        open_log(tmp_path / "talk.db") as live,
        serving(following(lambda text, rounds: "Fine.")) as server,
    ):
        memory = memory_of(live)
        for n in range(4):
            memory.add(f"we deploy token{100 + n}")
        strategy = "compact:keep_turns=4" if seed % 2 else "none"
        talk = talking(live, server, "s", memory=memory, strategy=strategy)
        person = Person(seed, talk, memory)
        memory.set_profile("basics", {"city": "token200", "team": "token201"})
        talk.ask("when do we deploy?")
        for number in range(STEPS):
            person.step()
            if number % 3 == 0:
                person.asked(server, number)
            if number == STEPS // 2:  # goes on in a fork, in another process
                child = StreamKey("local", "chat", "child")
                live.log.fork(child, talk.key, talk.version)
                proved(talk)
                talk = talking(
                    live, server, str(child), memory=memory, system=None, strategy=strategy
                )
                person.talk = talk
        person.asked(server, STEPS)
        proved(talk)
