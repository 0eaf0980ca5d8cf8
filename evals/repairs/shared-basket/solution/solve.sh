#!/bin/bash
set -e
sed -i -e 's|items={}, notes=\[\]|items=None, notes=None|' \
    -e 's|self.items = items|self.items = dict(items or {})|' \
    -e 's|self.notes = notes|self.notes = list(notes or [])|' basket.py
