"""One question to a model about two contexts, and twice about everything: the noise floor.

Two answers to the same context differ as well, so what a context lost shows only where its answer
differs from that to everything by more than that answer from itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cli.diffs import Side
from cli.models_whatif import AnswerData, AskData
from cli.style import plural
from cli.summaries import spent
from cli.whatifs import make, recorded
from harness.errors import RequestRejected
from harness.questions import NOT_TAKEN, Answer, Questions
from projections import Live, tokens
from projections.agreement import agreement
from projections.dialects import dialect
from projections.items import Item
from projections.legality import sendable
from projections.strategies.none import NoStrategy

DIALECT = "openai_chat"
NOTE = "one question proves little, and the model was given no tools"
NO_FLOOR = "there is no answer to everything, so nothing says how far two such answers differ"


def ask(live: Live, left: Side, right: Side, question: str, questions: Questions) -> AskData:
    """Both outcomes, beside those of everything that was recorded up to there.

    Raises Unreachable, and RequestRejected when neither side's context is taken.
    """
    last = max(left.place, right.place, key=lambda one: one.position)
    everything = make(recorded(live, last), (NoStrategy(),)).items
    whole_request = _messages(everything)
    requests = [_messages(side.items) for side in (left, right)]
    answers = [
        questions.ask(request, question, about=about)
        for request, about in zip(requests, ("the left", "the right"), strict=True)
    ]
    if all(answer.fault.startswith(NOT_TAKEN) for answer in answers):
        endpoint, detail = questions.endpoint, answers[0].fault.removeprefix(NOT_TAKEN)
        raise RequestRejected(endpoint.model, endpoint.url, detail)
    whole = questions.ask(whole_request, question, about="everything")
    again = whole
    if not whole.fault.startswith(NOT_TAKEN):
        again = questions.ask(whole_request, question, 2, about="everything, once more")
    one, other = (
        _data(answer, whole, side.items, request == whole_request)
        for answer, side, request in zip(answers, (left, right), requests, strict=True)
    )
    return AskData(
        model=questions.endpoint.model,
        question=question,
        left=one,
        right=other,
        everything=_data(whole, whole, everything, True),
        again=_data(again, whole, everything, True),
        notes=[NOTE, *([NO_FLOOR] if not (whole.text and again.text) else [])],
    )


def told(questions: Questions) -> str:
    """What the model was asked in this run; empty where it was not."""
    if not questions.asked:
        return ""
    did = f"{questions.endpoint.model} gave {plural(len(questions.asked), 'answer')}"
    return spent(did, [answer.usage for answer in questions.asked], questions.unkept)


def _messages(items: Sequence[Item]) -> list[Mapping[str, Any]]:
    body = dialect(DIALECT).render(sendable(items).items, None, None)
    return list(body["messages"])


def _data(answer: Answer, reference: Answer, items: Sequence[Item], everything: bool) -> AnswerData:
    counting = tokens.counter()
    both = bool(answer.text and reference.text)
    held = agreement(reference.text, answer.text) if both else None
    usage = answer.usage
    return AnswerData(
        text=answer.text,
        fault=answer.fault,
        context_tokens=sum(tokens.count_item(counting, item) for item in items),
        billed_input=usage.prompt if usage else None,
        billed_output=usage.output if usage else None,
        same_context=everything,
        words=held.words if held else None,
        literals=held.literals if held else None,
        missing=[anchor.text for anchor in held.missing] if held else [],
    )
