"""The adapters against the real frameworks; each test is skipped if its framework is not installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from citewell.core.errors import UsageError

from .conftest import BRIDGE, FALSE, QUESTION, TRUE


def quoted(kb: Any, text: str, about: dict[str, Any]) -> bool:
    """Whether the document has the text at the given position."""
    document = kb.document(about["document_id"], about["document_version"])
    return bool(document.text[about["start"] : about["end"]] == text)


def test_langchain_retrieves_and_verifies_in_a_chain(kb: Any) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from citewell.integrations.langchain import CitewellRetriever, verifier

    retriever = CitewellRetriever(kb=kb)
    (document,) = retriever.invoke(QUESTION)
    assert quoted(kb, document.page_content, document.metadata)
    found = {"context": retriever, "input": RunnablePassthrough()}
    for answer, status in ((TRUE, "VERIFIED"), (FALSE, "CONTRADICTED")):
        said = RunnablePassthrough.assign(answer=RunnableLambda(lambda _, answer=answer: answer))
        output = (RunnableLambda(lambda question: question) | found | said | verifier()).invoke(QUESTION)
        assert output["answer"] == answer
        assert output["verification"].status == status


def test_a_langchain_callback_checks_each_run_against_what_was_retrieved_in_it(kb: Any) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from langchain_core.tools import tool

    from citewell.integrations.langchain import CitewellCallback, CitewellRetriever

    @tool
    def look(question: str) -> list[Any]:
        """Looks it up."""
        return CitewellRetriever(kb=kb).invoke(question)

    def chain(context: Any, answer: Any) -> Any:
        said = RunnablePassthrough.assign(answer=RunnableLambda(lambda _: answer))
        return {"context": context, "input": RunnablePassthrough()} | said

    callback = CitewellCallback()
    config = {"callbacks": [callback]}
    chain(CitewellRetriever(kb=kb), TRUE).invoke(QUESTION, config)
    chain(look, AIMessage(FALSE)).invoke(QUESTION, config)
    (chain(CitewellRetriever(kb=kb), TRUE) | RunnableLambda(lambda given: given["answer"])).batch(
        [QUESTION, "What is the airspeed of a swallow?"], config
    )
    asyncio.run(chain(CitewellRetriever(kb=kb), TRUE).ainvoke(QUESTION, config))
    for _ in chain(CitewellRetriever(kb=kb), TRUE).stream(QUESTION, config):
        pass
    chain(RunnableLambda(lambda _: [BRIDGE]), TRUE).invoke(QUESTION, config)  # no retriever ran
    with pytest.raises(ZeroDivisionError):
        chain(CitewellRetriever(kb=kb) | RunnableLambda(lambda _: 1 / 0), TRUE).invoke(QUESTION, config)
    statuses = [report.status.value for report in callback.reports.values()]
    assert statuses[:2] == ["VERIFIED", "CONTRADICTED"]
    assert sorted(statuses[2:4]) == ["BROKEN", "VERIFIED"]  # nothing was found for the second question
    assert statuses[4:] == ["VERIFIED", "VERIFIED"]
    assert not callback._runs
    with pytest.raises(UsageError, match="no 'result'"):
        chain(CitewellRetriever(kb=kb), TRUE).invoke(
            QUESTION, {"callbacks": [CitewellCallback(answer="result")]}
        )


def test_langchain_documents_are_ingested_as_they_are(kb: Any) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document

    class Loader(BaseLoader):
        def lazy_load(self) -> Any:
            yield Document(page_content="The lamp is lit at dusk.", metadata={"source": "lamp.md"})

    assert kb.ingest_documents(Loader().load()).files[0].document_id == "lamp.md"


def test_llamaindex_retrieves_and_evaluates(kb: Any) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import Document

    from citewell.integrations.llamaindex import CitewellEvaluator, CitewellRetriever

    (node,) = CitewellRetriever(kb).retrieve(QUESTION)
    assert quoted(kb, node.node.get_content(), node.node.metadata)
    evaluator = CitewellEvaluator()
    good, bad, none = (
        asyncio.run(evaluator.aevaluate(query=QUESTION, response=answer, contexts=contexts))
        for answer, contexts in ((TRUE, [BRIDGE]), (FALSE, [BRIDGE]), ("", [BRIDGE]))
    )
    assert (good.passing, bad.passing, none.passing) == (True, False, None)
    assert good.score > 0.5 > bad.score
    assert "1947" in bad.feedback
    assert none.invalid_result
    document = Document(text="The lamp is lit at dusk.", metadata={"file_path": "lamp.md"})
    assert kb.ingest_documents([document]).files[0].document_id == "lamp.md"


def test_a_llamaindex_query_engine_answers_with_the_quotes_as_sources(kb: Any) -> None:
    pytest.importorskip("llama_index.core")
    from citewell.integrations.llamaindex import CitewellQueryEngine

    engine = CitewellQueryEngine(kb=kb, options={"user": "alice"})
    for response in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        assert "1932" in str(response)
        node = response.source_nodes[0]
        assert quoted(kb, node.node.get_content(), node.node.metadata)
        assert node.score > 0.5
        assert response.metadata["decision"] == "ANSWER"
        assert kb.audit.record(response.metadata["request_id"]).user == "alice"
    nothing = engine.query("What is the airspeed of a swallow?")
    assert (nothing.metadata["decision"], nothing.source_nodes) == ("ABSTAIN", [])


def test_haystack_retrieves_and_verifies_in_a_pipeline(kb: Any) -> None:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline

    from citewell.integrations.haystack import CitewellRetriever, CitewellVerifier

    pipeline = Pipeline()
    pipeline.add_component("retriever", CitewellRetriever(kb))
    pipeline.add_component("verifier", CitewellVerifier())
    pipeline.connect("retriever.documents", "verifier.documents")
    output = pipeline.run(
        {"retriever": {"query": QUESTION}, "verifier": {"replies": [TRUE, FALSE], "query": QUESTION}},
        include_outputs_from={"retriever"},
    )
    (document,) = output["retriever"]["documents"]
    assert quoted(kb, document.content, document.meta)
    assert [report.status for report in output["verifier"]["reports"]] == ["VERIFIED", "CONTRADICTED"]
    assert output["verifier"]["feedback"][0] == ""
    assert (
        kb.ingest_documents([Document(content="The lamp is lit.", meta={"url": "lamp"})]).files[0].status
        == "added"
    )
