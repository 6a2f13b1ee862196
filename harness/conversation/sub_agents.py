"""Another agent as a tool of a conversation: a role with its own prompt, tools and session.

Its session is a stream of its own, whose beginning names the session and the tool call that started
it. A call that is run again goes on with the session that it began.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from eventlog.events import PermissionsSet
from eventlog.recorded import StreamKey
from harness.conversation.happenings import Answered, Ended
from harness.errors import ToolFailed
from harness.tools.context import Context
from harness.tools.tool import Tool, tool
from projections.prompts.template import Template

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")

_LONGEST = 24
"""Characters of a call's id in the name of the session that it starts."""


@dataclass(frozen=True)
class SubAgent:
    """A role that a conversation can give tasks to.

    The template's description is that of the tool; its system text, with ``variables``, is the
    agent's prompt. The agent may do what its conversation may, and nobody is asked: what would need
    that is denied.
    """

    template: Template
    tools: tuple[Tool, ...] = ()
    name: str = ""
    """Of the tool; the role, or the template, where it has none."""
    model: str = ""
    """The conversation's own where it has none."""
    variables: Mapping[str, object] = field(default_factory=dict)

    def tool_of(self, conversation: Conversation) -> Tool:
        """The tool of that conversation. Raises PromptMissing for a role without a description."""
        template = self.template
        name = self.name or _PLAIN.sub("_", template.role or template.name)

        def ask(
            task: Annotated[str, "what is to be done, with everything that it takes to do it"],
            context: Context,
        ) -> str:
            return self._answer(conversation, name, task, context)

        return tool(
            ask,
            name=name,
            description=" ".join(template.tool_description.split()),
            has_effects=any(each.has_effects for each in self.tools),
            timeout=None,
            subject="task",
        )

    def _answer(self, of: Conversation, name: str, task: str, context: Context) -> str:
        from harness.conversation.conversation import Conversation

        # Some servers number the calls of each answer anew: the item tells them apart.
        asking = (item for item in reversed(of.items()) if context.tool_call_id in item.call_ids)
        number = next((item.id for item in asking), "0")
        call = f"{number}-{_PLAIN.sub('_', context.tool_call_id)[-_LONGEST:]}"
        key = StreamKey(of.key.user, of.key.agent, f"{of.key.session}.{name}-{call}")
        allowed = PermissionsSet.model_validate(
            {
                name: getattr(context.state.permissions, name)
                for name in ("mode", "allow", "deny", "ask")
            }
        )
        with Conversation(
            of.live.log.path,
            of.given_client,
            self.model or of.model,
            session=key,
            system=self.template.only("system").render(**self.variables),
            strategy=of.charge.strategies,
            tools=self.tools,
            permissions=allowed,
            parameters=of.parameters,
            window=of.window,
            parent=(of.key, context.tool_call_id),
        ) as child:
            text = child.last_answer()
            if any(item.label == "task" for item in child.items()):
                begun = child.go_on()
            else:
                begun = child.say(task, source="injected", label="task")
            with contextlib.closing(begun):
                for each in begun:
                    if context.cancelled.is_set():
                        raise ToolFailed("the agent was interrupted")
                    if isinstance(each, Answered):
                        text = each.text
                    elif isinstance(each, Ended) and each.outcome != "answered":
                        raise ToolFailed(f"the agent's reply {each.outcome}: {each.detail}")
            return text
