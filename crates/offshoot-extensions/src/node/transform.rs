//! An extension's module as the body of a function: without types, and with every import looked up by its name when it is used, as pi's
//! loader does. It reads no file and runs nothing.

use std::path::Path;

use offshoot_agent::lenient_json;
use oxc_allocator::{Allocator, ArenaBox, ArenaVec, CloneIn as _, TakeIn as _};
use oxc_ast::ast::{Expression, ImportDeclarationSpecifier, Program, Statement};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::{Diagnostics, Severity};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{
    DecoratorOptions, ES2026Options, EnvOptions, HelperLoaderMode, HelperLoaderOptions, Module, TransformOptions,
    Transformer,
};
use oxc_transformer_plugins::ModuleRunnerTransform;
use serde::{Deserialize, Serialize};

/// The stack of the thread that transforms a module; it bounds how deeply a module may nest.
const STACK: usize = 256 << 20;
/// The function that the transformed code calls for an import.
const IMPORT: &str = "__vite_ssr_import__";

/// What the code becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ModuleForm {
    /// The body of an `async` function that waits for its imports.
    Waiting,
    /// The body of a function that has its imports at once.
    AtOnce,
    /// A module of JavaScript.
    Module,
}

/// A file of an extension.
#[derive(Debug, Deserialize)]
struct ModuleSource {
    /// Its name says whether it has types.
    path: String,
    /// The text of it.
    source: String,
    /// The form of the output.
    form: ModuleForm,
}

/// Code of JavaScript, or the first mistake in the source.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", untagged)]
enum TransformedModule {
    /// Code, and the URL of the map that leads to its source.
    Code { code: String, map: String },
    /// A mistake, and where it is: lines count from 1.
    Mistake { mistake: String, line: usize, column: usize },
}

/// The answer to a call of the host, as text of JSON.
///
/// # Errors
/// The parameters do not describe a module, or the transformer failed.
pub fn transformed(params: &str) -> Result<String, String> {
    let module: ModuleSource = lenient_json::from_str(params).map_err(|error| error.to_string())?;
    let thread = std::thread::Builder::new().name("extensions-module".to_owned()).stack_size(STACK);
    let made = thread.spawn(move || transform_module(&module)).map_err(|error| error.to_string())?;
    let made = made.join().map_err(|_| "the transformer of modules has failed".to_owned())?;
    serde_json::to_string(&made).map_err(|error| error.to_string())
}

/// Takes the types away, and makes of imports what the form needs.
#[must_use]
fn transform_module(module: &ModuleSource) -> TransformedModule {
    let path = Path::new(&module.path);
    let source = module.source.strip_prefix('\u{feff}').unwrap_or(&module.source);
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type(path)).parse();
    if let Some(mistake) = mistake_of(&parsed.diagnostics, source) {
        return mistake;
    }
    let mut program = parsed.program;
    program.hashbang = None;
    let scoping = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    let scoping = scoping.semantic.into_scoping();
    let made = Transformer::new(&allocator, path, &options()).build_with_scoping(scoping, &mut program);
    if let Some(mistake) = mistake_of(&made.diagnostics, source) {
        return mistake;
    }
    if module.form != ModuleForm::Module {
        split_imports(&mut program, &allocator);
        let scoping = SemanticBuilder::new().build(&program).semantic.into_scoping();
        ModuleRunnerTransform::new().transform(&allocator, &mut program, scoping);
    }
    if module.form == ModuleForm::AtOnce {
        program.body.iter_mut().for_each(|statement| import_at_once(statement, &allocator));
    }
    let options = CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let made = Codegen::new().with_options(options).build(&program);
    let map = made.map.map_or_else(String::new, |mut map| {
        map.set_sources([&module.path]);
        map.to_data_url()
    });
    TransformedModule::Code { code: made.code, map }
}

fn source_type(path: &Path) -> SourceType {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("tsx") => SourceType::tsx(),
        Some("ts" | "mts" | "cts") => SourceType::ts(),
        Some("jsx") => SourceType::jsx(),
        _ => SourceType::mjs(),
    }
}

/// What TypeScript and its old decorators need, and what Node.js 22 lacks.
fn options() -> TransformOptions {
    TransformOptions {
        decorator: DecoratorOptions { legacy: true, emit_decorator_metadata: true, ..DecoratorOptions::default() },
        env: EnvOptions {
            module: Module::CommonJS,
            es2026: ES2026Options { explicit_resource_management: true },
            ..EnvOptions::default()
        },
        helper_loader: HelperLoaderOptions { mode: HelperLoaderMode::External, ..HelperLoaderOptions::default() },
        ..TransformOptions::default()
    }
}

