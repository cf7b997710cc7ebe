// The lines of `offshoot --mode rpc`, generated from rpc.schema.json. docs/rpc.md says what they do.

/**
 * A command, with the id that its response has.
 */
export type RpcRequest = {
  /**
   * Any JSON value.
   */
  id?: string | number | boolean | {} | unknown[] | null;
} & RpcRequest1;
export type RpcRequest1 =
  | {
      type: "prompt";
      message: string;
      images?: PictureInput[];
      streamingBehavior?: StreamingBehavior;
    }
  | {
      type: "steer";
      message: string;
      images?: PictureInput[];
    }
  | {
      type: "follow_up";
      message: string;
      images?: PictureInput[];
    }
  | {
      type: "abort";
    }
  | {
      type: "clear_queue";
    }
  | {
      type: "new_session";
      parentSession?: string;
    }
  | {
      type: "get_state";
    }
  | {
      type: "get_messages";
    }
  | {
      type: "set_model";
      provider: string;
      modelId: string;
    }
  | {
      type: "cycle_model";
    }
  | {
      type: "get_available_models";
    }
  | {
      type: "set_thinking_level";
      level: string;
    }
  | {
      type: "cycle_thinking_level";
    }
  | {
      type: "get_available_thinking_levels";
    }
  | {
      type: "set_steering_mode";
      mode: QueueModeData;
    }
  | {
      type: "set_follow_up_mode";
      mode: QueueModeData;
    }
  | {
      type: "compact";
      customInstructions?: string;
    }
  | {
      type: "set_auto_compaction";
      enabled: boolean;
    }
  | {
      type: "set_auto_retry";
      enabled: boolean;
    }
  | {
      type: "abort_retry";
    }
  | {
      type: "bash";
      command: string;
      excludeFromContext?: boolean;
    }
  | {
      type: "abort_bash";
    }
  | {
      type: "get_session_stats";
    }
  | {
      type: "export_html";
      outputPath?: string;
    }
  | {
      type: "switch_session";
      sessionPath: string;
      /**
       * The folder to work in, if the session's is elsewhere: that one or the one of the start.
       */
      sessionFolder?: string;
    }
  | {
      type: "fork";
      entryId: string;
      /**
       * Whether the files as they were before the message come along.
       */
      files?: boolean;
      acrossCommits?: boolean;
    }
  | {
      type: "clone";
    }
  | {
      type: "get_fork_messages";
    }
  | {
      type: "get_entries";
      since?: string;
    }
  | {
      type: "get_tree";
    }
  | {
      type: "get_last_assistant_text";
    }
  | {
      type: "set_session_name";
      name: string;
    }
  | {
      type: "get_commands";
    }
  | {
      type: "get_schema";
    }
  | {
      type: "list_sessions";
      all?: boolean;
    }
  | {
      type: "get_branches";
    }
  | {
      type: "navigate_tree";
      targetId: string;
      summarize?: boolean;
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
      /**
       * Whether the files of the entry come back.
       */
      files?: boolean;
      /**
       * Also if git has another commit checked out than when they were recorded.
       */
      acrossCommits?: boolean;
    }
  | {
      type: "set_label";
      entryId: string;
      label?: string;
    }
  | {
      type: "pick";
      /**
       * Entries, or ranges A..B.
       */
      selections: string[];
      /**
       * Whether changes of files come along.
       */
      files?: boolean;
    }
  | {
      type: "merge";
      entryId: string;
      customInstructions?: string;
      files?: boolean;
    }
  | {
      type: "undo";
      files?: boolean;
      acrossCommits?: boolean;
    }
  | {
      type: "uncompact";
    }
  | {
      type: "compare";
      a: string;
      b: string;
      patch?: boolean;
    }
  | {
      type: "forecast";
      entryId?: string;
    }
  | {
      type: "subscribe";
      /**
       * The types of the events that are sent; all without it.
       */
      events?: string[];
      /**
       * Whether the client answers `approval_request` with `approve`.
       */
      approvals?: boolean;
      /**
       * Whether it answers `extension_ui_request`.
       */
      ui?: boolean;
      /**
       * Milliseconds after which a question that is not answered is refused; never without it.
       */
      uiTimeout?: number;
      /**
       * Whether the events of children come too, each with the child's id as `agent`.
       */
      children?: boolean;
    }
  | {
      type: "approve";
      requestId: number;
      decision: ApprovalDecision;
      message?: string;
      /**
       * One of the rules that the question offers, for `allow_session` and `allow_always`; the narrowest without it.
       */
      rule?: string;
      scope?: ApprovalScope;
    }
  | {
      type: "answer";
      requestId: number;
      answer: FormAnswer;
    }
  | {
      type: "stop_background";
      commandId?: string;
    }
  | {
      type: "get_children";
    }
  | {
      type: "steer_child";
      childId: string;
      message: string;
    }
  | {
      type: "follow_up_child";
      childId: string;
      message: string;
    }
  | {
      type: "stop_child";
      childId: string;
    }
  | {
      type: "set_approval";
      mode: ApprovalModeInput;
    }
  | {
      type: "list";
      /**
       * List the sessions of every folder
       */
      all?: boolean;
      /**
       * List the sessions of this folder instead
       */
      cwd?: string;
      /**
       * List the sessions of this program only, or of every agent
       */
      agent?:
        | "offshoot"
        | "pi"
        | "omp"
        | "claude"
        | "codex"
        | "opencode"
        | "gemini"
        | "goose"
        | "crush"
        | "copilot"
        | "cursor"
        | "aider"
        | "all";
      /**
       * List sessions with activity since then: an age such as 2h, 3d, 1w, or a date
       */
      since?: string;
      /**
       * List the first N sessions only
       */
      number?: number;
      /**
       * Sort by this key, largest or latest first
       */
      sort?: "activity" | "created" | "messages" | "tokens" | "cost";
      /**
       * List the agents that each session has started below it
       */
      children?: boolean;
      /**
       * With --json: add the text of all messages, for searching
       */
      text?: boolean;
    }
  | {
      type: "search";
      /**
       * Words that were said, and filters
       */
      query?: string[];
      /**
       * Search only the sessions of this folder
       */
      here?: boolean;
      /**
       * Show at most N hits
       */
      number?: number;
      /**
       * Pass over the first N hits
       */
      skip?: number;
      /**
       * Read every session instead of the index
       */
      scan?: boolean;
      /**
       * Make the index anew first
       */
      rebuild?: boolean;
      /**
       * Say what the index has, and search nothing
       */
      status?: boolean;
    }
  | {
      type: "show";
      /**
       * Show the branch up to this entry instead of the current branch
       */
      at?: string;
      /**
       * Show name, place, times, branches and cost instead of the transcript
       */
      summary?: boolean;
    }
  | {
      type: "tree";
    }
  | {
      type: "branches";
      /**
       * Only branches with messages that the current one lacks
       */
      unmerged?: boolean;
    }
  | {
      type: "context";
      /**
       * Show the context at this entry instead of the current one
       */
      at?: string;
      /**
       * Print JSON, with messages as a model takes them
       */
      llm?: boolean;
      /**
       * Show the number of tokens of each message
       */
      tokens?: boolean;
      /**
       * Show what fills the model's window, part by part, and what `compact` would free
       */
      window?: boolean;
    }
  | {
      type: "switch";
      /**
       * An id or its unique start, a label, `@`, `@-`, or a time such as 2h
       */
      entry: string;
      /**
       * Summarise the branch that is left
       */
      summarize?: boolean;
      /**
       * Bring back the files of the entry, too
       */
      files?: boolean;
      /**
       * Bring files also if git has another commit checked out than when they were recorded
       */
      acrossCommits?: boolean;
    }
  | {
      type: "pop";
      /**
       * An id or its unique start, a label, `@`, `@-`, or a time such as 2h
       */
      entry?: string;
      /**
       * The summary, in your words
       */
      summary?: string;
      /**
       * Have the summary written (this is the default)
       */
      summarize?: boolean;
      /**
       * Bring back the files of the entry, too
       */
      files?: boolean;
      /**
       * Bring files also if git has another commit checked out than when they were recorded
       */
      acrossCommits?: boolean;
    }
  | {
      type: "label";
      /**
       * An id or its unique start, a label, `@`, `@-`, or a time such as 2h
       */
      entry: string;
      /**
       * The new label
       */
      text?: string;
      /**
       * Remove the label
       */
      clear?: boolean;
    }
  | {
      type: "name";
      /**
       * The name
       */
      text: string;
    }
  | {
      type: "todo";
      /**
       * What is done to a task; without it the list is shown
       */
      change?: "add" | "start" | "done" | "drop" | "block" | "unblock" | "rm" | "clear";
      /**
       * The task: its text, or a part that no other has
       */
      text?: string;
    }
  | {
      type: "import";
      /**
       * The session file; of another agent also its id or a unique start of it
       */
      file?: string;
      /**
       * Import every session of other agents
       */
      all?: boolean;
      /**
       * Those of this agent only
       */
      agent?:
        | "offshoot"
        | "pi"
        | "omp"
        | "claude"
        | "codex"
        | "opencode"
        | "gemini"
        | "goose"
        | "crush"
        | "copilot"
        | "cursor"
        | "aider"
        | "all";
      /**
       * Those with activity since then: an age such as 2h, 3d, 1w, or a date
       */
      since?: string;
      /**
       * Those of this working directory only
       */
      cwd?: string;
      /**
       * List what has no place in the tree
       */
      report?: boolean;
      /**
       * Of another agent: take an entry that may still grow as it is
       */
      now?: boolean;
      /**
       * Of another agent: rebuild the source from the import, and compare
       */
      verify?: boolean;
    }
  | {
      type: "models";
      /**
       * Words that the provider, id or name contains
       */
      search?: string[];
      /**
       * Only models of this provider
       */
      provider?: string;
      /**
       * Also models that cannot be asked, where neither words nor a provider are given
       */
      all?: boolean;
      /**
       * Looks for servers on this machine, and lists their models
       */
      local?: boolean;
    }
  | {
      type: "check";
      /**
       * Paths of files and folders, ids, names, or `latest`
       */
      session: string[];
      /**
       * Also list the files of a folder in which nothing is odd
       */
      verbose?: boolean;
    };
