//! TCP settings that the other settings of the same flows leave without effect.

use crate::problem::Report;
use crate::schema::Tcp;
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{Recovery, TcpSpec};

/// Warns of settings that differ from those of the preset and have no effect; `at` is the path of the TCP settings.
pub(super) fn check(given: &Tcp, spec: &TcpSpec, preset: &TcpSpec, at: &str, report: &mut Report) {
    let (timer, of_preset) = (&spec.timer, &preset.timer);
    let recovery = format!("`recovery` is `{}`", spec.recovery.word());
    let has_no_sack = (!spec.recovery.uses_sack()).then(|| recovery.clone());
    let has_no_rack = (spec.recovery != Recovery::RackTlp).then(|| recovery.clone());
    let handshake = spec.handshake.then(|| "`handshake` measures the RTT".to_string());
    let no_handshake = (!spec.handshake).then(|| "`handshake` is off".to_string());
    let no_ecn = (!spec.ecn).then(|| "`ecn` is off".to_string());
    let is_not_reno = (spec.recovery != Recovery::Reno).then(|| recovery.clone());
    let is_not_newreno = (spec.recovery != Recovery::NewReno).then_some(recovery);
    let tcp = [
        ("sack_blocks", spec.sack_blocks != preset.sack_blocks, &has_no_sack),
        ("sack_opens_window", spec.sack_opens_window != preset.sack_opens_window, &has_no_rack),
        ("limit_dsacks", spec.limit_dsacks != preset.limit_dsacks, &has_no_rack),
        ("cumulative_rack_rtt", spec.cumulative_rack_rtt != preset.cumulative_rack_rtt, &has_no_rack),
        ("retransmissions_by_min_rtt", spec.retransmissions_by_min_rtt != preset.retransmissions_by_min_rtt, &has_no_rack),
        ("f_rto_repeats", spec.f_rto_repeats != preset.f_rto_repeats, &has_no_rack),
        ("fast_recovery_after_timeout", spec.fast_recovery_after_timeout != preset.fast_recovery_after_timeout, &has_no_rack),
        ("timeout_keeps_reduction", spec.timeout_keeps_reduction != preset.timeout_keeps_reduction, &has_no_rack),
        ("new_data_ends_probe", spec.new_data_ends_probe != preset.new_data_ends_probe, &has_no_rack),
        ("reo_wnd_growth", spec.reo_wnd_growth != preset.reo_wnd_growth, &has_no_rack),
        (
            "avoid_multiple_fast_retransmits",
            spec.avoid_multiple_fast_retransmits != preset.avoid_multiple_fast_retransmits,
            &is_not_reno,
        ),
        ("established", spec.established != preset.established, &handshake),
        ("syn_options", spec.syn_options != preset.syn_options, &no_handshake),
        ("ecn_echo", spec.ecn_echo != preset.ecn_echo, &no_ecn),
        ("ecn_fallback", spec.ecn_fallback != preset.ecn_fallback, &no_handshake),
        ("syn_linear_timeouts", spec.syn_linear_timeouts != preset.syn_linear_timeouts, &no_handshake),
        ("syn_timeouts_to_reset", spec.syn_timeouts_to_reset != preset.syn_timeouts_to_reset, &no_handshake),
    ];
    let timer = [
        ("newreno_variant", timer.newreno_variant != of_preset.newreno_variant, &is_not_newreno),
        ("probe_margin", timer.probe_margin != of_preset.probe_margin, &has_no_rack),
        ("jiffy", timer.jiffy != of_preset.jiffy, &has_no_rack),
        ("after_pacing", timer.after_pacing != of_preset.after_pacing, &has_no_rack),
    ];
    let of_tcp = tcp.into_iter().filter(|(key, ..)| given.settings.has(key)).map(|setting| (String::new(), setting));
    let of_timer = timer.into_iter().filter(|(key, ..)| given.timer.settings.has(key)).map(|setting| ("timer.".into(), setting));
    for (table, (key, is_changed, reason)) in of_tcp.chain(of_timer) {
        let at = format!("{at}.{table}{key}");
        if let Some(reason) = reason.as_ref().filter(|_| is_changed && report.is_valid(&at)) {
            let problem = report.warn(at, format!("`{key}` has no effect: {reason}"));
            problem.expected(format!("no `{key}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn warnings(tcp: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"90 packets\"}}\n\
             [flows.web]\ntcp = {{{tcp}}}\n"
        );
        let (_, warnings) = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build_with_warnings()).unwrap();
        warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect()
    }

    #[test]
    fn settings_of_another_recovery_cause_one_warning_each() {
        let cases = [
            ("newreno", "sack_blocks = 4", "sack_blocks: `sack_blocks` has no effect: `recovery` is `newreno`"),
            ("sack", "timer = {jiffy = \"4 ms\"}", "timer.jiffy: `jiffy` has no effect: `recovery` is `sack`"),
            (
                "sack",
                "timer = {newreno_variant = \"slow_but_steady\"}",
                "timer.newreno_variant: `newreno_variant` has no effect: `recovery` is `sack`",
            ),
            ("sack", "syn_linear_timeouts = 4", "syn_linear_timeouts: `syn_linear_timeouts` has no effect: `handshake` is off"),
            ("sack", "ecn_echo = \"rfc8257\"", "ecn_echo: `ecn_echo` has no effect: `ecn` is off"),
            ("linux/cubic", "sack_blocks = 4, timer = {jiffy = \"10 ms\"}", ""),
            ("newreno", "sack_blocks = 3", ""),
        ];
        for (preset, setting, expected) in cases {
            let wanted: Vec<String> =
                Some(expected).filter(|text| !text.is_empty()).map(|text| format!("flows.web.tcp.{text}")).into_iter().collect();
            assert_eq!(warnings(&format!("preset = \"{preset}\", {setting}")), wanted, "{setting}");
        }
    }
}
