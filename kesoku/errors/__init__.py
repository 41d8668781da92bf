"""The error tree of Kesoku: every failure that a caller may want to tell apart, each with its own fields.

    KesokuError
    ├── MessageError            a value that cannot exist
    ├── StoreError              the database
    ├── GatewayError            the lifecycle of a message
    ├── ConfigError             what someone wrote into the config (exit code 78)
    ├── ModelError              a chat model did not answer
    ├── ToolError               a tool call that cannot run; becomes a result, never a crash
    ├── RenderError             a reply that cannot be turned into something sendable
    ├── PluginError             an extension that does not load
    └── DeliveryError           a platform did not take a message

A leaf takes the facts as fields and builds its own sentence: what happened, where, what to do. Callers read the fields
and never parse the text. Texts of errors contain no secret.
"""

from kesoku.errors.config import ConfigError, ConfigInvalid, ConfigMissing, LogUnwritable, NoSuchSession, NothingToServe
from kesoku.errors.delivery import Ambiguous, DeliveryConflict, DeliveryError, Hold, LoginNeeded, Refused, RetryLater
from kesoku.errors.gateway import (
    Deposed,
    DuplicateMessage,
    GatewayError,
    RunDirectoryUnusable,
    ServedElsewhere,
    TransitionRefused,
    UnknownMessage,
    VersionConflict,
)
from kesoku.errors.message import (
    AlreadyAnswered,
    AmbiguousRow,
    IdentityGiven,
    IdentityMissing,
    InvalidParty,
    MessageError,
    SelectionInvalid,
    UnknownKind,
)
from kesoku.errors.model import (
    ModelAccessDenied,
    ModelError,
    ModelInputTooLong,
    ModelKeyMissing,
    ModelKeyRejected,
    ModelLoginMissing,
    ModelNotFound,
    ModelProjectMissing,
    ModelRateLimited,
    ModelReferenceRefused,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
    ModelUnknown,
)
from kesoku.errors.plugin import PluginBroken, PluginConflict, PluginError, PluginUnknown
from kesoku.errors.render import LimitTooSmall, PathRefused, RenderError, TimeNaive, ZoneUnknown
from kesoku.errors.root import KesokuError
from kesoku.errors.store import (
    NotStorable,
    StoreClosed,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreOutdated,
    StoreReadOnly,
    StoreUnreachable,
)
from kesoku.errors.tool import (
    ToolArguments,
    ToolDuplicate,
    ToolError,
    ToolMalformed,
    ToolRefused,
    ToolReturn,
    ToolTimeout,
    ToolUnknown,
)

__all__ = [
    "AlreadyAnswered",
    "Ambiguous",
    "AmbiguousRow",
    "ConfigError",
    "ConfigInvalid",
    "ConfigMissing",
    "DeliveryConflict",
    "DeliveryError",
    "Deposed",
    "DuplicateMessage",
    "GatewayError",
    "Hold",
    "IdentityGiven",
    "IdentityMissing",
    "InvalidParty",
    "KesokuError",
    "LimitTooSmall",
    "LogUnwritable",
    "LoginNeeded",
    "MessageError",
    "ModelAccessDenied",
    "ModelError",
    "ModelInputTooLong",
    "ModelKeyMissing",
    "ModelKeyRejected",
    "ModelLoginMissing",
    "ModelNotFound",
    "ModelProjectMissing",
    "ModelRateLimited",
    "ModelReferenceRefused",
    "ModelRequestRefused",
    "ModelStreamBroken",
    "ModelTimeout",
    "ModelUnavailable",
    "ModelUnknown",
    "NoSuchSession",
    "NotStorable",
    "NothingToServe",
    "PathRefused",
    "PluginBroken",
    "PluginConflict",
    "PluginError",
    "PluginUnknown",
    "Refused",
    "RenderError",
    "RetryLater",
    "RunDirectoryUnusable",
    "SelectionInvalid",
    "ServedElsewhere",
    "StoreClosed",
    "StoreConflict",
    "StoreCorrupt",
    "StoreError",
    "StoreFailed",
    "StoreForeign",
    "StoreFull",
    "StoreLocked",
    "StoreNewer",
    "StoreOutdated",
    "StoreReadOnly",
    "StoreUnreachable",
    "TimeNaive",
    "ToolArguments",
    "ToolDuplicate",
    "ToolError",
    "ToolMalformed",
    "ToolRefused",
    "ToolReturn",
    "ToolTimeout",
    "ToolUnknown",
    "TransitionRefused",
    "UnknownKind",
    "UnknownMessage",
    "VersionConflict",
    "ZoneUnknown",
]
