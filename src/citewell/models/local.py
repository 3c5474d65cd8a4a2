"""A local writer on transformers, its quotes constrained to their sources by llguidance:
``citewell[local]``.

In: a folder or a hub id of a causal language model. Out: a LanguageModel whose strongest form is a grammar:
within a quote only tokens that continue the labelled passage can be chosen, whatever the model prefers. No
request leaves the machine. Independent of prompts and of how a completion is parsed.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from citewell.core.config import Writer
from citewell.core.errors import GeneratorError, MissingExtraError, ModelError
from citewell.core.ports import Completion, Form, Prompted
from citewell.core.records import Maker, TokenUsage
from citewell.models.saved import break_special_tokens, digest, folder_of, libraries, model_of, tokenizer_of
from citewell.models.thinking import strip_thinking

_HEARD_EVERY = 8
"""Tokens between partial completions: decoding everything for each token would cost more than the model."""


class LocalModel:
    """``sha256`` pins the loaded files; ``settings`` limits the time of one completion. Raises
    MissingExtraError, ModelError, ModelChangedError."""

    forms: tuple[Form, ...] = (Form.GRAMMAR, Form.INLINE)

    def __init__(self, name: str, settings: Writer | None = None, *, sha256: str = "") -> None:
        self._timeout_s = (settings or Writer()).timeout_s
        _, self._torch = libraries()
        self._guidance = _guidance()
        folder = folder_of(name)
        fingerprint = digest(sha256, folder)
        self._tokenizer = tokenizer_of(folder)
        if not getattr(self._tokenizer, "is_fast", False):
            raise ModelError(f"{name} has no fast tokenizer", hint="choose a model with tokenizer.json")
        self._model = model_of("AutoModelForCausalLM", folder)
        self._vocabulary = int(self._model.config.vocab_size)
        hf = importlib.import_module("llguidance.hf")
        self._words = hf.from_tokenizer(self._tokenizer, n_vocab=self._vocabulary)
        self.maker = Maker(name=f"local:{name}", hash=fingerprint)

    def complete(self, prompted: Prompted, emit: Callable[[Completion], None] | None = None) -> Completion:
        """Samples with the requested temperature and seed: the same request yields the same tokens on one
        machine. Raises GeneratorError if prompt and completion do not fit the model."""
        ids = self._prompt(prompted)
        room = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        if room and len(ids) + prompted.max_tokens > room:
            raise GeneratorError(
                f"{len(ids)} prompt tokens and {prompted.max_tokens} to write do not fit {room}",
                hint="lower writer.max_sources or writer.max_tokens",
            )
        said: list[int] = []
        notes: tuple[str, ...] = ()
        ended = False
        began = 0.0
        listened = 0.0
        for token in self._tokens(ids, prompted):
            if token is None:
                ended = True
                break
            said.append(token)
            # Reading the prompt cannot be interrupted and does not count.
            began = began or time.monotonic()
            if time.monotonic() - began - listened > self._timeout_s:
                # The complete parts are kept: starting over would not be faster.
                notes = (f"stopped after {self._timeout_s:g} s (writer.timeout_s)",)
                break
            if emit is not None and len(said) % _HEARD_EVERY == 0:
                since = time.monotonic()
                emit(Completion(text=strip_thinking(self._text(said))[0], whole=False))
                listened += time.monotonic() - since
        usage = TokenUsage(prompt=len(ids), completion=len(said), total=len(ids) + len(said))
        text, told = strip_thinking(self._text(said))
        return Completion(text=text, usage=usage, cost=0.0, whole=ended, notes=(*told, *notes))

    def _tokens(self, ids: list[int], prompted: Prompted) -> Iterator[int | None]:
        """Token by token, None at the end; at most ``max_tokens``."""
        torch = self._torch
        random = torch.Generator().manual_seed(prompted.seed)
        matcher = self._matcher(prompted)
        fed, past = torch.tensor([ids]), None
        for _ in range(prompted.max_tokens):
            with torch.no_grad():
                out = self._model(input_ids=fed, cache=past, use_cache=True)
            logits, past = out.logits[0, -1, : self._vocabulary].float(), out.cache
            if matcher is not None:
                self._mask(matcher, logits)
            if prompted.temperature > 0:
                weights = torch.softmax(logits / prompted.temperature, dim=-1)
                token = int(torch.multinomial(weights, 1, generator=random))
            else:
                token = int(logits.argmax())
            if matcher is not None:
                matcher.consume_token(token)
            if token == self._tokenizer.eos_token_id:
                yield None
                return
            yield token
            if matcher is not None and matcher.is_stopped():
                yield None
                return
            fed = torch.tensor([[token]])

    def _matcher(self, prompted: Prompted) -> Any:
        made = self._guidance.LLMatcher
        if prompted.grammar:
            grammar = prompted.grammar
            if prompted.dialect == "gbnf":
                grammar = importlib.import_module("llguidance.gbnf_to_lark").gbnf_to_lark(grammar)
            matcher = made(self._words, made.grammar_from_lark(grammar))
        elif prompted.schema is not None:
            matcher = made(self._words, made.grammar_from_json_schema(json.dumps(prompted.schema)))
        else:
            return None
        if matcher.is_error():
            raise GeneratorError(f"the grammar was rejected: {matcher.get_error()[:200]}")
        return matcher

    def _mask(self, matcher: Any, logits: Any) -> None:
        """Excludes every token that the grammar does not allow here."""
        # The numpy variant: the torch one compiles a kernel on first use, which takes longer than an answer.
        masks = importlib.import_module("llguidance.numpy")
        mask = masks.allocate_token_bitmask(1, self._vocabulary)
        masks.fill_next_token_bitmask(matcher, mask, 0)
        masks.apply_token_bitmask_inplace(logits.numpy()[None, :], mask)
        if matcher.is_error():
            raise GeneratorError(f"the grammar was not completed: {matcher.get_error()[:200]}")

    def _prompt(self, prompted: Prompted) -> list[int]:
        """The prompt's token ids, by the model's chat template if it has one."""
        system, user = (
            break_special_tokens(self._tokenizer, text) for text in (prompted.system, prompted.user)
        )
        if getattr(self._tokenizer, "chat_template", None):
            turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            ids = self._tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=True, return_dict=False
            )
            return [int(token) for token in ids]
        return [int(token) for token in self._tokenizer(f"{system}\n\n{user}\n")["input_ids"]]

    def _text(self, tokens: list[int]) -> str:
        return str(
            self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )


def _guidance() -> Any:
    try:
        return importlib.import_module("llguidance")
    except ImportError as error:
        raise MissingExtraError(
            "restricting quotes to the sources needs llguidance, which is not installed",
            hint="pip install torch==2.13.0 'citewell[local]' (torch first: that is the CPU build)",
        ) from error
