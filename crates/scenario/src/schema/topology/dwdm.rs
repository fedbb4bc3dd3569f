//! Edge routers and an optical switch with a trunk of wavelength channels.

use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan, Style};
use crate::problem::Report;
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::{Integer, Word};
use tailback_core::network::Switching;

record! {
    /// Edge routers and an optical switch with a trunk of wavelength channels.
    pub struct Dwdm {
        /// Number of edge routers and of links from them to the switch.
        inputs: Integer<1, 65536>,
        /// Number of wavelength channels of the trunk.
        transmitters: Integer<1, 65536>,
        /// Bit rate of each input link and of each channel.
        rate: Rate,
        /// One-way propagation delay of the trunk.
        delay: Duration = Duration::new(0),
        /// One-way propagation delay of each input link; cut-through switching requires more than 0.
        input_delay: Duration = Duration::new(0),
        /// Queue of the trunk: shared by all channels with wavelength conversion, otherwise one per channel.
        queue: Queue,
        /// Full wavelength conversion: packets may leave on any channel. Otherwise they keep their wavelength.
        wavelength_conversion: bool = true,
        /// Queue of each edge router. Default: unlimited.
        edge_queue: Option<Queue>,
        /// Switching mode: the queue receives a packet at its last bit (store and forward) or at its first (cut-through).
        switching: Word<Switching> = Word(Switching::StoreAndForward),
    }
}

impl Dwdm {
    /// Number of switches (one per wavelength without conversion), and channels of each.
    fn switches(&self) -> (u64, u64) {
        if self.wavelength_conversion { (1, self.transmitters.0) } else { (self.transmitters.0, 1) }
    }
}

impl Described for Dwdm {
    const NAMES: &str = "Edge routers `edge1`, `edge2`, ... with links `input1`, `input2`, ... to an optical switch, and a trunk of wavelength channels to `far`. With wavelength conversion there are one `switch` and one `trunk`; otherwise `switch1`, `trunk1`, `switch2`, ..., one per wavelength, to which edge routers are assigned in turn.";
    const COUNTS: &[&str] = &["inputs", "transmitters", "wavelength_conversion"];
    const EXAMPLE: &str = "inputs = 8\ntransmitters = 4\nrate = \"100 Mbps\"\nqueue = {buffer = \"2 packets\"}";
}

impl Generator for Dwdm {
    fn extent(&self) -> Extent {
        let links = u128::from(self.inputs.0) + u128::from(self.switches().0);
        Extent { nodes: links + 1, links }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let (inputs, channels) = (self.inputs.0, self.transmitters.0);
        if !self.wavelength_conversion && inputs < channels && report.is_valid(at) {
            let problem =
                report.add(format!("{at}.inputs"), "`inputs` is below the number of wavelengths, so that some are unused");
            problem.given(inputs.to_string()).expected(format!("at least {channels}, or `wavelength_conversion = true`"));
        }
        if self.wavelength_conversion && inputs <= channels {
            let message = "`inputs` does not exceed the number of channels: packets never wait or are lost at the trunk";
            let problem = report.warn(format!("{at}.inputs"), message);
            problem.given(inputs.to_string()).expected(format!("more than {channels}, the number of channels"));
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::between("edge*", "far")
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        let edges = self.edge_queue.as_ref().map(|queue| ("edge_queue", queue));
        [("queue", &self.queue)].into_iter().chain(edges).collect()
    }

    fn make(&self, plan: &mut Plan) {
        let (switches, channels) = self.switches();
        let numbered =
            |name: &str, number: u64| if self.wavelength_conversion { name.to_string() } else { format!("{name}{}", number + 1) };
        let mut trunk = Style::new(self.rate, self.delay, &self.queue);
        trunk.link.transmitters = Integer(channels);
        trunk.link.switching = self.switching;
        let trunk = plan.style(trunk);
        let edge_queue = self.edge_queue.clone().unwrap_or_default();
        let input = Style { queues: ["edge_queue"; 2], ..Style::new(self.rate, self.input_delay, &edge_queue) };
        let input = plan.style(input);
        let far = plan.router("far");
        let first = far + 1;
        for number in 0..switches {
            let switch = plan.router(numbered("switch", number));
            plan.link(numbered("trunk", number), (switch, far), trunk);
        }
        for number in 0..self.inputs.0 {
            let edge = plan.router(format!("edge{}", number + 1));
            plan.link(format!("input{}", number + 1), (edge, first + (number % switches) as usize), input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dwdm(inputs: u64, transmitters: u64, wavelength_conversion: bool) -> Plan {
        let mut plan = Plan::default();
        let dwdm =
            Dwdm { inputs: Integer(inputs), transmitters: Integer(transmitters), wavelength_conversion, ..Dwdm::default() };
        dwdm.make(&mut plan);
        assert_eq!(dwdm.extent(), Extent { nodes: plan.nodes.len() as u128, links: plan.links.len() as u128 });
        plan
    }

    fn ends(plan: &Plan) -> Vec<String> {
        let name = |node: usize| &plan.nodes[node].0;
        let channels = |style: usize| plan.styles[style].link.transmitters.0;
        let links = plan.links.iter();
        links.map(|link| format!("{}: {} to {}, {}", link.name, name(link.from), name(link.to), channels(link.style))).collect()
    }

    #[test]
    fn with_conversion_inputs_share_a_trunk() {
        let plan = dwdm(2, 4, true);
        assert_eq!(ends(&plan), ["trunk: switch to far, 4", "input1: edge1 to switch, 1", "input2: edge2 to switch, 1"]);
        assert_eq!(plan.nodes.len(), 4);
    }

    #[test]
    fn without_conversion_each_wavelength_is_a_trunk_of_its_own() {
        let plan = dwdm(3, 2, false);
        let inputs = ["input1: edge1 to switch1, 1", "input2: edge2 to switch2, 1", "input3: edge3 to switch1, 1"];
        assert_eq!(ends(&plan)[2..], inputs);
        assert_eq!(ends(&plan)[..2], ["trunk1: switch1 to far, 1", "trunk2: switch2 to far, 1"]);
    }
}
