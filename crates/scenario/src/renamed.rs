//! Names that were changed before the first release. Deleted at 1.0.
//!
//! An old name is an error like any unknown one, and its hint gives the new name. One list serves keys and words of scenarios, arguments in
//! Python and columns of tables: a name counts as renamed only where its new name is valid.

/// Old and new name of each key, word, argument and column. An old name with several new ones has one entry for each.
pub const RENAMED: &[(&str, &str)] = &[
    // TCP and flows
    ("halves", "ssthresh_from"),
    ("counting", "ack_counting"),
    ("slow_start_limit", "abc_limit"),
    ("at_once", "quickack_segments"),
    ("marks_at_once", "ack_ce_immediately"),
    ("sack_timeout", "sack_compression"),
    ("in_recovery", "newreno_variant"),
    ("rtt", "propagation_rtt"),
    ("of", "reference_rate"),
    ("packet", "packet_size"),
    ("among", "nodes"),
    ("by", "offset"),
    // Controllers
    ("fastest", "max_rate"),
    ("slowest", "min_rate"),
    ("bandwidth_rounds", "btlbw_filter_len"),
    ("rtprop_lifetime", "rtprop_filter_len"),
    ("min_rtt_lifetime", "min_rtt_filter_len"),
    ("probe_rtt", "probe_rtt_duration"),
    ("window_gain", "cwnd_gain"),
    ("drain_again", "drain_interval"),
    ("alpha_return", "alpha_recovery_rate"),
    ("remembered_window", "lagged_window"),
    ("start_limit", "max_slow_start_increment"),
    ("own_rounds", "transition_rounds"),
    ("competes", "competitive_mode"),
    ("least_window", "min_cwnd"),
    ("most_window", "max_cwnd"),
    ("most_decrease", "max_mdf"),
    ("flow_least_window", "fs_min_cwnd"),
    ("flow_most_window", "fs_max_cwnd"),
    ("flow_range", "fs_range"),
    ("timeouts_to_reset", "retx_reset_threshold"),
    ("calm_completions", "hai_threshold"),
    ("calm_steps", "hai_factor"),
    ("outstanding", "max_outstanding"),
    // Queues and schedulers
    ("takes_others", "default"),
    ("reading", "variant"),
    ("active", "active_vcs"),
    ("lower", "lower_threshold"),
    ("upper", "upper_threshold"),
    ("lower", "min_threshold"),
    ("upper", "max_threshold"),
    ("counts", "queue_unit"),
    ("packet", "mean_packet_size"),
    ("burst", "max_burst"),
    ("max_marked", "max_mark_probability"),
    ("discarded", "dropped"),
    ("bdp_packet", "bdp_packet_size"),
    ("first_rtt", "initial_rtt"),
    ("first_share", "initial_share"),
    ("ramp_from", "l4s_min_threshold"),
    ("ramp", "l4s_range"),
    ("shift", "time_shift"),
    // Prices
    ("least", "min_price"),
    ("most", "max_price"),
    ("first_estimate", "initial_estimate"),
    ("least", "min"),
    ("most", "max"),
    ("way_back", "feedback"),
    // Topologies and recordings
    ("conversion", "wavelength_conversion"),
    ("flows_of_queues", "queue_flows"),
    ("law", "controller"),
    ("of", "flows"),
    // Arguments in Python
    ("beside", "compare"),
    ("span", "time_range"),
    ("played", "kernel_flows"),
    ("settings", "sysctls"),
    ("most_seeds", "max_seeds"),
    ("lanes", "jobs"),
    ("largest_cost", "max_cost"),
    ("largest_bps", "max_rate_bps"),
    ("smallest_bps", "min_rate_bps"),
    ("most_arrivals", "max_arrivals"),
    ("left_open", "assumptions"),
    ("levels", "reference_lines"),
    // Columns
    ("loss_share", "loss_rate"),
    ("discarded_units", "dropped_units"),
    ("discarded_full", "dropped_full"),
    ("discarded_early", "dropped_early"),
    ("discarded_late", "dropped_late"),
    ("discarded_partial", "dropped_partial"),
    ("discarded_single", "dropped_single"),
    ("discarded_random", "dropped_random"),
    ("discarded_listed", "dropped_listed"),
    ("discarded_policed", "dropped_policed"),
    ("discarded_packets", "dropped_packets"),
    ("discarded_s", "dropped_s"),
    ("beyond_range_packets", "clamped_packets"),
    ("what", "kind"),
];

/// The new name of an old one, if it is one of the valid `words`.
pub(crate) fn renamed<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    let new = |&&(old, new): &&(&str, &'static str)| old == given && words.contains(&new);
    let (_, new) = RENAMED.iter().find(new)?;
    words.iter().copied().find(|word| word == new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_gives_the_new_one_that_is_valid_there() {
        assert_eq!(renamed("lower", &["min_threshold", "max_threshold"]), Some("min_threshold"));
        assert_eq!(renamed("lower", &["lower_threshold", "upper_threshold"]), Some("lower_threshold"));
        assert_eq!(renamed("lower", &["target"]), None);
        assert_eq!(renamed("target", &["target"]), None);
    }

    #[test]
    fn no_entry_occurs_twice() {
        let mut entries: Vec<_> = RENAMED.to_vec();
        entries.sort_unstable();
        entries.dedup();
        assert_eq!(entries.len(), RENAMED.len());
    }
}
