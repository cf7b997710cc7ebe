//! `offshoot compare`.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn two_branches_are_compared() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("compare sample.jsonl @ 4e8a"), @r"
    common ancestor: 30f8  Yes. And add a test that would have caught it.

    A  42e6  With `--lines` the number of lines follows on a line of its…
       13 entries · 1 turn · 21k tokens · $0.04 · over 2 min 18 s · 18 d
       models: anthropic/claude-sonnet-4-5
       changed 1 file: src/main.rs ×3
       “With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\nthree\n' | wordcount --lines 3 2 ```”

    B  4e8a  A dependency or 40 lines, for counting words? Let us go bac…
       7 entries · 1 turn · 15k tokens · $0.03 · over 59 s · 18 d
       models: anthropic/claude-sonnet-4-5
       “A dependency or 40 lines, for counting words? Let us go back.”
    ");
    assert_snapshot!(world.run("compare sample.jsonl 4e8a @ --json"), @r#"{"ancestorId":"30f8c62b","sides":[{"tipId":"4e8a1f36","entries":7,"turns":1,"tokens":14570,"cost":0.026916,"oldest":"2026-01-14T08:42:01.030Z","newest":"2026-01-14T08:43:00.030Z","models":["anthropic/claude-sonnet-4-5"],"readFiles":[],"modifiedFiles":[],"files":[],"lastWords":"A dependency or 40 lines, for counting words? Let us go back."},{"tipId":"42e6b1f9","entries":13,"turns":1,"tokens":20725,"cost":0.043239,"oldest":"2026-01-14T08:43:04.030Z","newest":"2026-01-14T08:45:22.030Z","models":["anthropic/claude-sonnet-4-5"],"readFiles":[],"modifiedFiles":["src/main.rs"],"files":[{"path":"src/main.rs","reads":0,"changes":3}],"lastWords":"With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\\nthree\\n' | wordcount --lines 3 2 ```"}]}"#);
    assert_snapshot!(world.run("compare sample.jsonl @ nosuch"), @"
    [stderr]
    error: entry nosuch not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn patches_show_what_differs_in_the_files() {
    let world = World::with_sample();
    assert_snapshot!(world.run("compare sample.jsonl 4e8a @ --patch").split_once("\n\n--- ").unwrap().1, @r#"
    src/main.rs
    +++ src/main.rs
    @@ -1,14 +1,17 @@
     use std::io::Read;

     fn count(text: &str) -> usize {
    -    text.split(' ').count()
    +    text.split_whitespace().count()
     }

     fn main() {
         let mut text = String::new();
         std::io::stdin().read_to_string(&mut text).expect("read");
         println!("{}", count(&text));
    +    if std::env::args().any(|arg| arg == "--lines") {
    +        println!("{}", text.lines().count());
    +    }
     }

     #[cfg(test)]
     mod tests {
    @@ -16,6 +19,8 @@

         #[test]
         fn counts_words() {
             assert_eq!(count("one two"), 2);
    +        assert_eq!(count("one  two three"), 3);
    +        assert_eq!(count(" one \n"), 1);
         }
     }
    "#);
    let json = world.stdout("compare sample.jsonl 4e8a @ --patch --json");
    assert!(json.contains(r#""patches":[{"path":"src/main.rs","patch":"--- src/main.rs\n"#), "{json}");
}
