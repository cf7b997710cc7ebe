//! A server for tests that is as odd as a test wants: this test program, started again with the variable [`ODDITIES`].

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// Words for what the server does otherwise than a good one, separated by commas.
pub(crate) const ODDITIES: &str = "SCRIPTED_MCP_SERVER";

/// The entry of a configuration that starts it. `test` is the path of [`serve`] in the test program.
pub(crate) fn entry(test: &str, oddities: &str) -> Value {
    let program = std::env::current_exe().unwrap();
    json!({"command": program, "args": ["--exact", test, "--nocapture"], "env": {ODDITIES: oddities}})
}

/// The server, for the process that is started as one; for all others a test that does nothing.
pub(crate) fn serve() {
    let Ok(oddities) = std::env::var(ODDITIES) else { return };
    let server = OddServer {
        oddities: oddities.split(',').map(str::to_owned).collect(),
        asked_for: Default::default(),
        is_awake: Default::default(),
    };
    server.run();
    std::process::exit(0);
}

/// What it wants to know of a person.
fn question() -> Value {
    let name = json!({"type": "string", "title": "Name", "default": "Ann", "minLength": 2});
    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": name}, "required": ["name"]}})
}

struct OddServer {
    oddities: Vec<String>,
    /// The call that waits for a person's answer.
    asked_for: std::cell::RefCell<Value>,
    is_awake: std::cell::Cell<bool>,
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("does {name}"), "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}})
}

impl OddServer {
    fn is(&self, oddity: &str) -> bool {
        self.oddities.iter().any(|known| known == oddity)
    }

    fn run(&self) {
        if self.is("pid") {
            let file = std::env::var("PID_FILE").unwrap();
            std::fs::write(file, std::process::id().to_string()).unwrap();
        }
        if self.is("garbage") {
            println!("Listening…\n{{\"id\": \"?\"}}\n[1,2]\n\u{1b}[2J");
        }
        if self.is("errors") {
            eprintln!("first\nlast \u{1b}[31mred");
        }
        if self.is("dies") {
            return;
        }
        if self.is("long-line") {
            let mut out = std::io::stdout().lock();
            let part = "x".repeat(1 << 20);
            for _ in 0..97 {
                // Nobody may read it to its end.
                if out.write_all(part.as_bytes()).is_err() {
                    return;
                }
            }
        }
        let mut read = 0;
        for line in std::io::stdin().lock().lines() {
            let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
            read += 1;
            self.meet(read);
            if self.is("records") {
                let file = std::env::var("RECORD").unwrap();
                let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
                writeln!(file, "{message}").unwrap();
            }
            self.answer(&message);
        }
        // Its input has ended.
        while self.is("stays") {
            std::thread::park();
        }
    }

    /// Ends or hangs when so many messages were read.
    fn meet(&self, read: usize) {
        if self.is(&format!("killed-at-{read}")) {
            let own = std::process::id().to_string();
            std::process::Command::new("kill").args(["-9", &own]).status().unwrap();
        }
        if self.is(&format!("hangs-at-{read}")) {
            std::fs::write(std::env::var("PID_FILE").unwrap(), std::process::id().to_string()).unwrap();
            loop {
                std::thread::park();
            }
        }
    }

