"""Comparison of buffer sizing rules.

The utilisation that published rules predict for the same link of 1 Gbit/s and 500 flows, by buffer, and a dot where
they reach 98 %, which enachescu does not. Grey lines are rules that give a buffer and no utilisation. The results
range from ten packets to more than ten thousand.
"""

import tailback as tb

answers = tb.size_buffer(target="98 %", rate="1 Gbps", base_rtt={"uniform": ["60 ms", "140 ms"]}, flows=500)
answers.plot().savefig("sizing_rules.svg")
