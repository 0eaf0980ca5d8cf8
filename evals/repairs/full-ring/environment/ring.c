#include "ring.h"

#include <string.h>

void ring_init(struct ring *ring, unsigned char *memory, size_t size) {
    ring->memory = memory;
    ring->size = size;
    ring->first = ring->next = ring->count = 0;
}

size_t ring_room(const struct ring *ring) { return (ring->first - ring->next - 1) % ring->size; }

size_t ring_write(struct ring *ring, const unsigned char *bytes, size_t count) {
    size_t room = ring_room(ring);
    if (count > room) count = room;
    memcpy(ring->memory + ring->next, bytes, count);
    ring->next = (ring->next + count) % ring->size;
    return count;
}

size_t ring_peek(const struct ring *ring, unsigned char *bytes, size_t count) {
    size_t used = ring->size - ring_room(ring);
    if (count > used) count = used;
    memcpy(bytes, ring->memory + ring->first, count);
    return count;
}

size_t ring_read(struct ring *ring, unsigned char *bytes, size_t count) {
    count = ring_peek(ring, bytes, count);
    ring->first = (ring->first + count) % ring->size;
    return count;
}
