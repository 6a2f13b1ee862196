"""What the calls of a session cost: each as billed, at the prices of its model then."""

from __future__ import annotations

from cli.config import config
from cli.prices import RECORDED, Asked, priced, tables_for
from cli.report.model import CostData
from projections.metrics.costs import billed_cost
from projections.metrics.prices import Prices
from projections.recording import Recording
from projections.usage import usage_totals


def call_costs(made: Recording) -> tuple[list[float | None], CostData | None]:
    """Of each call in its order, and of all; None where there is no answered call.

    What has no price, or no bill, is not counted: it costs something that nobody knows. Raises
    InputRefused for a wrong table in the config.
    """
    tables = tables_for(Asked((RECORDED,), priced(config())), [made])
    known = {table.name: table for table in tables if isinstance(table, Prices)}
    found: list[float | None] = []
    used: dict[str, Prices] = {}
    unknown, models = 0, dict[str, None]()
    for step in made.steps:
        if step.kind != "call":
            continue
        answer, table = made.answers.get(step.position), known.get(step.text)
        usage = answer.usage if answer is not None else None
        cost = None
        if table is not None and usage is not None:
            cost = billed_cost(table, step.when, usage_totals(usage))
        found.append(cost)
        if cost is not None and table is not None:
            used[table.name] = table
        elif answer is not None and (answer.items or usage is not None):
            unknown += 1
            if table is None and step.text:
                models[step.text] = None
    costs = [cost for cost in found if cost is not None]
    if not costs and not unknown:
        return found, None
    currencies = {table.currency for table in used.values()}
    return found, CostData(
        # What is in several currencies has no sum.
        total=round(sum(costs), 8) if costs and len(currencies) == 1 else None,
        currency=next(iter(currencies)) if len(currencies) == 1 else "",
        known=len(costs),
        unknown=unknown,
        models=list(models),
        source=", ".join(dict.fromkeys(table.source for table in used.values() if table.source)),
    )
