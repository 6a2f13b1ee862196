"""Audits of small recorded sessions, written by hand, and of what a log holds."""

from __future__ import annotations

from collections.abc import Sequence

from recorded_sessions import Session

from eventlog import events
from eventlog.jsonvalue import Json
from eventlog.values import Summarizer
from projections import prefixes
from projections.audit.auditing import audited, rules_of
from projections.audit.model import Audit, Finding
from projections.audit.subject import Noted, Subject
from projections.recording import recording
from projections.tokens import counter
from projections.verdicts import Verdict

COUNTING = counter()


def audit_of(
    made: Session,
    *rules: str,
    verdicts: Sequence[Verdict] = (),
    stands: list | None = None,
    base: int = 0,
) -> Audit:
    """The audit of a session without a log; its calls are ``rebuilt`` unless said otherwise."""
    noted, requests = Noted(), prefixes.Noted()
    read = recording(requests.of(noted.of(made.events)), COUNTING)
    subject = Subject(
        recording=read,
        noted=noted,
        counting=COUNTING,
        verdicts=verdicts or [Verdict("rebuilt")] * len(noted.calls),
        prefixes=prefixes.rows_of(read, requests, COUNTING),
        stands=stands,
        base=base,
    )
    return audited(subject, rules_of(rules))


def findings(made: Session, rule: str, verdicts: Sequence[Verdict] = ()) -> list[Finding]:
    """What one rule finds."""
    return list(audit_of(made, rule, verdicts=verdicts).findings)


def compaction(
    made: Session,
    covered: Sequence[int | str],
    *texts: str,
    shown: Sequence[str] = (),
    **more: object,
) -> int:
    """A compaction whose summarizer is known, or anything else of it."""
    messages = tuple(
        events.NewMessage(
            dialect="openai_chat",
            message=Json({"role": "user", "content": text}),
            label="summary",
        )
        for text in texts
    )
    fields = {"covered": tuple(map(str, covered)), "messages": messages, **more}
    if shown:
        fields["summarizer"] = Summarizer(model="m", shown=tuple(shown))
    return made.add(events.ContextCompacted.model_validate(fields))


def quiet_session() -> Session:
    """A session in which nothing is wrong, and nothing was ever taken out."""
    made = Session()
    made.system("You are an agent. Use httpie, not curl.")
    made.human("Refund order ORD-77120, ticket SHOP-482.")
    made.call(("bash", {"command": "http :8123/orders/ORD-77120"}), text="I look.")
    made.result("HTTP/1.0 200 OK", "bash")
    made.call(text="Done with ORD-77120.")
    return made
