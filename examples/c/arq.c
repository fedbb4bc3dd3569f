/* A small transport in C: a fixed window of numbered packets, each acknowledged, with a retransmission timeout. It has no parameters.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I crates/host/include -o arq.so examples/c/arq.c
 *     python -c "import tailback as tb; print(tb.user_code.load_stacks('./arq.so'))" */

#include "tailback.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 32, PAYLOAD = 1200 };

/* 200 ms. */
static const uint64_t TIMEOUT = 200ULL * 1000 * 1000 * 1000;

typedef struct arq {
    tailback_end end;
    /* Numbers and timeouts of the packets in flight, or TAILBACK_NONE. */
    uint64_t number[WINDOW], due[WINDOW];
    uint64_t next, timeouts;
    /* Of the receiver: the number to acknowledge, or TAILBACK_NONE, and the first that is missing, with those that have arrived after it. */
    uint64_t received, missing;
    uint8_t has[WINDOW];
} arq;

static void *create(const tailback_end *end, char *message, size_t capacity) {
    arq *self = NULL;
    if (strcmp(end->parameters, "{}") != 0) {
        strncpy(message, "arq has no parameters", capacity - 1);
    } else if (end->mtu < PAYLOAD + 28) {
        strncpy(message, "the MTU is too small", capacity - 1);
    } else if ((self = calloc(1, sizeof *self)) == NULL) {
        strncpy(message, "there is no memory", capacity - 1);
    }
    if (self == NULL) {
        return NULL;
    }
    self->end = *end;
    self->received = TAILBACK_NONE;
    for (int place = 0; place < WINDOW; place++) {
        self->number[place] = TAILBACK_NONE;
    }
    return self;
}

/* Bytes of the transfer up to a packet. */
static uint64_t bytes_before(const arq *self, uint64_t number) {
    return number <= self->end.size / PAYLOAD ? number * PAYLOAD : self->end.size;
}

/* Length of a packet, which begins with its number. The last is shorter. */
static size_t length_of(const arq *self, uint64_t number) {
    size_t length = (size_t)(bytes_before(self, number + 1) - bytes_before(self, number));
    return length < 8 ? 8 : length;
}

static void write_number(uint8_t *bytes, uint64_t number) {
    for (int place = 0; place < 8; place++) {
        bytes[place] = (uint8_t)(number >> (56 - 8 * place));
    }
}

static const char *receive(void *host, uint64_t now, const tailback_payload *payload) {
    arq *self = host;
    (void)now;
    if (payload->length < 8) {
        return "a packet has no number";
    }
    uint64_t number = 0;
    for (int place = 0; place < 8; place++) {
        number = number << 8 | payload->data[place];
    }
    if (!self->end.is_sender) {
        self->received = number;
        if (number >= self->missing) {
            self->has[number % WINDOW] = 1;
        }
        while (self->has[self->missing % WINDOW]) {
            self->has[self->missing++ % WINDOW] = 0;
        }
    } else if (self->number[number % WINDOW] == number) {
        self->number[number % WINDOW] = TAILBACK_NONE;
    }
    return NULL;
}

static void transmit(const arq *self, uint64_t number, size_t length, tailback_send send, void *outbox) {
    uint8_t data[PAYLOAD] = {0};
    write_number(data, number);
    const tailback_payload payload = {
        .source_address = self->end.local_address,
        .destination_address = self->end.remote_address,
        .source_port = self->end.local_port,
        .destination_port = self->end.remote_port,
        .ecn = TAILBACK_NOT_ECT,
        .data = data,
        .length = length,
    };
    send(outbox, &payload);
}

static const char *poll(void *host, uint64_t now, tailback_send send, void *outbox) {
    arq *self = host;
    if (!self->end.is_sender) {
        if (self->received != TAILBACK_NONE) {
            transmit(self, self->received, 8, send, outbox);
            self->received = TAILBACK_NONE;
        }
        return NULL;
    }
    for (int place = 0; place < WINDOW; place++) {
        if (self->number[place] != TAILBACK_NONE && self->due[place] <= now) {
            self->due[place] = now + TIMEOUT;
            self->timeouts++;
            transmit(self, self->number[place], length_of(self, self->number[place]), send, outbox);
        }
    }
    /* A number waits for the place of the one that is a window before it. */
    while (now < self->end.stop && bytes_before(self, self->next) < self->end.size
           && self->number[self->next % WINDOW] == TAILBACK_NONE) {
        int place = (int)(self->next % WINDOW);
        self->number[place] = self->next;
        self->due[place] = now + TIMEOUT;
        transmit(self, self->next, length_of(self, self->next), send, outbox);
        self->next++;
    }
    return NULL;
}

static uint64_t deadline(const void *host) {
    const arq *self = host;
    uint64_t first = TAILBACK_NONE;
    for (int place = 0; place < WINDOW; place++) {
        if (self->number[place] != TAILBACK_NONE && self->due[place] < first) {
            first = self->due[place];
        }
    }
    return first;
}

static const char *report(void *host, tailback_report *report) {
    const arq *self = host;
    report->delivered = bytes_before(self, self->missing);
    report->cwnd = (uint64_t)WINDOW * PAYLOAD;
    report->in_flight = 0;
    for (int place = 0; place < WINDOW; place++) {
        if (self->number[place] != TAILBACK_NONE) {
            report->in_flight += length_of(self, self->number[place]);
        }
    }
    report->rto = TIMEOUT;
    report->timeouts = report->retransmitted_packets = self->timeouts;
    return NULL;
}

static const tailback_stack ARQ = {TAILBACK_ABI, 0, "arq", "arq 1", create, receive, poll, deadline, free, report, NULL};

const tailback_stack *const *tailback_stacks(void) {
    static const tailback_stack *const stacks[] = {&ARQ, NULL};
    return stacks;
}
