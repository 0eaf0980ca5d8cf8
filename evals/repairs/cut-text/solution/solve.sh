#!/bin/bash
set -e
cat > text.c <<'EOF'
#include "text.h"

#include <string.h>

/* The length of the valid sequence at the beginning of a text, and its code point; 0 if there is none. */
static size_t read_point(const unsigned char *text, unsigned long *point) {
    static const unsigned long LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xC0 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : text[0] < 0xF8 ? 4 : 0;
    if (length == 0) return 0;
    *point = length == 1 ? text[0] : text[0] & (0x7F >> length);
    for (size_t index = 1; index < length; index++) {
        if ((text[index] & 0xC0) != 0x80) return 0;
        *point = *point << 6 | (text[index] & 0x3F);
    }
    if (*point < LEAST[length] || *point > 0x10FFFF || (*point >= 0xD800 && *point <= 0xDFFF)) return 0;
    return length;
}

/* The bytes of the sign at the beginning of a text, which is not empty. */
static size_t read_sign(const unsigned char *text) {
    unsigned long point;
    size_t length = read_point(text, &point), more;
    if (length == 0) length = 1;
    while ((more = read_point(text + length, &point)) && point >= 0x300 && point <= 0x36F) length += more;
    return length;
}

size_t count_signs(const char *text) {
    const unsigned char *next = (const unsigned char *)text;
    size_t count = 0;
    for (; *next; next += read_sign(next)) count++;
    return count;
}

size_t cut_text(char *out, size_t room, const char *text) {
    const unsigned char *next = (const unsigned char *)text;
    size_t written = 0;
    unsigned long point;
    if (room == 0) return 0;
    while (*next) {
        size_t length = read_sign(next);
        if (length > room - 1 - written) break;
        memcpy(out + written, next, length);
        if (read_point(next, &point) == 0) out[written] = '?';
        written += length;
        next += length;
    }
    out[written] = 0;
    return written;
}

size_t shorten(char *out, size_t room, const char *text) {
    size_t written = cut_text(out, room, text);
    if (written == strlen(text) || room < 4) return written;
    written = cut_text(out, room - 3, text);
    memcpy(out + written, "...", 4);
    return written + 3;
}
EOF
