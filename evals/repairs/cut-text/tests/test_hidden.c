#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static int failures = 0;

typedef size_t (*function)(char *, size_t, const char *);

static void expect(function called, const char *name, const char *text, size_t room, const char *wanted) {
    char *copy = malloc(strlen(text) + 1);
    char memory[80];
    strcpy(copy, text);
    memset(memory, 0x55, sizeof memory);
    size_t count = called(memory + 8, room, copy);
    int spoiled = 0;
    for (size_t index = 0; index < sizeof memory; index++)
        if ((index < 8 || index >= 8 + room) && memory[index] != 0x55) spoiled = 1;
    if (spoiled || count != strlen(wanted) || (room && (memory[8 + count] != 0 || memcmp(memory + 8, wanted, count) != 0))) {
        printf("FAILED: %s of \"%s\" into %d: %d bytes%s\n", name, text, (int)room, (int)count, spoiled ? ", memory spoiled" : "");
        failures++;
    }
    free(copy);
}

static void cut(const char *text, size_t room, const char *wanted) { expect(cut_text, "cut_text", text, room, wanted); }
static void shortened(const char *text, size_t room, const char *wanted) { expect(shorten, "shorten", text, room, wanted); }

static void count(const char *text, size_t wanted) {
    size_t found = count_signs(text);
    if (found == wanted) return;
    printf("FAILED: %d signs in \"%s\"\n", (int)found, text);
    failures++;
}

int main(void) {
    cut("harbour", 20, "harbour");
    cut("harbour", 8, "harbour");
    cut("harbour", 7, "harbou");
    cut("harbour", 1, "");
    cut("harbour", 0, "");
    cut("", 5, "");
    cut("M\xc3\xbcnchen", 3, "M");
    cut("M\xc3\xbcnchen", 4, "M\xc3\xbc");
    cut("\xe2\x82\xac\xe2\x82\xac", 6, "\xe2\x82\xac");
    cut("a\xf0\x9f\x90\x9f", 5, "a");
    cut("a\xf0\x9f\x90\x9f", 6, "a\xf0\x9f\x90\x9f");
    cut("ae\xcc\x81", 4, "a");
    cut("ae\xcc\x81", 5, "ae\xcc\x81");
    cut("e\xcc\x81\xcc\xb1x", 4, "");
    cut("e\xcc\x81\xcc\xb1x", 6, "e\xcc\x81\xcc\xb1");
    cut("\xcc\x81\xcc\x81" "a", 10, "\xcc\x81\xcc\x81" "a");
    cut("M\xfcller", 20, "M?ller");
    cut("M\xfc\xcc\x81ller", 20, "M?\xcc\x81ller");
    cut("M\xfc\xcc\x81ller", 4, "M");
    cut("a\xc3", 10, "a?");
    cut("a\xe2\x82", 10, "a??");
    cut("a\xf0\x9f\x90", 10, "a???");
    cut("\xc0\x80", 10, "??");
    cut("\xe0\x80\x80", 10, "???");
    cut("\xed\xa0\x80" "x", 10, "???x");
    cut("\xed\x9f\xbf\xee\x80\x80", 10, "\xed\x9f\xbf\xee\x80\x80");
    cut("\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", 10, "\xf4\x8f\xbf\xbf????");
    cut("\xf8\x88\x80\x80\x80", 10, "?????");
    cut("\xf0\x80\x80\x80", 10, "????");
    cut("\xe2\x82" "ab", 10, "??ab");
    cut("\xe2\xc3\xbc", 10, "?\xc3\xbc");
    cut("\x80\xbf", 2, "?");
    cut("\xcd\xaf\xcd\xb0", 10, "\xcd\xaf\xcd\xb0");

    shortened("harbour", 8, "harbour");
    shortened("harbour", 7, "har...");
    shortened("harbour", 4, "...");
    shortened("harbour", 3, "ha");
    shortened("harbour", 0, "");
    shortened("abc", 4, "abc");
    shortened("M\xc3\xbcnchen", 6, "M...");
    shortened("M\xc3\xbcnchen", 7, "M\xc3\xbc...");
    shortened("ae\xcc\x81xyzzy", 7, "a...");
    shortened("M\xfcller", 7, "M?ller");
    shortened("M\xfcller", 6, "M?...");
    shortened("\xe2\x82\xac", 3, "");
    shortened("\xe2\x82\xac", 4, "\xe2\x82\xac");

    count("", 0);
    count("harbour", 7);
    count("M\xc3\xbcnchen", 7);
    count("e\xcc\x81\xcc\xb1x", 2);
    count("\xcc\x81\xcc\x81" "a", 2);
    count("\xc0\x80", 2);
    count("a\xe2\x82", 3);
    count("\xfc\xcc\x81", 1);
    count("\xf0\x9f\x90\x9f\xcd\xb0", 2);
    return failures != 0;
}
