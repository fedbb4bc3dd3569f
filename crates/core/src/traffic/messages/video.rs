//! Video in chunks (DASH, ISO/IEC 23009-1). A client requests one chunk after another, each in the bit rate that its adaptation selects, and
//! plays them from its buffer. A full buffer delays the next request, and an empty one stalls the playback.

use super::interface::{FollowUp, Messages};
use super::playback::Playback;
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta};
use crate::settings::words;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

words! {
    /// Selection of the bit rate of a chunk. The first chunk has the lowest one.
    pub enum Adaptation ("adaptation") {
        /// The highest bit rate that does not exceed the harmonic mean of the throughput of the last five chunks (the algorithm RB of Yin
        /// and others, SIGCOMM 2015).
        Throughput = "throughput",
        /// A linear function of the buffer, from the lowest bit rate at 3/8 of `max_buffer` to the highest at 9/10, with hysteresis
        /// (BBA-0 of Huang and others, SIGCOMM 2014, whose buffer of 240 s has these at 90 s and 216 s).
        Buffer = "buffer",
    }
}

/// The chunks of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VideoSpec {
    /// Playing time of a chunk, above 0.
    pub chunk: TimeDelta,
    /// Bit rates, ascending; at least one.
    pub ladder: Arc<[Rate]>,
    /// Number of chunks.
    pub count: u32,
    /// Buffer that starts the playback, at first and after a stall.
    pub start_buffer: TimeDelta,
    /// Maximum buffer, not less than `start_buffer` and a chunk.
    pub max_buffer: TimeDelta,
    pub adaptation: Adaptation,
    /// The flow of the requests.
    pub requests: FlowId,
}

/// Number of chunks whose throughput is averaged.
const AVERAGED: usize = 5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Video {
    spec: VideoSpec,
    /// Index in the ladder of each requested chunk.
    levels: Vec<u32>,
    /// Time of the latest request.
    requested: Time,
    /// Throughput of the last chunks in bit/s.
    throughputs: VecDeque<f64>,
    player: Player,
}

/// The playback at the client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Player {
    state: PlayState,
    /// Buffered playing time at `updated`.
    buffer: TimeDelta,
    updated: Time,
    stalls: u32,
    stalled: TimeDelta,
    /// Time of the first start.
    started: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum PlayState {
    #[default]
    Waiting,
    Playing,
    Stalled,
    /// All chunks are buffered or played.
    Ending,
}

impl Player {
    /// Play until `now`.
    fn advance(&mut self, now: Time) {
        let passed = now.since(self.updated);
        match self.state {
            PlayState::Playing | PlayState::Ending => {
                let played = passed.min(self.buffer);
                self.buffer = self.buffer - played;
                if self.state == PlayState::Playing && passed > played {
                    self.state = PlayState::Stalled;
                    self.stalls += 1;
                    self.stalled = self.stalled + (passed - played);
                }
            }
            PlayState::Stalled => self.stalled = self.stalled + passed,
            PlayState::Waiting => {}
        }
        self.updated = now;
    }

    /// A chunk is delivered now. It is played as soon as enough are in the buffer.
    fn take(&mut self, now: Time, spec: &VideoSpec) {
        self.advance(now);
        self.buffer = self.buffer + spec.chunk;
        if self.buffer >= spec.start_buffer {
            self.play(now);
        }
    }

    /// The last chunk is delivered now.
    fn take_last(&mut self, now: Time, spec: &VideoSpec) {
        self.take(now, spec);
        self.play(now);
        self.state = PlayState::Ending;
    }

    fn play(&mut self, now: Time) {
        if matches!(self.state, PlayState::Waiting | PlayState::Stalled) {
            self.state = PlayState::Playing;
            self.started = self.started.or(Some(now));
        }
    }
}

impl Video {
    fn chunk_size(&self, level: usize) -> Bytes {
        Bytes(((self.spec.ladder[level].0 as f64 * self.spec.chunk.seconds() / 8.0) as u64).max(1))
    }

