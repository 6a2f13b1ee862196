"""Who writes summaries: a model behind any OpenAI-compatible endpoint, or no model at all."""

from harness.summarizers.base import Prompt, Summarizer, Written, prompt
from harness.summarizers.endpoint import EndpointSummarizer
from harness.summarizers.extractive import ExtractiveSummarizer

__all__ = [
    "EndpointSummarizer",
    "ExtractiveSummarizer",
    "Prompt",
    "Summarizer",
    "Written",
    "prompt",
]