/**
 * What a message does that comes while the agent works.
 */
export type StreamingBehavior = "steer" | "followUp";
/**
 * How many of the messages that wait are delivered at once.
 */
export type QueueModeData = "all" | "one-at-a-time";
/**
 * An answer to the question whether a call may run.
 */
export type ApprovalDecision = "allow_once" | "allow_session" | "allow_always" | "once_unsandboxed" | "reject";
/**
 * For how long, and where, a rule lets calls run.
 */
export type ApprovalScope = "session" | "project" | "everywhere";
/**
 * What came of a form.
 */
export type FormAnswer =
  | {
      action: "send";
      answers: {
        [k: string]: FieldAnswer;
      };
    }
  | {
      action: "decline";
    }
  | {
      action: "cancel";
    };
export type ApprovalModeInput = "auto" | "edits" | "ask" | "read-only" | "plan";
export type RpcResponse = RpcSuccess | RpcRefusal;
export type Event =
  | {
      type: "agent_start";
    }
  | {
      type: "agent_end";
      /**
       * The messages of the run, oldest first.
       */
      messages: Message[];
      /**
       * Whether the failed request will be sent again.
       */
      willRetry: boolean;
    }
  | {
      type: "agent_settled";
      /**
       * Whether the user stopped it.
       */
      aborted: boolean;
    }
  | {
      type: "turn_start";
    }
  | {
      type: "turn_end";
      message: Message;
      /**
       * In the order of the calls.
       */
      toolResults: Message[];
    }
  | {
      type: "message_start";
      message: Message;
    }
  | {
      type: "message_update";
      usage: Usage;
      assistantMessageEvent: Update;
    }
  | {
      type: "message_end";
      message: Message;
    }
  | {
      type: "message_start";
      message: {
        role: "system";
        [k: string]: unknown;
      };
    }
  | {
      type: "message_end";
      message: {
        role: "system";
        [k: string]: unknown;
      };
    }
  | {
      type: "tool_execution_start";
      toolCallId: string;
      toolName: string;
      args: unknown;
    }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: unknown;
      partialResult: ShownResult;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: ShownResult;
      isError: boolean;
    }
  | {
      type: "bash_execution_update";
      /**
       * The output since the last update, cut to its end if long.
       */
      delta: string;
      /**
       * Bytes left out before `delta`. offshoot's own.
       */
      omitted?: number;
      id?: string | number | boolean | {} | unknown[] | null;
    }
  | {
      type: "queue_update";
      /**
       * For after the current turn.
       */
      steering: string[];
      /**
       * For when the agent would stop.
       */
      followUp: string[];
    }
  | {
      type: "auto_retry_start";
      /**
       * From 1.
       */
      attempt: number;
      maxAttempts: number;
      delayMs: number;
      errorMessage: string;
    }
  | {
      type: "auto_retry_end";
      /**
       * Whether a retry succeeded.
       */
      success: boolean;
      attempt: number;
      finalError?: string;
    }
  | {
      type: "summarization_retry_scheduled";
      /**
       * From 1.
       */
      attempt: number;
      maxAttempts: number;
      delayMs: number;
      errorMessage: string;
    }
  | {
      type: "summarization_retry_attempt_start";
      source: SummarySource;
      reason?: Reason;
    }
  | {
      type: "summarization_retry_finished";
    }
  | {
      type: "summarization_update";
      /**
       * An estimate of all tokens so far, of thoughts too.
       */
      tokens: number;
    }
  | {
      type: "compaction_start";
      reason: Reason;
    }
  | {
      type: "compaction_end";
      reason: Reason;
      result?: CompactionResult;
      aborted: boolean;
      /**
       * Whether the request that was too long is sent again.
       */
      willRetry: boolean;
      /**
       * Beside a `result`: why the summary was written without the model.
       */
      errorMessage?: string;
    }
  | {
      type: "entry_appended";
      entry: {
        [k: string]: unknown;
      };
    }
  | {
      type: "session_info_changed";
      /**
       * Missing if it was cleared.
       */
      name?: string;
    }
  | {
      type: "thinking_level_changed";
      /**
       * A thinking level, from least to most.
       */
      level: ("off" | "minimal" | "low" | "medium" | "high") | "xhigh" | "max";
    }
  | {
      type: "approval_mode_changed";
      mode: ApprovalMode;
    }
  | {
      type: "session_changed";
      /**
       * Why another session is open, or the same one at another entry.
       */
      reason: ("new" | "resume" | "fork") | "tree";
      sessionId: string;
      sessionFile?: string;
      /**
       * The current entry at that moment; later events are about entries below it. offshoot's own.
       */
      leafId?: string;
    }
  | {
      type: "session_shutdown";
      /**
       * Why an agent ends.
       */
      reason: "quit";
    }
  | {
      type: "approval_request";
      id: number;
      toolCallId: string;
      toolName: string;
      args: unknown;
      /**
       * What a call that somebody is asked about would do.
       */
      tier: "read" | "write" | "exec" | "net";
      /**
       * Why somebody is asked, as a clause.
       */
      reason: string;
      /**
       * The change of a file, as numbered lines, if it can be foretold.
       */
      diff?: string;
      /**
       * The rule of `allow_session` and `allow_always`.
       */
      rule?: string;
      /**
       * The rules among which `approve` may choose, the narrowest first.
       *
       * Items: A rule that a question offers.
       */
      rules?: {
        /**
         * As settings have it.
         */
        rule: string;
        /**
         * What it lets run, in words.
         */
        allows: string;
      }[];
      options: ApprovalDecision[];
      /**
       * How many calls of the answer come after this one.
       */
      waiting: number;
    }
  | {
      type: "approval_end";
      /**
       * The question's.
       */
      id?: number;
      toolCallId: string;
      decision: ApprovalOutcome;
      by: ApprovedBy;
      rule?: string;
      scope?: ApprovalScope;
    }
  | {
      type: "question_request";
      /**
       * Names the answer.
       */
      id: number;
      form: Form;
    }
  | {
      type: "question_end";
      id: number;
    }
  | {
      type: "child_start";
      child: ChildState;
    }
  | {
      type: "child_update";
      child: ChildState;
    }
  | {
      type: "child_end";
      child: ChildState;
    }
  | {
      type: "background_commands";
      commands: BackgroundCommand[];
    }
  | {
      type: "failed";
      error: string;
    }
  | {
      type: "notice";
      /**
       * As of a diagnostic.
       */
      code: string;
      message: string;
      entryId?: string;
    };
