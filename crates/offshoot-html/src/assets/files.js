// What calls changed in files, as the program recorded it: an entry's paths, and what differs in them. `list` beside an entry has
// objects with `path`, `by`, `verb`, and `patch`, `added` and `removed`, or `why` there is no patch.

const FILES_ENTRY = "offshoot.files";
/** Tools whose calls name the file that they change. */
const NAMING = ["edit", "write"];
/** The most files of an entry that the page lists. */
const MOST_LISTED = 1000;

const isFilesEntry = (entry) => isObject(entry) && entry.type === "custom" && entry.customType === FILES_ENTRY && isObject(entry.data);
const callsOf = (entry) => listOf(entry.data.calls).filter(isObject).map((call) => oneLine(call.name, 60)).filter(Boolean);
/** Whether only calls that name their files may have changed these. */
const isNamed = (entry) => callsOf(entry).every((name) => NAMING.includes(viewOf({ name }).verb));

/** The files of an entry, with what is known of each. */
function changedFiles(entry, known) {
  const listed = listOf(known?.list).filter(isObject);
  const changes = listOf(entry.data.changes).filter(isObject);
  if (changes.length === 0) return listed.slice(0, MOST_LISTED);
  const key = ({ by, path }) => `${said(by)} ${said(path)}`;
  const byKey = new Map(listed.map((file) => [key(file), file]));
  const verb = ({ before, after }) => (before === "absent" ? "added" : after === "absent" ? "removed" : "changed");
  const why = ({ before, after }) => [before, after].map((state) => isObject(state) && isObject(state.notCovered) && `not covered: ${oneLine(state.notCovered.why, 200)}`).find(Boolean);
  return changes.slice(0, MOST_LISTED).map((change) => ({ by: change.by, path: change.path, verb: verb(change), why: why(change), ...byKey.get(key(change)) }));
}

const figuresOf = (files) => {
  const sumOf = (name) => files.reduce((total, file) => total + (Number.isSafeInteger(file[name]) ? file[name] : 0), 0);
  const box = el("span", "figures", el("span", "plus", `+${grouped(sumOf("added"))}`), " ", el("span", "minus", `−${grouped(sumOf("removed"))}`));
  return files.some((file) => typeof file.patch === "string") ? box : "";
};

/** The lines of a patch after its head. */
const patchBody = (patch) => patch.slice(Math.max(0, patch.search(/^@@/m))).replace(/\n$/, "");

/** A file of an entry: a row that opens to what differs. */
function changedFile(file) {
  const name = el("code", "", spelled(said(file.path), true).slice(0, 300));
  const by = file.by === "foreign" ? ` by somebody else` : "";
  const words = ` ${oneLine(file.verb, 20)}${by}`;
  if (typeof file.patch !== "string") return el("p", "aside changed-file", name, `${words}${typeof file.why === "string" ? `; ${oneLine(file.why, 300)}` : ""}`);
  const box = el("details", "changed-file", el("summary", "", name, words, " ", figuresOf([file])));
  return filledLater(box, () => box.append(diffBox(readDiff(patchBody(file.patch)))));
}

/** What an entry says of files, folded. */
function filesTurn(entry, known) {
  const files = changedFiles(entry, known);
  const own = files.filter((file) => file.by !== "foreign");
  const count = Math.max(files.length, Number.isSafeInteger(entry.data.count) ? entry.data.count : 0);
  const calls = [...new Set(callsOf(entry))];
  const names = calls.slice(0, 6).map((name) => (name === "background" ? "a command in the background" : name === "!" ? "a command of the user" : name)).join(", ");
  const who = names === "" ? "" : isNamed(entry) ? ` by ${names}` : ` while ${names} ran`;
  const box = el("details", "mark", el("summary", "", el("b", "", "Files"), ` ${counted(own.length + count - files.length, "file")} changed${who} `, figuresOf(own)));
  box.append(...files.map(changedFile));
  const notes = [
    count > files.length && `${grouped(count - files.length)} more are not listed.`,
    !isNamed(entry) && "A file that changes during a call counts as the call's, whoever changed it.",
    calls.includes("background") && "A command that ran in the background may have changed these.",
    entry.data.isPartial === true && "The folder is large: only files that calls name are covered.",
    typeof known?.note === "string" && oneLine(known.note, 400),
    !known && files.some((file) => typeof file.why !== "string") && oneLine(META.files, 400),
  ];
  box.append(...notes.filter(Boolean).map((words) => el("p", "aside", words)));
  return { sort: "mark files", title: "", parts: [box] };
}
