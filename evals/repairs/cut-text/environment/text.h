/* Texts in UTF-8 for a small display.
 *
 * A sign is a code point with the combining marks (U+0300 to U+036F) that follow it. A mark at the beginning of a text is a sign as well.
 * Bytes that are not UTF-8 may come from outside. The longest beginning of a text that is not valid is always taken byte by
 * byte: each byte at which no valid sequence begins is a sign of its own, which is shown as '?' (and marks after it belong to it).
 * Not valid are: sequences that are cut off, longer than needed (C0 80), surrogates (U+D800 to U+DFFF), and code points
 * above U+10FFFF.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* How many signs a text has. */
size_t count_signs(const char *text);

/* Copies as many whole signs as fit into `room` bytes with the NUL at the end, which is always written (if room is not 0).
 * Bytes that are not valid are written as '?'. Returns the number of bytes written, without the NUL. */
size_t cut_text(char *out, size_t room, const char *text);

/* As cut_text; where something has to be left out, the result ends with "..." (within the room, after as many whole signs as fit before
 * it), if there is room for these and the NUL; else it is as cut_text has it. */
size_t shorten(char *out, size_t room, const char *text);

#endif