/**
 * A message of the conversation. Cloning copies nothing.
 */
export type Message =
  | {
      role: "user";
      content: Content;
      /**
       * Milliseconds since 1970.
       */
      timestamp: number;
    }
  | {
      role: "assistant";
      content: Block[];
      /**
       * The wire format, such as `anthropic-messages`.
       */
      api: string;
      provider: string;
      model: string;
      responseId?: string;
      usage: Usage;
      stopReason: StopReason;
      /**
       * In the provider's words.
       */
      errorMessage?: string;
      /**
       * Milliseconds since 1970.
       */
      timestamp: number;
    }
  | {
      role: "toolResult";
      toolCallId: string;
      toolName: string;
      content: Block[];
      /**
       * For people and renderers; the model does not see it.
       */
      details?: {
        [k: string]: unknown;
      };
      isError: boolean;
      /**
       * The calls that the tool itself has made, in pi's shape. The model does not see them.
       */
      nestedCalls?: {
        [k: string]: unknown;
      };
      /**
       * Milliseconds since 1970.
       */
      timestamp: number;
    }
  | {
      role: "custom";
      /**
       * Names its kind; renderers go by it.
       */
      customType: string;
      content: Content;
      /**
       * Whether people see it.
       */
      display: boolean;
      /**
       * For renderers; the model does not see it.
       */
      details?: {
        [k: string]: unknown;
      };
      /**
       * Milliseconds since 1970.
       */
      timestamp: number;
    };
