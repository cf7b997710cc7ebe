//! Tests of the search in the transcript.

use super::*;

const SIZE: Size = Size::new(40, 8);

fn searched(transcript: &mut Transcript, session: &Session, query: &str) -> String {
    transcript.search_for(session, query).unwrap();
    shown(transcript, session)
}

fn stepped(transcript: &mut Transcript, session: &Session, step: SearchStep) -> String {
    transcript.search_step(session, step).unwrap();
    shown(transcript, session)
}

fn finish(transcript: &mut Transcript, session: &Session) {
    while transcript.is_searching() {
        transcript.search_on(session, 1).unwrap();
    }
}

/// The status, and the marked cells of the screen: the current match in brackets.
fn shown(transcript: &mut Transcript, session: &Session) -> String {
    finish(transcript, session);
    let status = transcript.search_status();
    let status = status.map_or_else(
        || "no search".to_owned(),
        |status| format!("{}/{}{}", status.number, status.count, status.wrap.map_or("", |_| " wrapped")),
    );
    format!("{status}: {}", marked(transcript, session, SIZE))
}

fn marked(transcript: &mut Transcript, session: &Session, size: Size) -> String {
    let theme = Theme::dark();
    transcript.fill(session, &Conversation::default(), &theme, size).unwrap();
    let mut buf = Buffer::empty(Rect::new(0, 0, size.width, size.height));
    transcript.view(&theme, buf.area, &mut buf);
    let ground = theme.style(Token::SearchMatchBg).bg;
    let mut words = Vec::new();
    for y in 0..size.height {
        let (mut word, mut is_current) = (String::new(), false);
        let mut x = 0;
        while x <= size.width {
            let cell = buf.cell((x, y)).filter(|cell| Some(cell.bg) == ground);
            // A wide symbol also takes the next cell.
            x += cell.map_or(1, |cell| u16::try_from(text::width(cell.symbol())).unwrap().max(1));
            match cell {
                Some(cell) => {
                    is_current = cell.modifier.contains(ratatui::style::Modifier::REVERSED);
                    word.push_str(cell.symbol());
                }
                None if word.is_empty() => {}
                None => {
                    let word = std::mem::take(&mut word);
                    words.push(if is_current { format!("[{word}]") } else { word });
                }
            }
        }
    }
    words.join(" ")
}