    /// Index in the ladder of the next chunk, which is requested with this buffer.
    fn select(&self, buffer: TimeDelta) -> u32 {
        let ladder = &self.spec.ladder;
        let below = |rate: f64| ladder.iter().take_while(|step| step.0 as f64 <= rate).count().saturating_sub(1) as u32;
        match self.spec.adaptation {
            Adaptation::Throughput => {
                let inverse: f64 = self.throughputs.iter().map(|rate| 1.0 / rate).sum();
                below(self.throughputs.len() as f64 / inverse)
            }
            Adaptation::Buffer => {
                let (lowest, highest) = (ladder[0].0 as f64, ladder[ladder.len() - 1].0 as f64);
                let (reservoir, upper) = (0.375 * self.spec.max_buffer.seconds(), 0.9 * self.spec.max_buffer.seconds());
                let share = (buffer.seconds() - reservoir) / (upper - reservoir);
                let target = lowest + share.clamp(0.0, 1.0) * (highest - lowest);
                let now = self.levels[self.levels.len() - 1];
                let rate = |level: u32| ladder[level as usize].0 as f64;
                let top = ladder.len() as u32 - 1;
                match () {
                    () if share <= 0.0 => 0,
                    () if share >= 1.0 => top,
                    () if now < top && target >= rate(now + 1) => below(target),
                    // The lowest step above the target.
                    () if now > 0 && target <= rate(now - 1) => {
                        (below(target) + u32::from(rate(below(target)) < target)).min(top)
                    }
                    () => now,
                }
            }
        }
    }

    fn quality(&self, delivered: usize, until: Time) -> Playback {
        let mut player = self.player.clone();
        player.advance(until.max(player.updated));
        let levels = &self.levels[..delivered.min(self.levels.len())];
        let rates: f64 = levels.iter().map(|&level| self.spec.ladder[level as usize].0 as f64).sum();
        Playback {
            stalls: player.stalls,
            stalled: player.stalled,
            switches: levels.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32,
            started: player.started,
            mean_rate: rates / levels.len() as f64,
        }
    }
}

impl From<VideoSpec> for Video {
    fn from(spec: VideoSpec) -> Video {
        Video { spec, levels: vec![0], requested: Time::ZERO, throughputs: VecDeque::new(), player: Player::default() }
    }
}

impl Messages for Video {
    fn count(&self) -> u32 {
        self.spec.count
    }

    fn known(&self) -> u32 {
        self.levels.len() as u32
    }

    fn size(&self, message: u32) -> Bytes {
        self.chunk_size(self.levels[message as usize] as usize)
    }

    fn max_size(&self, _message: u32) -> Bytes {
        self.chunk_size(self.spec.ladder.len() - 1)
    }

    fn first(&mut self, start: Time) -> Vec<Time> {
        self.requested = start;
        Vec::new()
    }

    fn after_delivery(&mut self, message: u32, time: Time) -> Option<FollowUp> {
        let is_last = message + 1 == self.spec.count;
        self.throughputs.push_back(8.0 * self.size(message).0 as f64 / time.since(self.requested).seconds());
        if self.throughputs.len() > AVERAGED {
            self.throughputs.pop_front();
        }
        match is_last {
            true => self.player.take_last(time, &self.spec),
            false => self.player.take(time, &self.spec),
        }
        if is_last {
            return None;
        }
        // The buffer has room for a chunk once it is this small.
        let room = self.spec.max_buffer - self.spec.chunk;
        let buffer = self.player.buffer.min(room);
        self.levels.push(self.select(buffer));
        self.requested = time + (self.player.buffer - buffer);
        Some(FollowUp { flow: self.spec.requests, at: self.requested })
    }

    fn answers_on(&self) -> Vec<FlowId> {
        vec![self.spec.requests]
    }

    fn requested_on(&self) -> Option<FlowId> {
        Some(self.spec.requests)
    }

    /// The server's messages depend on the selection of the client.
    fn joins_ends(&self) -> bool {
        true
    }

