"""The shapes of `offshoot api`, generated from docs/api.schema.json. docs/api.md says what they are."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


class Message(TypedDict):
    role: str


class Entry(TypedDict):
    type: str


class Opened(TypedDict):
    session: SessionNumber
    sessionId: str
    sessionFile: Union[str, None]


class _Appended(TypedDict):
    id: Union[str, None]


class Appended(_Appended, total=False):
    diagnostics: List[Diagnostic]


class _TreeNode(TypedDict):
    entry: Entry
    children: List[TreeNode]


class TreeNode(_TreeNode, total=False):
    label: str
    labelTimestamp: str


class Context(TypedDict):
    messages: List[Message]
    thinkingLevel: str


class _SessionInfo(TypedDict):
    path: str
    id: str
    cwd: str
    created: str
    modified: str
    messageCount: int
    firstMessage: str
    allMessagesText: str


class SessionInfo(_SessionInfo, total=False):
    name: str
    parentSessionPath: str


class Diagnostic(TypedDict):
    code: str
    severity: Literal["note", "warning", "error"]
    line: Union[int, None]
    offset: Union[int, None]
    entryId: Union[str, None]
    message: str


class _PickPlanCopiesItem(TypedDict):
    entryId: str
    type: str
    tokens: int
    added: bool
    gone: Any


class PickPlanCopiesItem(_PickPlanCopiesItem, total=False):
    role: str


class PickPlanLeftOutItem(TypedDict):
    entryId: str
    reason: str
    message: str


class PickPlanAlreadyHereItem(TypedDict):
    entryId: str
    hereId: str


class PickPlan(TypedDict):
    ontoId: Union[str, None]
    copies: List[PickPlanCopiesItem]
    leftOut: List[PickPlanLeftOutItem]
    alreadyHere: List[PickPlanAlreadyHereItem]
    restatedModel: Any
    tokens: int
    tokensBefore: int
    bytes: int
    imagesWrittenOut: int
    readFiles: List[str]
    modifiedFiles: List[str]
    contextWindow: Union[int, None]
    plan: int


class _MergePlanMerged(TypedDict):
    base: Union[str, None]
    tip: str


class MergePlanMerged(_MergePlanMerged, total=False):
    session: str


class MergePlan(TypedDict):
    ontoId: Union[str, None]
    merged: MergePlanMerged
    entries: Any
    alreadyHere: Any
    isRepeated: bool
    tokens: int
    tokensBefore: int
    leftOut: Any
    readFiles: List[str]
    modifiedFiles: List[str]
    conversation: str
    contextWindow: Union[int, None]
    plan: int


class Picked(TypedDict):
    operationId: Union[str, None]
    entryIds: List[str]


class Merged(TypedDict):
    id: str
    summary: str


Undone = TypedDict("Undone", {"operation": Any, "from": Union[str, None], "to": Union[str, None], "id": Union[str, None]})


class ComparisonSidesItemFilesItem(TypedDict):
    path: str
    reads: int
    changes: int


class ComparisonSidesItem(TypedDict):
    tipId: str
    entries: int
    turns: int
    tokens: int
    cost: Union[float, None]
    oldest: Union[str, None]
    newest: Union[str, None]
    models: List[str]
    readFiles: List[str]
    modifiedFiles: List[str]
    files: List[ComparisonSidesItemFilesItem]
    lastWords: Union[str, None]


class ComparisonPatchesItem(TypedDict):
    path: str
    patch: Union[str, None]


class _Comparison(TypedDict):
    ancestorId: Union[str, None]
    sides: List[ComparisonSidesItem]


class Comparison(_Comparison, total=False):
    patches: List[ComparisonPatchesItem]


class Forecast(TypedDict):
    contextTokens: int
    messageTokens: int
    overheadTokens: int
    cachedTokens: Union[int, None]
    freshTokens: Union[int, None]
    cacheExpiresInMs: Union[float, None]
    costNow: Union[float, None]
    costLater: Union[float, None]


class _SearchResultHitsItem(TypedDict):
    session: str
    agent: str
    path: str
    entry: Union[str, None]
    offset: int
    kind: str
    time: Union[str, None]
    onPath: bool
    compacted: bool
    inside: bool
    error: bool
    snippet: str
    ranges: List[List[int]]


class SearchResultHitsItem(_SearchResultHitsItem, total=False):
    tool: str
    title: str
    cwd: str
    alsoIn: List[str]


class SearchResult(TypedDict):
    hits: List[SearchResultHitsItem]
    count: int
    more: bool
    sessions: int
    leftOut: int


class _CompactionSettings(TypedDict):
    pass


class CompactionSettings(_CompactionSettings, total=False):
    enabled: bool
    reserveTokens: int
    keepRecentTokens: int


class CompactionPlanMessagesToSummarizeItem(TypedDict):
    entryId: str
    role: str
    tokens: int


class CompactionPlanTurnPrefixMessagesItem(TypedDict):
    entryId: str
    role: str
    tokens: int


class CompactionPlanKeptMessagesItem(TypedDict):
    entryId: str
    role: str
    tokens: int


class CompactionPlan(TypedDict):
    firstKeptEntryId: Union[str, None]
    isSplitTurn: bool
    turnStartEntryId: Union[str, None]
    tokensBefore: int
    messageTokensBefore: int
    tokensKept: int
    previousCompactionId: Union[str, None]
    previousSummary: Union[str, None]
    messagesToSummarize: List[CompactionPlanMessagesToSummarizeItem]
    turnPrefixMessages: List[CompactionPlanTurnPrefixMessagesItem]
    keptMessages: List[CompactionPlanKeptMessagesItem]
    pinned: List[str]
    readFiles: List[str]
    modifiedFiles: List[str]
    conversation: str
    turnPrefixConversation: str
    settings: CompactionSettings


class BranchPlanMessagesItem(TypedDict):
    entryId: str
    role: str
    tokens: int


class BranchPlan(TypedDict):
    commonAncestorId: Union[str, None]
    entries: List[str]
    messages: List[BranchPlanMessagesItem]
    totalTokens: int
    leftOut: int
    readFiles: List[str]
    modifiedFiles: List[str]
    conversation: str


class _ErrorData(TypedDict):
    kind: Literal["notFound", "ambiguous", "conflict", "locked", "spilled", "damaged", "invalid", "io", "other"]


class ErrorData(_ErrorData, total=False):
    path: str
    line: int
    offset: int
    candidates: List[str]
    processes: List[int]
    spill: str
    ids: List[str]


SessionNumber = int


EntryName = str


class SessionList1(TypedDict):
    sessions: List[SessionInfo]
    diagnostics: List[Diagnostic]


SessionList = Union[List[SessionInfo], SessionList1]


class Selection1(TypedDict):
    turn: str


Selection = Union[str, Selection1]
