"""Every strategy and preset, with parameters that make it decide something in a small session."""

from __future__ import annotations

BUDGETED = (
    "window:tokens={n}",
    "window:tokens={n},low=100",
    "tiered:tokens={n}",
    "adaptive:tokens={n}",
    "adaptive:tokens={n},task=creative_writing",
    "budget:tokens={n}",
    "prune:tokens={n}",
    "prune:tokens={n},max_score=3",
    "intelligent:tokens={n}",
    "hybrid:tokens={n},n=1,polling=2,keep_last=3",
    "condense:tokens={n},keep_last=2",
    "users:tokens={n},user_tokens=40",
    "compact:keep_turns=1,trigger_tokens={n}",
    "clear:keep=1,trigger={n},at=model_call",
    "protect:protect={n},minimum=10,turns=0,at=model_call",
    "cut:limit={n}",
    "cut:limit=90 | clear:keep=1,at=model_call | dedup | window:tokens={n}",
)
COUNTED = (
    "none",
    "truncate:turns=0",
    "truncate:turns=1",
    "truncate:turns=2,unit=turn",
    "truncate:turns=1,at=model_call",
    "compress:max_messages=5,keep_recent=2",
    "compress:max_messages=3,keep_recent=0,at=model_call",
    "cut:limit=0",
    "clear:keep=0,clear_tool_inputs=true,at=model_call",
    "clear:keep=1,clear_at_least=50",
    "clear:keep=1,clear_tool_inputs=true",
    "compact:keep_turns=1",
    "compact:keep_turns=0,at=model_call",
    "condense:max_items=4,tokens=0,keep_first=1,keep_last=2",
    "dedup",
    "dedup:at=model_call,min_tokens=0",
    "mask:n=1,polling=2",
    "mask:n=0,polling=1,keep_first=false",
    "swe-agent",
    "openhands",
    "codex:window=1000",
    "claude-code:window=1000",
    "anthropic-clear",
)
EVERY = (*COUNTED, *(spec.format(n=n) for spec in BUDGETED for n in (60, 700)))
