//! Settings of all data centre networks.

use super::disturbances::Disturbances;
use super::plan::{Plan, Style};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::queue::Queue;

record! {
    /// Links of switches and hosts.
    pub struct Fabric {
        /// Bit rate of each link, or a delivery trace.
        rate: LinkRate,
        /// One-way propagation delay of each link.
        delay: Duration,
        /// Queue of each switch port.
        queue: Queue,
        /// Bit rate of host links. Default: that of the other links.
        host_rate: Option<LinkRate>,
        /// One-way propagation delay of host links. Default: that of the other links.
        host_delay: Option<Duration>,
        /// Queue of each host, a device behind it. Default: 1000 packets at the host's own interface.
        host_queue: Option<Queue>,
    }
    with
    /// Impairments of every link.
    disturbances: Disturbances
}

impl Fabric {
    pub(super) fn queues(&self) -> Vec<(&'static str, &Queue)> {
        let hosts = self.host_queue.as_ref().map(|queue| ("host_queue", queue));
        [("queue", &self.queue)].into_iter().chain(hosts).collect()
    }

    /// Reports settings of hosts if there are none; `at` is the path of the generator.
    pub(super) fn check_hosts(&self, hosts: u64, at: &str, report: &mut Report) {
        if hosts > 0 || !report.is_valid(&format!("{at}.hosts")) {
            return;
        }
        let said = [
            ("host_rate", self.host_rate.is_some()),
            ("host_delay", self.host_delay.is_some()),
            ("host_queue", self.host_queue.is_some()),
        ];
        for (key, _) in said.iter().filter(|(_, is_given)| *is_given) {
            let problem = report.add(format!("{at}.{key}"), format!("`{key}` requires hosts"));
            problem.given("hosts = 0").expected(format!("`hosts` above 0, or no `{key}`"));
        }
    }

    /// A link between switches with this rate and delay.
    pub(super) fn with_queues(&self, rate: LinkRate, delay: Duration) -> Style {
        self.disturbances.of(Style::new(rate, delay, &self.queue).back("queue", &self.queue))
    }

    /// Links between switches.
    pub(super) fn between_switches(&self, plan: &mut Plan) -> usize {
        plan.style(self.with_queues(self.rate.clone(), self.delay))
    }

    /// Links from switches to hosts.
    pub(super) fn to_hosts(&self, plan: &mut Plan) -> usize {
        let rate = self.host_rate.as_ref().unwrap_or(&self.rate).clone();
        let delay = self.host_delay.unwrap_or(self.delay);
        let host_queue = self.host_queue.clone().unwrap_or_else(Queue::of_interface);
        plan.style(self.disturbances.of(Style::new(rate, delay, &self.queue).back("host_queue", &host_queue)))
    }
}
