"""Event numbers, hold codes and exit codes, and the words for them.

Sources: HTCondor's condor_utils/condor_event.h (event numbers) and condor_holdcodes.h (hold codes);
POSIX shells and signal(7), sysexits.h, CMSSW's EDMException.h and WMCore's WMExceptions.py (exits).
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from enum import IntEnum

__all__ = ["HOLD_CODES", "EventCode", "event_name", "exit_meaning", "exit_signal", "hold_name"]


class EventCode(IntEnum):
    """The number of each event of HTCondor's logs, and what it means in a few words."""

    words: str

    def __new__(cls, number: int, words: str) -> EventCode:
        """The event of that number."""
        one = int.__new__(cls, number)
        one._value_, one.words = number, words
        return one

    SUBMIT = 0, "job submitted"
    EXECUTE = 1, "job now running"
    EXECUTABLE_ERROR = 2, "error in executable"
    CHECKPOINTED = 3, "job was checkpointed"
    EVICTED = 4, "job evicted from machine"
    TERMINATED = 5, "job terminated"
    IMAGE_SIZE = 6, "image size of job updated"
    SHADOW_EXCEPTION = 7, "shadow threw an exception"
    GENERIC = 8, "generic Log Event"
    ABORTED = 9, "job Aborted"
    SUSPENDED = 10, "job was suspended"
    UNSUSPENDED = 11, "job was unsuspended"
    HELD = 12, "job was held"
    RELEASED = 13, "job was released"
    NODE_EXECUTE = 14, "parallel Node executed"
    NODE_TERMINATED = 15, "parallel Node terminated"
    POST_SCRIPT = 16, "POST script terminated"
    GLOBUS_SUBMIT = 17, "job Submitted to Globus"
    GLOBUS_SUBMIT_FAILED = 18, "Globus Submit failed"
    GLOBUS_RESOURCE_UP = 19, "Globus Resource Up"
    GLOBUS_RESOURCE_DOWN = 20, "Globus Resource Down"
    REMOTE_ERROR = 21, "remote Error"
    DISCONNECTED = 22, "RSC socket lost"
    RECONNECTED = 23, "RSC socket re-established"
    RECONNECT_FAILED = 24, "RSC reconnect failure"
    GRID_RESOURCE_UP = 25, "Grid Resource Up"
    GRID_RESOURCE_DOWN = 26, "Grid Resource Down"
    GRID_SUBMIT = 27, "job Submitted remotely"
    AD = 28, "report job ad information"
    STATUS_UNKNOWN = 29, "job Status Unknown"
    STATUS_KNOWN = 30, "job Status Known"
    STAGE_IN = 31, "job performing stage-in"
    STAGE_OUT = 32, "job performing stage-out"
    ATTRIBUTE_UPDATE = 33, "attribute updated"
    PRESKIP = 34, "PRE_SKIP event for DAGMan"
    CLUSTER_SUBMIT = 35, "cluster submitted"
    CLUSTER_REMOVE = 36, "cluster removed"
    FACTORY_PAUSED = 37, "factory paused"
    FACTORY_RESUMED = 38, "factory resumed"
    FILE_TRANSFER = 40, "file transfer"
    RESERVE_SPACE = 41, "reserve space for xfer"
    RELEASE_SPACE = 42, "release reserved space"
    FILE_COMPLETE = 43, "file xfer completed"
    FILE_USED = 44, "data reused"
    FILE_REMOVED = 45, "file removed from reuse"
    DATAFLOW_SKIPPED = 46, "dataflow job skipped"
    COMMON_FILES = 47, "Common Files (in)activity"


HOLD_CODES: Mapping[int, str] = {
    0: "Unspecified", 1: "UserRequest", 2: "GlobusGramError", 3: "JobPolicy",
    4: "CorruptedCredential", 5: "JobPolicyUndefined", 6: "FailedToCreateProcess",
    7: "UnableToOpenOutput", 8: "UnableToOpenInput", 9: "UnableToOpenOutputStream",
    10: "UnableToOpenInputStream", 11: "InvalidTransferAck", 12: "TransferOutputError",
    13: "TransferInputError", 14: "IwdError", 15: "SubmittedOnHold", 16: "SpoolingInput",
    17: "JobShadowMismatch", 18: "InvalidTransferGoAhead", 19: "HookPrepareJobFailure",
    20: "MissedDeferredExecutionTime", 21: "StartdHeldJob", 22: "UnableToInitUserLog",
    23: "FailedToAccessUserAccount", 24: "NoCompatibleShadow", 25: "InvalidCronSettings",
    26: "SystemPolicy", 27: "SystemPolicyUndefined", 28: "GlexecChownSandboxToUser",
    29: "PrivsepChownSandboxToUser", 30: "GlexecChownSandboxToCondor",
    31: "PrivsepChownSandboxToCondor", 32: "MaxTransferInputSizeExceeded",
    33: "MaxTransferOutputSizeExceeded", 34: "JobOutOfResources", 35: "InvalidDockerImage",
    36: "FailedToCheckpoint", 37: "EC2UserError", 38: "EC2InternalError", 39: "EC2AdminError",
    40: "EC2ConnectionProblem", 41: "EC2ServerError", 42: "EC2InstancePotentiallyLostError",
    43: "PreScriptFailed", 44: "PostScriptFailed", 45: "SingularityTestFailed",
    46: "JobDurationExceeded", 47: "JobExecuteExceeded", 48: "HookShadowPrepareJobFailure",
    49: "CannotSwitchPrimaryGroup",
    1000: "JobPolicyVacate", 1001: "SystemPolicyVacate", 1002: "ShadowException",
    1003: "JobNotStarted", 1004: "UserVacateJob", 1005: "JobShouldRequeue",
    1006: "FailedToActivateClaim", 1007: "StarterError", 1008: "ReconnectFailed",
    1009: "ClaimDeactivated", 1010: "StartdVacateCommand", 1011: "StartdPreemptExpression",
    1012: "StartdException", 1013: "StartdShutdown", 1014: "StartdDraining", 1015: "StartdCoalesce",
    1016: "StartdHibernate", 1017: "StartdReleaseCommand", 1018: "StartdPreemptingClaimRank",
    1019: "StartdPreemptingClaimUserPrio", 1020: "VMError", 1021: "ContainerError",
    1022: "ScheddVacate", 1023: "JobRemoved", 1024: "ScratchDirError", 1025: "SuccessfulCheckpoint",
    1026: "ActivationRefusedBadRequest", 1027: "ActivationRefusedNoMatch",
    1028: "ActivationRefusedStillCleaning", 1029: "ActivationRefusedWorklifeExpired",
    1030: "ActivationRefusedPreempted", 1031: "ActivationRefusedBroken",
    1032: "ActivationRefusedNotIdle", 1033: "ActivationRefusedUnclaimed",
    1034: "ActivationRefusedClaimNotFound", 1035: "ActivationRefusedOldClaim",
    1036: "ActivationRefusedUnhealthy", 1037: "StartdRehoming",
}  # fmt: skip
"""Hold codes, and from 1000 on vacate codes, by HTCondor's own names."""


