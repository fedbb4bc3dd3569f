//! Conservation: everything sent is delivered, discarded or in flight, per flow and per port. A violation is a bug of ours.

use super::engine::Engine;
use super::fabric::Path;
use super::port::Gather;
use crate::base::line::Line;
use crate::base::packet::Packet;
use std::fmt;

/// A count that does not add up. The run's results must not be trusted; please report it with the scenario and seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConservationError {
    /// The flow or port, as the scenario names it.
    pub of: String,
    pub sent: u64,
    pub accounted_for: u64,
    pub what: &'static str,
}

impl fmt::Display for ConservationError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}: {} {} sent, {} delivered, discarded or in flight", self.of, self.sent, self.what, self.accounted_for)
    }
}

impl std::error::Error for ConservationError {}

impl Engine {
    pub(crate) fn check_conservation(&self) -> Result<(), ConservationError> {
        let (data, acks) = self.packets_in_lines();
        for (index, path) in self.fabric.paths.iter().enumerate() {
            let counts = &path.counts;
            let of_flow = |sent: u32, accounted: u32, what| {
                if sent == accounted {
                    return Ok(());
                }
                let name = self.network.groups[path.wire.group as usize].name.clone();
                Err(ConservationError {
                    of: format!("flow {index} of {name}"),
                    sent: sent.into(),
                    accounted_for: accounted.into(),
                    what,
                })
            };
            let sent = self.sent_in_all(index);
            of_flow(sent, counts.received_in_all + counts.discarded_in_all + data[index], "data packets")?;
            let accounted = counts.acks_received_in_all + counts.acks_discarded_in_all + acks[index];
            of_flow(counts.acks_sent_in_all, accounted, "acknowledgements")?;
        }
        for port in &self.fabric.ports {
            let counts = &port.counts;
            let stored = port.stepped.as_ref().map_or(0, |stepped| u64::from(stepped.queue.len()));
            let (taken, accounted) = (counts.accepted.all(), counts.departed.all() + stored);
            if taken != accounted {
                return Err(ConservationError { of: port.name.clone(), sent: taken, accounted_for: accounted, what: "packets" });
            }
        }
        let blocks = self.fabric.common.blocks.used() as u64;
        let carried = self.acks_with_blocks();
        if blocks != carried {
            return Err(ConservationError {
                of: "SACK blocks".to_string(),
                sent: blocks,
                accounted_for: carried,
                what: "blocks",
            });
        }
        Ok(())
    }

    /// Data packets and acknowledgements of each flow that lie in lines, queues and transmitters.
    fn packets_in_lines(&self) -> (Vec<u32>, Vec<u32>) {
        let mut data = vec![0; self.ends.len()];
        let mut acks = vec![0; self.ends.len()];
        self.each_packet(|packet| {
            let counts = if packet.is_ack() { &mut acks } else { &mut data };
            counts[packet.flow as usize] += 1;
        });
        (data, acks)
    }

    fn acks_with_blocks(&self) -> u64 {
        let mut count = 0;
        self.each_packet(|packet| count += u64::from(packet.has_blocks()));
        count
    }

    fn each_packet(&self, mut see: impl FnMut(&Packet)) {
        let lines_of = |path: &Path| -> [Line; 4] { [path.send, path.back, path.home, path.deliver] };
        for line in self.fabric.paths.iter().flat_map(lines_of).filter(|line| !line.is_empty()) {
            self.fabric.common.pool.iter(&line).for_each(&mut see);
        }
        for port in &self.fabric.ports {
            self.fabric.common.pool.iter(&port.line).for_each(&mut see);
            port.gather.iter().flat_map(Gather::iter).for_each(&mut see);
            if let Some(stepped) = &port.stepped {
                self.fabric.common.pool.iter(&stepped.queue).for_each(&mut see);
                stepped.transmitters.iter().flatten().for_each(&mut see);
            }
        }
    }
}
