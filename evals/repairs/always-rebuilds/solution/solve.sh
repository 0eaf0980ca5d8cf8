#!/bin/bash
set -e
cat > Makefile <<'EOF'
# Joins the chapters of a book, each with a line above it, and counts the words.
CHAPTERS = chapters/one.txt chapters/two.txt

.PHONY: book words clean
book: out/book.txt

words: out/words.txt

out/book.txt: title.txt $(CHAPTERS)
	@echo joining
	@mkdir -p out
	@cat title.txt $(CHAPTERS) > $@

out/words.txt: out/book.txt
	@echo counting
	@wc -w < out/book.txt | tr -d ' ' > $@

clean:
	rm -rf out
EOF
