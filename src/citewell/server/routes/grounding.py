"""Google's check-grounding, at its own path, for clients of ``GroundedGenerationService``.

In: its request as JSON. Out: its response, with positions in bytes of UTF-8. Project, location and
configuration are not used. Errors have Google's shape, because its clients show no other.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from citewell.core.access import Caller
from citewell.core.records import Claim, Status
from citewell.core.sentences import bytes_before
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import Problem
from citewell.server.routes.asking import Verified, check_lines
from citewell.server.shapes import body_of, described, reply
from citewell.server.site import Here

ENDS = ":check"


class GroundingFact(msgspec.Struct, rename="camel"):
    fact_text: str = ""
    attributes: dict[str, str] = {}


class GroundingSpec(msgspec.Struct, rename="camel"):
    """``citation_threshold``: the lowest probability of support with which a verified claim is cited."""

    citation_threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    enable_claim_level_score: bool | None = None


class CheckGroundingRequest(msgspec.Struct, rename="camel"):
    """Members that mean nothing here (userLabels, ...) are ignored."""

    answer_candidate: Annotated[str, msgspec.Meta(min_length=1)]
    facts: list[GroundingFact] = []
    grounding_spec: GroundingSpec | None = None


class FactChunk(msgspec.Struct, rename="camel"):
    """The words of a fact that support a claim. ``source``: the fact's place in the request, from 0."""

    chunk_text: str
    source: str
    source_metadata: dict[str, str]


class CitedFact(msgspec.Struct, rename="camel"):
    chunk_text: str


class GroundingClaim(msgspec.Struct, rename="camel"):
    """``score``: the probability that the facts support the claim; missing if it could not be checked."""

    start_pos: int
    end_pos: int
    claim_text: str
    citation_indices: list[int]
    grounding_check_required: bool = True
    score: float | msgspec.UnsetType = msgspec.UNSET


class CheckGroundingResponse(msgspec.Struct, rename="camel"):
    """``support_score``: the share of claims that are verified; missing without claims."""

    cited_chunks: list[FactChunk]
    cited_facts: list[CitedFact]
    claims: list[GroundingClaim]
    support_score: float | msgspec.UnsetType = msgspec.UNSET


def error_response(problem: Problem) -> Response:
    """The problem in the shape of Google's errors."""
    about = problem.details
    message = f"{about.title}: {about.hint}" if about.hint else about.title
    told = {"error": {"code": about.status, "message": message}}
    return JSONResponse(told, about.status, problem.headers)


def _resource(version: Literal["v1", "v1beta", "v1alpha"], project: str, location: str, config: str) -> None:
    """Describes the path."""


router = APIRouter(tags=["answers"])


@router.post(
    "/{version}/projects/{project}/locations/{location}/groundingConfigs/{config}" + ENDS,
    dependencies=[Depends(_resource)],
    **described(
        CheckGroundingResponse, "The claims with the facts that support them", body=CheckGroundingRequest
    ),
)
async def check_grounding(
    request: Request,
    caller: Annotated[Caller, Depends(require(scope=Scope.VERIFY))],
    here: Here,
    asked: CheckGroundingRequest = body_of(CheckGroundingRequest),
) -> Response:
    """Checks an answer against facts, as Google's service does. Nothing is kept."""
    facts = [fact.fact_text for fact in asked.facts]
    line = msgspec.json.encode({"answer": asked.answer_candidate, "sources": facts})
    (checked,) = await check_lines(request, caller, here, [line])
    return reply(_response(asked, msgspec.json.decode(checked, type=Verified).claims))


def _response(asked: CheckGroundingRequest, claims: tuple[Claim, ...]) -> CheckGroundingResponse:
    spec, text = asked.grounding_spec or GroundingSpec(), asked.answer_candidate
    before = bytes_before(text)
    chunks: dict[tuple[str, int, int], tuple[int, FactChunk]] = {}
    made = []
    for claim in claims:
        indices = set()
        for one in claim.citations if claim.verdict.status is Status.VERIFIED else ():
            verdict = one.verdict or claim.verdict
            if verdict.status is Status.VERIFIED and (verdict.support or 0) >= (spec.citation_threshold or 0):
                fact = int(one.document_id) - 1
                chunk = FactChunk(one.quote, str(fact), asked.facts[fact].attributes)
                indices.add(chunks.setdefault((one.document_id, one.start, one.end), (len(chunks), chunk))[0])
        score = claim.verdict.support if spec.enable_claim_level_score else None
        made.append(
            GroundingClaim(
                start_pos=before[claim.answer_start],
                end_pos=before[claim.answer_end],
                claim_text=text[claim.answer_start : claim.answer_end],
                citation_indices=sorted(indices),
                score=msgspec.UNSET if score is None else score,
            )
        )
    verified = sum(claim.verdict.status is Status.VERIFIED for claim in claims)
    return CheckGroundingResponse(
        cited_chunks=[chunk for _, chunk in chunks.values()],
        cited_facts=[CitedFact(chunk.chunk_text) for _, chunk in chunks.values()],
        claims=made,
        support_score=verified / len(claims) if claims else msgspec.UNSET,
    )
