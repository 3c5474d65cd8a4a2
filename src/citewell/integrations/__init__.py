"""Adapters for other frameworks, one module each. Nothing else imports them; each needs its framework
installed (`pip install 'citewell[langchain]'` and so on)."""
