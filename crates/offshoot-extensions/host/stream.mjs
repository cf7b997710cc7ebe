// The stream of an assistant's message: events while it comes, the message at its end. pi's name for it is AssistantMessageEventStream.

/** A queue that is read with `for await`, and has a result. */
export class EventStream {
  #queue = [];
  #readers = [];
  #ended = false;
  #isLast;
  #resultOf;
  #result = Promise.withResolvers();

  constructor(isLast = (_event) => false, resultOf = (event) => event) {
    this.#isLast = isLast;
    this.#resultOf = resultOf;
  }

  push(event) {
    if (this.#ended) return;
    if (this.#isLast(event)) {
      this.#ended = true;
      this.#result.resolve(this.#resultOf(event));
    }
    const reader = this.#readers.shift();
    if (reader) reader({ value: event, done: false });
    else this.#queue.push(event);
    if (this.#ended) this.#close();
  }

  end(result) {
    this.#ended = true;
    if (result !== undefined) this.#result.resolve(result);
    this.#close();
  }

  #close() {
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      if (this.#queue.length) yield this.#queue.shift();
      else if (this.#ended) return;
      else {
        const { value, done } = await new Promise((resolve) => this.#readers.push(resolve));
        if (done) return;
        yield value;
      }
    }
  }

  result() {
    return this.#result.promise;
  }
}

/** `done` has the message, `error` the one that failed. */
export class AssistantStream extends EventStream {
  constructor() {
    super(
      (event) => event.type === "done" || event.type === "error",
      (event) => (event.type === "done" ? event.message : event.error),
    );
  }
}
