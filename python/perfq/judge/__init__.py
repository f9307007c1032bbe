"""Validity first, then budgets."""
