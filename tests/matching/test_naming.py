"""A sentence that names another thing in place of the one asked about is not about it."""

from __future__ import annotations

import pytest

from citewell.questions.naming import of_another
from citewell.questions.parsing import read_question


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("Who is the captain of the Triton?", "The captain of the Alcyon is Mara Dietz.", "Alcyon"),
        ("When was the Birch plant closed?", "The Alder plant was closed in 2025.", "Alder"),
        ("When was the Birch Plant closed?", "The Alder plant was closed in 2025.", "Alder"),
        ("What is Triton's capacity?", "Alcyon\u2019s capacity is 200.", "Alcyon"),
        ("When does the ferry Triton leave?", "The ferry Alcyon leaves at 07:15.", "Alcyon"),
        ("How many staff work in Lyon?", "14 people are on the staff; 9 work in Turin.", "Turin"),
    ],
)
def test_another_name_in_the_same_place_is_another_thing(question: str, text: str, other: str) -> None:
    assert of_another(read_question(question), text) == other


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the captain of the Triton?", "The captain of the Triton is Jon Faber."),
        ("Who is the captain of the Triton?", "Its captain is Jon Faber."),
        ("What is the population of S\u00e3o Paulo?", "The population of Sao Paulo is 12 million."),
        ("What is the length of the Nile?", "The length of Africa's longest river is 6,650 km."),
        ("Who is the captain of the Triton?", "The captain of the ship is Jon Faber."),
        ("Who is the chief executive of Acme?", "The chief executive of the Company is Jon Faber."),
        ("Who is the captain of the Triton?", "The captain is Jon Faber, once of the Alcyon."),
        ("When was the Birch plant closed?", "The plant was closed in May 2025."),
        ("When was the Birch plant closed?", "The Old Birch plant was closed in 2025."),
        ("What did Acme report?", "Jon Faber reported that sales rose."),
        ("How many visitors came to Lyon?", "It was a good year: 300 visitors came to it in June."),
        ("Who is the president of the US?", "The president of the United States is Jon Faber."),
        ("Did Acme pay more for Birch than for Alder?", "It paid 5 million for Alder."),
        ("Which car is faster, the Alder car or the Birch car?", "The Alder car reaches 90 km/h."),
    ],
)
def test_what_names_nothing_else_in_its_place_may_be_about_it(question: str, text: str) -> None:
    assert of_another(read_question(question), text) == ""
