"""All settings with defaults: sections in `shared`, `gathering`; their places in `loading`."""

from jobsight.settings.acting import ActingSettings, Mode
from jobsight.settings.gathering import (
    CollectSettings,
    CondorSettings,
    EventLogSettings,
    KafkaSettings,
    MachineSettings,
    SlurmSettings,
    StoreSettings,
)
from jobsight.settings.loading import Settings
from jobsight.settings.shared import (
    STATE_EVENTS,
    BoostedSettings,
    CheckSettings,
    Costs,
    FrameSettings,
    LstmSettings,
    ProgramSettings,
    QuestionSettings,
    ServeSettings,
)

__all__ = [
    "STATE_EVENTS",
    "ActingSettings",
    "BoostedSettings",
    "CheckSettings",
    "CollectSettings",
    "CondorSettings",
    "Costs",
    "EventLogSettings",
    "FrameSettings",
    "KafkaSettings",
    "LstmSettings",
    "MachineSettings",
    "Mode",
    "ProgramSettings",
    "QuestionSettings",
    "ServeSettings",
    "Settings",
    "SlurmSettings",
    "StoreSettings",
]
