/* A congestion controller in C: additive increase by `INCREASE` segments in each round trip, multiplicative decrease to `DECREASE`.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I crates/host/include -o aimd.so examples/c/aimd.c
 *     python -c "import tailback as tb; print(tb.user_code.load_controllers('./aimd.so'))" */

#include "tailback.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INCREASE = 1.0, DECREASE = 0.5;

typedef struct aimd {
    double segment;
    tailback_decision decision;
} aimd;

static void *create(const tailback_sender *sender, tailback_decision *decision, char *message, size_t capacity) {
    aimd *self = calloc(1, sizeof *self);
    if (self == NULL) {
        strncpy(message, "there is no memory", capacity - 1);
        return NULL;
    }
    self->segment = sender->segment;
    self->decision.window = sender->window;
    self->decision.ssthresh = sender->ssthresh;
    *decision = self->decision;
    return self;
}

static const char *on_event(void *controller, const tailback_event *event, tailback_decision *decision) {
    aimd *self = controller;
    tailback_decision *next = &self->decision;
    if (event->kind == TAILBACK_ACKED) {
        if (!event->app_limited) {
            double slow_start = event->acked, avoidance = INCREASE * event->acked * self->segment / next->window;
            next->window += next->window < next->ssthresh ? slow_start : avoidance;
        }
    } else {
        next->ssthresh = fmax(next->window * DECREASE, 2 * self->segment);
        next->window = event->kind == TAILBACK_TIMEOUT ? self->segment : next->ssthresh;
    }
    *decision = *next;
    return NULL;
}

static const tailback_controller AIMD = {TAILBACK_ABI, 0, "aimd-c", "aimd-c 1", create, on_event, free};

const tailback_controller *const *tailback_controllers(void) {
    static const tailback_controller *const controllers[] = {&AIMD, NULL};
    return controllers;
}
