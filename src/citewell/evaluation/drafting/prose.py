"""Sentences turned into questions: "A hold names a person" asks what a hold names.

In: a document. Out: drafts. The rules take a sentence apart at its first verb and turn round only what they
can turn with certainty; a sentence that leans on the one before it, or whose subject could be anything, is
left alone. Closed word tables, no tagger. Knows nothing about tables.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from citewell.core.records import Document
from citewell.core.sentences import sentence_spans
from citewell.evaluation.drafting.drafts import MONTH, Draft, inside
from citewell.verification.verbs import base_of, is_doubtful

_NUMBER = r"\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_DATE = rf"(?:\d{{1,2}} )?(?:(?:{MONTH}) )?(?:\d{{1,2}}, )?(?:19|20)\d\d"
_BE = {"is", "are", "was", "were"}
_MODAL = {"can", "may", "must", "will", "should", "could", "might"}
_HAVE = {"has", "have"}
_DETERMINERS = re.compile(
    rf"an?|the|its|their|every|each|all|any|only|no|one|several|many|what|which|how|{_NUMBER}"
)
# Where these begin a sentence or stand in its subject, the first verb is not its own.
_NO_SUBJECT = re.compile(
    r"it|this|that|these|those|they|he|she|we|you|i|there|here|what|who|which|whose|when|where|why|how|if|as|in|on|at|"
    r"by|for|from|with|without|to|after|before|since|until|while|because|although|though|so|then|thus|but|and|or|nor|"
    r"not|also|however|only|such|another|others?|both|each|either|neither|one|some|most|many|few|more|less|nothing|"
    r"everything|something|anything|all|any|no|its|their|his|her|our|your|my|first|second|last|next|today|now|never|"
    r"always|often|usually|sometimes|let|see|note|every|zero|two|three|four|five|six|whoever|whatever|even|just|still|"
    r"against|during|under|over|between|among|through|despite|unlike|according|like|about|within|upon|except|beside|"
    r"besides|instead|together|whether|once|again|perhaps|maybe|[a-z]+ly"
)
_LEANING = re.compile(
    r"\b(?:this|these|those|he|she|they|them|his|her|here|above|below|former|latter|such|we|our|others?|do|does)\b"
)
_NO_VERB = re.compile(
    r"is|was|has|does|as|its|this|thus|us|his|whose|always|perhaps|besides|unless|[a-z]+ness"
)
_AFTER_ALL = re.compile(r"\b(?:but|which|who|because|if|when|where|is|are|has|have)\b|, and|^(?:no|only)\b")
_PLACED = r"(?:kept|held|built|stored|written|located|placed|found|listed|described|recorded)$"
_FILLED = re.compile(
    r"\b(?:also|even|therefore|thus|too|likewise|instead)\b|^not\b|\. |\b(?:long|just|only|soon|shortly)$"
)
_EMPTY = re.compile(
    r"(?:the whole of|the same|a lot|an example|one of|a matter|the only|the case|a thing|the one)\b"
)


class Clause(NamedTuple):
    """A sentence taken apart at its verb; ``subject`` as it reads inside a sentence."""

    subject: str
    verb: str
    rest: str

    def ask(self, word: str, rest: str) -> str | None:
        """The question that begins with ``word``; None when the verb cannot be turned round."""
        if _FILLED.search(rest):
            return None
        tail = f" {rest}" if rest else ""
        if self.verb in _BE | _MODAL or (self.verb in _HAVE and re.match(r"\w+ed\b", rest)):
            return f"{word} {self.verb} {self.subject}{tail}?"
        base = self.base
        if base is None:
            return None
        does = "did" if self.verb.endswith("ed") else "do" if self.verb == "have" else "does"
        return f"{word} {does} {self.subject} {base}{tail}?"

    @property
    def base(self) -> str | None:
        """Of a third person the table of verbs need not know: it stood before a determiner."""
        verb = self.verb
        known = "have" if verb in _HAVE else base_of(verb)
        if known or not verb.endswith("s") or verb.endswith("ss"):
            return known
        if verb.endswith("ies"):
            return verb[:-3] + "y"
        return verb[:-2] if re.search(r"(?:s|x|z|ch|sh)es$", verb) else verb[:-1]


Turned = tuple[str, str] | None


def from_prose(document: Document) -> Iterator[Draft]:
    tables = sorted((table.start, table.end) for table in document.tables)
    for start, end in sentence_spans(document.text):
        at = bisect_right(tables, (start, len(document.text))) - 1
        if at >= 0 and start < tables[at][1]:
            continue
        sentence = document.text[start:end]
        opened, sentence = _opening_date(sentence)
        clause = _clause(sentence, document.text)
        if clause is None or not _stands_alone(clause, document, start) or (opened and clause.verb in _HAVE):
            continue
        for name, recipe in _RECIPES.items():
            turned = recipe(clause) if not opened else (clause.ask("When", clause.rest) or "", opened)
            if turned and turned[0] and len(turned[0].split()) <= 20:
                yield Draft(
                    question=turned[0],
                    expected=turned[1],
                    start=start,
                    end=end,
                    recipe="when" if opened else name,
                    subject=clause.subject,
                    plural=clause.verb in {"are", "were", "have"},
                    template=turned[0].replace(clause.subject, "{}", 1),
                    aside=_asides(clause, name),
                )
                break


def _opening_date(sentence: str) -> tuple[str, str]:
    """ "In 1998, the bridge was opened." is the same sentence with its date in front."""
    match = re.match(rf"(?:In|On|Since) ({_DATE}), (.)(.*)", sentence)
    return (match[1], match[2].upper() + match[3]) if match else ("", sentence)


def _clause(sentence: str, text: str) -> Clause | None:
    """None unless it is one plain statement of 4 to 28 words."""
    if not sentence.endswith(".") or not sentence[0].isupper() or re.search(r'["“”„?!|=\[\]{}\t]', sentence):
        return None
    # What stands behind a colon or semicolon is another statement, or an explanation of this one.
    words = re.split(r"[;:](?= )", sentence[:-1])[0].split(" ")
    if not 4 <= len(words) <= 28 or sum(w.count("(") - w.count(")") for w in words) != 0:
        return None
    for index in range(1, min(8, len(words) - 1)):
        word, following = words[index], words[index + 1].lower()
        known = base_of(word)
        verb = word.isalpha() and (word.endswith("s") or known) and not _NO_VERB.fullmatch(word)
        counted = re.fullmatch(_NUMBER, following)
        certain = (
            (_DETERMINERS.fullmatch(following) and not counted)
            or (counted and known)
            or (known and not is_doubtful(word))
        )
        if index == 1 and words[0] in {"A", "An", "The"}:
            verb = None
        if word in _BE | _MODAL | _HAVE or (verb and certain and following not in _BE | _MODAL | _HAVE):
            subject = words[:index]
            if any(_NO_SUBJECT.fullmatch(part.lower()) or part.endswith(",") for part in subject):
                return None
            plural = word in {"are", "were", "have"}
            said = inside(" ".join(subject), text, plural=plural)
            return Clause(said, word, " ".join(words[index + 1 :]))
        if not re.fullmatch(r"[\w.'’/-]+", word):
            return None
    return None


def _stands_alone(clause: Clause, document: Document, start: int) -> bool:
    """Nothing in it points elsewhere: no pronoun, and "the file" only under a heading that names the file."""
    first, *others = clause.subject.split()
    if _LEANING.search(clause.rest) or (not others and len(first) < 4):
        return False
    if first != "the" or len(others) >= 3 or any(word[0].isupper() for word in others):
        return True
    parts = [part for s in document.sections if s.start <= start < s.end for part in s.path]
    named = " ".join([document.title.value if document.title else "", *parts]).lower()
    return all(word.lower().rstrip("s") in named for word in others)


def _asides(clause: Clause, recipe: str) -> tuple[str, ...]:
    """What a reader might also ask of this fact."""
    if recipe == "definition":
        was = "were" if clause.verb == "are" else "was"
        return f"Who introduced {clause.subject}?", f"In which year {was} {clause.subject} introduced?"
    past = clause.verb in {"was", "were"} or clause.verb.endswith("ed")
    plain = len(clause.rest.split()) <= 12 and "," not in clause.rest and _lone(clause.rest)
    asked = (clause.ask("Why", clause.rest), clause.ask("On which date", clause.rest) if past else None)
    return tuple(question for question in asked if question and plain and recipe not in {"reason", "when"})


# --- recipes: clause -> question and answer ---------------------------------------------------------


def _definition(clause: Clause) -> Turned:
    """ "A receipt is one file that ..." asks what a receipt is."""
    defines = clause.verb in {"is", "are"} and re.match(r"(?:an?|one|the) \w+ \w+", clause.rest)
    if (
        not defines
        or _EMPTY.match(clause.rest)
        or _FILLED.search(clause.rest)
        or len(clause.subject.split()) > 4
    ):
        return None
    return f"What {clause.verb} {clause.subject}?", clause.rest


def _when(clause: Clause) -> Turned:
    """ "The bridge was opened in 2014 by the queen" asks when it was opened by the queen."""
    match = re.fullmatch(
        rf"(?P<deed>[^,]*?)\s?\b(?:in|on|since) (?P<date>{_DATE})(?P<more>(?: [^,]*)?)", clause.rest
    )
    if match is None or len(match["more"].split()) > 8 or clause.verb in _HAVE:
        return None
    if re.search(_DATE, match["deed"] + match["more"]):
        return None
    question = clause.ask("When", (match["deed"] + match["more"]).strip())
    return (question, match["date"]) if question else None


def _amount(clause: Clause) -> Turned:
    """ "The log has 800 lines" asks how many lines it has."""
    match = re.match(
        rf"(?:about |at most |at least |exactly |over )?(?P<n>{_NUMBER}) (?P<what>[a-z]+s)\b(?P<more>[^,]*)$",
        clause.rest,
    )
    if match is None or clause.verb in _BE | _MODAL:
        return None
    question = clause.ask(f"How many {match['what']}", match["more"].strip())
    return (question, match["n"]) if question else None


def _reason(clause: Clause) -> Turned:
    """ "Reads are recorded because ..." asks why they are."""
    match = re.fullmatch(r"(?P<deed>[^,]+),? (?P<why>(?:because|so that) [^,]+)", clause.rest)
    question = clause.ask("Why", match["deed"]) if match and _lone(match["deed"]) else None
    return (question, match["why"]) if match and question else None


def _condition(clause: Clause) -> Turned:
    """ "A reason is refused when it names the person" asks when it is refused."""
    match = re.fullmatch(
        r"(?P<deed>[^,]+?) (?P<if>(?:only )?(?:when|if|after|before|until|unless) [^,]+)", clause.rest
    )
    if match is None or not _lone(match["deed"]) or len(match["if"].split()) < 4:
        return None
    question = clause.ask("When", match["deed"])
    return (question, match["if"]) if question else None


def _means(clause: Clause) -> Turned:
    """ "Texts are encrypted with AES" asks what they are encrypted with."""
    match = re.fullmatch(
        r"(?P<deed>(?:be )?(?:\w+ly )?(?:\w+ed|made|kept|held|built|known|sent|given|written)) "
        r"(?P<how>with|by|from|under|into|through|as|to|in|on|at) (?P<what>[^,]+)",
        clause.rest,
    )
    if match is None or clause.verb not in _BE | _MODAL or len(match["what"].split()) > 10:
        return None
    if re.match(r"(?:much|well|soon|long|follows|or|and)\b", match["what"]):
        return None
    how, what = match["how"], match["what"]
    if match["deed"].endswith("used") and how == "to":
        return clause.ask("What", f"{match['deed']} for") or "", f"to {what}"
    if how in {"in", "on", "at"}:
        if not re.search(_PLACED, match["deed"]):
            return None
        return clause.ask("Where", match["deed"]) or "", f"{how} {what}"
    return clause.ask("What", f"{match['deed']} {how}") or "", what


def _deed(clause: Clause) -> Turned:
    """ "Erasure destroys the key" asks what erasure destroys."""
    words = clause.rest.split()
    object_first = bool(words) and _DETERMINERS.fullmatch(words[0].lower())
    if clause.verb in _BE | _MODAL | _HAVE or not object_first or not 2 <= len(words) <= 14:
        return None
    question = clause.ask("What", "")
    whole = _lone(clause.rest) and not re.match(r"the (?:two|other)$|.*\. ", clause.rest)
    return (question, clause.rest) if question and whole else None


def _lone(words: str) -> bool:
    """No second clause hangs on it."""
    joined = any(
        word in _BE | _MODAL | _HAVE or word.endswith("ed") or base_of(word)
        for word in re.findall(r"\b(?:and|or) (\w+)", words)
    )
    return not joined and not _AFTER_ALL.search(words)


_RECIPES: dict[str, Callable[[Clause], Turned]] = {
    "definition": _definition,
    "when": _when,
    "amount": _amount,
    "reason": _reason,
    "condition": _condition,
    "means": _means,
    "deed": _deed,
}
