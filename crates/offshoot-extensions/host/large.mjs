// The event `context` of a long conversation: its messages are read only when a handler looks at them.
// A handler that does not, costs a copy through a pipe, not two megabytes of JSON.

const { parse } = JSON;
const START = /^\{"t":"event","id":(\d+),"handler":(\d+),"payload":\{"type":"(context|context_with_system)","messages":/;
const END = '},"ctx":{}}';
const LARGE = 64 * 1024;

/** The event as `receive` passes it on; undefined for every other line. */
export function largeEvent(bytes) {
  if (bytes.length < LARGE) return undefined;
  const start = START.exec(bytes.toString("latin1", 0, 200));
  if (!start || bytes.toString("latin1", bytes.length - END.length) !== END) return undefined;
  const [head, id, handler, type] = start;
  return { t: "event", id: Number(id), handler: Number(handler), payload: new LazyMessages(type, bytes.subarray(head.length, bytes.length - END.length)) };
}

/** `{type, messages}`; `sent` is the text of the messages once they were looked at. */
class LazyMessages {
  #bytes;
  #messages;
  #isRead = false;

  constructor(type, bytes) {
    this.type = type;
    this.#bytes = bytes;
    Object.defineProperty(this, "sent", { value: undefined, writable: true, enumerable: false });
    Object.defineProperty(this, "messages", { enumerable: true, get: () => this.#read(), set: (messages) => this.#set(messages) });
  }

  #read() {
    if (!this.#isRead) {
      this.sent = this.#bytes.toString("utf8");
      this.#set(parse(this.sent));
    }
    return this.#messages;
  }

  #set(messages) {
    this.#isRead = true;
    this.#messages = messages;
  }

  /** Whether a handler looked at the messages, or put others in their place. */
  get wasRead() {
    return this.#isRead;
  }
}

/** Whether nothing can have changed. */
export const isUnread = (payload) => payload instanceof LazyMessages && !payload.wasRead;
export const sentText = (payload) => (payload instanceof LazyMessages ? (payload.sent ?? "") : undefined);
