// The event bus between extensions. Listeners of a load end with it; one that fails does not keep the others from hearing.

export class Bus {
  #listeners = new Map();
  #report;

  constructor(report) {
    this.#report = report;
  }

  emit(channel, data) {
    for (const { handler } of [...(this.#listeners.get(channel) ?? [])]) {
      try {
        const later = handler(data);
        if (typeof later?.catch === "function") later.catch((error) => this.#report(error, `events:${channel}`));
      } catch (error) {
        this.#report(error, `events:${channel}`);
      }
    }
  }

  on(channel, handler, owner) {
    const listener = { handler, owner };
    const listeners = this.#listeners.get(channel) ?? this.#listeners.set(channel, new Set()).get(channel);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  forget(owner) {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) if (listener.owner === owner) listeners.delete(listener);
  }
}