export type Content = string | Block[];
export type Block =
  | {
      type: "text";
      text: string;
      /**
       * The provider's signature.
       */
      textSignature?: string;
    }
  | {
      type: "thinking";
      /**
       * Empty if redacted.
       */
      thinking: string;
      /**
       * The provider's signature, or the encrypted thought.
       */
      thinkingSignature?: string;
      /**
       * Whether the provider hides the thought.
       */
      redacted?: boolean;
    }
  | {
      type: "image";
      /**
       * Base64.
       */
      data: string;
      /**
       * Such as `image/png`.
       */
      mimeType: string;
    }
  | {
      type: "toolCall";
      /**
       * The provider's id.
       */
      id: string;
      name: string;
      /**
       * A JSON object.
       */
      arguments: {
        [k: string]: unknown;
      };
      /**
       * Why the text that the model gave as arguments is none, with that text. The call is never run.
       */
      argumentsError?: string;
      /**
       * The provider's signature of the thought before the call.
       */
      thoughtSignature?: string;
    };
export type StopReason = ("stop" | "toolUse") | "pending" | "length" | "error" | "aborted";
/**
 * A step of a streaming answer. `contentIndex` is the index of its block.
 */
export type Update =
  | {
      type: "text_start";
      contentIndex: number;
    }
  | {
      type: "text_delta";
      contentIndex: number;
      delta: string;
    }
  | {
      type: "text_end";
      contentIndex: number;
      content: string;
    }
  | {
      type: "thinking_start";
      contentIndex: number;
    }
  | {
      type: "thinking_delta";
      contentIndex: number;
      delta: string;
    }
  | {
      type: "thinking_end";
      contentIndex: number;
      content: string;
    }
  | {
      type: "toolcall_start";
      contentIndex: number;
      id: string;
      toolName: string;
    }
  | {
      type: "toolcall_delta";
      contentIndex: number;
      delta: string;
    }
  | {
      type: "toolcall_end";
      contentIndex: number;
      toolCall: Block;
    };
