"""A writer on a language model that must give evidence before claims.

In: a question, its aspects and passages. Out: a :class:`Draft` whose claims carry the quotes that the model
gave. Asks in the strongest form that the model's server supports; if the server refuses a form, that is noted
and the next one used; prose instead of the form is read as the inline form. Whether a quote exists and
supports its claim is for the checker. Independent of SDKs.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from citewell.core.config import Writer
from citewell.core.errors import ConfigError, FormRefusedError, GeneratorError
from citewell.core.metering import wrote
from citewell.core.ports import Completion, Form, GenerationRequest, LanguageModel
from citewell.core.prompts.loading import hash_prompts
from citewell.core.records import Draft, Maker
from citewell.core.sentences import sentence_spans
from citewell.generation.inline import read_inline
from citewell.generation.marked import MarkedDraft, read_native
from citewell.generation.prompting import GRAMMARS, prompt_files, prompt_for
from citewell.generation.sources import MOST_SOURCES, LabelledSources
from citewell.generation.structured import read_structured
from citewell.questions.naming import usable
from citewell.verification.claims.structured import is_structured

AUTO = "auto"
_BOUNDARY = '.!?}]\n"'
"""A further claim can only be complete after one of these."""


class LanguageModelWriter:
    """``settings.form`` selects one of the model's forms; "auto" tries them from the strongest.

    Raises ConfigError for an unsupported form or grammar dialect, or a bad ``max_sources``.
    """

    def __init__(self, model: LanguageModel, settings: Writer | None = None) -> None:
        self._model, self._settings = model, settings or Writer()
        self._forms = _forms(model, self._settings)
        if not 1 <= self._settings.max_sources <= MOST_SOURCES:
            raise ConfigError(
                f"writer.max_sources = {self._settings.max_sources}", hint=f"choose 1 to {MOST_SOURCES}"
            )
        if self._settings.dialect not in GRAMMARS:
            raise ConfigError(
                f"writer.dialect = {self._settings.dialect!r}", hint=f"use one of: {', '.join(GRAMMARS)}"
            )
        self._refused: list[Form] = []
        self.maker = self._maker(self._forms[0])

    def generate(self, request: GenerationRequest) -> Draft:
        """Raises GeneratorError if there is no passage or the model gives no answer at all."""
        return self.stream(request, None)

    def stream(self, request: GenerationRequest, emit: Callable[[Draft], None] | None) -> Draft:
        """``emit`` gets each longer draft, made of complete claims only: never a half-written marker."""
        sources = LabelledSources(usable(request.passages), self._settings.max_sources)
        if not sources.passages:
            raise GeneratorError("there is no passage to write from")
        notes: list[str] = []
        for form in self._forms:
            if form in self._refused:
                notes.append(f"the server took no {form.value} before")
                continue
            prompted = prompt_for(request, sources, form, self._settings)
            listener = self._listener(form, request, sources, emit) if emit else None
            try:
                said = self._model.complete(prompted, listener)
            except FormRefusedError as error:
                self._refused.append(form)
                notes.append(f"{form.value} was refused ({error}); a simpler form is requested")
                continue
            wrote(said.served)
            return self._draft(said, form, request, sources, notes)
        raise GeneratorError(
            f"{self.maker.name} accepted none of {', '.join(self._forms)}", hint="set writer.form = 'inline'"
        )

    def _draft(
        self,
        said: Completion,
        form: Form,
        request: GenerationRequest,
        sources: LabelledSources,
        notes: list[str],
    ) -> Draft:
        written, told = self.read(said, form, request, sources)
        notes = [f"{form.value} form", *notes, *sources.notes, *said.notes, *told, *written.notes]
        if said.refused:
            notes.append("the provider declined to answer")
        if not said.whole:
            notes.append("the completion was cut off: only its complete parts count")
        missing = written.missing
        if not written.claims:
            missing = tuple(dict.fromkeys((*request.aspects, *missing)))
            notes.append("the writer abstained" if written.abstains else "the text contains no claim")
        return Draft(
            text=written.text,
            raw=said.text,
            claims=written.claims,
            maker=self._maker(form),
            missing=missing,
            notes=tuple(notes),
            usage=said.usage,
            cost=said.cost,
            sources=sources.passages,
        )

    def read(
        self,
        said: Completion,
        form: Form,
        request: GenerationRequest,
        sources: LabelledSources,
        *,
        whole: bool = True,
    ) -> tuple[MarkedDraft, list[str]]:
        """Parses the completion by its form; prose is the inline form, whatever was asked for."""
        if form is Form.NATIVE:
            return read_native(said.segments, sources), []
        written = read_structured(said.text, sources, request.aspects, whole=whole and said.whole)
        if written is not None:
            return written, [] if form is Form.SCHEMA else ["structured although prose was requested"]
        told = ["prose instead of the schema"] if form is Form.SCHEMA else []
        if whole and is_structured(said.text):
            told.append("an object of another shape")
        text = said.text if said.whole and whole else _whole_sentences(said.text)
        return read_inline(text, sources), told

    def _listener(
        self,
        form: Form,
        request: GenerationRequest,
        sources: LabelledSources,
        emit: Callable[[Draft], None],
    ) -> Callable[[Completion], None]:
        """Partial completions -> growing drafts, one for each further claim."""
        length = claims = 0

        def heard(said: Completion) -> None:
            nonlocal length, claims
            wrote(said.served)
            if len(said.text) < length:  # asked again
                length = claims = 0
            fresh, length = said.text[length:], len(said.text)
            if not any(mark in fresh for mark in _BOUNDARY):
                return
            if form is Form.NATIVE:  # a segment is complete once another one has started after it
                said = msgspec.structs.replace(said, segments=said.segments[:-1])
            written, _ = self.read(said, form, request, sources, whole=False)
            if len(written.claims) != claims:
                claims = len(written.claims)
                emit(Draft(text=written.text, raw=said.text, claims=written.claims, maker=self.maker))

        return heard

    def _maker(self, form: Form) -> Maker:
        files = prompt_files(form, self._settings)
        return msgspec.structs.replace(self._model.maker, prompt_hash=hash_prompts(files))


def _whole_sentences(text: str) -> str:
    """Prose up to the last sentence that has surely ended: another has started after it, and no open marker
    can still belong to it."""
    opened = max(text.rfind(mark) for mark in "[\u3010\uff3b")
    closed = max(text.rfind(mark) for mark in "]\u3011\uff3d")
    if opened > closed:
        text = text[:opened]
    spans = sentence_spans(text)
    return text[: spans[-2][1]] if len(spans) > 1 else ""


def _forms(model: LanguageModel, settings: Writer) -> tuple[Form, ...]:
    if settings.form == AUTO:
        return model.forms
    known = [form.value for form in model.forms]
    if settings.form not in known:
        raise ConfigError(
            f"writer.form = {settings.form!r} for {model.maker.name}",
            hint=f"this model supports {', '.join(known)}",
        )
    # A form chosen by name has no fallback.
    return (Form(settings.form),)