/// The first error among the findings.
fn mistake_of(found: &Diagnostics, source: &str) -> Option<TransformedModule> {
    let first = found.iter().find(|finding| finding.severity == Severity::Error)?;
    let at = first.labels.first().map_or(0, |label| label.offset() as usize).min(source.len());
    let before = source.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |text| text.encode_utf16().count()) + 1;
    Some(TransformedModule::Mistake { mistake: first.message.to_string(), line, column })
}

/// An import of a default beside a namespace becomes two: the transformer that follows forgets the first.
fn split_imports<'a>(program: &mut Program<'a>, allocator: &'a Allocator) {
    let is_namespace =
        |name: &ImportDeclarationSpecifier<'_>| matches!(name, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_));
    let mut at = 0;
    while let Some(statement) = program.body.get_mut(at) {
        at += 1;
        let Statement::ImportDeclaration(import) = statement else { continue };
        let Some(names) = import.specifiers.as_mut() else { continue };
        if names.len() < 2 || !names.last().is_some_and(is_namespace) {
            continue;
        }
        let Some(namespace) = names.pop() else { continue };
        let mut second = import.clone_in(allocator).unbox();
        let mut only = ArenaVec::new_in(&allocator);
        only.push(namespace);
        second.specifiers = Some(only);
        program.body.insert(at, Statement::ImportDeclaration(ArenaBox::new_in(second, &allocator)));
    }
}

/// `const a = await import…` becomes `const a = import…`.
fn import_at_once<'a>(statement: &mut Statement<'a>, allocator: &'a Allocator) {
    let Statement::VariableDeclaration(declared) = statement else { return };
    let [one] = declared.declarations.as_mut_slice() else { return };
    let Some(Expression::AwaitExpression(waiting)) = &mut one.init else { return };
    let is_import = |call: &Expression<'_>| match call {
        Expression::CallExpression(call) => {
            call.callee.get_identifier_reference().is_some_and(|name| name.name == IMPORT)
        }
        _ => false,
    };
    if is_import(&waiting.argument) {
        one.init = Some(waiting.argument.take_in(&allocator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(path: &str, source: &str, form: ModuleForm) -> TransformedModule {
        transform_module(&ModuleSource { path: path.to_owned(), source: source.to_owned(), form })
    }

    fn code(source: &str, form: ModuleForm) -> String {
        match made("/x/a.ts", source, form) {
            TransformedModule::Code { code, .. } => code,
            mistake @ TransformedModule::Mistake { .. } => format!("{mistake:?}"),
        }
    }

    #[test]
    fn an_import_is_looked_up_where_it_is_used_and_types_are_gone() {
        let source = "import { f, type T, U } from './b';\nimport type { V } from './c';\nconst a: U = f() as T;\n";
        assert_eq!(
            code(source, ModuleForm::Waiting),
            "\"use strict\";\nconst __vite_ssr_import_0__ = await __vite_ssr_import__(\"./b\", { importedNames: [\"f\"] });\nconst a = (0, __vite_ssr_import_0__.f)();\n"
        );
        assert!(code(source, ModuleForm::AtOnce).contains("const __vite_ssr_import_0__ = __vite_ssr_import__("));
        assert_eq!(code(source, ModuleForm::Module), "\"use strict\";\nimport { f } from \"./b\";\nconst a = f();\n");
    }

    #[test]
    fn a_default_beside_a_namespace_is_imported_too() {
        let made = code("import d, * as all from './b';\nuse(d, all);\n", ModuleForm::Waiting);
        assert!(made.contains("use(__vite_ssr_import_0__.default, __vite_ssr_import_1__)"), "{made}");
    }

    #[test]
    fn what_waits_by_itself_still_waits() {
        let made = code("import { f } from './b';\nconst a = await f();\n", ModuleForm::AtOnce);
        assert!(made.contains("const a = await (0, __vite_ssr_import_0__.f)()"), "{made}");
    }

    #[test]
    fn a_mistake_has_its_line() {
        let made = made("/x/a.ts", "const a = 1;\nconst é = ;\n", ModuleForm::Waiting);
        assert!(matches!(made, TransformedModule::Mistake { line: 2, column: 11, .. }), "{made:?}");
    }

    #[test]
    fn a_module_that_is_nested_deeply_is_read() {
        let deep = format!("const a = {}1{};", "[".repeat(5000), "]".repeat(5000));
        let params = serde_json::json!({"path": "/x/a.ts", "source": deep, "form": "waiting"}).to_string();
        let made = transformed(&params).unwrap();
        assert!(made.contains("const a = [[["));
    }
}
