"""Agents that change their contexts by code of their own, and tell what they did."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from model_server import completion
from openai import OpenAI

TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
]
ASKED = ("fix the parser", "now the lexer", "and the docs")
OMITTED = "[Old tool result content cleared]"

Message = dict[str, Any]


def script(asked: list[int]) -> Callable[[dict[str, Any]], Any]:
    """Two calls in parallel to a person, one more to their results, then a text; a summary to whom
    has no tools."""

    def answer(request: dict[str, Any]) -> Any:
        asked.append(len(asked) + 1)
        n = asked[-1]
        if not request.get("tools"):
            return completion(
                f"The parser is mended, step {n} gave {n * 37}; the port is {8100 + n}."
            )
        said = [m for m in request["messages"] if m["role"] != "system" and not is_note(m)]
        results = 0
        while said[-1 - results]["role"] == "tool":
            results += 1
        if results == 1:
            return completion(f"Done with step {n}: the value is {n * 37}.", refusal=None)
        ids = [f"call_{n}a"] if results else [f"call_{n}a", f"call_{n}b"]
        calls = [
            {"id": i, "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}
            for i in ids
        ]
        return completion(f"I look {n}.", finish="tool_calls", tool_calls=calls, refusal=None)

    return answer


def is_note(message: Message) -> bool:
    return str(message.get("content")).startswith("<note>")


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def name(message: Mapping[str, Any]) -> str:
    """A message in few words: who, and the ids of its calls, or how it begins."""
    role = message.get("role")
    if role == "tool":
        return f"result {message['tool_call_id']}"
    calls = message.get("tool_calls")
    if calls:
        return "+".join(call["id"] for call in calls)
    content = message.get("content")
    text = content if isinstance(content, str) else content[0]["text"] if content else ""
    return f"{role} {text[:40]!r}"


def names(messages: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(map(name, messages))


class Agent:
    """One that changes nothing."""

    tools: list[Any] | None = TOOLS
    model = "m"
    asked = ASKED

    def __init__(self, client: OpenAI) -> None:
        self.client = client
        self.messages: list[Message] = [system("You are an agent. Be brief, touch no migrations.")]
        self.calls = 0
        self.did: list[str] = []
        self.before: list[Message] = []
        """What was sent last, with the answer to it."""

    # -- what each kind of agent does ------------------------------------------------------------

    def change(self) -> None:
        """Its own history, before a request."""

    def sent(self) -> list[Message]:
        """What is sent of it."""
        return self.messages

    # -- a conversation --------------------------------------------------------------------------

    def ask(self) -> Message:
        self.change()
        sent = self.sent()
        self.tell(sent)
        self.calls += 1
        more: dict[str, Any] = {"tools": self.tools} if self.tools else {}
        found = self.client.chat.completions.create(model=self.model, messages=sent, **more)  # type: ignore[arg-type]
        said: Message = found.choices[0].message.model_dump(exclude_none=True)
        self.before = json.loads(json.dumps([*sent, said]))
        return said

    def tell(self, sent: list[Message]) -> None:
        """What it did to what was sent before, in the words of the log."""

    def turn(self, text: str) -> None:
        self.messages.append(user(text))
        while not self.step():
            pass

    def step(self) -> bool:
        """One call; whether it was the last of its turn."""
        said = self.ask()
        self.messages.append(said)
        for call in said.get("tool_calls", ()):
            self.messages.append(result(call["id"]))
        return "tool_calls" not in said

    def run(self) -> None:
        for text in self.asked:
            self.turn(text)

    # -- words -----------------------------------------------------------------------------------

    def left(self, gone: Sequence[Message], brought: Sequence[Message] = ()) -> None:
        if gone:
            self.did.append(f"left: {names(gone)}" + (f"; for {names(brought)}" if brought else ""))


def result(call_id: str) -> Message:
    lines = " ".join(f"line{n}-{call_id}" for n in range(60))
    return {"role": "tool", "tool_call_id": call_id, "content": f"out of {call_id}: {lines}"}


# -- truncation -----------------------------------------------------------------------------------


class Missing(Agent):
    """Tells as left what was sent before and is not now."""

    def tell(self, sent: list[Message]) -> None:
        self.left([m for m in self.before if m not in sent], [])


class KeepsTheLast(Missing):
    """The system prompt and the last five messages, pairs or not."""

    def sent(self) -> list[Message]:
        return [self.messages[0], *self.messages[1:][-5:]]


class DropsPairs(Missing):
    """Whole units from the front of its history."""

    def change(self) -> None:
        while len(self.messages) > 9:
            del self.messages[1]
            while self.messages[1]["role"] == "tool":
                del self.messages[1]


class LeavesOutTheMiddle(Missing):
    """The first three messages and the last five."""

    def sent(self) -> list[Message]:
        return [*self.messages[:3], *self.messages[3:][-5:]]


class MarksTheMiddle(Agent):
    """The same, with a mark of how many are missing."""

    def sent(self) -> list[Message]:
        gone = max(0, len(self.messages) - 8)
        mark = [user(f"[{gone} messages are not shown]")] if gone else []
        return [*self.messages[:3], *mark, *self.messages[3:][-5:]]

    def tell(self, sent: list[Message]) -> None:
        gone = [m for m in self.before if m not in sent]
        self.left(gone, sent[3:4] if gone else [])


class DropsHereAndThere(Missing):
    """Results of the first call of each turn, and what said nothing but that it looks."""

    def sent(self) -> list[Message]:
        kept = self.messages[-4:]
        return [m for m in self.messages if m in kept or "_1" not in name(m)]


class SendsLessOnce(Agent):
    """Only the end at every third call, and all of it again behind."""

    def sent(self) -> list[Message]:
        if self.calls % 3 == 2:
            return [self.messages[0], *self.messages[-4:]]
        return self.messages

    def tell(self, sent: list[Message]) -> None:
        gone = [m for m in self.before if m not in sent]
        self.left(gone)
        again = sent[1 : 1 + len(sent) - len(self.before)]
        if sent[0 : len(self.before)] != self.before and not gone:
            self.did.append(f"again: {names([m for m in again if m not in self.before])}")


# -- results cleared and cut ----------------------------------------------------------------------


class Clears(Agent):
    """Old results, with a text in their place."""

    how = "cleared"

    def instead(self, message: Message) -> str:
        return OMITTED

    def change(self) -> None:
        for message in [m for m in self.messages if m["role"] == "tool"][:-2]:
            text = self.instead(message)
            if message["content"] != text and len(message["content"]) > 300:
                self.did.append(f"{self.how}: {name(message)}")
                message["content"] = text


class ClearsToNothing(Clears):
    def instead(self, message: Message) -> str:
        return ""


class ClearsEachInItsWay(Clears):
    def instead(self, message: Message) -> str:
        return f"({len(message['content'])} characters of {message['tool_call_id']} were here)"


class CutsTheMiddle(Clears):
    how = "cut"

    def instead(self, message: Message) -> str:
        text = message["content"]
        return f"{text[:100]}\n… [{len(text) - 200} characters left out] …\n{text[-100:]}"


class KeepsTheHead(Clears):
    how = "cut"

    def instead(self, message: Message) -> str:
        return str(message["content"][:25]) + "…"


class KeepsTheTail(Clears):
    how = "cut"

    def instead(self, message: Message) -> str:
        return "[truncated] …" + str(message["content"][-120:])


class CutsWhatWasPasted(Agent):
    """Long messages of its user, once they were answered."""

    def change(self) -> None:
        for message in self.messages[:-2]:
            if message["role"] == "user" and len(message["content"]) > 300:
                self.did.append(f"cut: {name(message)}")
                message["content"] = message["content"][:80] + "… [cut]"

    def turn(self, text: str) -> None:
        super().turn(text + " " + " ".join(f"pasted{n}" for n in range(80)))


class ClearsAnswers(Agent):
    """Old texts of its model, those of calls as well."""

    def change(self) -> None:
        for message in self.messages[:-6]:
            if message["role"] == "assistant" and message.get("content") != "[omitted]":
                self.did.append(f"revised: {name(message)}")
                message["content"] = "[omitted]"


class ClearsArguments(Agent):
    """What old calls were called with."""

    def change(self) -> None:
        for message in self.messages[:-6]:
            calls = [call["function"] for call in message.get("tool_calls", ())]
            if any(function["arguments"] != "{}" for function in calls):
                self.did.append(f"revised: {name(message)}")
                for function in calls:
                    function["arguments"] = "{}"


# -- summaries ------------------------------------------------------------------------------------


class Summarises(Agent):
    """All but the last messages, when there are nine; the next summary takes the last one in."""

    role = "user"
    keeps = 3

    def summary(self, gone: Sequence[Message]) -> str:
        return f"{len(gone)} messages before call {self.calls}: the parser is mended."

    def change(self) -> None:
        cut = len(self.messages) - self.keeps
        if len(self.messages) < 9:
            return
        while cut < len(self.messages) and self.messages[cut]["role"] == "tool":
            cut += 1
        gone = self.messages[1:cut]
        made = {"role": self.role, "content": f"Summary so far:\n{self.summary(gone)}"}
        self.left([m for m in self.before if m in gone], [made])
        self.messages = [self.messages[0], made, *self.messages[cut:]]


class SummarisesAsSystem(Summarises):
    role = "system"


class SummarisesAsAssistant(Summarises):
    role = "assistant"


class KeepsOneMessage(Summarises):
    keeps = 1


class AsksAnotherModel(Summarises):
    """It is another model that writes the summary, in a request of its own."""

    summarizer = "small"
    prompt = "You sum up."

    def summary(self, gone: Sequence[Message]) -> str:
        told = "\n".join(str(message.get("content"))[:90] for message in gone)
        found = self.client.chat.completions.create(
            model=self.summarizer,
            messages=[system(self.prompt), user(f"Sum up:\n{told}")],  # type: ignore[arg-type,list-item]
        )
        return str(found.choices[0].message.content)


class AsksTheSameModel(AsksAnotherModel):
    summarizer = "m"


class AsksUnderTheSamePrompt(AsksTheSameModel):
    def summary(self, gone: Sequence[Message]) -> str:
        self.prompt = self.messages[0]["content"]
        return super().summary(gone)


class KeepsNothing(AsksTheSameModel):
    """Nothing but the summary is left."""

    keeps = 0


class AsksInTheConversation(Summarises):
    """It asks for the summary behind the conversation itself, and goes on without that."""

    question = user("Sum up what was said.")

    def summary(self, gone: Sequence[Message]) -> str:
        found = self.client.chat.completions.create(
            model="m",
            messages=[*self.messages, self.question],  # type: ignore[list-item]
        )
        said = found.choices[0].message
        self.before = [*self.messages, self.question, said.model_dump(exclude_none=True)]
        return str(said.content)

    def left(self, gone: Sequence[Message], brought: Sequence[Message] = ()) -> None:
        super().left([*gone, *self.before[-2:]], brought)


class SumsUpInItsPrompt(Agent):
    """What is left out is summed up in the system prompt."""

    def change(self) -> None:
        if len(self.messages) > 9:
            first, tail = self.messages[0], self.messages[-3:]
            self.did.append(f"revised: {name(first)}")
            self.left([m for m in self.before if m not in tail and m != first])
            text = first["content"].partition("\n")[0]
            self.messages = [system(f"{text}\nBefore call {self.calls}: mended."), *tail]


# -- what else is done to contexts ----------------------------------------------------------------


class Clock(Agent):
    """The time stands in its system prompt."""

    def sent(self) -> list[Message]:
        text = self.messages[0]["content"]
        return [system(f"{text} It is 10:{self.calls:02}."), *self.messages[1:]]

    def tell(self, sent: list[Message]) -> None:
        if self.calls:
            self.did.append(f"revised: {name(sent[0])}")


class Remembers(Agent):
    """What it knows stands behind the system prompt, and changes."""

    def sent(self) -> list[Message]:
        known = user(f"<note>{self.calls} facts are known by now</note>")
        return [self.messages[0], known, *self.messages[1:]]

    def tell(self, sent: list[Message]) -> None:
        if self.calls:
            self.did.append(f"revised: {name(self.before[1])}")


class Reminds(Agent):
    """A reminder stands at the end of each request, and is gone in the next."""

    def note(self) -> Message:
        return user("<note>Mind the list of things to do.</note>")

    def sent(self) -> list[Message]:
        return [*self.messages, self.note()]

    def tell(self, sent: list[Message]) -> None:
        self.left(self.before[-2:-1])


class RemindsInOtherWords(Reminds):
    def note(self) -> Message:
        return user(f"<note>{self.calls} calls were made.</note>")


class RemindsAsSystem(Reminds):
    def note(self) -> Message:
        return system(f"<note>{self.calls} calls were made.</note>")


class RemindsInTheMessage(Agent):
    """The reminder is a part of the last message itself."""

    def sent(self) -> list[Message]:
        *before, last = self.messages
        return [*before, {**last, "content": last["content"] + f"\n<note>call {self.calls}</note>"}]

    def tell(self, sent: list[Message]) -> None:
        if self.before:
            self.did.append(f"cut: {name(self.before[-2])}")


class Reorders(Agent):
    """What its user asked stands first."""

    def sent(self) -> list[Message]:
        if self.calls < 4:
            return self.messages
        first, *rest = self.messages
        asked = [m for m in rest if m["role"] == "user"]
        return [first, *asked, *(m for m in rest if m["role"] != "user")]

    def tell(self, sent: list[Message]) -> None:
        if self.calls == 4:
            self.did.append(f"order: {names(sent)}")


class SwitchesModels(Agent):
    def change(self) -> None:
        self.model = "m" if self.calls % 2 else "other"


class SwitchesTools(Agent):
    def change(self) -> None:
        other = {"type": "function", "function": {"name": "look", "parameters": {}}}
        self.tools = TOOLS if self.calls % 3 else [*TOOLS, other]


# -- branches -------------------------------------------------------------------------------------


class RetriesInOtherWords(Agent):
    """The last prompt was not understood."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.messages.append(user("now the lexr"))
        said = self.ask()
        gone = self.messages.pop()
        self.did.append(f"back: {name(gone)}, {name(said)}")
        self.turn(ASKED[1])


