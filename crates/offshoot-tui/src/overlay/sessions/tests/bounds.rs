//! Hostile texts and long lines stay in their place.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn hostile_text_stays_inside(
        texts in proptest::collection::vec(hostile(), 6),
        columns in 0..90_u16,
        rows in 0..26_u16,
        keys in proptest::collection::vec(0..8_usize, 0..6),
    ) {
        let mut sessions = Sessions::new(Setting { now: NOW, home: Some("/home/u".into()), ..Setting::default() });
        let info = SessionInfo {
            path: PathBuf::from(&texts[0]),
            id: texts[1].clone(),
            cwd: texts[2].clone(),
            name: Some(texts[3].clone()),
            first_message: texts[4].clone(),
            ..listed(&WORLD[0]).info
        };
        let other = Listed { real: "/other".into(), parent: Some("/real".into()), origin: Origin::Pi, info: SessionInfo { name: None, ..info.clone() } };
        sessions.take(Answer::Listed(Scope::Folder, vec![Listed { real: "/real".into(), parent: None, origin: Origin::Omp, info }, other]));
        sessions.requests();
        let spoken = vec![said(Speaker::Person, &texts[5]), said(Speaker::Model, &texts[4])];
        let preview = Preview { first: spoken.clone(), last: spoken, trouble: Some(texts[5].clone()) };
        sessions.take(Answer::Preview(PathBuf::from(&texts[0]), preview));
        for key in keys {
            match key {
                0 => drop(ctrl(&mut sessions, 'p')),
                1 => drop(ctrl(&mut sessions, 'r')),
                2 => drop(ctrl(&mut sessions, 'd')),
                3 => drop(press(&mut sessions, KeyCode::Down)),
                4 => drop(press(&mut sessions, KeyCode::Tab)),
                5 => sessions.paste(&texts[5]),
                6 => sessions.take(Answer::Trashed(PathBuf::from(&texts[0]), Ok(()))),
                _ => sessions.take(Answer::Renamed(PathBuf::from(&texts[0]), Err(texts[4].clone()))),
            }
            assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
        }
        assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
    }
}

#[test]
fn a_line_of_a_megabyte_costs_what_is_seen_of_it() {
    let mut one = listed(&WORLD[1]);
    one.info.first_message = "\u{1b}[31mx ".repeat(200_000);
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, vec![one]));
    assert!(sessions.chosen().is_some_and(|row| row.first.len() < 1000));
    assert_inside(80, 24, |area, buf| sessions.view(&Theme::default(), area, buf));
}
