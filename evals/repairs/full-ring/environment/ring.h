/* A queue of bytes in a fixed piece of memory, which takes as many bytes as the memory has. */
#ifndef RING_H
#define RING_H

#include <stddef.h>

struct ring {
    unsigned char *memory;
    size_t size;
    size_t first; /* where the oldest byte is */
    size_t next;  /* where the next byte goes */
    size_t count; /* how many bytes are in it */
};

void ring_init(struct ring *ring, unsigned char *memory, size_t size);
/* Puts as many of the bytes into the queue as there is room for; returns how many. */
size_t ring_write(struct ring *ring, const unsigned char *bytes, size_t count);
/* Takes up to so many bytes, the oldest first; returns how many. */
size_t ring_read(struct ring *ring, unsigned char *bytes, size_t count);
/* Copies up to so many bytes as ring_read does, and leaves them in the queue. */
size_t ring_peek(const struct ring *ring, unsigned char *bytes, size_t count);
/* How many bytes can be written. */
size_t ring_room(const struct ring *ring);

#endif
