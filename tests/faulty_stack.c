/* A stack that sends a packet at 0.25 s, and does at 0.5 s what its parameters say. */
#include "tailback.h"
#include <stdlib.h>
#include <string.h>

static const uint64_t tick = 250000000000;

typedef struct {
    tailback_end end;
    char act[100];
    uint64_t due;
} host;

static void *create(const tailback_end *end, char *message, size_t capacity) {
    if (strstr(end->parameters, "refuse")) {
        strncpy(message, "not today", capacity);
        return NULL;
    }
    if (strstr(end->parameters, "nothing")) return NULL;
    host *made = calloc(1, sizeof *made);
    made->end = *end;
    strncpy(made->act, end->parameters, sizeof made->act - 1);
    made->due = end->is_sender ? tick : TAILBACK_NONE;
    return made;
}

static const char *receive(void *self, uint64_t now, const tailback_payload *payload) {
    (void)now;
    (void)payload;
    return strstr(((host *)self)->act, "receive") ? "no state" : NULL;
}

static const char *poll(void *self, uint64_t now, tailback_send send, void *outbox) {
    host *own = self;
    const tailback_end *end = &own->end;
    const uint8_t data[2000] = {0};
    tailback_payload payload = {end->local_address, end->remote_address, end->local_port, end->remote_port, TAILBACK_ECT0, data, 8};
    if (now < own->due) return NULL;
    if (now < 2 * tick) {
        send(outbox, &payload);
        own->due = 2 * tick;
        return NULL;
    }
    own->due = strstr(own->act, "past") ? tick : strstr(own->act, "stuck") ? now : TAILBACK_NONE;
    if (strstr(own->act, "giant")) {
        payload.length = 1473;
        send(outbox, &payload);
    }
    if (strstr(own->act, "wrong")) {
        payload.length = SIZE_MAX / 4;
        send(outbox, &payload);
    }
    while (strstr(own->act, "endless")) send(outbox, &payload);
    while (strstr(own->act, "full") && send(outbox, &payload) == TAILBACK_SENT) {
    }
    return strstr(own->act, "report") ? "no state" : NULL;
}

static uint64_t deadline(const void *self) { return ((const host *)self)->due; }

static const tailback_stack faulty = {TAILBACK_ABI, 0, "faulty", "faulty 1", create, receive, poll, deadline, free, NULL, NULL};
static const tailback_stack *const stacks[] = {&faulty, NULL};

const tailback_stack *const *tailback_stacks(void) { return stacks; }
