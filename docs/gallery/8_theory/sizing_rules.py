"""Rules for sizing a buffer, side by side.

What each published rule promises for the same link of 1 Gbit/s and 500 flows, and the buffer at which it reaches 98
%. They ask for very different things.
"""

import tailback as tb

answers = tb.size_buffer(target="98 %", rate="1 Gbps", base_rtt={"uniform": ["60 ms", "140 ms"]}, flows=500)
answers.plot().savefig("sizing_rules.svg")
