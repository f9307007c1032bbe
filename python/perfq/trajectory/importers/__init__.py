"""Recordings of other programs → sessions: one module a format, and what they share.

An importer turns a recording into `Action`s, each with its fate; `building` turns those into a session and counts what
was lost. No importer decides by itself what is replayed, and none makes up a wait.
"""
