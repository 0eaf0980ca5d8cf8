#include "text.h"

#include <string.h>

size_t count_signs(const char *text) {
    size_t count = 0;
    for (; *text; text++) count += (*text & 0xC0) != 0x80;
    return count;
}

size_t cut_text(char *out, size_t room, const char *text) {
    strncpy(out, text, room);
    out[room] = 0;
    return strlen(out);
}

size_t shorten(char *out, size_t room, const char *text) {
    size_t count = cut_text(out, room, text);
    if (strlen(text) > count) strcpy(out + room - 3, "...");
    return strlen(out);
}
