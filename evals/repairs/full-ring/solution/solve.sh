#!/bin/bash
set -e
cat > ring.c <<'EOF'
#include "ring.h"

#include <string.h>

void ring_init(struct ring *ring, unsigned char *memory, size_t size) {
    ring->memory = memory;
    ring->size = size;
    ring->first = ring->next = ring->count = 0;
}

size_t ring_room(const struct ring *ring) { return ring->size - ring->count; }

size_t ring_write(struct ring *ring, const unsigned char *bytes, size_t count) {
    size_t room = ring_room(ring);
    if (count > room) count = room;
    if (count == 0) return 0;
    size_t part = ring->size - ring->next < count ? ring->size - ring->next : count;
    memcpy(ring->memory + ring->next, bytes, part);
    memcpy(ring->memory, bytes + part, count - part);
    ring->next = (ring->next + count) % ring->size;
    ring->count += count;
    return count;
}

size_t ring_peek(const struct ring *ring, unsigned char *bytes, size_t count) {
    if (count > ring->count) count = ring->count;
    if (count == 0) return 0;
    size_t part = ring->size - ring->first < count ? ring->size - ring->first : count;
    memcpy(bytes, ring->memory + ring->first, part);
    memcpy(bytes + part, ring->memory, count - part);
    return count;
}

size_t ring_read(struct ring *ring, unsigned char *bytes, size_t count) {
    count = ring_peek(ring, bytes, count);
    if (count == 0) return 0;
    ring->first = (ring->first + count) % ring->size;
    ring->count -= count;
    return count;
}
EOF
