#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

#define CHECK(what) do { if (!(what)) { printf("FAILED in line %d: %s\n", __LINE__, #what); exit(1); } } while (0)

static void check_small(void) {
    unsigned char memory[6] = {0, 0, 0, 0, 0xAA, 0xAA}, found[8];
    struct ring ring;
    ring_init(&ring, memory, 4);
    CHECK(ring_room(&ring) == 4);
    CHECK(ring_read(&ring, found, 8) == 0);
    CHECK(ring_peek(&ring, found, 8) == 0);
    CHECK(ring_write(&ring, (const unsigned char *)"abcdef", 6) == 4);
    CHECK(ring_room(&ring) == 0);
    CHECK(ring_write(&ring, (const unsigned char *)"x", 1) == 0);
    CHECK(ring_peek(&ring, found, 8) == 4 && memcmp(found, "abcd", 4) == 0);
    CHECK(ring_read(&ring, found, 3) == 3 && memcmp(found, "abc", 3) == 0);
    CHECK(ring_room(&ring) == 3);
    CHECK(ring_write(&ring, (const unsigned char *)"efg", 3) == 3);
    CHECK(ring_peek(&ring, found, 2) == 2 && memcmp(found, "de", 2) == 0);
    CHECK(ring_read(&ring, found, 8) == 4 && memcmp(found, "defg", 4) == 0);
    CHECK(ring_read(&ring, found, 8) == 0 && ring_room(&ring) == 4);
    CHECK(memory[4] == 0xAA && memory[5] == 0xAA);
}

static void check_empty(void) {
    unsigned char byte = 7;
    struct ring ring;
    ring_init(&ring, &byte, 0);
    CHECK(ring_room(&ring) == 0);
    CHECK(ring_write(&ring, (const unsigned char *)"a", 1) == 0);
    CHECK(ring_read(&ring, &byte, 1) == 0 && byte == 7);
}

static void check_many(size_t size) {
    unsigned char memory[40], found[64], bytes[64], written = 0, read = 0;
    unsigned seed = 1;
    size_t inside = 0;
    struct ring ring;
    memset(memory, 0xAA, sizeof memory);
    ring_init(&ring, memory + 4, size);
    for (int step = 0; step < 5000; step++) {
        seed = seed * 1103515245u + 12345u;
        size_t count = (seed >> 16) % (size + 3);
        if (seed & 0x800000) {
            for (size_t index = 0; index < count; index++) bytes[index] = (unsigned char)(written + index);
            size_t done = ring_write(&ring, bytes, count), room = size - inside;
            CHECK(done == (count < room ? count : room));
            written = (unsigned char)(written + done);
            inside += done;
        } else {
            size_t done = ring_read(&ring, found, count);
            CHECK(done == (count < inside ? count : inside));
            for (size_t index = 0; index < done; index++) CHECK(found[index] == read++);
            inside -= done;
        }
        CHECK(ring_room(&ring) == size - inside);
    }
    for (int index = 0; index < 4; index++) CHECK(memory[index] == 0xAA && memory[4 + size + index] == 0xAA);
}

int main(void) {
    check_small();
    check_empty();
    for (size_t size = 1; size <= 32; size++) check_many(size);
    return 0;
}
