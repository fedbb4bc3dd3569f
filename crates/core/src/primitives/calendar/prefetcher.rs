//! Guesses of later events, for prefetching: a cursor that visits buckets ahead of the served one.

use super::wheel::{Due, NONE, Slot, Wheel};

/// Distance of the cursor in events: far enough for memory to arrive, and near enough that it is still cached.
const DEPTH: u32 = 24;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefetcher {
    /// Absolute number of its bucket.
    bucket: u64,
    /// The last slot visited there, or [`NONE`].
    slot: Slot,
    /// Number of events visited in later buckets.
    ahead: u32,
    /// The bucket being served at the last visit, and how many of its next events have been reported.
    served: u64,
    reported: u32,
}

impl Prefetcher {
    /// Called after each event taken. `served`: the bucket being served, with its events, the next one last. Returns slots of later events,
    /// each about once.
    #[inline]
    pub fn predict(&mut self, served: u64, events: &[Due], wheel: &Wheel) -> [Option<Slot>; 2] {
        let here = events.len() as u32;
        self.reported = self.reported.saturating_sub(1);
        if self.served != served {
            // Restart with a bucket that was not visited completely.
            let has_seen_all = self.bucket > served && self.ahead > here;
            *self = match has_seen_all {
                true => Prefetcher { served, reported: here, ahead: self.ahead - here - 1, ..*self },
                false => Prefetcher { served, bucket: served, slot: NONE, reported: 0, ahead: 0 },
            };
        }
        // Two events per call, until the distance is reached.
        [self.predict_one(events, wheel), self.predict_one(events, wheel)]
    }

    #[inline(always)]
    fn predict_one(&mut self, events: &[Due], wheel: &Wheel) -> Option<Slot> {
        let here = events.len() as u32;
        if self.reported < here.min(DEPTH) {
            self.reported += 1;
            return Some(events[(here - self.reported) as usize].slot);
        }
        if here + self.ahead >= DEPTH {
            return None;
        }
        let mut slot = wheel.after(self.slot);
        if slot == NONE {
            self.slot = NONE;
            self.bucket = wheel.occupied_near(self.bucket + 1)?;
            slot = wheel.first(self.bucket);
        }
        self.slot = slot;
        self.ahead += 1;
        wheel.prefetch(slot);
        Some(slot)
    }
}
