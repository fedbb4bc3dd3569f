//! Settings that the networks of data centres have in common.

use super::{Disturbances, Plan, Style};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::Queue;

record! {
    /// Links of switches and hosts.
    pub struct Fabric {
        /// Bit rate of each link, or when it can send.
        rate: LinkRate,
        /// Propagation delay of each link, one way.
        delay: Duration,
        /// The queue of each port of each switch.
        queue: Queue,
        /// Bit rate of the links of hosts, if not that of the others.
        host_rate: Option<LinkRate>,
        /// Propagation delay of the links of hosts, one way, if not that of the others.
        host_delay: Option<Duration>,
        /// The queue of each host, in front of its link; unlimited if not given.
        host_queue: Option<Queue>,
    }
    with
    /// What every link does to packets.
    disturbances: Disturbances
}

impl Fabric {
    pub(super) fn queues(&self) -> Vec<(&'static str, &Queue)> {
        let hosts = self.host_queue.as_ref().map(|queue| ("host_queue", queue));
        [("queue", &self.queue)].into_iter().chain(hosts).collect()
    }

    /// Reports what is said of hosts where there are none. `at`: where the generator stands; it counts them by `hosts`.
    pub(super) fn check_hosts(&self, hosts: u64, at: &str, report: &mut Report) {
        if hosts > 0 || !report.sound(&format!("{at}.hosts")) {
            return;
        }
        let said = [
            ("host_rate", self.host_rate.is_some()),
            ("host_delay", self.host_delay.is_some()),
            ("host_queue", self.host_queue.is_some()),
        ];
        for (key, _) in said.iter().filter(|(_, is_given)| *is_given) {
            let problem = report.add(format!("{at}.{key}"), "there are no hosts whose links it would be of");
            problem.given("hosts = 0").expected(format!("`hosts` above 0, or no `{key}`"));
        }
    }

    /// Of that rate and delay, between switches.
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
        let host_queue = self.host_queue.clone().unwrap_or_default();
        plan.style(self.disturbances.of(Style::new(rate, delay, &self.queue).back("host_queue", &host_queue)))
    }
}
