"""Is a text English, as far as the models must know? A cheap, exact rule; unsure means yes.

In: text. Out: a reason why it is not, or "". Function words decide for Latin script, the script for the rest.
Short texts and tables are taken as English: there is nothing to tell them by.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    [
        "the",
        "of",
        "and",
        "is",
        "was",
        "are",
        "were",
        "to",
        "in",
        "for",
        "that",
        "with",
        "as",
        "by",
        "on",
        "from",
        "at",
        "it",
        "this",
        "which",
        "be",
        "has",
        "have",
        "had",
        "not",
        "or",
        "an",
        "a",
    ]
)
_OTHERS = {
    "German": "der die das und ist nicht mit von den dem des ein eine einer wurde werden auf für im zu sich",
    "French": "le la les des du une est et dans que pour qui sur avec pas au aux par sont été ce cette il",
    "Spanish": "el los las una es y en que para por con del se como más fue su al lo",
    "Italian": "il lo gli una è e di che per con del della sono non nel alla si da",
    "Portuguese": "o os as uma é e em que para por com do da não se foi dos na mais",
    "Dutch": "het een van en is niet met voor op zijn aan de dat die wordt bij ook",
    "Swedish": "och att det som är en ett på för av med inte den till",
    "Polish": "się jest nie na przez dla oraz był że są była jako których które po",
    "Turkish": "ve bir bu için ile olarak da de çok en olan",
}
_OTHER_WORDS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}


def not_english(text: str) -> str:
    """Why ``text`` is not English; "" when it is or cannot be told."""
    letters = [letter for letter in text[:4000] if letter.isalpha()]
    if len(letters) < 8:
        return ""
    latin = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    if latin < 0.6 * len(letters):
        return "it is not in Latin script"
    words = [word.lower() for word in _WORD.findall(text[:4000])]
    if len(words) < 8:
        return ""
    english = sum(word in _ENGLISH for word in words) / len(words)
    name, hits = max(
        ((name, [word for word in words if word in known]) for name, known in _OTHER_WORDS.items()),
        key=lambda pair: len(pair[1]),
    )
    # Many function words of another language are English words too: three different ones tell.
    sure = len(set(hits) - _ENGLISH) >= 3 and len(hits) / len(words) >= 0.2
    return f"it appears to be {name}" if sure and len(hits) > 2 * english * len(words) else ""