export type SummarySource = "compaction" | "branchSummary";
/**
 * Why a context is compacted.
 */
export type Reason = "manual" | "threshold" | "overflow";
/**
 * How much runs without a question, in the order of strictness.
 */
export type ApprovalMode = "auto" | "edits" | "ask" | "read-only" | "plan";
export type ApprovalOutcome =
  ("allow_once" | "allow_session" | "allow_always" | "once_unsandboxed" | "reject") | "refuse" | "stopped";
export type ApprovedBy = ("user" | "rule" | "mode") | "nobody";
/**
 * Who asks.
 */
export type FormSource =
  | {
      kind: "tool";
      name: string;
    }
  | {
      kind: "mcp";
      name: string;
    }
  | {
      kind: "extension";
    };
/**
 * What answers a question.
 */
export type FieldKind =
  | {
      type: "choice";
      options: FormOption[];
      multi: boolean;
      /**
       * The place of the one that is recommended.
       */
      recommended?: number;
      /**
       * Whether words of one's own are an answer, too.
       */
      other: boolean;
      /**
       * The places of those that are chosen unless the person chooses others.
       */
      chosen?: number[];
      /**
       * Of several, so many have to be chosen.
       */
      minimum?: number;
      maximum?: number;
    }
  | {
      type: "text";
      default?: string;
      /**
       * In characters.
       */
      minLength?: number;
      maxLength?: number;
      /**
       * Whether it is written in an editor of several lines.
       */
      isLong?: boolean;
      /**
       * Shown while nothing is typed.
       */
      placeholder?: string;
    }
  | {
      type: "number";
      /**
       * Whether it is a whole number.
       */
      integer: boolean;
      minimum?: number;
      maximum?: number;
      default?: number;
    }
  | {
      type: "flag";
      default?: boolean;
    };
/**
 * Where a child stands.
 */
export type ChildStatus = "pending" | "running" | "completed" | "failed" | "aborted" | "limit";
/**
 * A command that runs beside the conversation, or has.
 */
export type BackgroundCommand = {
  /**
   * What the model calls it: `b1`, `b2` and so on, each once until the program ends.
   */
  id: string;
  /**
   * The line of the shell. Foreign text.
   */
  command: string;
} & BackgroundCommand1;
export type BackgroundCommand1 =
  | {
      state: "running";
    }
  | {
      state: "exited";
      /**
       * 0 if it succeeded.
       */
      exitCode: number;
    }
  | {
      state: "stopped";
    }
  | {
      state: "timedOut";
    }
  | {
      state: "failed";
    };
/**
 * What is shown or asked. Only `select`, `confirm`, `input` and `editor` are answered, with `extension_ui_response`.
 */
export type UiRequest = {
  type: "extension_ui_request";
  id: string;
} & UiRequest1;
export type UiRequest1 =
  | {
      method: "select";
      title: string;
      options: string[];
      /**
       * Milliseconds; then it counts as cancelled.
       */
      timeout?: number;
    }
  | {
      method: "confirm";
      title: string;
      message: string;
      timeout?: number;
    }
  | {
      method: "input";
      title: string;
      placeholder: string;
      timeout?: number;
    }
  | {
      method: "editor";
      title: string;
      prefill: string;
    }
  | {
      method: "notify";
      message: string;
      /**
       * `info`, `warning` or `error`.
       */
      notifyType: string;
    }
  | {
      method: "setStatus";
      statusKey: string;
      /**
       * Missing when it is taken away.
       */
      statusText?: string;
    }
  | {
      method: "setWidget";
      widgetKey: string;
      /**
       * Missing when it is taken away.
       */
      widgetLines?: string[];
    }
  | {
      method: "setTitle";
      title: string;
    }
  | {
      method: "set_editor_text";
      text: string;
    };
/**
 * What became of a message.
 */
export type Disposition = "started" | "queued" | "handled";

export interface RpcLines {
  /**
   * What a client writes.
   */
  sent: RpcRequest | UiAnswer;
  /**
   * What it reads.
   */
  read: RpcResponse | Event | UiRequest;
  data: RpcResponses;
}
/**
 * A picture of a prompt.
 */
