"""Texts and what differs between them."""

from halocline.edits.diff import make_diff as make_diff
from halocline.edits.text import BinaryContent as BinaryContent, decode_text as decode_text
from halocline.edits.word_marks import Spans as Spans, mark_changes as mark_changes
