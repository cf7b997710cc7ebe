//! `offshoot config`: single files of a package are turned off and on.

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::packages::Shop;

#[test]
fn files_of_a_package_are_turned_off_and_on() {
    let shop = Shop::new([Reply::text("Yes."), Reply::text("Yes.")]);
    shop.run(&["install", "npm:@team/kit@1.0.0", "--yes"]);
    insta::assert_snapshot!(shop.run(&["config", "npm:@team/kit", "--off", "/ask", "--off", "count"]), @"
    skills
      off  skills/count/SKILL.md
    prompts
      on   prompts/rev.md
      off  prompts/ask.md
    ");
    shop.run(&["-p", "/ask it"]);
    assert!(shop.asked().contains("/ask it") && !shop.asked().contains("Counts letters."));
    shop.run(&["config", "npm:@team/kit", "--on", "/ask", "--on", "skills/count"]);
    assert!(shop.data("settings.json").contains(r#"["npm:@team/kit@1.0.0"]"#));
}

/// Programs get what `packages` prints: one package, or all of them as an array.
#[test]
fn json_has_a_package_or_all_of_them() {
    let shop = Shop::new([]);
    shop.run(&["install", "npm:@team/kit@1.0.0", "--yes"]);
    let said: Value = serde_json::from_str(&shop.run(&["config", "npm:@team/kit", "--off", "/ask", "--json"])).unwrap();
    assert_eq!((&said["source"], &said["scope"]), (&json!("npm:@team/kit@1.0.0"), &json!("user")));
    assert_eq!((&said["prompts"], &said["off"]["prompts"]), (&json!(["prompts/rev.md"]), &json!(["prompts/ask.md"])));
    for line in [&["config", "--json"][..], &["packages", "--json"]] {
        let all: Value = serde_json::from_str(&shop.run(line)).unwrap();
        assert_eq!(all, json!([said]), "{line:?}");
    }
    shop.run(&["remove", "npm:@team/kit"]);
    assert_eq!(shop.run(&["packages", "--json"]), "[]\n");
}