export interface PictureInput {
  type: "image";
  /**
   * Base64.
   */
  data: string;
  /**
   * Such as `image/png`.
   */
  mimeType: string;
}
/**
 * The answer to a question.
 */
export interface FieldAnswer {
  /**
   * The labels of chosen options, in the order of the options.
   */
  selected?: string[];
  /**
   * A text, a number, `true` or `false`; beside options the person's own words.
   */
  text?: string;
}
/**
 * An answer to `extension_ui_request`. It has no response.
 */
export interface UiAnswer {
  type: "extension_ui_response";
  id: string;
  value?: string;
  confirmed?: boolean;
  cancelled?: boolean;
}
/**
 * A command was carried out.
 */
export interface RpcSuccess {
  /**
   * The command's, if it had one.
   */
  id?: string | number | boolean | {} | unknown[] | null;
  type: "response";
  command: string;
  success: true;
  /**
   * Of the shape that `RpcResponses` names for the command.
   */
  data?: string | number | boolean | {} | unknown[] | null;
}
/**
 * A command was not carried out, and nothing has changed.
 */
export interface RpcRefusal {
  id?: string | number | boolean | {} | unknown[] | null;
  type: "response";
  /**
   * `parse` if the line was no command.
   */
  command: string;
  success: false;
  /**
   * A sentence.
   */
  error: string;
}
/**
 * Tokens, and their cost in US dollars.
 */
export interface Usage {
  /**
   * Uncached input.
   */
  input: number;
  output: number;
  /**
   * Read from the provider's cache.
   */
  cacheRead: number;
  /**
   * Written to the provider's cache.
   */
  cacheWrite: number;
  /**
   * The part of these that is kept for an hour, which costs more.
   */
  cacheWrite1h?: number;
  totalTokens: number;
  cost: Cost;
}
/**
 * US dollars, by kind of token.
 */
export interface Cost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
}
/**
 * Of a tool's result what the event does not have itself.
 */
export interface ShownResult {
  content: Block[];
  /**
   * For people and renderers; its shape depends on the tool.
   */
  details?: {
    [k: string]: unknown;
  };
}
/**
 * The result of a compaction, in pi's shape.
 */
export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  estimatedTokensAfter: number;
  /**
   * The details of the entry.
   */
  details: {
    [k: string]: unknown;
  };
  /**
   * As reported by the provider.
   */
  usage?: {
    [k: string]: unknown;
  };
  /**
   * What the summary dropped. offshoot's own.
   */
  report: {
    [k: string]: unknown;
  };
}
/**
 * Questions to the person. All texts are foreign.
 */
export interface Form {
  source: FormSource;
  /**
   * About all fields.
   */
  message?: string;
  /**
   * At least one.
   */
  fields: FormField[];
}
/**
 * One question.
 */
export interface FormField {
  /**
   * Names the answer; once in a form.
   */
  id: string;
  /**
   * A word or two.
   */
  header?: string;
  question: string;
  kind: FieldKind;
  /**
   * Whether the form cannot be sent without an answer.
   */
  required: boolean;
}
/**
 * One of the answers that can be chosen.
 */
export interface FormOption {
  /**
   * Once in a question; the answer names it.
   */
  label: string;
  description?: string;
  /**
   * A longer text about it.
   */
  preview?: string;
}
/**
 * A child and what it has done so far.
 */
export interface ChildState {
  /**
   * The stem of its file, such as `Alpha`; that of a child's child is `Alpha.Beta`. Once below a root session.
   */
  id: string;
  /**
   * The definition that it follows.
   */
  agent: string;
  /**
   * The call that made it.
   */
  parentToolCallId: string;
  /**
   * Its place in that call.
   */
  index: number;
  task: string;
  /**
   * Missing if it is in memory only.
   */
  file?: string;
  /**
   * As `provider/id`.
   */
  model: string;
  status: ChildStatus;
  /**
   * Of it and its own children, as are the tokens and the cost.
   */
  requests: number;
  tokens: number;
  /**
   * US dollars.
   */
  cost: number;
  currentTool?: string;
  /**
   * The beginning of what it said last.
   */
  lastText?: string;
  /**
   * The limit that ended it, or why it failed.
   */
  why?: string;
}
/**
 * The data of each command's response. Commands that are missing here answer without data.
 */
