// The methods of `offshoot api`, generated from docs/api.schema.json. docs/api.md says what they do.

/**
 * The number of an open session.
 */
export type SessionNumber = number;
export type SessionList =
  | SessionInfo[]
  | {
      sessions: SessionInfo[];
      diagnostics: Diagnostic[];
    };
/**
 * An entry: its id, a start of it, a label, @, @- or a time.
 */
export type EntryName = string;
export type Selection =
  | string
  | {
      turn: string;
    };

export interface ApiMethods {
  "rpc.discover": {
    params: {};
    result: {
      [k: string]: unknown;
    };
  };
  create: {
    params: {
      cwd?: string | null;
      sessionDir?: string | null;
      id?: string | null;
      parentSession?: string | null;
      durability?: ("os" | "data" | "full") | null;
    };
    result: Opened;
  };
  open: {
    params: {
      path: string;
      sessionDir?: string | null;
      cwd?: string | null;
      durability?: ("os" | "data" | "full") | null;
    };
    result: Opened;
  };
  continueRecent: {
    params: {
      cwd?: string | null;
      sessionDir?: string | null;
      durability?: ("os" | "data" | "full") | null;
    };
    result: Opened;
  };
  inMemory: {
    params: {
      cwd?: string | null;
      entries?:
        | {
            [k: string]: unknown;
          }[]
        | null;
      id?: string | null;
      parentSession?: string | null;
    };
    result: Opened;
  };
  forkFrom: {
    params: {
      sourcePath: string;
      targetCwd: string;
      sessionDir?: string | null;
      id?: string | null;
      name?: string | null;
      durability?: ("os" | "data" | "full") | null;
    };
    result: Opened;
  };
  newSession: {
    params: {
      session: SessionNumber;
      id?: string | null;
      parentSession?: string | null;
    };
    result: Opened;
  };
  close: {
    params: {
      session: SessionNumber;
    };
    result: null;
  };
  list: {
    params: {
      cwd?: string | null;
      sessionDir?: string | null;
      withDiagnostics?: boolean | null;
    };
    result: SessionList;
  };
  listAll: {
    params: {
      sessionDir?: string | null;
      withDiagnostics?: boolean | null;
    };
    result: SessionList;
  };
  findMostRecentSession: {
    params: {
      sessionDir?: string | null;
      cwd?: string | null;
    };
    result: string | null;
  };
  search: {
    params: {
      query: string;
      here?: boolean | null;
      number?: number | null;
      skip?: number | null;
      scan?: boolean | null;
    };
    result: SearchResult;
  };
  appendMessage: {
    params: {
      session: SessionNumber;
      message: Message;
    };
    result: Appended;
  };
  appendThinkingLevelChange: {
    params: {
      session: SessionNumber;
      thinkingLevel: string;
      configured?: unknown;
    };
    result: Appended;
  };
  appendModelChange: {
    params: {
      session: SessionNumber;
      provider?: string | null;
      modelId?: string | null;
      model?: string | null;
      role?: string | null;
    };
    result: Appended;
  };
  appendCompaction: {
    params: {
      session: SessionNumber;
      summary: string;
      firstKeptEntryId: string | null;
      tokensBefore: number;
      details?: unknown;
      fromHook?: boolean | null;
      usage?: unknown;
      shortSummary?: string | null;
      preserveData?: unknown;
      fromExtension?: boolean | null;
    };
    result: Appended;
  };
  appendCustomEntry: {
    params: {
      session: SessionNumber;
      customType: string;
      data?: unknown;
    };
    result: Appended;
  };
  appendCustomMessageEntry: {
    params: {
      session: SessionNumber;
      customType: string;
      content: unknown;
      display: boolean;
      details?: unknown;
      attribution?: string | null;
    };
    result: Appended;
  };
  appendLabelChange: {
    params: {
      session: SessionNumber;
      targetId: string;
      label?: string | null;
    };
    result: Appended;
  };
  appendSessionInfo: {
    params: {
      session: SessionNumber;
      name: string;
    };
    result: Appended;
  };
  appendUsage: {
    params: {
      session: SessionNumber;
      kind: string;
      provider: string;
      model: string;
      usage: unknown;
      note?: string | null;
    };
    result: Appended;
  };
  appendContextEdit: {
    params: {
      session: SessionNumber;
      targetId: string;
      replacement: unknown;
    };
    result: Appended;
  };
  appendSessionInit: {
    params: {
      session: SessionNumber;
      systemPrompt: string;
      task: unknown;
      tools: unknown;
      [k: string]: unknown;
    };
    result: Appended;
  };
  appendTtsrInjection: {
    params: {
      session: SessionNumber;
      injectedRules: unknown;
    };
    result: Appended;
  };
  appendModeChange: {
    params: {
      session: SessionNumber;
      mode: string;
      data?: unknown;
    };
    result: Appended;
  };
  appendServiceTierChange: {
    params: {
      session: SessionNumber;
      serviceTier: unknown;
    };
    result: Appended;
  };
  appendResetBoundary: {
    params: {
      session: SessionNumber;
    };
    result: Appended;
  };
  appendEntry: {
    params: {
      session: SessionNumber;
      entry: Entry;
    };
    result: Appended;
  };
  appendMessageToBranch: {
    params: {
      session: SessionNumber;
      message: Message;
      parentId: string | null;
    };
    result: Appended;
  };
  branch: {
    params: {
      session: SessionNumber;
      entryId: EntryName;
    };
    result: null;
  };
  branchWithSummary: {
    params: {
      session: SessionNumber;
      entryId: EntryName | null;
      summary: string;
      details?: unknown;
      fromHook?: boolean | null;
      usage?: unknown;
      fromExtension?: boolean | null;
    };
    result: Appended;
  };
  resetLeaf: {
    params: {
      session: SessionNumber;
    };
    result: null;
  };
  switch: {
    params: {
      session: SessionNumber;
      entryId: EntryName;
    };
    result: Appended;
  };
  createBranchedSession: {
    params: {
      session: SessionNumber;
      leafId: EntryName;
      name?: string | null;
    };
    result: string | null;
  };
  planPick: {
    params: {
      session: SessionNumber;
      selections: Selection[];
      from?: SessionNumber | null;
      onto?: EntryName | null;
      again?: boolean | null;
      settings?: boolean | null;
      state?: boolean | null;
      labels?: boolean | null;
    };
    result: PickPlan;
  };
  pick: {
    params: {
      session: SessionNumber;
      selections?: Selection[] | null;
      from?: SessionNumber | null;
      onto?: EntryName | null;
      again?: boolean | null;
      settings?: boolean | null;
      state?: boolean | null;
      labels?: boolean | null;
      plan?: number | null;
      force?: boolean | null;
    };
    result: Picked | null;
  };
  planMerge: {
    params: {
      session: SessionNumber;
      source: EntryName;
      from?: SessionNumber | null;
      onto?: EntryName | null;
      entries?: boolean | null;
      tokenBudget?: number | null;
    };
    result: MergePlan | PickPlan;
  };
  merge: {
    params: {
      session: SessionNumber;
      source?: EntryName | null;
      summary?: string | null;
      from?: SessionNumber | null;
      onto?: EntryName | null;
      entries?: boolean | null;
      tokenBudget?: number | null;
      plan?: number | null;
      force?: boolean | null;
    };
    result: (Merged | Picked) | null;
  };
  planUncompact: {
    params: {
      session: SessionNumber;
    };
    result: PickPlan | null;
  };
  uncompact: {
    params: {
      session: SessionNumber;
      plan?: number | null;
      force?: boolean | null;
    };
    result: Picked | null;
  };
  undo: {
    params: {
      session: SessionNumber;
      dryRun?: boolean | null;
    };
    result: Undone | null;
  };
  compare: {
    params: {
      session: SessionNumber;
      a: EntryName;
      b: EntryName;
      patch?: boolean | null;
    };
    result: Comparison;
  };
  forecast: {
    params: {
      session: SessionNumber;
      entryId?: EntryName | null;
    };
    result: Forecast;
  };
  giveBack: {
    params: {
      session: SessionNumber;
    };
    result: string[];
  };
  recreate: {
    params: {
      session: SessionNumber;
    };
    result: null;
  };
  getLeafId: {
    params: {
      session: SessionNumber;
    };
    result: string | null;
  };
  getLeafEntry: {
    params: {
      session: SessionNumber;
    };
    result: Entry | null;
  };
  findEntry: {
    params: {
      session: SessionNumber;
      entry: EntryName;
    };
    result: string | null;
  };
  getEntry: {
    params: {
      session: SessionNumber;
      id: string;
    };
    result: Entry | null;
  };
  getChildren: {
    params: {
      session: SessionNumber;
      parentId: string | null;
    };
    result: Entry[];
  };
  getBranch: {
    params: {
      session: SessionNumber;
      fromId?: string | null;
    };
    result: Entry[];
  };
  getTree: {
    params: {
      session: SessionNumber;
    };
    result: TreeNode[];
  };
  getEntries: {
    params: {
      session: SessionNumber;
    };
    result: Entry[];
  };
  getEntryCount: {
    params: {
      session: SessionNumber;
    };
    result: number;
  };
  getHeader: {
    params: {
      session: SessionNumber;
    };
    result: {
      [k: string]: unknown;
    };
  };
  getLabel: {
    params: {
      session: SessionNumber;
      id: string;
    };
    result: string | null;
  };
  getSessionName: {
    params: {
      session: SessionNumber;
    };
    result: string | null;
  };
  getSessionFile: {
    params: {
      session: SessionNumber;
    };
    result: string | null;
  };
  getSessionId: {
    params: {
      session: SessionNumber;
    };
    result: string;
  };
  getCwd: {
    params: {
      session: SessionNumber;
    };
    result: string;
  };
  getSessionDir: {
    params: {
      session: SessionNumber;
    };
    result: string | null;
  };
  isPersisted: {
    params: {
      session: SessionNumber;
    };
    result: boolean;
  };
  getDiagnostics: {
    params: {
      session: SessionNumber;
    };
    result: Diagnostic[];
  };
  prepareCompaction: {
    params: {
      session: SessionNumber;
      leafId?: EntryName | null;
      settings?: CompactionSettings | null;
    };
    result: CompactionPlan | null;
  };
  prepareBranchSummary: {
    params: {
      session: SessionNumber;
      targetId: EntryName | null;
      oldLeafId?: EntryName | null;
      tokenBudget?: number | null;
    };
    result: BranchPlan;
  };
  buildSessionContext: {
    params: {
      session?: SessionNumber | null;
      entries?:
        | {
            [k: string]: unknown;
          }[]
        | null;
      leafId?: EntryName | null;
    };
    result: Context;
  };
  parseSessionEntries: {
    params: {
      content: string;
    };
    result: unknown[];
  };
  migrateSessionEntries: {
    params: {
      entries: {
        [k: string]: unknown;
      }[];
    };
    result: {
      [k: string]: unknown;
    }[];
  };
  loadEntriesFromFile: {
    params: {
      path: string;
    };
    result: {
      [k: string]: unknown;
    }[];
  };
}
export interface Opened {
  session: SessionNumber;
  sessionId: string;
  sessionFile: string | null;
}
export interface SessionInfo {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSessionPath?: string;
  created: string;
  modified: string;
  messageCount: number;
  firstMessage: string;
  allMessagesText: string;
}
export interface Diagnostic {
  code: string;
  severity: "note" | "warning" | "error";
  line: number | null;
  offset: number | null;
  entryId: string | null;
  message: string;
}
export interface SearchResult {
  hits: {
    session: string;
    agent: string;
    path: string;
    entry: string | null;
    offset: number;
    kind: string;
    tool?: string;
    time: string | null;
    onPath: boolean;
    compacted: boolean;
    inside: boolean;
    error: boolean;
    title?: string;
    cwd?: string;
    snippet: string;
    ranges: number[][];
    alsoIn?: string[];
  }[];
  count: number;
  more: boolean;
  sessions: number;
  leftOut: number;
}
export interface Message {
  role: string;
  [k: string]: unknown;
}
export interface Appended {
  id: string | null;
  diagnostics?: Diagnostic[];
}
export interface Entry {
  type: string;
  [k: string]: unknown;
}
export interface PickPlan {
  ontoId: string | null;
  copies: {
    entryId: string;
    type: string;
    role?: string;
    tokens: number;
    added: boolean;
    gone: unknown;
  }[];
  leftOut: {
    entryId: string;
    reason: string;
    message: string;
  }[];
  alreadyHere: {
    entryId: string;
    hereId: string;
  }[];
  restatedModel: unknown;
  tokens: number;
  tokensBefore: number;
  bytes: number;
  imagesWrittenOut: number;
  readFiles: string[];
  modifiedFiles: string[];
  contextWindow: number | null;
  plan: number;
}
export interface Picked {
  operationId: string | null;
  entryIds: string[];
}
export interface MergePlan {
  ontoId: string | null;
  merged: {
    base: string | null;
    tip: string;
    session?: string;
  };
  entries: unknown;
  alreadyHere: unknown;
  isRepeated: boolean;
  tokens: number;
  tokensBefore: number;
  leftOut: unknown;
  readFiles: string[];
  modifiedFiles: string[];
  conversation: string;
  contextWindow: number | null;
  plan: number;
}
export interface Merged {
  id: string;
  summary: string;
}
export interface Undone {
  operation: unknown;
  from: string | null;
  to: string | null;
  id: string | null;
}
export interface Comparison {
  ancestorId: string | null;
  sides: {
    tipId: string;
    entries: number;
    turns: number;
    tokens: number;
    cost: number | null;
    oldest: string | null;
    newest: string | null;
    models: string[];
    readFiles: string[];
    modifiedFiles: string[];
    files: {
      path: string;
      reads: number;
      changes: number;
    }[];
    lastWords: string | null;
  }[];
  patches?: {
    path: string;
    patch: string | null;
  }[];
}
export interface Forecast {
  contextTokens: number;
  messageTokens: number;
  overheadTokens: number;
  cachedTokens: number | null;
  freshTokens: number | null;
  cacheExpiresInMs: number | null;
  costNow: number | null;
  costLater: number | null;
}
export interface TreeNode {
  entry: Entry;
  children: TreeNode[];
  label?: string;
  labelTimestamp?: string;
}
export interface CompactionSettings {
  enabled?: boolean;
  reserveTokens?: number;
  keepRecentTokens?: number;
}
export interface CompactionPlan {
  firstKeptEntryId: string | null;
  isSplitTurn: boolean;
  turnStartEntryId: string | null;
  tokensBefore: number;
  messageTokensBefore: number;
  tokensKept: number;
  previousCompactionId: string | null;
  previousSummary: string | null;
  messagesToSummarize: {
    entryId: string;
    role: string;
    tokens: number;
  }[];
  turnPrefixMessages: {
    entryId: string;
    role: string;
    tokens: number;
  }[];
  keptMessages: {
    entryId: string;
    role: string;
    tokens: number;
  }[];
  pinned: string[];
  readFiles: string[];
  modifiedFiles: string[];
  conversation: string;
  turnPrefixConversation: string;
  settings: CompactionSettings;
}
export interface BranchPlan {
  commonAncestorId: string | null;
  entries: string[];
  messages: {
    entryId: string;
    role: string;
    tokens: number;
  }[];
  totalTokens: number;
  leftOut: number;
  readFiles: string[];
  modifiedFiles: string[];
  conversation: string;
}
export interface Context {
  messages: Message[];
  thinkingLevel: string;
  [k: string]: unknown;
}
export interface ErrorData {
  kind: "notFound" | "ambiguous" | "conflict" | "locked" | "spilled" | "damaged" | "invalid" | "io" | "other";
  path?: string;
  line?: number;
  offset?: number;
  candidates?: string[];
  processes?: number[];
  spill?: string;
  ids?: string[];
}
