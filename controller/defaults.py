"""What the command line says before the controller is imported, which takes long.

How switches are talked to where nobody says otherwise, and what the commands are for.
"""

ABOUT = "Plan thresholds, and install routes, thresholds and ECN codepoints over P4Runtime."
"""Of `p4cc controller`."""

DEFAULT_TIMEOUT_S = 10.0
DEFAULT_ELECTION_ID = 1
