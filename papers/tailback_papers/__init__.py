"""Experiments of published documents, which `tailback.reproduce` runs.

Each document is a package with a `DOCUMENT`; pyproject.toml declares them in the entry point group `tailback.papers`. They use
only Tailback's public interface, as experiments of other packages do.
"""
