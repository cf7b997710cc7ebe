//! What becomes of servers that do not behave.

use std::sync::Arc;

use offshoot_agent::tool::LiveTools as _;
use offshoot_mcp::cache::DefinitionCache;
use offshoot_mcp::server::ServerState;
use offshoot_mcp::servers::Servers;
use serde_json::{Value, json};

use crate::run::{Run, context, run, text_of};

#[test]
fn both_eras_are_spoken() {
    run(async {
        for (oddities, protocol) in [
            ("", "2025-06-18"),
            ("modern", "2026-07-28"),
            ("empty-discovery", "2025-06-18"),
            ("garbage,errors", "2025-06-18"),
        ] {
            let run = Run::new(oddities, json!({}));
            run.start().await;
            assert_eq!(run.told(), [""; 0], "{oddities}");
            assert_eq!(run.names(), ["mcp__odd__echo", "mcp__odd__look"], "{oddities}");
            assert_eq!(run.echo("hello").await, ("hello".to_owned(), false), "{oddities}");
            let ServerState::Ready(of) = run.state() else { panic!("{oddities}: {:?}", run.state()) };
            assert_eq!((of.protocol.as_str(), of.name.as_str()), (protocol, "odd"), "{oddities}");
            assert!(!of.instructions.unwrap_or_default().contains('\u{1b}'));
            run.servers.close().await;
        }
    });
}

/// Some servers of the older era answer nothing that they do not know.
#[test]
fn a_server_that_is_deaf_to_discovery_is_initialized() {
    run(async {
        let run = Run::new("deaf-to-discovery", json!({}));
        run.start().await;
        assert_eq!(run.echo("x").await, ("x".to_owned(), false));
        run.servers.close().await;
    });
}

