// Lists in which one chooses: items with descriptions, and settings with values.
import { fuzzyFilter } from "./fuzzy.mjs";
import { Input } from "./input.mjs";
import { getKeybindings } from "./keybindings.mjs";
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./width.mjs";

const is = (data, name) => getKeybindings().matches(data, name);
const COLUMN = 32;

/** The items around the selected one that have room. */
function visibleRange(count, selected, most) {
  const start = Math.max(0, Math.min(selected - Math.floor(most / 2), count - most));
  return [start, Math.min(start + most, count)];
}

const position = (selected, count) => `  (${selected + 1}/${count})`;

export class SelectList {
  onSelect;
  onCancel;
  onSelectionChange;
  #items;
  #shown;
  #most;
  #theme;
  #layout;
  #selected = 0;

  constructor(items, maxVisible, theme, layout = {}) {
    [this.#items, this.#shown, this.#most, this.#theme, this.#layout] = [items, items, maxVisible, theme, layout];
  }

  setFilter(filter) {
    this.#shown = this.#items.filter(({ value }) => value.toLowerCase().startsWith(filter.toLowerCase()));
    this.#selected = 0;
  }

  setSelectedIndex(index) {
    this.#selected = Math.max(0, Math.min(index, this.#shown.length - 1));
  }

  getSelectedItem() {
    return this.#shown[this.#selected] ?? null;
  }

  invalidate() {}

  render(width) {
    if (!this.#shown.length) return [this.#theme.noMatch("  No matching commands")];
    const [start, end] = visibleRange(this.#shown.length, this.#selected, this.#most);
    const column = this.#column();
    const rows = this.#shown.slice(start, end).map((item, at) => this.#row(item, start + at === this.#selected, width, column));
    if (start > 0 || end < this.#shown.length) {
      rows.push(this.#theme.scrollInfo(truncateToWidth(position(this.#selected, this.#shown.length), width - 2, "")));
    }
    return rows;
  }

  /** How wide the labels' column is where descriptions follow. */
  #column() {
    const least = this.#layout.minPrimaryColumnWidth ?? this.#layout.maxPrimaryColumnWidth ?? COLUMN;
    const most = this.#layout.maxPrimaryColumnWidth ?? this.#layout.minPrimaryColumnWidth ?? COLUMN;
    const widest = Math.max(...this.#shown.map((item) => visibleWidth(item.label || item.value) + 2));
    return Math.max(Math.min(least, most), Math.min(widest, Math.max(least, most)));
  }

  #row(item, isSelected, width, column) {
    const prefix = isSelected ? "→ " : "  ";
    const text = item.label || item.value;
    const cut = (room) => {
      const made = this.#layout.truncatePrimary?.({ text, maxWidth: room, columnWidth: column, item, isSelected }) ?? truncateToWidth(text, room, "");
      return truncateToWidth(made, room, "");
    };
    const about = item.description?.replaceAll(/[\r\n]+/g, " ").trim();
    if (about && width > 40) {
      const label = cut(Math.min(column, width - prefix.length - 4) - 2);
      const gap = " ".repeat(Math.max(1, column - visibleWidth(label)));
      const room = width - prefix.length - visibleWidth(label) - gap.length - 2;
      if (room > 10) {
        const shown = truncateToWidth(about, room, "");
        return isSelected ? this.#theme.selectedText(`${prefix}${label}${gap}${shown}`) : prefix + label + this.#theme.description(gap + shown);
      }
    }
    const label = cut(width - prefix.length - 2);
    return isSelected ? this.#theme.selectedText(prefix + label) : prefix + label;
  }

  handleInput(data) {
    const count = this.#shown.length;
    const go = (to) => {
      this.#selected = to;
      const item = this.getSelectedItem();
      if (item) this.onSelectionChange?.(item);
    };
    if (is(data, "tui.select.up") && count) go((this.#selected + count - 1) % count);
    else if (is(data, "tui.select.down") && count) go((this.#selected + 1) % count);
    else if (is(data, "tui.select.pageUp") && count) go(Math.max(0, this.#selected - this.#most));
    else if (is(data, "tui.select.pageDown") && count) go(Math.min(count - 1, this.#selected + this.#most));
    else if (is(data, "tui.select.confirm") && this.getSelectedItem()) this.onSelect?.(this.getSelectedItem());
    else if (is(data, "tui.select.cancel")) this.onCancel?.();
  }
}

export class SettingsList {
  #items;
  #most;
  #theme;
  #onChange;
  #onCancel;
  #search;
  #selected = 0;
  #submenu;

  constructor(items, maxVisible, theme, onChange, onCancel, { enableSearch = false } = {}) {
    [this.#items, this.#most, this.#theme, this.#onChange, this.#onCancel] = [items, maxVisible, theme, onChange, onCancel];
    if (enableSearch) this.#search = new Input();
  }

  get #shown() {
    return this.#search ? fuzzyFilter(this.#items, this.#search.getValue(), ({ label }) => label) : this.#items;
  }

  updateValue(id, value) {
    const item = this.#items.find((each) => each.id === id);
    if (item) item.currentValue = value;
  }

  selectItem(id) {
    this.#selected = Math.max(0, this.#shown.findIndex((each) => each.id === id));
  }

  invalidate() {
    this.#submenu?.invalidate?.();
  }

  render(width) {
    if (this.#submenu) return this.#submenu.render(width);
    const rows = this.#search ? [...this.#search.render(width), ""] : [];
    const shown = this.#shown;
    if (!this.#items.length) rows.push(this.#theme.hint("  No settings available"));
    else if (!shown.length) rows.push(truncateToWidth(this.#theme.hint("  No matching settings"), width));
    else rows.push(...this.#list(shown, width));
    const keys = `${this.#search ? "  Type to search · " : "  "}Enter/Space to change · Esc to cancel`;
    return this.#items.length ? [...rows, "", truncateToWidth(this.#theme.hint(keys), width)] : rows;
  }

  #list(shown, width) {
    const [start, end] = visibleRange(shown.length, this.#selected, this.#most);
    const widest = Math.min(30, Math.max(...this.#items.map(({ label }) => visibleWidth(label))));
    const rows = shown.slice(start, end).map((item, at) => {
      const isSelected = start + at === this.#selected;
      const prefix = isSelected ? this.#theme.cursor : "  ";
      const label = item.label + " ".repeat(Math.max(0, widest - visibleWidth(item.label)));
      const room = width - visibleWidth(prefix) - widest - 4;
      return truncateToWidth(`${prefix}${this.#theme.label(label, isSelected)}  ${this.#theme.value(truncateToWidth(item.currentValue, room, ""), isSelected)}`, width);
    });
    if (start > 0 || end < shown.length) rows.push(this.#theme.hint(truncateToWidth(position(this.#selected, shown.length), width - 2, "")));
    const about = shown[this.#selected]?.description;
    if (about) rows.push("", ...wrapTextWithAnsi(about, width - 4).map((row) => this.#theme.description(`  ${row}`)));
    return rows;
  }

  handleInput(data) {
    if (this.#submenu) return this.#submenu.handleInput?.(data);
    const shown = this.#shown;
    if (is(data, "tui.select.up")) this.#selected = shown.length ? (this.#selected + shown.length - 1) % shown.length : 0;
    else if (is(data, "tui.select.down")) this.#selected = shown.length ? (this.#selected + 1) % shown.length : 0;
    else if (is(data, "tui.select.confirm") || data === " ") this.#change(shown[this.#selected]);
    else if (is(data, "tui.select.cancel")) this.#onCancel();
    else if (this.#search) {
      this.#search.handleInput(data);
      this.#selected = 0;
    }
    return undefined;
  }

  #change(item) {
    if (item?.submenu) {
      this.#submenu = item.submenu(item.currentValue, (value, /** @type {any} */ { navigateTo } = {}) => {
        this.#submenu = undefined;
        if (value !== undefined) this.#set(item, value);
        if (navigateTo) this.selectItem(navigateTo);
      });
    } else if (item?.values?.length) this.#set(item, item.values[(item.values.indexOf(item.currentValue) + 1) % item.values.length]);
  }

  #set(item, value) {
    item.currentValue = value;
    this.#onChange(item.id, value);
  }
}