export interface RpcResponses {
  prompt: DispositionData;
  steer: DispositionData;
  follow_up: DispositionData;
  clear_queue: QueueData;
  new_session: CancelledData;
  get_state: StateData;
  get_messages: MessagesData;
  set_model: ModelData;
  cycle_model: ModelInUseData | null;
  get_available_models: ModelsData;
  cycle_thinking_level: LevelData | null;
  get_available_thinking_levels: LevelsData;
  get_children: ChildrenData;
  compact: CompactionResult;
  bash: BashRun;
  get_session_stats: StatsData;
  export_html: PathData;
  switch_session: CancelledData;
  fork: ForkedData;
  clone: CancelledData;
  get_fork_messages: ForkMessagesData;
  get_entries: EntriesData;
  get_tree: TreeData;
  get_last_assistant_text: LastTextData;
  get_commands: CommandsData;
  list_sessions: SessionsData;
  get_branches: BranchesData;
  navigate_tree: NavigatedData;
  pick: NavigatedData;
  merge: NavigatedData;
  undo: NavigatedData;
  uncompact: NavigatedData;
  compare: ComparisonData;
  forecast: ForecastData;
  get_schema: {
    [k: string]: unknown;
  };
  /**
   * As the command `list` prints it with --json.
   */
  list?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `search` prints it with --json.
   */
  search?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `show` prints it with --json.
   */
  show?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `tree` prints it with --json.
   */
  tree?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `branches` prints it with --json.
   */
  branches?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `context` prints it with --json.
   */
  context?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `switch` prints it with --json.
   */
  switch?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `pop` prints it with --json.
   */
  pop?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `label` prints it with --json.
   */
  label?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `name` prints it with --json.
   */
  name?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `todo` prints it with --json.
   */
  todo?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `import` prints it with --json.
   */
  import?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `models` prints it with --json.
   */
  models?: string | number | boolean | {} | unknown[] | null;
  /**
   * As the command `check` prints it with --json.
   */
  check?: string | number | boolean | {} | unknown[] | null;
}
export interface DispositionData {
  disposition: Disposition;
}
/**
 * The queued texts, as `clear_queue` returns them.
 */
export interface QueueData {
  steering: string[];
  followUp: string[];
}
/**
 * Whether an extension did not allow it.
 */
export interface CancelledData {
  cancelled: boolean;
}
/**
 * The agent and its session now.
 */
export interface StateData {
  model: ModelData;
  thinkingLevel: string;
  /**
   * Whether a run is under way.
   */
  isStreaming: boolean;
  /**
   * Whether a compaction or another summary is written.
   */
  isCompacting: boolean;
  steeringMode: QueueModeData;
  followUpMode: QueueModeData;
  sessionFile?: string;
  sessionId: string;
  sessionName?: string;
  autoCompactionEnabled: boolean;
  /**
   * In the context: what the model would be sent.
   */
  messageCount: number;
  /**
   * In both queues.
   */
  pendingMessageCount: number;
}
/**
 * pi's model object. Headers are left out: their values may be keys.
 */
export interface ModelData {
  id: string;
  name: string;
  /**
   * The wire format, such as `anthropic-messages`.
   */
  api: string;
  provider: string;
  baseUrl: string;
  reasoning: boolean;
  /**
   * `text`, and `image` if it reads pictures.
   */
  input: string[];
  cost: PriceData;
  contextWindow: number;
  maxTokens: number;
}
/**
 * US dollars for a million tokens.
 */
export interface PriceData {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}
export interface MessagesData {
  messages: ContextMessage[];
}
/**
 * A message of the context, as `docs/format.md` describes it: besides `user`, `assistant` and `toolResult` there are
 * `bashExecution`, `branchSummary`, `compactionSummary` and `custom`.
 */
export interface ContextMessage {
  role: string;
  [k: string]: unknown;
}
export interface ModelInUseData {
  model: ModelData;
  thinkingLevel: string;
  isScoped: boolean;
}
export interface ModelsData {
  models: ModelData[];
}
export interface LevelData {
  level: string;
}
export interface LevelsData {
  levels: string[];
}
export interface ChildrenData {
  children: ChildState[];
}
/**
 * The result of a user's command, as in `bashExecution` messages.
 */
export interface BashRun {
  /**
   * The end of the output, without terminal sequences, control characters and carriage returns.
   */
  output: string;
  /**
   * `None` if it was stopped.
   */
  exitCode?: number;
  cancelled: boolean;
  /**
   * Whether the output was cut.
   */
  truncated: boolean;
  /**
   * The file with the output, if it was cut.
   */
  fullOutputPath?: string;
  /**
   * How long it took, if it was over a second.
   */
  durationMs?: number;
}
/**
 * Messages, tokens and cost of the session, all branches together.
 */
export interface StatsData {
  sessionFile?: string;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: TokensData;
  /**
   * US dollars.
   */
  cost: number;
  contextUsage?: ContextUsageData;
}
export interface TokensData {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
}
/**
 * How full the context is.
 */
export interface ContextUsageData {
  tokens: number;
  contextWindow: number;
  percent: number;
  /**
   * The estimates of the messages.
   */
  messageTokens: number;
  /**
   * The system prompt and the tools. `tokens` has them already.
   */
  overheadTokens: number;
}
export interface PathData {
  path: string;
}
/**
 * The new session, and the text of the message before which it begins.
 */
export interface ForkedData {
  text?: string;
  cancelled: boolean;
  files?: FilesThatCameData;
}
/**
 * What became of the files.
 */
