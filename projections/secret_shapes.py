"""Keys and tokens that ``detect-secrets`` does not know, as plug-ins of its own form.

Most are of services that agents talk to. Each shape begins with a prefix that its provider
documents or hands out, and is long enough to be no word of a text. Nothing is verified with
anybody: these only match.

Imported on first use, since ``detect-secrets`` is slow to load.
"""

from __future__ import annotations

import re

from detect_secrets.plugins.base import RegexBasedDetector

_ALONE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Short prefixes have to begin a word; in JSON a line end before it is written as ``\\n``."""


class _Shape(RegexBasedDetector):
    """A detector that never asks a service whether the key is alive."""


class AnthropicDetector(_Shape):
    """API keys, admin keys and OAuth tokens of Anthropic."""

    secret_type = "Anthropic Key"
    denylist = (re.compile(r"sk-ant-[a-z]{2,12}\d{2}-[A-Za-z0-9_-]{32,}"),)


class OpenAIProjectDetector(_Shape):
    """Keys of projects and service accounts, whose parts may hold ``-`` and ``_``; the short ones
    are known by their digits."""

    secret_type = "OpenAI Project Key"
    denylist = (
        re.compile(r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
        re.compile(
            _ALONE
            + r"sk-(?:proj|svcacct)-(?=(?:[A-Za-z_-]*\d){2})(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{24,}"
        ),
    )


class PlainKeyDetector(_Shape):
    """Keys of the servers that speak as OpenAI's does: ``sk-`` and letters with digits among them,
    which no name is made of."""

    secret_type = "Plain Model Key"
    denylist = (
        re.compile(
            _ALONE + r"sk-(?=(?:[A-Za-z]*\d){2})(?=\d*[A-Za-z])[A-Za-z0-9]{20,64}(?![A-Za-z0-9])"
        ),
    )


class HeaderDetector(_Shape):
    """What the headers of a request hold in which keys are sent, with digits among letters. The
    value stands behind the name, in a group."""

    secret_type = "Key in a Header"
    denylist = tuple(
        re.compile(
            name
            + r"(?=(?:[A-Za-z._~+/=-]*\d){2})(?=[\d._~+/=-]*[A-Za-z])([A-Za-z0-9._~+/=-]{16,})",
            re.IGNORECASE,
        )
        for name in (
            r"authorization\\*[\"']?[ \t]*[:=][ \t]*\\*[\"']?(?:bearer|token)[ \t]+",
            r"(?:x-(?:goog-)?)?api-key\\*[\"']?[ \t]*[:=][ \t]*\\*[\"']?",
        )
    )


class ModelServiceDetector(_Shape):
    """Keys of OpenRouter, Groq, xAI, Perplexity and Replicate."""

    secret_type = "Model Service Key"
    denylist = (
        re.compile(r"sk-or-v1-[0-9a-f]{64}"),
        re.compile(_ALONE + r"gsk_[A-Za-z0-9]{48,}"),
        re.compile(_ALONE + r"xai-[A-Za-z0-9]{70,}"),
        re.compile(_ALONE + r"pplx-[A-Za-z0-9]{48,}"),
        re.compile(_ALONE + r"r8_[A-Za-z0-9]{37,}"),
    )


class GitHubFineGrainedDetector(_Shape):
    """Fine-grained personal access tokens of GitHub."""

    secret_type = "GitHub Fine-Grained Token"
    denylist = (re.compile(r"github_pat_[A-Za-z0-9_]{36,}"),)


class GoogleDetector(_Shape):
    """API keys, OAuth access tokens and OAuth client secrets of Google."""

    secret_type = "Google Key"
    denylist = (
        re.compile(r"AIza[A-Za-z0-9_-]{35}"),
        re.compile(_ALONE + r"ya29\.[A-Za-z0-9_-]{40,}"),
        re.compile(r"GOCSPX-[A-Za-z0-9_-]{28}"),
    )


class HuggingFaceDetector(_Shape):
    """Tokens of persons and of organisations at Hugging Face."""

    secret_type = "Hugging Face Token"
    denylist = (
        re.compile(_ALONE + r"hf_[A-Za-z0-9]{34,}"),
        re.compile(_ALONE + r"api_org_[A-Za-z0-9]{34,}"),
    )


class NpmAccessDetector(_Shape):
    """Access tokens of npm, also where they stand alone."""

    secret_type = "npm Access Token"
    denylist = (re.compile(_ALONE + r"npm_[A-Za-z0-9]{36,}"),)


class SlackAppDetector(_Shape):
    """Slack's app-level, rotating, refresh and browser tokens."""

    secret_type = "Slack App Token"
    denylist = (
        re.compile(_ALONE + r"xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,}"),
        re.compile(_ALONE + r"xoxe(?:\.xox[bp])?-\d-[A-Za-z0-9-]{32,}"),
        re.compile(_ALONE + r"xox[cd]-[A-Za-z0-9%/+-]{32,}"),
    )


SHAPES = {
    "anthropic": AnthropicDetector,
    "openai_project": OpenAIProjectDetector,
    "plain_key": PlainKeyDetector,
    "header": HeaderDetector,
    "model_service": ModelServiceDetector,
    "github_fine_grained": GitHubFineGrainedDetector,
    "google": GoogleDetector,
    "hugging_face": HuggingFaceDetector,
    "npm_access": NpmAccessDetector,
    "slack_app": SlackAppDetector,
}
"""Our detectors by the name that a finding shows, after ``ctxlog:``."""
