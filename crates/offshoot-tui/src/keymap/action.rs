//! The actions: names, default keys and help texts. Knows no file and no key event.
//!
//! Actions have pi's names where pi has them, so that a file of key bindings works in both.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    Editor,
    Input,
    Select,
    Transcript,
    TranscriptSearch,
    App,
    Sessions,
    Tree,
    Models,
}

impl Group {
    /// In the order of the help.
    pub const ALL: [Self; 9] = [
        Self::App,
        Self::Input,
        Self::Editor,
        Self::Select,
        Self::Transcript,
        Self::TranscriptSearch,
        Self::Tree,
        Self::Sessions,
        Self::Models,
    ];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Editor => "Writing",
            Self::Input => "Sending",
            Self::Select => "Lists",
            Self::Transcript => "Reading the conversation",
            Self::TranscriptSearch => "Searching the conversation",
            Self::App => "Anywhere",
            Self::Sessions => "Sessions",
            Self::Tree => "Tree",
            Self::Models => "Models that a key changes between",
        }
    }
}

macro_rules! actions {
    ($($name:ident: $group:ident, $id:literal, [$($key:literal),*], $says:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $says] $name,)*
        }

        impl Action {
            /// Group by group.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in a file of key bindings.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            #[must_use]
            pub fn group(self) -> Group {
                match self {
                    $(Self::$name => Group::$group,)*
                }
            }

            #[must_use]
            pub fn usual(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($key),*],)*
                }
            }

            #[must_use]
            pub fn says(self) -> &'static str {
                match self {
                    $(Self::$name => $says,)*
                }
            }
        }
    };
}

