"""Rules for sizing a buffer, side by side.

The utilisation that published rules promise for the same link of 1 Gbit/s and 500 flows, by buffer, and a dot where
they reach 98 %, which enachescu does not. Grey lines are rules that name a buffer and no utilisation. The answers lie
between ten packets and more than ten thousand.
"""

import tailback as tb

answers = tb.size_buffer(target="98 %", rate="1 Gbps", base_rtt={"uniform": ["60 ms", "140 ms"]}, flows=500)
answers.plot().savefig("sizing_rules.svg")
