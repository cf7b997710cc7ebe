// The event `context` of a long conversation: its messages stay with offshoot until a handler looks at them.
// A handler that does not costs one short line, not two megabytes of JSON.
import { askWithText } from "./channel.mjs";

/** The payload as a handler gets it; that of every other event is the one that came. */
export const payloadOf = ({ id, payload }) => (payload.held ? new HeldMessages(payload.type, id) : payload);

/** `{type, messages}`; `sent` is the text with the messages once they were looked at. */
class HeldMessages {
  #event;
  #messages;
  #isRead = false;

  constructor(type, event) {
    this.type = type;
    this.#event = event;
    Object.defineProperty(this, "sent", { value: undefined, writable: true, enumerable: false });
    Object.defineProperty(this, "messages", { enumerable: true, get: () => this.#read(), set: (messages) => this.#set(messages) });
  }

  #read() {
    if (!this.#isRead) {
      const { ok, text } = askWithText("host.payload", { event: this.#event });
      this.sent = text;
      this.#set(ok.messages);
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
export const isUnread = (payload) => payload instanceof HeldMessages && !payload.wasRead;
export const sentText = (payload) => (payload instanceof HeldMessages ? (payload.sent ?? "") : undefined);
