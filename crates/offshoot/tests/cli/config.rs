//! `offshoot config`: single files of a package are turned off and on.

use offshoot_agent::testing::script::Reply;

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
