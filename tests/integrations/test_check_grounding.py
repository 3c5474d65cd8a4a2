"""Google's own client of check-grounding against our server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from citewell.server import create_app
from citewell.server.keys import ApiKeys, Scope

from .conftest import BRIDGE, FALSE, TOLL

pytest.importorskip("google.cloud.discoveryengine_v1")
pytestmark = [pytest.mark.enable_socket, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def address(kb: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(kb), port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(30)


def test_googles_client_gets_claims_and_errors_from_our_server(kb: Any, address: str) -> None:
    from google.api_core.exceptions import Forbidden, GoogleAPICallError
    from google.cloud import discoveryengine_v1 as google
    from google.oauth2.credentials import Credentials

    keys = ApiKeys(kb.home)
    (_, key), (_, other) = (keys.create("robot", scopes=[one]) for one in (Scope.VERIFY, Scope.ASK))
    keys.close()

    def client(token: str) -> Any:
        return google.GroundedGenerationServiceClient(
            transport="rest", credentials=Credentials(token), client_options={"api_endpoint": address}
        )

    answer = f"Ü: {FALSE} {TOLL}".replace(" [1]", "")
    facts = [google.GroundingFact(fact_text=text, attributes={"source": text[:8]}) for text in (BRIDGE, TOLL)]
    asked = google.CheckGroundingRequest(
        grounding_config="projects/p/locations/global/groundingConfigs/default_grounding_config",
        answer_candidate=answer,
        facts=facts,
        grounding_spec=google.CheckGroundingSpec(citation_threshold=0.6, enable_claim_level_score=True),
    )
    found = client(key).check_grounding(asked)
    bad, good = found.claims
    assert answer.encode()[good.start_pos : good.end_pos].decode() == good.claim_text == TOLL
    assert [found.cited_chunks[place].source for place in good.citation_indices] == ["1"]
    assert found.cited_chunks[0].source_metadata == {"source": TOLL[:8]}
    assert (list(bad.citation_indices), bad.score < 0.5 < good.score) == ([], True)
    assert found.support_score == 0.5
    with pytest.raises(Forbidden, match="needs the scope verify"):
        client(other).check_grounding(asked)
    asked.facts = facts * 101
    with pytest.raises(GoogleAPICallError, match="at most 200 sources"):
        client(key).check_grounding(asked)
