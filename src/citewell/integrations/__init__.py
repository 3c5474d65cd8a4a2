"""Adapters for other frameworks, one module each. Nothing else imports them; each requires its framework
(`pip install 'citewell[langchain]'` and so on)."""
