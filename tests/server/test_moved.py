"""Quality in ``/metrics``: read from the log, cached for a while, and not logged itself."""

from __future__ import annotations

from fastapi.testclient import TestClient
from tests.server.conftest import QUESTION


def test_metrics_tell_how_quality_moves(client: TestClient) -> None:
    text = client.get("/metrics").text
    assert "citewell_drift{" not in text  # no questions: nothing is measured or reported
    assert client.post("/v1/ask", json={"question": QUESTION}).status_code == 200
    assert "citewell_drift{" not in client.get("/metrics").text  # still cached
    site = client.app.state.site  # type: ignore[attr-defined]
    site.metrics.quality.read_again_at = 0.0
    before = site.kb.log.size()
    text = client.get("/metrics").text
    assert 'citewell_drift_records{measure="abstention",window="7d"} 1.0' in text
    assert site.kb.log.size() == before