    fn answer(&self, message: &Value) {
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        if *id == "q1" {
            let text = json!({"content": [{"type": "text", "text": message["result"].to_string()}]});
            return send(&json!({"jsonrpc": "2.0", "id": self.asked_for.take(), "result": text}));
        }
        let answer = |result: Value| send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let refuse = |code: i64, words: &str| {
            send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}));
        };
        let is_modern = self.is("modern");
        let discovered = || {
            answer(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "odd", "version": "1"}},
            }));
        };
        match method {
            _ if self.is("silent") => {}
            "server/discover" if is_modern && !self.is("slow-discovery") => discovered(),
            "server/discover" if self.is("empty-discovery") => answer(json!({})),
            "server/discover" if self.is("deaf-to-discovery") => {}
            "initialize" if self.is("slow-discovery") => {
                refuse(-32022, "connection is serving the 2026-07-28 protocol");
            }
            "server/discover" if self.is("slow-discovery") && !self.is_awake.replace(true) => {}
            "server/discover" if self.is("slow-discovery") => discovered(),
            "initialize" if is_modern => refuse(-32601, "method not found"),
            "initialize" if self.is("old") => answer(json!({"protocolVersion": "2020-01-01", "capabilities": {}})),
            "initialize" => answer(json!({
                "protocolVersion": "2025-06-18",
                "capabilities": if self.is("prompts") { json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true}}) } else if self.is("resources") { json!({"tools": {}, "resources": {}}) } else { json!({"tools": {"listChanged": true}}) },
                "serverInfo": {"name": "odd", "version": "1"}, "instructions": "Be \u{1b}[1mbold.\nSecond line.",
            })),
            "tools/list"
                if is_modern && message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null() =>
            {
                refuse(-32602, "no envelope");
            }
            "tools/list" => self.list(message, answer),
            "tools/call" => self.call(message, answer),
            "prompts/list" => {
                let arguments = json!([{"name": "who", "description": "Whom?", "required": true}, {"name": "style"}]);
                let mut prompts =
                    vec![json!({"name": "greet-all", "description": "says hello", "arguments": arguments})];
                if self.is_awake.get() {
                    prompts.push(json!({"name": "later"}));
                }
                answer(json!({"prompts": prompts}));
            }
            "prompts/get" => {
                let words = format!("{} {}", message["params"]["name"], message["params"]["arguments"]);
                let message = |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
                answer(json!({"messages": [message("user", &words), message("assistant", "Yes?")]}));
            }
            _ if id.is_null() => {}
            _ => refuse(-32601, "method not found"),
        }
    }

    fn list(&self, message: &Value, answer: impl Fn(Value)) {
        if self.is("asks-unasked") {
            send(&json!({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": question()}));
        }
        if self.is("many") {
            let page: usize = message["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
            let tools: Vec<Value> = (0..1000).map(|number| tool(&format!("t{}", page * 1000 + number))).collect();
            let next = (page < 9).then(|| (page + 1).to_string());
            return answer(json!({"tools": tools, "nextCursor": next}));
        }
        if self.is("endless-pages") {
            return answer(json!({"tools": [tool("echo")], "nextCursor": "again"}));
        }
        if self.is("odd-tools") {
            return answer(
                json!({"tools": [tool("echo"), tool("echo"), {"name": ""}, {"name": "big", "inputSchema": {"description": "x".repeat(70_000)}}]}),
            );
        }
        answer(
            json!({"tools": [tool("echo"), {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": true}}]}),
        );
        if self.is("dies-after-list") {
            std::process::exit(3);
        }
        if self.is("storm") {
            (0..200).for_each(|_| send(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})));
        }
    }

    fn call(&self, message: &Value, answer: impl Fn(Value)) {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
        let params = &message["params"];
        if self.is("hangs") {
            return;
        }
        if self.is("address-first") && !self.is_awake.replace(true) {
            let asked =
                json!([{"mode": "url", "message": "Sign in.", "url": "https://h.example/x", "elicitationId": "e1"}]);
            let error = json!({"code": -32042, "message": "open an address", "data": {"elicitations": asked}});
            return send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        }
        if self.is("dies-in-call") {
            eprintln!("out of memory");
            std::process::exit(9);
        }
        if self.is("huge") {
            return answer(text(&format!("{}\n", "x".repeat(1023)).repeat(50 << 10)));
        }
        if self.is("asks") {
            let asked = json!({"method": "elicitation/create", "params": question()});
            if !self.is("modern") {
                self.asked_for.replace(message["id"].clone());
                send(&json!({"jsonrpc": "2.0", "id": "q1", "method": asked["method"], "params": asked["params"]}));
                if self.is("forgets") {
                    send(
                        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q1"}}),
                    );
                    answer(text("forgotten"));
                }
                return;
            }
            if params["inputResponses"].is_null() {
                return answer(
                    json!({"resultType": "input_required", "inputRequests": {"who": asked}, "requestState": "s1"}),
                );
            }
            return answer(text(&format!("{} {}", params["inputResponses"], params["requestState"])));
        }
        if self.is("prompts") && !self.is_awake.replace(true) {
            send(&json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}));
        }
        if self.is("progress") {
            let token = &params["_meta"]["progressToken"];
            for step in 1..=3 {
                let words = json!({"progressToken": token, "progress": step, "total": 3});
                send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": words}));
            }
        }
        if self.is("writes") {
            let wrote = params["arguments"]["text"].as_str().map(|path| std::fs::write(path, "x").is_ok());
            return answer(text(&format!("{wrote:?}")));
        }
        if self.is("environment") {
            let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            return answer(text(&names.join(" ")));
        }
        answer(text(params["arguments"]["text"].as_str().unwrap_or("nothing")));
    }
}
