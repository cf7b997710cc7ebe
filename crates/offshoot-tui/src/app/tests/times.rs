//! The times of messages: in what is printed from the key on, and in the reader for all.

use offshoot_session::session::{Options, Session};

use super::*;
use crate::app::cmd::Purpose;
use crate::app::live::Live;
use crate::message::{Folds, RowRenderer};

const COLUMNS: u16 = 40;
/// 2026-11-29T23:58:00Z.
const EVENING: i64 = 1_795_996_680_000;
const MINUTE: i64 = 60_000;

/// The rows that are printed, the whole conversation anew, and the rows of the work under way.
fn printed(model: &Model, live: &mut Live) -> Vec<String> {
    let look =
        RowRenderer { theme: &model.preferences.theme, width: COLUMNS.into(), habits: &model.preferences.habits };
    let mut rows = live.print(&model.conversation, &look, Folds::default()).lines;
    rows.extend(live.rows(&model.conversation, &look, Folds::default(), usize::MAX));
    rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect()
}

fn at_right(time: &str) -> String {
    format!("{time:>0$}", usize::from(COLUMNS))
}

/// The first thought is empty, as that of a model that hides it: the time is above the first row that there is.
fn talk(model: &mut Model) {
    model.now = EVENING;
    heard(model, Event::AgentStart);
    heard(model, Event::MessageEnd { message: UserMessage::new("count", Vec::new(), 0).into() });
    model.now += MINUTE;
    heard(model, Event::MessageStart { message: answer(Vec::new()) });
    updated(model, Update::ThinkingStart { content_index: 0 });
    updated(model, Update::TextStart { content_index: 1 });
    updated(model, Update::TextDelta { content_index: 1, delta: "One.\n\nTwo.\n\nThr".to_owned() });
}

fn ended(model: &mut Model) {
    model.now += 2 * MINUTE;
    heard(
        model,
        Event::MessageEnd { message: answer(vec![Content::thinking(""), Content::text("One.\n\nTwo.\n\nThree.")]) },
    );
    heard(model, Event::AgentSettled { aborted: false });
}

#[test]
fn times_take_the_empty_row_above_each_message() {
    let mut model = model(&Theme::default(), (COLUMNS, 24));
    opened(&mut model, Vec::new());
    // Without the margin, the row between two paragraphs is empty, too.
    model.preferences.habits.is_flush = true;
    press(&mut model, "alt+c");
    let told = "times are shown from here on; alt+t shows those above";
    assert!(model.conversation.blocks().any(|block| matches!(&block.item, Item::Notice(_, text) if text == told)));
    let mut live = Live::default();
    talk(&mut model);
    let begun = printed(&model, &mut live);
    ended(&mut model);
    let rest = printed(&model, &mut live);
    let expected = [&at_right("Sun 29 Nov 2026, 23:58"), "› count", &at_right("23:59"), "One.", "", "Two.", "", "Thr"];
    assert_eq!(begun[begun.len() - 8..], expected);
    assert_eq!(rest, ["", "Three."], "the time of an answer is printed once");

    let (mut timed, mut plain) = (Live::default(), Live::default());
    let with_times = printed(&model, &mut timed);
    press(&mut model, "alt+c");
    let without = printed(&model, &mut plain);
    assert!(with_times.contains(&at_right("Mon 30 Nov 2026, 00:01")), "{with_times:#?}");
    let same = with_times.iter().zip(&without).filter(|(timed, plain)| timed == plain).count();
    assert_eq!((with_times.len() + 2, same), (without.len(), with_times.len() - 2), "{with_times:#?} {without:#?}");
}

/// The reader shows the times of the session's entries, and the key shows and hides them there at once.
#[test]
fn the_reader_shows_the_times_of_all_messages() {
    let entries = [
        (r#""2026-11-28T10:00:00.000Z""#, r#"{"role":"user","content":"first"}"#),
        (r#""2026-11-28T10:01:00.000Z""#, r#"{"role":"assistant","content":[{"type":"text","text":"second"}]}"#),
        (r#""2026-11-29T00:00:00.000Z""#, r#"{"role":"user","content":"third"}"#),
        (r#""no time""#, r#"{"role":"user","content":"fourth"}"#),
    ];
    let mut text = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned() + "\n";
    for (at, (time, message)) in entries.iter().enumerate() {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |before| format!("\"{before}\""));
        text +=
            &format!(r#"{{"type":"message","id":"{at}","parentId":{parent},"timestamp":{time},"message":{message}}}"#);
        text += "\n";
    }
    let session = Session::from_text(&text, Options::default()).unwrap();
    let leaf = session.leaf();
    let mut model = model(&Theme::default(), (COLUMNS, 24));
    model.conversation.open_place(Vec::new(), Path::of(session.tree(), leaf).entries());
    update(&mut model, Msg::Snapshot(Purpose::Transcript, Arc::new(session), leaf));
    let shown = |model: &mut Model| {
        let Some(Overlay::Transcript(pager)) = &mut model.overlay else { panic!("{:?}", model.overlay) };
        pager.lay_out(&model.conversation, &model.preferences.theme, Size::new(COLUMNS, 10));
        let mut buf = Buffer::empty(Rect::new(0, 0, COLUMNS, 10));
        pager.view(&model.preferences.keymap, &model.preferences.theme, buf.area, &mut buf);
        let row = |y| (0..COLUMNS).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..8).map(row).collect::<Vec<_>>()
    };
    let hidden = ["", "› first", "", "  second", "", "› third", "", "› fourth"];
    assert_eq!(shown(&mut model), hidden);
    press(&mut model, "alt+c");
    let (first, second, third) = ("Sat 28 Nov 2026, 10:00", "10:01", "Sun 29 Nov 2026, 00:00");
    let timed =
        [&*at_right(first), "› first", &at_right(second), "  second", &at_right(third), "› third", "", "› fourth"];
    assert_eq!(shown(&mut model), timed);
    // A time is not part of the text that is searched.
    press(&mut model, "/");
    write(&mut model, "10:0");
    press(&mut model, "alt+c");
    assert_eq!(shown(&mut model), hidden);
}
