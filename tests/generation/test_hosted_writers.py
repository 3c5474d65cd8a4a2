"""Language models over their real SDKs, against a local server that speaks the protocols."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any

import pytest
from benchmarks.llm_server import Asked, Play, Reply, Said, Server, serving

from citewell.core.config import Writer
from citewell.core.errors import ConfigError, GeneratorError, ModelError
from citewell.core.ports import Completion, Form, GenerationRequest, Prompted
from citewell.core.records import Draft, Passage
from citewell.generation import LanguageModelWriter
from citewell.models.naming import language_model_named
from citewell.verification.claims.pieces import ABSTENTIONS

pytestmark = pytest.mark.enable_socket

BRIDGE = "The bridge opened in 1932. The toll was abolished in 1958."
HONEST = (
    Said(1, "The bridge opened in 1932", "The bridge opened in 1932."),
    Said(2, "every hour", "Trains cross it every hour."),
)
LINES = ("openai:scripted", "anthropic:scripted")
QUICK = Writer(timeout_s=5.0, retries=2)

Play_ = Callable[[Play], Server]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Play_]:
    with ExitStack() as stack:

        def start(script: Play) -> Server:
            server = stack.enter_context(serving(script))
            for name, value in server.environment().items():
                monkeypatch.setenv(name, value)
            return server

        yield start


@pytest.fixture
def passages(pages: Any) -> tuple[Passage, ...]:
    return (
        pages.text(BRIDGE, document_id="bridge.txt"),
        pages.text("Trains cross the bridge every hour.", document_id="trains.txt"),
    )


def write(line: str, passages: tuple[Passage, ...], settings: Writer = QUICK, **more: Any) -> Draft:
    request = GenerationRequest(question="When?", aspects=("When?",), passages=passages, **more)
    return LanguageModelWriter(language_model_named(line, settings), settings).generate(request)


@pytest.mark.parametrize(
    ("line", "form"),
    [*((line, form) for line in LINES for form in ("auto", "schema", "inline")), ("openai:m", "grammar")],
)
def test_every_form_of_every_provider_gives_the_same_claims(
    play: Play_, passages: tuple[Passage, ...], line: str, form: str
) -> None:
    server = play(lambda asked, before: Reply(HONEST, missing=("its length",), model="scripted-1"))
    draft = write(line, passages, Writer(form=form, price_prompt=1.0, price_completion=10.0))
    assert [claim.text for claim in draft.claims] == [said.claim for said in HONEST]
    assert [[quote.text for quote in claim.quotes] for claim in draft.claims] == [[s.quote] for s in HONEST]
    assert draft.missing == ("its length",)
    assert draft.usage.total > 0
    assert draft.cost == pytest.approx((draft.usage.prompt + 10 * draft.usage.completion) / 1e6)
    assert draft.maker.name == line
    assert draft.maker.prompt_hash.startswith("sha256:")
    assert "scripted-1" in " ".join(draft.notes)
    (asked,) = server.asked
    assert asked.sources == tuple(passage.chunk.content for passage in passages)
    assert not draft.deterministic


def test_native_pointers_are_offsets_into_the_document(play: Play_, pages: Any) -> None:
    play(lambda asked, before: Reply((Said(1, "The toll was abolished in 1958", "The toll ended in 1958."),)))
    passage = pages.text(BRIDGE, base=500)
    (claim,) = write("anthropic:m", (passage,)).claims
    start = 500 + BRIDGE.index("The toll")
    assert (claim.quotes[0].start, claim.quotes[0].end) == (start, start + 30)


@pytest.mark.parametrize("line", LINES)
def test_low_temperature_and_a_seed_for_further_drafts(play: Play_, passages: Any, line: str) -> None:
    server = play(lambda asked, before: Reply(HONEST))
    write(line, passages)
    write(line, passages, seed=3)
    assert [asked.body["temperature"] for asked in server.asked] == [0.1, 0.7]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_a_retry_can_help_is_tried_again_and_told(
    play: Play_, passages: Any, line: str, status: int
) -> None:
    busy = Reply(status=status, headers={"retry-after": "0.2"})
    server = play(lambda asked, before: busy if before < 2 else Reply(HONEST))
    began = time.perf_counter()
    draft = write(line, passages)
    assert time.perf_counter() - began >= 0.4
    assert len(server.asked) == 3
    assert sum(f"{status}" in note and "tried again after 0.2 s" in note for note in draft.notes) == 2


@pytest.mark.parametrize("line", LINES)
def test_tries_end_and_say_why(play: Play_, passages: Any, line: str) -> None:
    server = play(lambda asked, before: Reply(status=429, headers={"retry-after-ms": "1"}))
    with pytest.raises(GeneratorError, match=r"429.*3 times") as caught:
        write(line, passages)
    assert caught.value.retryable
    assert len(server.asked) == 3


@pytest.mark.parametrize("line", LINES)
def test_a_limit_that_lasts_is_not_asked_against(play: Play_, passages: Any, line: str) -> None:
    server = play(lambda asked, before: Reply(status=429, headers={"retry-after": "300"}))
    with pytest.raises(GeneratorError, match="300 s") as caught:
        write(line, passages)
    assert caught.value.retryable
    assert len(server.asked) == 1


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_no_retry_helps_is_not_tried_again(play: Play_, passages: Any, line: str, status: int) -> None:
    told = "no: key sk-secret-of-the-test and sk-ant-secret-of-the-test at https://me:pass@host/"
    server = play(lambda asked, before: Reply(status=status, error=told))
    with pytest.raises(GeneratorError) as caught:
        write(line, passages)
    assert len(server.asked) == 1
    assert "secret" not in str(caught.value)
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize("line", LINES)
def test_a_stall_ends_in_time(play: Play_, passages: Any, line: str) -> None:
    play(lambda asked, before: Reply(HONEST, stall_s=3.0 if before else 0.0))
    write(line, passages)  # load the SDK first, so that it is not timed
    began = time.perf_counter()
    with pytest.raises(GeneratorError, match=r"within 0\.3 s|timed out"):
        write(line, passages, Writer(timeout_s=0.3, retries=0))
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(("told", "tries"), [("overloaded_error", 2), ("invalid_request_error", 1)])
def test_an_error_told_in_mid_stream_is_weighed_like_any_other(
    play: Play_, passages: Any, told: str, tries: int
) -> None:
    server = play(
        lambda asked, before: Reply(HONEST, break_at=3, told=told) if before == 0 else Reply(HONEST)
    )
    with nullcontext() if tries == 2 else pytest.raises(GeneratorError):
        write("anthropic:m", passages)
    assert len(server.asked) == tries


@pytest.mark.parametrize("line", LINES)
def test_an_answer_that_breaks_off_is_asked_for_again(play: Play_, passages: Any, line: str) -> None:
    server = play(lambda asked, before: Reply(HONEST, piece=5, break_at=6 if before == 0 else -1))
    draft = write(line, passages)
    assert len(server.asked) == 2
    assert len(draft.claims) == 2
    assert any("tried again" in note for note in draft.notes)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("form", ["schema", "inline"])
def test_one_byte_at_a_time_changes_nothing(play: Play_, passages: Any, line: str, form: str) -> None:
    play(lambda asked, before: Reply(HONEST, piece=1, chop=1 if before else 0))
    first, second = (write(line, passages, Writer(form=form)) for _ in range(2))
    assert first.claims == second.claims
    assert len(first.claims) == 2


def test_a_refused_schema_falls_back_to_prose_and_is_told(play: Play_, passages: Any) -> None:
    server = play(
        lambda asked, before: (
            Reply(HONEST)
            if asked.form == "inline"
            else Reply(status=400, error="response_format json_schema is not supported by this model")
        )
    )
    settings = Writer(timeout_s=5)
    writer = LanguageModelWriter(language_model_named("openai:m", settings), settings)
    request = GenerationRequest(question="When?", aspects=(), passages=passages)
    draft = writer.generate(request)
    assert len(draft.claims) == 2
    assert any("schema was refused" in note for note in draft.notes)
    assert draft.maker.prompt_hash != writer.maker.prompt_hash
    writer.generate(request)
    assert [asked.form for asked in server.asked] == ["schema", "inline", "inline"]
    with pytest.raises(GeneratorError, match="schema"):
        write("openai:m", passages, Writer(form="schema"))


@pytest.mark.parametrize(
    "told",
    [
        "Unsupported parameter: '{}' with this model",
        "Unsupported value: '{}' does not support 0.1 with this model",
        "{}: Extra inputs are not permitted",
        "`{}` is deprecated for this model",
    ],
)
def test_a_parameter_the_model_does_not_take_is_left_out_and_told(
    play: Play_, passages: Any, told: str
) -> None:
    def script(asked: Asked, before: int) -> Reply:
        for name in ("temperature", "max_tokens"):
            if name in asked.body:
                return Reply(status=400, error=told.format(name))
        return Reply(HONEST)

    server = play(script)
    draft = write("openai:m", passages)
    assert "max_completion_tokens" in server.asked[-1].body
    assert sum("which the server does not take" in note for note in draft.notes) == 2


@pytest.mark.parametrize("line", LINES)
def test_a_parameter_that_is_left_out_is_told_of_every_time(play: Play_, passages: Any, line: str) -> None:
    server = play(
        lambda asked, before: (
            Reply(status=400, error="unsupported parameter: temperature")
            if "temperature" in asked.body
            else Reply(HONEST)
        )
    )
    writer = LanguageModelWriter(language_model_named(line, QUICK), QUICK)
    request = GenerationRequest(question="When?", aspects=(), passages=passages)
    for _ in range(3):
        assert any("without temperature, which the server" in note for note in writer.generate(request).notes)
    assert len(server.asked) == 4


def test_a_bound_that_is_too_large_is_no_unknown_parameter(play: Play_, passages: Any) -> None:
    told = (
        "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is "
        "1024 tokens. It supports no more."
    )
    server = play(lambda asked, before: Reply(HONEST) if before else Reply(status=400, error=told))
    writer = LanguageModelWriter(language_model_named("openai:m", QUICK), QUICK)
    request = GenerationRequest(question="When?", aspects=(), passages=passages)
    with pytest.raises(GeneratorError, match="too large"):
        writer.generate(request)
    draft = writer.generate(request)
    assert len(server.asked) == 2
    assert "max_tokens" in server.asked[1].body
    assert not any("without" in note for note in draft.notes)


@pytest.mark.parametrize("line", LINES)
def test_prose_instead_of_the_schema_is_read_as_prose(play: Play_, passages: Any, line: str) -> None:
    play(lambda asked, before: Reply(text="Sure! The bridge opened in 1932 [SOURCE_1]."))
    draft = write(line, passages, Writer(form="schema"))
    assert draft.text == "Sure! The bridge opened in 1932."
    assert [claim.text for claim in draft.claims] == ["The bridge opened in 1932."]
    assert "prose instead of the schema" in draft.notes


@pytest.mark.parametrize("line", LINES)
def test_a_completion_that_was_cut_counts_as_far_as_it_is_whole(
    play: Play_, passages: Any, line: str
) -> None:
    cut = '[SOURCE_1: "opened in 1932"] It opened in 1932.\n[SOURCE_1: "abolished"] The toll was abol'
    play(lambda asked, before: Reply(text=cut, finish="length"))
    draft = write(line, passages, Writer(form="inline"))
    assert draft.text == "It opened in 1932."
    assert any("cut off" in note for note in draft.notes)


@pytest.mark.parametrize("line", LINES)
def test_an_abstention_is_no_claim_and_misses_everything(play: Play_, passages: Any, line: str) -> None:
    play(lambda asked, before: Reply(text="I cannot answer this based on the provided sources."))
    draft = write(line, passages)
    assert (draft.text, draft.claims, draft.missing) == ("", (), ("When?",))


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("form", ["auto", "inline", "schema"])
def test_a_listener_hears_longer_drafts_and_never_a_marker(
    play: Play_, passages: Any, line: str, form: str
) -> None:
    play(lambda asked, before: Reply(HONEST, piece=3))
    heard: list[Draft] = []
    settings = Writer(form=form)
    writer = LanguageModelWriter(language_model_named(line, settings), settings)
    request = GenerationRequest(question="When?", aspects=("When?",), passages=passages)
    draft = writer.stream(request, heard.append)
    assert heard, "something is heard before the end"
    for partial in heard:
        assert "[" not in partial.text
        assert draft.text.startswith(partial.text)
        assert [c.text for c in partial.claims] == [c.text for c in draft.claims[: len(partial.claims)]]


OBJECT = (
    '{"claims": [{"evidence": [{"source": "SOURCE_1", "quote": "The bridge opened in 1932"}],'
    ' "kind": "cited", "reasoning": "", "part": 1, "claim": "The bridge opened in 1932."}], "missing": []}'
)


@pytest.mark.parametrize("line", ["openai:m"])
@pytest.mark.parametrize(
    "answer", [OBJECT, '[SOURCE_1: "The bridge opened in 1932"] The bridge opened in 1932.']
)
def test_what_a_model_thinks_aloud_is_no_answer(play: Play_, passages: Any, line: str, answer: str) -> None:
    thought = "<think>\nThe bridge opened in 1958? No: {1932}.\n</think>\n\n"
    play(lambda asked, before: Reply(text=thought + answer, piece=3))
    heard: list[Draft] = []
    writer = LanguageModelWriter(language_model_named(line, QUICK), QUICK)
    request = GenerationRequest(question="When?", aspects=("When?",), passages=passages)
    draft = writer.stream(request, heard.append)
    assert [claim.text for claim in draft.claims] == ["The bridge opened in 1932."]
    assert {partial.text for partial in heard} <= {"", "The bridge opened in 1932."}
    assert any("characters of thinking" in note for note in draft.notes)


@pytest.mark.parametrize(
    "answer", [OBJECT, '[SOURCE_1: "The bridge opened in 1932"] The bridge opened in 1932.']
)
def test_thinking_that_the_prompt_began_is_cut_at_its_end(play: Play_, passages: Any, answer: str) -> None:
    thought = "The bridge opened in 1958 [SOURCE_1]. It was painted red. No: {1932}.\n</think>\n\n"
    play(lambda asked, before: Reply(text=thought + answer))
    draft = write("openai:m", passages)
    assert [claim.text for claim in draft.claims] == ["The bridge opened in 1932."]
    assert any("characters of thinking" in note for note in draft.notes)


def test_thinking_that_never_ends_is_no_claim(play: Play_, passages: Any) -> None:
    play(lambda asked, before: Reply(text="<think>\nThe bridge opened in 1932 [SOURCE_1].", finish="length"))
    with pytest.raises(GeneratorError, match="without text") as caught:
        write("openai:m", passages)
    assert "max_tokens" in caught.value.hint


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("text", [f"Here is the JSON:\n```json\n{OBJECT}\n```", f"Sure: {OBJECT}"])
def test_an_object_behind_a_word_is_still_the_answer(
    play: Play_, passages: Any, line: str, text: str
) -> None:
    play(lambda asked, before: Reply(text=text))
    draft = write(line, passages, Writer(form="schema"))
    assert draft.text == "The bridge opened in 1932."
    assert [quote.text for quote in draft.claims[0].quotes] == ["The bridge opened in 1932"]
    assert any("words before the object" in note for note in draft.notes)


@pytest.mark.parametrize(("start", "end"), [("", ""), ("```json\n", "\n```")])
def test_words_behind_an_object_are_left_out_and_told(
    play: Play_, passages: Any, start: str, end: str
) -> None:
    play(lambda asked, before: Reply(text=f"{start}{OBJECT}{end}\nThe toll was abolished in 1958."))
    draft = write("openai:m", passages, Writer(form="schema"))
    assert draft.text == "The bridge opened in 1932."
    assert any("words after the object" in note and "1958" in note for note in draft.notes)
    assert not any("is incomplete" in note for note in draft.notes)


@pytest.mark.parametrize(
    "evidence",
    [
        '[{"source": 1, "quote": "opened in 1932"}]',
        '{"source": "SOURCE_1", "quote": "opened in 1932"}',
        "null",
    ],
)
def test_a_claim_in_a_slightly_other_shape_is_a_claim(play: Play_, passages: Any, evidence: str) -> None:
    play(
        lambda asked, before: Reply(
            text=f'{{"claims": [{{"evidence": {evidence}, "claim": "The bridge opened in 1932."}}]}}'
        )
    )
    draft = write("openai:m", passages, Writer(form="schema"))
    assert [claim.text for claim in draft.claims] == ["The bridge opened in 1932."]
    assert [quote.text for quote in draft.claims[0].quotes] == ["opened in 1932"] * (evidence != "null")


def test_a_claim_that_cannot_be_read_is_no_abstention(play: Play_, passages: Any) -> None:
    play(lambda asked, before: Reply(text='{"claims": [{"evidence": [7], "claim": "The bridge opened."}]}'))
    notes = write("openai:m", passages, Writer(form="schema")).notes
    assert not any("abstained" in note for note in notes)
    assert any("does not fit" in note for note in notes)


@pytest.mark.parametrize("line", LINES)
def test_whoever_listens_slowly_uses_up_none_of_the_models_time(
    play: Play_, passages: Any, line: str
) -> None:
    server = play(lambda asked, before: Reply(HONEST, piece=40))
    model = language_model_named(line, Writer(timeout_s=1.0, retries=0))
    model.complete(Prompted(system="", user="Question: x"), lambda said: time.sleep(0.3))
    assert len(server.asked) == 1


def test_nothing_is_heard_of_a_try_that_is_over(play: Play_, passages: Any) -> None:
    play(lambda asked, before: Reply(HONEST, piece=1, stall_s=2.5 if before == 0 else 0))
    heard: list[int] = []
    model = language_model_named("openai:m", Writer(timeout_s=1.5, retries=1))

    def emit(said: Completion) -> None:
        heard.append(len(said.text))

    model.complete(Prompted(system="", user="Question: x"), emit)
    begins = [place for place, length in enumerate(heard) if place and length <= heard[place - 1]]
    assert len(begins) == 1, "the second try begins anew, and the first one is silent from then on"


@pytest.mark.parametrize("line", LINES)
def test_what_a_listener_raises_is_no_failure_of_the_call(play: Play_, passages: Any, line: str) -> None:
    server = play(lambda asked, before: Reply(HONEST, piece=3))

    def emit(said: Completion) -> None:
        raise ValueError("the screen is gone")

    with pytest.raises(ValueError, match="the screen is gone"):
        language_model_named(line, QUICK).complete(Prompted(system="", user="Question: x"), emit)
    assert len(server.asked) == 1


def test_a_missing_key_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for line in LINES:
        with pytest.raises(ModelError, match="_API_KEY"):
            language_model_named(line, Writer())


@pytest.mark.parametrize(
    "settings", [Writer(form="native"), Writer(form="x"), Writer(max_sources=11), Writer(dialect="x")]
)
def test_settings_that_cannot_be_met_are_refused(play: Play_, settings: Writer) -> None:
    play(lambda asked, before: Reply())
    with pytest.raises(ConfigError):
        LanguageModelWriter(language_model_named("openai:m", settings), settings)


def test_a_grammar_goes_where_the_server_takes_it(play: Play_, passages: Any) -> None:
    server = play(lambda asked, before: Reply(HONEST))
    write("openai:m", passages, Writer(form="grammar"))
    write("openai:m", passages, Writer(form="grammar", dialect="gbnf"))
    lark, gbnf = (asked.body for asked in server.asked)
    assert "substring_chunks" in lark["structured_outputs"]["grammar"]
    assert gbnf["grammar"].startswith("root ::=")
    assert all(ABSTENTIONS[0] in str(body) for body in (lark, gbnf))
    assert Form.GRAMMAR in language_model_named("openai:m", Writer()).forms
