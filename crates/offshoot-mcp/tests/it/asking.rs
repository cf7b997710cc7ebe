//! Servers that ask a person.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_agent::tool::LiveTools as _;
use offshoot_protocol::{FieldAnswer, Form, FormAnswer, FormSource};
use serde_json::json;

use crate::run::{Run, run};

/// A run whose person answers so.
fn answered(oddities: &str, answer: impl Fn(&Form) -> FormAnswer + Send + Sync + 'static) -> Run {
    let run = Run::new(oddities, json!({}));
    *run.agent.answer.lock().unwrap() = Some(Arc::new(answer));
    run
}

fn send(id: &str, answer: FieldAnswer) -> FormAnswer {
    FormAnswer::Send(BTreeMap::from([(id.to_owned(), answer)]))
}

#[test]
fn in_both_eras_the_answers_of_the_person_reach_the_server() {
    run(async {
        for (oddities, before, after) in [("asks", "", ""), ("modern,asks", r#"{"who":"#, r#"} "s1""#)] {
            for (answer, result) in [
                (send("name", FieldAnswer::text("Bob")), r#"{"action":"accept","content":{"name":"Bob"}}"#),
                (FormAnswer::Decline, r#"{"action":"decline"}"#),
                (FormAnswer::Cancel, r#"{"action":"cancel"}"#),
            ] {
                let run = answered(oddities, move |_| answer.clone());
                run.start().await;
                assert_eq!(run.echo("x").await, (format!("{before}{result}{after}"), false), "{oddities}");
                let asked = run.agent.asked.lock().unwrap().forms.remove(0);
                assert_eq!((asked.source, asked.message.as_deref()), (FormSource::Mcp("odd".to_owned()), Some("Who?")));
                assert!(asked.fields[0].required);
                run.servers.close().await;
            }
        }
    });
}

/// Only what a person or the model has begun may lead to a question.
#[test]
fn who_asks_unasked_is_declined_and_nobody_sees_it() {
    run(async {
        let run = answered("asks-unasked", |_| FormAnswer::Cancel);
        run.start().await;
        assert_eq!(run.echo("x").await, ("x".to_owned(), false));
        assert!(run.agent.asked.lock().unwrap().forms.is_empty());
        run.servers.close().await;
    });
}

#[test]
fn a_question_is_taken_back_with_its_call_or_by_the_server() {
    run(async {
        for oddities in ["asks", "modern,asks"] {
            let run = Run::new(oddities, json!({}));
            run.start().await;
            let call = run.echo("x");
            let until_asked = async {
                while run.agent.asked.lock().unwrap().open.is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! { _ = call => panic!("nobody answers"), () = until_asked => {} }
            while run.agent.asked.lock().unwrap().withdrawn == 0 {
                tokio::task::yield_now().await;
            }
            run.servers.close().await;
        }
        let run = Run::new("asks,forgets", json!({}));
        run.start().await;
        assert_eq!(run.echo("x").await, ("forgotten".to_owned(), false));
        // It may have been taken back before it was shown.
        let is_open = || {
            let asked = run.agent.asked.lock().unwrap();
            asked.withdrawn < asked.forms.len()
        };
        while is_open() {
            tokio::task::yield_now().await;
        }
        run.servers.close().await;
    });
}

/// A call that a server refuses until an address was opened has done nothing, and is made again.
#[test]
fn an_address_is_opened_by_the_person_and_then_the_call_is_made() {
    run(async {
        let opened = answered("address-first", |_| send("url", FieldAnswer::chosen("I have opened it")));
        opened.start().await;
        assert_eq!(opened.echo("x").await, ("x".to_owned(), false));
        assert!(opened.agent.asked.lock().unwrap().forms[0].fields[0].question.ends_with("\nhttps://h.example/x"));
        opened.servers.close().await;
        let refused = answered("address-first", |_| FormAnswer::Cancel);
        refused.start().await;
        let (text, is_error) = refused.echo("x").await;
        assert!(is_error && text.contains("open an address"), "{text}");
        refused.servers.close().await;
    });
}
