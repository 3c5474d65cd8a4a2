"""Case files drafted from documents: questions whose answers were read off the text."""

from citewell.evaluation.drafting.choosing import DEFAULT_N, draft_cases

__all__ = ["DEFAULT_N", "draft_cases"]
