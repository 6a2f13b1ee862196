"""The state of an agent, folded from the events of its session: what going on with it takes."""

from projections.agent_state.folding import FileLimits, StateFolding, initial
from projections.agent_state.reading import FollowedState, agent_state
from projections.agent_state.resuming import resumption
from projections.agent_state.state import AgentState

__all__ = [
    "AgentState",
    "FileLimits",
    "FollowedState",
    "StateFolding",
    "agent_state",
    "initial",
    "resumption",
]