export interface FilesThatCameData {
  written: string[];
  removed: string[];
  /**
   * Those of them that have changes of somebody else as well.
   */
  merged: string[];
  conflicts: FileConflictData[];
  left: LeftFileData[];
  /**
   * How many entries were recorded in another folder, or by another program.
   */
  foreign: number;
}
/**
 * A file that somebody else changed and that stays.
 */
export interface FileConflictData {
  path: string;
  /**
   * The file with the content of the entry.
   */
  beside: string | null;
}
/**
 * A file that cannot be restored.
 */
export interface LeftFileData {
  path: string;
  why: string;
}
export interface ForkMessagesData {
  messages: ForkMessageData[];
}
export interface ForkMessageData {
  entryId: string;
  text: string;
}
export interface EntriesData {
  /**
   * In the order of the file.
   */
  entries: SessionEntry[];
  leafId: string | null;
}
/**
 * An entry as the session's file has it; `docs/format.md` describes the types.
 */
export interface SessionEntry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  [k: string]: unknown;
}
export interface TreeData {
  tree: TreeNodeData[];
  leafId: string | null;
}
export interface TreeNodeData {
  entry: SessionEntry;
  children: TreeNodeData[];
  label?: string;
  labelTimestamp?: string;
}
export interface LastTextData {
  text: string | null;
}
/**
 * What a prompt may call: templates, then skills.
 */
export interface CommandsData {
  commands: CalledData[];
}
export interface CalledData {
  /**
   * Without the slash.
   */
  name: string;
  description: string;
  /**
   * `prompt` or `skill`; `mcp` for a prompt of a server.
   */
  source: string;
  sourceInfo?: SourceData;
  /**
   * The server of a prompt.
   */
  server?: string;
  /**
   * The arguments of a server's prompt.
   */
  argumentHint?: string;
}
/**
 * Where a prompt template or a skill comes from.
 */
export interface SourceData {
  path: string;
  /**
   * `local` if the command line names it, a package's source if it brings it, else `auto`.
   */
  source: string;
  /**
   * `user`, `project` or `temporary`.
   */
  scope: string;
  /**
   * `package` or `top-level`.
   */
  origin: string;
  baseDir?: string;
}
export interface SessionsData {
  sessions: SessionData[];
}
/**
 * A session, as `offshoot list --json` prints it.
 */
export interface SessionData {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSessionPath?: string;
  /**
   * ISO 8601, in UTC.
   */
  created: string | null;
  modified: string | null;
  messageCount: number;
  firstMessage: string;
}
export interface BranchesData {
  branches: BranchData[];
}
/**
 * A branch, as `offshoot branches --json` prints it. The sums are those of its whole path.
 */
export interface BranchData {
  leafId: string | null;
  /**
   * Whether it is the current one.
   */
  isOpen: boolean;
  label: string | null;
  lastWords: string;
  time: string | null;
  forksFrom: string | null;
  /**
   * `no`, `partly` or `all`.
   */
  merged: string;
  unmergedMessages: number;
  entries: number;
  messages: number;
  tokens: number;
  /**
   * US dollars.
   */
  cost: number;
  own: SumsData;
}
/**
 * Sums over the entries of a branch.
 */
export interface SumsData {
  entries: number;
  messages: number;
  tokens: number;
  /**
   * US dollars.
   */
  cost: number;
}
/**
 * A move in the tree.
 */
export interface NavigatedData {
  /**
   * Whether it was stopped: nothing changed.
   */
  cancelled: boolean;
  editorText?: string;
  /**
   * The id of the summary's entry.
   */
  summaryEntryId?: string;
  warning?: string;
  /**
   * What happened, for people.
   */
  message?: string;
  leafId: string | null;
}
/**
 * Two branches, as `offshoot compare --json` prints them.
 */
export interface ComparisonData {
  ancestorId: string | null;
  sides: SideData[];
  patches?: PatchData[];
}
/**
 * What one of two branches has that the other has not.
 */
export interface SideData {
  tipId: string | null;
  entries: number;
  turns: number;
  tokens: number;
  /**
   * US dollars.
   */
  cost: number;
  oldest: string | null;
  newest: string | null;
  models: string[];
  readFiles: string[];
  modifiedFiles: string[];
  files: FileUseData[];
  lastWords: string | null;
}
export interface FileUseData {
  path: string;
  reads: number;
  changes: number;
}
export interface PatchData {
  path: string;
  /**
   * A unified diff from the first branch to the second; `null` if it is not known.
   */
  patch: string | null;
}
/**
 * The next request, before it is sent. What is not known is `null`.
 */
export interface ForecastData {
  contextTokens: number;
  /**
   * The estimates of its messages.
   */
  messageTokens: number;
  /**
   * Its system prompt and its tools. `contextTokens` has them already.
   */
  overheadTokens: number;
  cachedTokens: number | null;
  freshTokens: number;
  cacheExpiresInMs: number | null;
  /**
   * US dollars.
   */
  costNow: number | null;
  /**
   * When the cache is gone.
   */
  costLater: number | null;
}
