"""Who writes summaries: a model behind any OpenAI-compatible endpoint, or no model at all."""

from harness.summarizers.base import Prompt, Summarizer, prompt
from harness.summarizers.endpoint import EndpointSummarizer
from harness.summarizers.extractive import ExtractiveSummarizer
from harness.summarizers.kept import KeptSummarizer
from projections.written import Written

__all__ = [
    "EndpointSummarizer",
    "ExtractiveSummarizer",
    "KeptSummarizer",
    "Prompt",
    "Summarizer",
    "Written",
    "prompt",
]
