//! A program without a person, models and keys: nothing that extensions ask of it has an answer.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::resources::Resources;
use offshoot_extensions::contract::{ExtensionSource, HostFuture, LoadedExtension, ProgramMode};
use offshoot_extensions::program::{ExtensionFailure, Operated, Program, RegisteredProvider, RegisteredServer};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, ThinkingLevel};
use serde_json::Value;

/// Nobody is there.
pub(crate) struct Nobody;

impl Program for Nobody {
    fn mode(&self) -> ProgramMode {
        ProgramMode::Print
    }
    fn has_ui(&self) -> bool {
        false
    }
    fn ask_user(&self, _: String, _: Value) -> HostFuture<'static, Value> {
        Box::pin(std::future::ready(Value::Null))
    }
    fn tell_user(&self, _: &str, _: Value) {}
    fn operate(
        &self,
        _: AgentSession,
        _: &'static str,
        _: Vec<(&'static str, Vec<String>)>,
    ) -> HostFuture<'static, Result<Operated, AgentError>> {
        Box::pin(std::future::ready(Ok(Operated::default())))
    }
    fn look(&self, _: &str, _: &Value) -> Value {
        Value::Null
    }
    fn failed(&self, failure: &ExtensionFailure) {
        panic!("{failure:?}");
    }
    fn models(&self, _: bool) -> Vec<Arc<Model>> {
        Vec::new()
    }
    fn register_servers(&self, _: Vec<RegisteredServer>) -> Vec<(PathBuf, String)> {
        Vec::new()
    }

    fn register_providers(&self, _: Vec<RegisteredProvider>) -> Vec<(PathBuf, String)> {
        Vec::new()
    }
    fn keep_loaded(&self, _: Vec<(ExtensionSource, LoadedExtension)>) {}
    fn awaited_model(&self) -> Option<Arc<Model>> {
        None
    }
    fn scoped_models(&self) -> Vec<(Arc<Model>, Option<ThinkingLevel>)> {
        Vec::new()
    }
    fn key(&self, _: String, _: String) -> HostFuture<'static, Value> {
        Box::pin(std::future::ready(Value::Null))
    }
    fn resource_commands(&self, _: &Resources) -> Vec<Value> {
        Vec::new()
    }
    fn sources(&self) -> Option<Vec<ExtensionSource>> {
        None
    }
    fn use_themes(&self, _: Vec<PathBuf>) {}
    fn credentials(&self, _: &str) -> Option<Value> {
        None
    }
    fn keep_credentials(&self, _: &str, _: Option<&Value>) -> Result<(), String> {
        Ok(())
    }
    fn shutdown(&self) {}
}
