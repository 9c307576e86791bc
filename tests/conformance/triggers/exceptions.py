"""The recorded cases that stay different, with the reason (EMIT.md section 5)."""

from __future__ import annotations

FLINK = {
    "own_processing_tumbling_boundary": "a row behind its deadline fires in the same step here, at the next clock"
    " step in Flink",
    "own_evictor_session": "merged sessions keep the order of arrival here; Flink appends one buffer to the other",
    "own_timeout_session_merge": "refused when planned (EMIT-106); Flink throws at the merge",
    "own_script_fire_purge_codes": "its timers fire too: that needs USING TRIGGER with on_event_time",
}