actions! {
    CursorUp: Editor, "tui.editor.cursorUp", ["up"], "move the cursor up; on the first line: older prompts";
    CursorDown: Editor, "tui.editor.cursorDown", ["down"], "move the cursor down; on the last line: newer prompts";
    HistoryPrevious: Editor, "tui.editor.historyPrevious", [], "the prompt before";
    HistoryNext: Editor, "tui.editor.historyNext", [], "the prompt after";
    CursorLeft: Editor, "tui.editor.cursorLeft", ["left", "ctrl+b"], "move the cursor left";
    CursorRight: Editor, "tui.editor.cursorRight", ["right", "ctrl+f"], "move the cursor right";
    CursorWordLeft: Editor, "tui.editor.cursorWordLeft", ["alt+left", "ctrl+left", "alt+b"], "move the cursor a word left";
    CursorWordRight: Editor, "tui.editor.cursorWordRight", ["alt+right", "ctrl+right", "alt+f"], "move the cursor a word right";
    CursorLineStart: Editor, "tui.editor.cursorLineStart", ["home", "ctrl+home", "ctrl+a"], "go to the start of the line";
    CursorLineEnd: Editor, "tui.editor.cursorLineEnd", ["end", "ctrl+end", "ctrl+e"], "go to the end of the line";
    JumpForward: Editor, "tui.editor.jumpForward", ["ctrl+]"], "go forward to the character typed next";
    JumpBackward: Editor, "tui.editor.jumpBackward", ["ctrl+alt+]"], "go back to the character typed next";
    EditorPageUp: Editor, "tui.editor.pageUp", ["pageUp", "ctrl+pageUp"], "move the cursor a page up";
    EditorPageDown: Editor, "tui.editor.pageDown", ["pageDown", "ctrl+pageDown"], "move the cursor a page down";
    DeleteCharBackward: Editor, "tui.editor.deleteCharBackward", ["backspace", "shift+backspace"], "delete the character before the cursor";
    DeleteCharForward: Editor, "tui.editor.deleteCharForward", ["delete", "shift+delete", "ctrl+d"], "delete the character under the cursor";
    DeleteWordBackward: Editor, "tui.editor.deleteWordBackward", ["ctrl+w", "alt+backspace"], "delete the word before the cursor";
    DeleteWordForward: Editor, "tui.editor.deleteWordForward", ["alt+d", "alt+delete"], "delete the word after the cursor";
    DeleteToLineStart: Editor, "tui.editor.deleteToLineStart", ["ctrl+u"], "delete to the start of the line";
    DeleteToLineEnd: Editor, "tui.editor.deleteToLineEnd", ["ctrl+k"], "delete to the end of the line";
    Yank: Editor, "tui.editor.yank", ["ctrl+y"], "put back the text deleted last";
    YankPop: Editor, "tui.editor.yankPop", ["alt+y"], "after that: put back the text deleted before it";
    Undo: Editor, "tui.editor.undo", ["ctrl+-"], "undo the last change";
    NewLine: Input, "tui.input.newLine", ["shift+enter", "ctrl+j"], "begin a new line";
    Submit: Input, "tui.input.submit", ["enter"], "send";
    Tab: Input, "tui.input.tab", ["tab"], "complete";
    SelectUp: Select, "tui.select.up", ["up"], "the row above";
    SelectDown: Select, "tui.select.down", ["down"], "the row below";
    SelectPageUp: Select, "tui.select.pageUp", ["pageUp"], "a page up";
    SelectPageDown: Select, "tui.select.pageDown", ["pageDown"], "a page down";
    SelectConfirm: Select, "tui.select.confirm", ["enter"], "take it";
    SelectCancel: Select, "tui.select.cancel", ["escape", "ctrl+c"], "leave";
    TranscriptPageUp: Transcript, "tui.altScreen.pageUp", ["pageUp", "b"], "a page up";
    TranscriptPageDown: Transcript, "tui.altScreen.pageDown", ["pageDown", "space", "f"], "a page down";
    TranscriptHalfPageUp: Transcript, "tui.altScreen.halfPageUp", ["ctrl+u"], "half a page up";
    TranscriptHalfPageDown: Transcript, "tui.altScreen.halfPageDown", ["ctrl+d"], "half a page down";
    TranscriptLineUp: Transcript, "tui.altScreen.lineUp", ["up", "k"], "a line up";
    TranscriptLineDown: Transcript, "tui.altScreen.lineDown", ["down", "j"], "a line down";
    PreviousPrompt: Transcript, "tui.altScreen.previousPrompt", ["ctrl+shift+up", "ctrl+up"], "to the prompt before";
    NextPrompt: Transcript, "tui.altScreen.nextPrompt", ["ctrl+shift+down", "ctrl+down"], "to the prompt after";
    TranscriptTop: Transcript, "tui.altScreen.top", ["home", "g"], "to the beginning";
    TranscriptBottom: Transcript, "tui.altScreen.bottom", ["end", "shift+g"], "to the end, and follow new rows";
    SearchTranscript: Transcript, "tui.altScreen.search", ["/", "ctrl+shift+f", "ctrl+f"], "search; again: close the search";
    NextPart: Transcript, "app.transcript.nextPart", ["tab"], "to the next part that can be folded";
    PreviousPart: Transcript, "app.transcript.previousPart", ["shift+tab"], "to the part before";
    TogglePart: Transcript, "app.transcript.togglePart", ["enter"], "fold it, or show all of it";
    CloseTranscript: Transcript, "app.transcript.close", ["q"], "leave";
    StopAgent: Transcript, "app.agents.stop", ["x"], "stop the agent that is read";
    SearchNext: TranscriptSearch, "tui.altScreen.searchNext", ["enter", "ctrl+g"], "to the next match";
    SearchPrevious: TranscriptSearch, "tui.altScreen.searchPrevious", ["shift+enter", "ctrl+shift+g"], "to the match before";
    CloseSearch: TranscriptSearch, "tui.altScreen.searchClose", ["escape"], "close the search, and stay here";
    Interrupt: App, "app.interrupt", ["escape"], "stop the work under way";
    Clear: App, "app.clear", ["ctrl+c"], "stop the turn; else empty the editor; twice: leave";
    Exit: App, "app.exit", ["ctrl+d"], "leave, when the editor is empty";
    Suspend: App, "app.suspend", ["ctrl+z"], "put offshoot into the background";
    Redraw: App, "app.redraw", ["alt+l"], "draw the screen again, if another program has written on it";
    ExternalEditor: App, "app.editor.external", ["ctrl+g"], "write in the external editor";
    PasteImage: App, "app.clipboard.pasteImage", ["ctrl+v"], "paste a picture or text from the clipboard";
    SearchPrompts: App, "app.prompt.search", ["ctrl+r"], "search earlier prompts; again: the one before";
    NewSession: App, "app.session.new", [], "begin a session";
    OpenTree: App, "app.session.tree", [], "open the tree";
    OpenTranscript: App, "app.transcript.open", ["alt+t"], "read the whole conversation";
    ForkSession: App, "app.session.fork", [], "begin a session before a message";
    Resume: App, "app.session.resume", [], "open another session";
    SelectModel: App, "app.model.select", ["ctrl+l"], "choose a model";
    NextModel: App, "app.model.cycleForward", ["ctrl+p"], "the next model";
    PreviousModel: App, "app.model.cycleBackward", ["ctrl+shift+p"], "the model before";
    CycleThinking: App, "app.thinking.cycle", ["shift+tab"], "think more, or not at all";
    SelectApproval: App, "app.approval.select", ["alt+a"], "choose what the model may do unasked";
    AnswerQuestion: App, "app.approval.answer", ["tab"], "answer the question above the editor; again: back to the text";
    ToggleThinking: App, "app.thinking.toggle", ["ctrl+t"], "fold or show thoughts";
    ExpandTools: App, "app.tools.expand", ["ctrl+o"], "fold or show the output of tools";
    ToggleTimestamps: App, "app.message.toggleTimestamps", ["alt+c"], "show or hide the times of messages";
    CopyMessage: App, "app.message.copy", ["ctrl+x"], "copy the last answer; in the tree: the selected message";
    FollowUp: App, "app.message.followUp", ["alt+enter"], "send when the agent is done";
    Dequeue: App, "app.message.dequeue", ["alt+up"], "take back waiting messages";
    GoToDiverged: App, "app.session.goToDiverged", ["alt+g"], "go to the newer work on another branch";
    Help: App, "app.help", ["f1", "?"], "show or hide the keys";
    ToggleScope: Sessions, "app.session.toggleScope", ["tab"], "this folder, or all";
    TogglePath: Sessions, "app.session.togglePath", ["ctrl+p"], "show or hide paths";
    ToggleSort: Sessions, "app.session.toggleSort", ["ctrl+s"], "another order";
    ToggleNamedFilter: Sessions, "app.session.toggleNamedFilter", ["ctrl+n"], "only sessions with a name, or all";
    RenameSession: Sessions, "app.session.rename", ["ctrl+r"], "rename";
    DeleteSession: Sessions, "app.session.delete", ["ctrl+d"], "into the trash";
    DeleteSessionQuietly: Sessions, "app.session.deleteNoninvasive", ["ctrl+backspace"], "into the trash, when the search is empty";
    RestoreSession: Sessions, "app.session.restore", ["alt+u", "ctrl+y"], "out of the trash again";
    OpenAtEnd: Sessions, "app.session.openAtEnd", ["alt+enter"], "open the session at its end, not at the match";
    ToggleSessionPreview: Sessions, "app.session.togglePreview", ["alt+p"], "show or hide the preview";
    FoldOrUp: Tree, "app.tree.foldOrUp", ["ctrl+left", "alt+left"], "fold a branch or a run of tool calls; elsewhere: go to the start of the branch";
    UnfoldOrDown: Tree, "app.tree.unfoldOrDown", ["ctrl+right", "alt+right"], "open a branch or a run of tool calls; elsewhere: go to the next branch";
    EditLabel: Tree, "app.tree.editLabel", ["shift+l"], "write a label";
    ToggleLabelTimestamp: Tree, "app.tree.toggleLabelTimestamp", ["shift+t"], "show or hide the times of labels";
    FilterDefault: Tree, "app.tree.filter.default", ["ctrl+d"], "show messages, results and summaries";
    FilterNoTools: Tree, "app.tree.filter.noTools", ["ctrl+t"], "hide tool results";
    FilterUserOnly: Tree, "app.tree.filter.userOnly", ["ctrl+u"], "show only your messages";
    FilterLabeledOnly: Tree, "app.tree.filter.labeledOnly", ["ctrl+l"], "show only entries with a label";
    FilterAll: Tree, "app.tree.filter.all", ["ctrl+a"], "show everything";
    FilterNext: Tree, "app.tree.filter.cycleForward", ["ctrl+o"], "the next filter";
    FilterPrevious: Tree, "app.tree.filter.cycleBackward", ["ctrl+shift+o"], "the previous filter";
    ToggleTreePreview: Tree, "app.tree.togglePreview", ["shift+p"], "show or hide the preview";
    TreePreviewUp: Tree, "app.tree.previewUp", ["shift+up"], "scroll the preview up";
    TreePreviewDown: Tree, "app.tree.previewDown", ["shift+down"], "scroll the preview down";
    ToggleTreeStats: Tree, "app.tree.toggleStats", ["shift+s"], "show or hide the figures of branches";
    MarkBranch: Tree, "app.tree.mark", ["shift+m"], "mark an entry, to pick it or to compare two";
    MarkRange: Tree, "app.tree.markRange", ["shift+r"], "mark everything between the last mark and here";
    DiffBranches: Tree, "app.tree.diff", ["shift+d"], "compare the branches of two marked entries";
    PickEntries: Tree, "app.tree.pick", ["shift+c"], "copy the marked entries, or this one, to the current branch";
    MergeBranch: Tree, "app.tree.merge", ["shift+g"], "summarise this branch on the current one";
    UndoOperation: Tree, "app.tree.undo", ["shift+u"], "undo the last switch, pick, merge or compaction; again: redo";
    GoToSource: Tree, "app.tree.goToSource", ["shift+o"], "go from a copy or a merge to where it comes from";
    JumpToLabel: Tree, "app.tree.jumpToLabel", ["shift+j"], "go to a label by typing it";
    SaveModels: Models, "app.models.save", ["ctrl+s"], "keep the ticked models in the settings";
    TickAllModels: Models, "app.models.enableAll", ["ctrl+a"], "tick all that are shown";
    TickNoModels: Models, "app.models.clearAll", ["ctrl+x"], "tick none of those that are shown";
    TickProvider: Models, "app.models.toggleProvider", ["ctrl+p"], "tick all models of this provider, or none";
    MoveModelUp: Models, "app.models.reorderUp", ["alt+up"], "move the model up";
    MoveModelDown: Models, "app.models.reorderDown", ["alt+down"], "move the model down";
}

