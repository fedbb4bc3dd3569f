//! Port state per flow (VC): its occupancy and the policy's state, in one record.

use super::policy::Occupancy;
use crate::primitives::ids::FlowId;
use crate::primitives::units::Units;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FlowRecords<S> {
    /// Number of the flow with the first record. The flows of a group are consecutive, so there are few gaps.
    first: FlowId,
    records: Vec<FlowRecord<S>>,
    /// Flows whose route crosses the port.
    flows: u32,
    /// Records with units in the buffer.
    backlogged: u32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FlowRecord<S> {
    units: u32,
    state: S,
}

impl<S: Clone + Default> FlowRecords<S> {
    /// Records for these flows, in ascending order.
    pub(crate) fn new(flows: &[FlowId]) -> FlowRecords<S> {
        let (first, last) = (flows.first().copied().unwrap_or_default(), flows.last().copied());
        let records = vec![FlowRecord::default(); last.map_or(0, |last| (last - first + 1) as usize)];
        FlowRecords { first, records, flows: flows.len() as u32, backlogged: 0 }
    }

    /// The policy's part of a flow's record; the port's part is copied to `buffer`.
    #[inline]
    pub(crate) fn describe(&mut self, flow: FlowId, buffer: &mut Occupancy) -> &mut S {
        let record = &mut self.records[(flow - self.first) as usize];
        buffer.of_flow = Units(record.units.into());
        buffer.flows = self.flows;
        buffer.backlogged = self.backlogged;
        &mut record.state
    }

    /// The policy's part of a flow's record.
    pub(crate) fn state(&mut self, flow: FlowId) -> &mut S {
        &mut self.records[(flow - self.first) as usize].state
    }

    #[inline]
    pub(crate) fn add(&mut self, flow: FlowId) {
        let units = &mut self.records[(flow - self.first) as usize].units;
        self.backlogged += u32::from(*units == 0);
        *units += 1;
    }

    #[inline]
    pub(crate) fn remove(&mut self, flow: FlowId) {
        let units = &mut self.records[(flow - self.first) as usize].units;
        *units -= 1;
        self.backlogged -= u32::from(*units == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Bytes;

    #[test]
    fn a_flow_counts_as_backlogged_while_it_has_units_in_the_buffer() {
        let mut records = FlowRecords::<()>::new(&[FlowId(7), FlowId(9)]);
        let empty = Occupancy::of(Units(0), Bytes(0));
        let seen = |records: &mut FlowRecords<()>, flow| {
            let mut buffer = empty;
            records.describe(flow, &mut buffer);
            (buffer.of_flow.0, buffer.flows, buffer.backlogged)
        };
        records.add(FlowId(9));
        records.add(FlowId(9));
        records.add(FlowId(7));
        assert_eq!(seen(&mut records, FlowId(9)), (2, 2, 2));
        records.remove(FlowId(9));
        records.remove(FlowId(7));
        assert_eq!(seen(&mut records, FlowId(9)), (1, 2, 1));
        assert_eq!(seen(&mut records, FlowId(7)), (0, 2, 1));
    }
}
