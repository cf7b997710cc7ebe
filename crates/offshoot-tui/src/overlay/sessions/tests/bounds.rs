//! Hostile texts and long lines stay in their places.

use super::*;

/// Sessions with a text in each field, and a preview.
fn with(texts: &[String; 6]) -> Sessions {
    let mut sessions = Sessions::new(Setting { now: NOW, home: Some("/home/u".into()), ..Setting::default() });
    let info = SessionInfo {
        path: PathBuf::from(&texts[0]),
        id: texts[1].clone(),
        cwd: texts[2].clone(),
        name: Some(texts[3].clone()),
        first_message: texts[4].clone(),
        ..listed(&WORLD[0]).info
    };
    let unnamed = SessionInfo { name: None, ..info.clone() };
    let other =
        Listed { real: "/other".into(), parent: Some("/real".into()), origin: SessionProgram::Pi, info: unnamed };
    let first = Listed { real: "/real".into(), parent: None, origin: SessionProgram::Omp, info };
    let both = vec![first, other];
    sessions.take(Answer::Listed(Scope::Folder, both.clone()));
    sessions.take(Answer::Listed(Scope::All, both));
    sessions.requests();
    let spoken = vec![said(Speaker::Person, &texts[5]), said(Speaker::Model, &texts[4])];
    let preview = Preview { first: spoken.clone(), last: spoken, trouble: Some(texts[5].clone()) };
    sessions.take(Answer::Preview(PathBuf::from(&texts[0]), preview));
    sessions
}

/// Performs one of a few actions that change the screen.
fn act(sessions: &mut Sessions, texts: &[String; 6], nth: usize) {
    let file = PathBuf::from(&texts[0]);
    match nth {
        0 => drop(ctrl(sessions, 'p')),
        1 => drop(ctrl(sessions, 'r')),
        2 => drop(ctrl(sessions, 'd')),
        3 => drop(press(sessions, KeyCode::Down)),
        4 => drop(press(sessions, KeyCode::Tab)),
        5 => sessions.paste(&texts[5]),
        6 => sessions.take(Answer::Trashed(file, Ok(()))),
        7 => sessions.take(Answer::Renamed(file, Ok(texts[4].clone()))),
        8 => sessions.take(Answer::Restored(file, Ok(()))),
        9 => sessions.take(Answer::Done(Scope::All, Err(texts[3].clone()))),
        _ => sessions.take(Answer::Renamed(file, Err(texts[4].clone()))),
    }
}

/// All actions in order. The question is answered with no.
const ALL: [usize; 11] = [0, 3, 4, 1, 5, 10, 2, 6, 7, 8, 9];

fn everything(text: &str, mut look: impl FnMut(&Sessions)) {
    let texts = std::array::from_fn(|_| text.to_owned());
    let mut sessions = with(&texts);
    for nth in ALL {
        act(&mut sessions, &texts, nth);
        look(&sessions);
        press(&mut sessions, KeyCode::Esc);
        look(&sessions);
    }
    sessions.paste(text);
    look(&sessions);
}

#[test]
fn hostile_text_in_every_field_stays_in_its_cells() {
    for (_, text) in hostile_texts() {
        everything(&text, |sessions| {
            for (columns, rows) in SIZES {
                assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_stays_inside(
        texts in proptest::collection::vec(hostile(), 6),
        columns in 0..90_u16,
        rows in 0..26_u16,
        keys in proptest::collection::vec(0..ALL.len(), 0..6),
    ) {
        let texts: [String; 6] = texts.try_into().unwrap_or_default();
        let mut sessions = with(&texts);
        for key in keys {
            act(&mut sessions, &texts, key);
            assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
        }
        assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
    }
}

#[test]
fn a_line_of_a_megabyte_costs_what_is_seen_of_it() {
    let mut one = listed(&WORLD[1]);
    one.info.first_message = a_megabyte();
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, vec![one]));
    assert!(sessions.chosen().is_some_and(|row| row.first.len() < 1000));
    everything(&a_megabyte(), |sessions| {
        assert_inside(80, 24, |area, buf| sessions.view(&Theme::default(), area, buf));
    });
}