impl Action {
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::keymap::Key;

    /// The rows of the document's tables with whole names. Each table is a block whose first line is the start of its names.
    fn documented() -> Vec<String> {
        let document = include_str!("../../../../docs/keybindings.md");
        let blocks = document.split("\n```text\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        let mut rows = Vec::new();
        for block in blocks {
            let (start, block) = block.split_once('\n').unwrap();
            for row in block.lines() {
                let name = row.strip_prefix('.').map_or(row.to_owned(), |rest| format!("{start}.{rest}"));
                rows.push(
                    name.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" | "),
                );
            }
        }
        rows
    }

    /// A row of the document need not repeat what the action's name says.
    #[test]
    fn the_document_has_every_action_and_no_other() {
        let of = |group: Group| Action::ALL.iter().filter(move |action| action.group() == group);
        let actions: Vec<&Action> = Group::ALL.into_iter().flat_map(of).collect();
        let documented = documented();
        assert_eq!(documented.len(), actions.len());
        for (row, action) in documented.iter().zip(actions) {
            let keys = if action.usual().is_empty() { "-".to_owned() } else { action.usual().join(", ") };
            let short = format!("{} | {keys}", action.id());
            assert!(
                [&short, &format!("{short} | {}", action.says())].contains(&row),
                "{row}, but the program: {short}"
            );
        }
    }

    #[test]
    fn each_action_has_a_name_of_its_own_and_keys_that_are_keys() {
        let mut seen = HashSet::new();
        for action in Action::ALL {
            assert!(seen.insert(action.id()), "{}", action.id());
            assert_eq!(Action::parse(action.id()), Some(*action));
            for key in action.usual() {
                assert_eq!(Key::parse(key).map(|key| key.to_string()).as_deref(), Ok(*key), "{}", action.id());
            }
        }
    }
}
