"""All settings with defaults: sections in `questions`, `gathering`; their places in `loading`."""

from jobsight.settings.gathering import (
    CollectSettings,
    CondorSettings,
    EventLogSettings,
    KafkaSettings,
    SlurmSettings,
    StoreSettings,
)
from jobsight.settings.loading import Settings
from jobsight.settings.questions import (
    STATE_EVENTS,
    Costs,
    FrameSettings,
    HoldSettings,
    LstmSettings,
)

__all__ = [
    "STATE_EVENTS",
    "CollectSettings",
    "CondorSettings",
    "Costs",
    "EventLogSettings",
    "FrameSettings",
    "HoldSettings",
    "KafkaSettings",
    "LstmSettings",
    "Settings",
    "SlurmSettings",
    "StoreSettings",
]