class RetriesUnderAnotherPrompt(Agent):
    """The same question under another system prompt."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.messages.append(user(ASKED[1]))
        said = self.ask()
        self.did += [f"back: {name(said)}", f"revised: {name(self.messages[0])}"]
        self.messages[0] = system("You are an agent. Think hard.")
        while not self.step():
            pass


class EditsTheFirst(Agent):
    """The first message is edited, and everything begins again."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.turn(ASKED[1])
        self.did.append(f"back: {names(self.messages[1:])}")
        self.messages = self.messages[:1]
        self.turn("fix the printer")


class EditsOneBetween(Agent):
    """A message is edited, and what came behind it is gone."""

    def run(self) -> None:
        super().run()
        at = self.messages.index(user(ASKED[1]))
        self.did.append(f"back: {names(self.messages[at:])}")
        self.messages = self.messages[:at]
        self.turn("now the printer")


class EditsInPlace(Agent):
    """A message is edited, and what came behind it stays."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.turn(ASKED[1])
        self.did.append(f"revised: {name(self.messages[1])}")
        self.messages[1] = user("fix the parser of C, not that of Rust")
        self.turn(ASKED[2])


class AsksAgain(Agent):
    """The last answer is thrown away, and asked for again."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.did.append(f"back: {name(self.messages.pop())}")
        self.step()
        self.turn(ASKED[1])


class BranchesWithTheClock(Clock):
    """A branch, while the system prompt is another one each time."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.turn(ASKED[1])
        at = self.messages.index(user(ASKED[1]))
        self.did.append(f"back: {names(self.messages[at:])}")
        self.messages = self.messages[:at]
        self.turn("now the printer")


class HasAHelper(Agent):
    """A helper goes on from the agent's own context, and the agent from before."""

    def run(self) -> None:
        self.turn(ASKED[0])
        self.messages.append(user("ask a helper"))
        said = self.ask()
        self.messages.append(said)
        ids = [call["id"] for call in said["tool_calls"]]
        shared = len(self.messages)
        for i in ids:
            self.messages.append({**result(i), "content": "you are the helper"})
        self.turn("look at the docs")
        self.did.append(f"back: {names(self.messages[shared:])}")
        self.messages = self.messages[:shared]
        for i in ids:
            self.messages.append({**result(i), "content": "the helper says: they are fine"})
        while not self.step():
            pass
