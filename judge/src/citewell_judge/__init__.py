"""The weights of Citewell's judge, with their card: see CARD.md. Holds no code."""