/// A server in Python that starts on a busy machine answers the discovery after its time, and then takes no `initialize`.
#[test]
fn a_server_that_is_slow_to_start_is_discovered_again() {
    run(async {
        let run = Run::new("modern,slow-discovery", json!({"timeoutMs": 400}));
        run.start().await;
        assert_eq!(run.told(), [""; 0]);
        assert_eq!(run.echo("x").await, ("x".to_owned(), false));
        run.servers.close().await;
    });
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_last_words() {
    run(async {
        for (oddities, entry, words) in [
            ("dies,errors", json!({}), "MCP server odd: the server has ended"),
            ("silent", json!({"timeoutMs": 300}), "MCP server odd: it did not answer within 300 ms"),
            ("old", json!({}), "MCP server odd: it speaks version 2020-01-01 of the protocol, which offshoot does not"),
            ("", json!({"command": "/nonexistent/program"}), "MCP server odd: cannot run /nonexistent/program"),
            ("long-line", json!({}), "MCP server odd: the server sent a message of more than 96 MiB"),
        ] {
            let run = Run::new(oddities, entry);
            run.start().await;
            let told = run.told();
            assert!(told.len() == 1 && told[0].starts_with(words), "{oddities}: {told:?}");
            assert_eq!(run.names(), [""; 0]);
            assert!(!told[0].contains('\u{1b}'), "{told:?}");
        }
    });
}

/// A call whose connection ends may have run: it is not repeated, and the server is started again for the next one, but not for ever.
#[test]
fn a_server_that_dies_is_started_again_for_the_next_call_but_not_for_ever() {
    run(async {
        let run = Run::new("dies-in-call", json!({}));
        run.start().await;
        for _ in 0..5 {
            let (text, is_error) = run.echo("x").await;
            assert!(
                is_error && text.contains("the server has ended") && text.contains("The call may have been done"),
                "{text}"
            );
        }
        let (text, _) = run.echo("x").await;
        assert!(text.contains("it was started 5 times in 30 s and ended each time"), "{text}");
        assert!(matches!(run.state(), ServerState::Suspended(_)));
        run.servers.all()[0].reset();
        assert_eq!(run.state(), ServerState::Idle);
    });
}

#[test]
fn a_server_that_dies_after_its_list_keeps_its_tools() {
    run(async {
        let run = Run::new("dies-after-list", json!({}));
        run.start().await;
        assert_eq!(run.names().len(), 2);
        let (text, is_error) = run.echo("x").await;
        assert!(is_error || text == "x", "{text}");
        run.servers.close().await;
    });
}

#[test]
fn ten_thousand_tools_are_searched_and_only_those_that_are_found_are_declared() {
    run(async {
        let run = Run::new("many", json!({}));
        run.start().await;
        assert_eq!(run.servers.all()[0].tools().unwrap().len(), 10_000);
        assert_eq!(run.names(), ["tool_search"]);
        let outcome = run.call("tool_search", json!({"query": "t9999 t4242"})).0.await;
        assert_eq!(outcome.details, Some(json!({"loaded": ["mcp__odd__t4242", "mcp__odd__t9999"]})));
        assert_eq!(run.names(), ["tool_search", "mcp__odd__t4242", "mcp__odd__t9999"]);
        run.servers.close().await;
    });
}

#[test]
fn tools_that_cannot_be_declared_are_told_and_pages_without_end_are_not_followed() {
    run(async {
        let run = Run::new("odd-tools", json!({}));
        run.start().await;
        assert_eq!(run.names(), ["mcp__odd__echo"]);
        let expected = [
            "MCP server odd: two tools are named echo: the first is used",
            "MCP server odd: a tool has no usable name",
            "MCP server odd: the schema of big has more than 64 KiB",
        ];
        assert_eq!(run.told(), expected);
        let run = Run::new("endless-pages", json!({}));
        run.start().await;
        assert_eq!(run.names(), ["mcp__odd__echo"]);
        run.servers.close().await;
    });
}

#[test]
fn fifty_megabytes_are_cut_and_kept_in_a_file() {
    run(async {
        let run = Run::new("huge", json!({}));
        run.start().await;
        let outcome = run.call("mcp__odd__echo", json!({})).0.await;
        assert!(text_of(&outcome).len() < 60 << 10, "{}", text_of(&outcome).len());
        let path = outcome.details.unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
        assert_eq!(std::fs::metadata(path).unwrap().len(), 50 << 20);
        run.servers.close().await;
    });
}

#[test]
fn progress_is_shown_before_the_result() {
    run(async {
        let run = Run::new("progress", json!({}));
        run.start().await;
        let (call, mut partials) = run.call("mcp__odd__echo", json!({"text": "done"}));
        assert_eq!(text_of(&call.await), "done");
        let shown: Vec<String> =
            std::iter::from_fn(|| partials.try_recv().ok()).map(|outcome| text_of(&outcome)).collect();
        assert_eq!(shown, ["Progress 1/3", "Progress 2/3", "Progress 3/3"]);
        run.servers.close().await;
    });
}

#[test]
fn a_call_that_is_stopped_is_cancelled_at_the_server_which_lives_on() {
    run(async {
        let record = tempfile::NamedTempFile::new().unwrap();
        let run = Run::new("hangs,records", json!({"env": {"RECORD": record.path()}}));
        run.start().await;
        // The last line may be half written.
        let sent = |what: &str| {
            let lines = std::fs::read_to_string(record.path()).unwrap();
            lines.contains(what) && lines.ends_with('\n')
        };
        let until = async |what: &str| {
            while !sent(what) {
                tokio::task::yield_now().await;
            }
        };
        let (call, _partials) = run.call("mcp__odd__echo", json!({}));
        tokio::select! {
            _ = call => panic!("the call hangs"),
            () = until("tools/call") => {}
        }
        until("notifications/cancelled").await;
        let record = std::fs::read_to_string(record.path()).unwrap();
        let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let call = lines.iter().find(|line| line["method"] == "tools/call").unwrap();
        let cancelled = lines.iter().find(|line| line["method"] == "notifications/cancelled").unwrap();
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        assert!(matches!(run.state(), ServerState::Ready(_)));
        run.servers.close().await;
    });
}

#[test]
fn a_call_without_an_answer_names_the_setting() {
    run(async {
        let run = Run::new("hangs", json!({"timeoutMs": 700}));
        run.start().await;
        let (text, is_error) = run.echo("x").await;
        let expected = "MCP server odd, tool echo: it did not answer within 700 ms. The setting is timeoutMs of the server; the call may still be running there";
        assert_eq!((text.as_str(), is_error), (expected, true));
        run.servers.close().await;
    });
}

/// Two hundred announcements are a list or two.
#[test]
fn a_storm_of_changes_is_few_lists() {
    run(async {
        let record = tempfile::NamedTempFile::new().unwrap();
        let run = Run::new("storm,records", json!({"env": {"RECORD": record.path()}}));
        run.start().await;
        let lists = || std::fs::read_to_string(record.path()).unwrap().matches("tools/list\"").count();
        while lists() < 3 {
            tokio::task::yield_now().await;
        }
        assert!(lists() <= 4, "{}", lists());
        assert_eq!(*run.agent.sets.lock().unwrap(), 1, "the same tools are not set again");
        run.servers.close().await;
    });
}

#[test]
fn a_server_gets_few_variables() {
    run(async {
        let run = Run::new("environment", json!({"env": {"OWN": "1"}}));
        run.start().await;
        let (text, _) = run.echo("").await;
        let mut names: Vec<&str> = text.split(' ').collect();
        names.sort_unstable();
        assert_eq!(names, ["OFFSHOOT_COMMAND", "OWN", "PATH", "SCRIPTED_MCP_SERVER"]);
        run.servers.close().await;
    });
}

#[test]
fn the_next_run_declares_the_same_tools_at_once() {
    run(async {
        let first = Run::new("resources", json!({}));
        first.start().await;
        let all = first.names();
        first.servers.close().await;
        let again = Run::new("resources", json!({}));
        std::fs::rename(first.folder.path().join("cache"), again.folder.path().join("cache")).unwrap();
        let Run { servers, folder, tokens, .. } = again;
        let configured = servers.all()[0].configured.clone();
        let cache = DefinitionCache::new(Some(folder.path().join("cache")));
        let servers = Servers::new(vec![configured], &context(folder.path(), &tokens), (cache, Vec::new()));
        let again = Run { servers, agent: Arc::default(), tokens, folder };
        again.servers.start(again.agent.clone());
        assert_eq!(again.names(), all, "before the server has started");
        let of_resources = |name: &&String| name.contains("mcp_resource");
        assert_eq!(all.iter().filter(of_resources).count(), 3, "{all:?}");
        assert_eq!(again.echo("x").await, ("x".to_owned(), false));
        again.servers.close().await;
    });
}

/// The cached beginning of a request ends at the first tool that an earlier request did not have.
#[test]
fn the_search_is_declared_before_a_server_whose_tools_are_searched_has_started() {
    run(async {
        let of_one = json!({"toolExposure": {"echo": "deferred"}});
        for (more, is_declared) in [(json!({"exposure": "deferred"}), true), (of_one, true), (json!({}), false)] {
            let run = Run::new("", more.clone());
            run.servers.start(run.agent.clone());
            assert_eq!(run.names().contains(&"tool_search".to_owned()), is_declared, "{more}");
            run.servers.close().await;
        }
    });
}

/// A server that is deaf to the discovery is waited for once, not at each start.
#[test]
fn the_next_run_knows_the_era_and_a_server_may_have_changed_it() {
    run(async {
        let record = tempfile::NamedTempFile::new().unwrap();
        let of = |oddities: &str| Run::new(oddities, json!({"env": {"RECORD": record.path()}}));
        let first = of("empty-discovery,records");
        first.start().await;
        first.servers.close().await;
        let discoveries = || std::fs::read_to_string(record.path()).unwrap().matches("server/discover").count();
        assert_eq!(discoveries(), 1);
        let kept = std::fs::read_dir(first.folder.path().join("cache")).unwrap().next().unwrap().unwrap().path();
        let kept = std::fs::read_to_string(kept).unwrap();
        for (oddities, expected) in [("empty-discovery,records", 1), ("modern,records", 2)] {
            let again = of(oddities);
            let configured = again.servers.all()[0].configured.clone();
            let cache = again.folder.path().join("cache");
            std::fs::create_dir_all(&cache).unwrap();
            std::fs::write(cache.join(format!("{}.json", configured.config.hash)), &kept).unwrap();
            let context = context(again.folder.path(), &again.tokens);
            let servers = Servers::new(vec![configured], &context, (DefinitionCache::new(Some(cache)), Vec::new()));
            let again = Run { servers, ..again };
            again.start().await;
            assert_eq!(again.echo("x").await, ("x".to_owned(), false), "{oddities}");
            assert_eq!(discoveries(), expected, "{oddities}");
            again.servers.close().await;
        }
    });
}

#[test]
fn what_a_server_claims_counts_only_if_the_user_trusts_it() {
    run(async {
        for (is_trusted, is_read) in [(false, false), (true, true)] {
            let run = Run::new("", json!({"trustAnnotations": is_trusted}));
            run.start().await;
            let look = run.tool("mcp__odd__look");
            assert_eq!(look.only_changes(), !is_read, "the mode read-only refuses it");
            assert_eq!(look.is_sequential(), !is_read);
            assert!(run.tool("mcp__odd__echo").only_changes(), "it claims nothing");
            run.servers.close().await;
        }
    });
}
