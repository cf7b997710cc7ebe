//! The threads at the pipes of the process, and the watch over a process that does not yield. They hold it weakly: who drops
//! it ends them.

use std::io::{BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use offshoot_session::json::Json;
use serde_json::json;
use tokio::runtime::Handle;

use super::Child;
use crate::node::{lines, transformed};

/// The calls between which an extension has the terminal.
const LENDS: &str = "ui.suspend";
const TAKES_BACK: &str = "ui.resume";
/// How much of what extensions print is kept.
const PRINTED: usize = 64 << 10;

pub(super) fn write_lines(outgoing: &Receiver<String>, pipe: &Mutex<PipeWriter>, queued: &AtomicU64) {
    while let Ok(mut line) = outgoing.recv() {
        line.push('\n');
        let written = pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        queued.fetch_sub(1, Ordering::AcqRel);
        if written.is_err() {
            return;
        }
    }
}

pub(super) fn read_lines(child: &Weak<Child>, pipe: PipeReader, runtime: &Handle) {
    let mut pipe = BufReader::with_capacity(64 << 10, pipe);
    loop {
        let line = lines::next(&mut pipe);
        let Some(child) = child.upgrade() else { return };
        match line {
            Ok(Some(line)) => child.take(&line, runtime),
            Ok(None) => return child.lost(),
            Err(error) => {
                child.kill(&error.to_string());
                return child.lost();
            }
        }
    }
}

/// The process waits for each answer.
pub(super) fn serve_calls(child: &Weak<Child>, pipe: PipeReader, mut answers: PipeWriter) {
    let mut pipe = BufReader::with_capacity(64 << 10, pipe);
    while let Ok(Some(line)) = lines::next(&mut pipe) {
        let Some(child) = child.upgrade() else { return };
        child.blocked.fetch_add(1, Ordering::AcqRel);
        let text = String::from_utf8_lossy(&line);
        let call = Json::parse(&text).ok();
        let member = |name: &str| call.and_then(|call| call.get(name)).map_or("null", Json::text);
        let method = call.and_then(|call| call.str("method")).unwrap_or_default();
        let (id, params) = (member("id"), member("params"));
        let answer = match method.as_ref() {
            "host.payload" => child.held_payload(params),
            "host.transform" => transformed(params),
            method => child.services.now(method, params),
        };
        match method.as_ref() {
            LENDS => child.has_terminal.store(answer.as_deref() == Ok("true"), Ordering::Release),
            TAKES_BACK => child.has_terminal.store(false, Ordering::Release),
            _ => {}
        }
        let answer = match answer {
            Ok(ok) => format!("{{\"id\":{id},\"ok\":{ok}}}\n"),
            Err(message) => format!("{{\"id\":{id},\"error\":{{\"message\":{}}}}}\n", json!(message)),
        };
        let written = answers.write_all(answer.as_bytes());
        child.blocked.fetch_sub(1, Ordering::AcqRel);
        if written.is_err() {
            return;
        }
    }
}

pub(super) fn keep_printed(child: &Weak<Child>, mut pipe: PipeReader) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read) = pipe.read(&mut buffer) {
        let Some(child) = child.upgrade() else { return };
        let Some(text) = buffer.get(..read).filter(|text| !text.is_empty()) else { return };
        let mut state = child.state();
        state.printed.push_str(&String::from_utf8_lossy(text));
        if state.printed.len() > 2 * PRINTED {
            let cut = state.printed.len() - PRINTED;
            let cut = (cut..).find(|at| state.printed.is_char_boundary(*at)).unwrap_or(cut);
            state.printed.drain(..cut);
        }
    }
}

/// Ends a process that works on without yielding. Nothing is counted while it waits for us, nor while nobody waits for it and it has
/// answered every ping.
pub(super) async fn watch(child: Weak<Child>, patience: Duration) {
    let step = (patience / 8).max(Duration::from_millis(20));
    let most = u64::try_from(patience.as_millis() / step.as_millis().max(1)).unwrap_or(8);
    let mut id = 0_u64;
    loop {
        tokio::time::sleep(step).await;
        let Some(child) = child.upgrade() else { return };
        if child.is_gone() {
            return;
        }
        let is_waited_for = {
            let state = child.state();
            !state.waiting.is_empty() || state.ready.is_some()
        };
        let is_silent = child.silence.load(Ordering::Acquire) > 0;
        let waits = child.blocked.load(Ordering::Acquire) > 0 || child.has_terminal.load(Ordering::Acquire);
        if !(is_waited_for || is_silent) || waits {
            child.silence.store(0, Ordering::Release);
            continue;
        }
        if child.silence.fetch_add(1, Ordering::AcqRel) >= most {
            child.kill(&format!("an extension ran on for {} s without yielding", patience.as_secs_f32()));
            return;
        }
        id += 1;
        child.send(json!({"t": "ping", "id": id}).to_string());
    }
}