    fn playback(&self, delivered: usize, until: Time) -> Option<Playback> {
        Some(self.quality(delivered, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> TimeDelta {
        TimeDelta::from_millis(1000 * seconds)
    }

    fn at(time: u64) -> Time {
        Time::ZERO + seconds(time)
    }

    /// Chunks of 2 s at 1, 2 or 4 Mbit/s, and a buffer of 10 s that starts with 4 s.
    fn video(adaptation: Adaptation, count: u32) -> Video {
        let ladder = [1, 2, 4].map(|megabit| Rate(1_000_000 * megabit)).into();
        let mut video = Video::from(VideoSpec {
            chunk: seconds(2),
            ladder,
            count,
            start_buffer: seconds(4),
            max_buffer: seconds(10),
            adaptation,
            requests: FlowId(1),
        });
        video.first(Time::ZERO);
        video
    }

    #[test]
    fn an_empty_buffer_stalls_until_it_starts_again() {
        let mut video = video(Adaptation::Throughput, 5);
        // Playback starts at 2 s with two chunks and is empty at 6 s. Chunks at 7 and 9 s start it again, and the last one at 13 s, when
        // the buffer is just empty, ends it.
        for (message, time) in (0..).zip([1, 2, 7, 9, 13]) {
            video.after_delivery(message, at(time));
        }
        let playback = video.quality(5, at(100));
        assert_eq!((playback.stalls, playback.stalled, playback.started), (1, seconds(3), Some(at(2))));
        assert_eq!(video.player.state, PlayState::Ending);
    }

    #[test]
    fn a_stall_counts_until_now() {
        let mut video = video(Adaptation::Throughput, 5);
        [1, 2].into_iter().zip(0..).for_each(|(time, message)| _ = video.after_delivery(message, at(time)));
        let at_end = |time| video.quality(2, at(time));
        assert_eq!((at_end(6).stalls, at_end(8).stalls, at_end(8).stalled), (0, 1, seconds(2)));
    }

    #[test]
    fn a_full_buffer_delays_the_next_request() {
        let mut video = video(Adaptation::Throughput, 9);
        // After 1.6 s there are four chunks, of which 0.8 s are played: 7.2 s, and 8 s leave room for a chunk. With a fifth at 1.7 s, 9.1 s.
        let times = [4, 8, 12, 16].map(|tenths| Time::ZERO + TimeDelta::from_millis(100 * tenths));
        for (message, time) in (0..).zip(times) {
            assert_eq!(video.after_delivery(message, time).unwrap().at, time);
        }
        let fifth = Time::ZERO + TimeDelta::from_millis(1700);
        assert_eq!(video.after_delivery(4, fifth).unwrap().at, fifth + TimeDelta::from_millis(1100));
    }

    #[test]
    fn the_throughput_selects_the_highest_rate_below_its_harmonic_mean() {
        let mut video = video(Adaptation::Throughput, 9);
        // 2 Mbit in 0.5 s are 4 Mbit/s. Then 8 Mbit in 8 s are 1 Mbit/s, and the mean of both is 1.6 Mbit/s.
        video.after_delivery(0, Time::ZERO + TimeDelta::from_millis(500));
        video.after_delivery(1, Time::ZERO + TimeDelta::from_millis(8500));
        assert_eq!(video.levels, [0, 2, 0]);
        assert_eq!([0, 1].map(|message| video.size(message)), [Bytes(250_000), Bytes(1_000_000)]);
    }

    #[test]
    fn the_buffer_selects_with_hysteresis() {
        let mut video = video(Adaptation::Buffer, 9);
        let select = |video: &Video, milliseconds| video.select(TimeDelta::from_millis(milliseconds));
        // The target is 1 Mbit/s up to 3.75 s and 4 Mbit/s from 9 s: 2 Mbit/s at 5.5 s.
        assert_eq!([3000, 5400, 5600, 8900, 9000].map(|buffer| select(&video, buffer)), [0, 0, 1, 1, 2]);
        // From 4 Mbit/s it falls to 2 Mbit/s below 5.5 s, and to 1 Mbit/s at the reservoir.
        video.levels.push(2);
        assert_eq!([8000, 5600, 5400, 3700].map(|buffer| select(&video, buffer)), [2, 2, 1, 0]);
    }
}