/// The rows of the screen that are not empty.
fn rows(transcript: &mut Transcript, session: &Session) -> String {
    let screen = screen(transcript, session, SIZE.width, SIZE.height);
    screen
        .lines()
        .filter(|row| !row.is_empty())
        .map(|row| row.trim_start_matches(['›', ' ']))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn a_search_goes_to_the_nearest_match_and_wraps() {
    let session = numbered(30);
    let mut transcript = opened(&session);
    rows(&mut transcript, &session);
    transcript.go(Move::Up(20));
    assert_eq!(rows(&mut transcript, &session), "question 24, answer 24, question 25, answer 25");
    let mut at = |query| searched(&mut transcript, &session, query);
    assert_eq!(at("ans"), "24/30: [ans] ans", "the first one on the screen, not the first of all");
    assert_eq!(at("answer 2"), "13/11: ".replace("13/11", "6/11") + "[answer 2] answer 2");
    assert_eq!(at("answer 27"), "1/1: [answer 27]");
    assert_eq!(at("answer 2"), "6/11: [answer 2] answer 2", "a shorter text goes back to where the search began");
    assert_eq!(at("answer 3"), "2/2: [answer 3]");
    assert_eq!(at("Answer"), "0/0: ");
    assert_eq!(at("answer 19"), "1/1: [answer 19]");
    let mut go = |step| stepped(&mut transcript, &session, step);
    assert_eq!(go(SearchStep::Next), "1/1 wrapped: [answer 19]");
    assert_eq!(searched(&mut transcript, &session, "question 1"), "11/11: [question 1]");
    let mut go = |step| stepped(&mut transcript, &session, step);
    assert_eq!(go(SearchStep::Next), "1/11 wrapped: [question 1]");
    assert_eq!(go(SearchStep::Next), "2/11: [question 1] question 1");
    assert_eq!(go(SearchStep::Previous), "1/11: [question 1]");
    assert_eq!(go(SearchStep::Previous), "11/11 wrapped: [question 1]");
    assert_eq!(rows(&mut transcript, &session), "answer 18, question 19, answer 19, question 20");
    transcript.end_search();
    assert_eq!(rows(&mut transcript, &session), "answer 18, question 19, answer 19, question 20");
    assert_eq!(shown(&mut transcript, &session), "no search: ");
}

const TOOLS: [&str; 4] = [
    r#"{"role":"user","content":"where is the needle?"}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"First words, which are more than two rows of this narrow screen can show.\n\nA needle in a thought."},{"type":"text","text":"The needle:"},{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"cat hay"}},{"type":"toolCall","id":"2","name":"bash","arguments":{"command":"cat straw"}}],"stopReason":"toolUse"}"#,
    r#"{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"a needle at the start\n2\n3\n4\n5\n6\n7\n8\n9\na needle at the end"}],"isError":false}"#,
    r#"{"role":"toolResult","toolCallId":"2","toolName":"bash","content":[{"type":"text","text":"a needle in the second\n2\n3\n4\n5\n6\n7\n8\n9\n10"}],"isError":false}"#,
];

/// What is folded is searched, too. Only the part of the current match is unfolded; what a folded part shows stays folded.
#[test]
fn a_match_in_a_folded_part_unfolds_it() {
    let session = session(&TOOLS);
    let mut transcript = opened(&session);
    rows(&mut transcript, &session);
    let mut at = |step: Option<SearchStep>| {
        let status = match step {
            None => searched(&mut transcript, &session, "needle"),
            Some(step) => stepped(&mut transcript, &session, step),
        };
        let size = Size::new(40, 60);
        let whole = marked(&mut transcript, &session, size);
        let screen = drawn(&transcript, size.width, size.height);
        let is_open = |words: &str| screen.contains(words);
        let open = (is_open("in a thought"), is_open("at the start"), is_open("in the second"));
        (status.split(':').next().unwrap_or_default().to_owned(), whole, open)
    };
    let before = |number: usize, open| (format!("{number}/6"), open);
    let mut seen = Vec::new();
    for step in [None, Some(SearchStep::Next), Some(SearchStep::Next), Some(SearchStep::Next), Some(SearchStep::Next)] {
        let (status, whole, open) = at(step);
        assert_eq!(whole.matches('[').count(), 1, "{whole}");
        seen.push((status.replace(" wrapped", ""), open));
    }
    let expected = [
        before(6, (false, false, true)),
        before(1, (false, false, false)),
        before(2, (true, false, false)),
        before(3, (false, false, false)),
        before(4, (false, true, false)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(at(Some(SearchStep::Next)).2, (false, false, false), "the end of a folded output is shown");
    assert_eq!(at(Some(SearchStep::Previous)).2, (false, true, false));
    transcript.end_search();
    assert!(screen(&mut transcript, &session, 40, 60).contains("at the start"), "the last match stays unfolded");
}

/// Each step costs what it may, and the key that asks for a match which is not found yet is not lost.
#[test]
fn a_key_waits_for_no_search() {
    let session = numbered(4_000);
    let mut transcript = opened(&session);
    rows(&mut transcript, &session);
    transcript.search_for(&session, "question 17").unwrap();
    assert!(
        transcript.is_searching() && transcript.search_status().unwrap().percent.is_some_and(|percent| percent < 10)
    );
    transcript.search_step(&session, SearchStep::Previous).unwrap();
    let before = transcript.search_status().unwrap().percent;
    transcript.search_on(&session, 1).unwrap();
    assert_eq!(transcript.search_status().unwrap().percent, before, "one place");
    assert_eq!(shown(&mut transcript, &session), "111/111: [question 17]");
    assert_eq!(stepped(&mut transcript, &session, SearchStep::Next), "1/111 wrapped: [question 17]");
}

#[test]
fn a_resized_transcript_is_searched_again() {
    let session = session(&[r#"{"role":"user","content":"Voilà 日本語 and a cafe\u0301 au lait"}"#]);
    let mut transcript = opened(&session);
    rows(&mut transcript, &session);
    assert_eq!(searched(&mut transcript, &session, "本語 and"), "1/1: [本語 and]");
    assert_eq!(searched(&mut transcript, &session, "café au"), "1/1: [cafe\u{301} au]");
    marked(&mut transcript, &session, Size::new(12, 8));
    assert!(transcript.is_searching());
    finish(&mut transcript, &session);
    assert_eq!(marked(&mut transcript, &session, Size::new(12, 8)), "[cafe\u{301} au]");
    marked(&mut transcript, &session, Size::new(8, 8));
    finish(&mut transcript, &session);
    assert_eq!(marked(&mut transcript, &session, Size::new(8, 8)), "[cafe\u{301}] [au]");
}