_EXITS: Mapping[int, str] = {
    1: "any error; Python, Java and R exit so after an exception that nothing caught",
    2: "a wrong call or a script that is not there; Python's argparse and shells exit so",
    64: "wrong usage (sysexits.h)",
    66: "an input cannot be opened (sysexits.h)",
    69: "a service is unavailable (sysexits.h)",
    73: "an output cannot be created (sysexits.h)",
    74: "an error of input or output (sysexits.h)",
    75: "a passing failure, to be tried again (sysexits.h)",
    77: "permission denied (sysexits.h)",
    78: "a wrong configuration (sysexits.h)",
    85: "a checkpoint, where checkpoint_exit_code is 85",
    120: "Python could not write its last output: often a full disk",
    124: "the command timeout stopped it",
    125: "the container could not be started (docker, podman)",
    126: "a command is there but cannot be executed: permission, or no program of this machine's",
    127: "a command or a shared library is not found",
    255: "an exit with -1; ssh and Apptainer exit so when they themselves fail",
    50660: "WMCore stopped it for using too much memory (RSS)",
    50661: "WMCore stopped it for using too much virtual memory",
    50664: "WMCore stopped it for running too long",
}
_CMSSW: Mapping[int, str] = {
    7001: "configuration file not found", 7002: "configuration file not readable",
    8001: "an exception", 8002: "a C++ exception", 8004: "out of memory", 8006: "product not found",
    8009: "wrong configuration", 8020: "a file could not be opened", 8021: "a file could not be "
    "read", 8022: "a fatal error of ROOT", 8028: "a file could not be opened, nor its fallback",
    8030: "too much virtual memory", 8031: "too much memory", 8032: "too much time",
    8033: "a file could not be written",
}  # fmt: skip
_SIGNALS: Mapping[int, str] = {
    signal.SIGILL: "an instruction that the machine lacks: built for other processors",
    signal.SIGABRT: "it aborted itself: a failed assertion, an uncaught C++ exception, broken heap",
    signal.SIGBUS: "often a full disk or a full /dev/shm beneath a mapped file",
    signal.SIGFPE: "a division by zero or other wrong arithmetic",
    signal.SIGKILL: "killed from outside, most often for its memory or at a time limit",
    signal.SIGSEGV: "a segmentation fault, a bug of the program or its libraries",
    signal.SIGPIPE: "what read its output went away",
    signal.SIGTERM: "asked to stop from outside: by the batch system, a time limit or a person",
    signal.SIGXCPU: "its limit of processor time was reached",
    signal.SIGXFSZ: "it wrote a file larger than its limit",
}
_ACCESS_VIOLATION = (-0x3FFFFFFB, 0xC0000005)
"""How Windows reports a segmentation fault."""


def exit_signal(code: int) -> int | None:
    """The signal that an exit code stands for: 128 + n, as shells have it; None for others."""
    if code in _ACCESS_VIOLATION:
        return signal.SIGSEGV.value
    known = 128 < code < 160 and signal.strsignal(code - 128) is not None
    return code - 128 if known else None


def exit_meaning(code: int | None, number: int | None) -> str | None:
    """What an exit code, or else a signal's number, means; None where that is up to the program."""
    number = exit_signal(code) if code is not None else number
    if number is not None and number in {one.value for one in signal.Signals}:
        means = _SIGNALS.get(number, signal.strsignal(number))
        return f"{signal.Signals(number).name}: {means}"
    cmssw = [f"{text} ({full})" for full, text in _CMSSW.items() if code in (full, full % 256)]
    general = [text for known, text in _EXITS.items() if known == code]
    return "; ".join([*general, *(f"of CMSSW's cmsRun: {text}" for text in cmssw)]) or None


def event_name(code: int) -> str:
    """What an event number means, in a few words."""
    if 100 <= code <= 111:
        return "event of an execution point"
    found = EventCode._value2member_map_.get(code)
    return found.words if isinstance(found, EventCode) else "unknown event"


def hold_name(code: int) -> str:
    """HTCondor's name of a hold code."""
    return HOLD_CODES.get(code, "unknown code")
