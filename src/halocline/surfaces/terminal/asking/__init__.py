"""Asks a person: approvals, questions and plans, by options whose keys every front end has."""
