//! `offshoot update`: newer versions are shown before they count, exact ones stay.

use offshoot_agent::testing::script::Reply;

use crate::packages::Shop;

#[test]
fn a_newer_version_is_shown_before_it_counts() {
    let shop = Shop::new([Reply::text("Yes."), Reply::text("Yes.")]);
    shop.run(&["install", "npm:@team/kit", "--yes"]);
    shop.registry.publish("@team/kit", "1.1.0", &[("prompts/rev.md", "Review $1 twice.")]);
    insta::assert_snapshot!(shop.run(&["update"]), @"
    npm:@team/kit 1.0.0 → 1.1.0 brings:
      prompts: /rev
    [stderr]
    error: a package counts only after you agreed
    hint: --yes agrees without a question
    [exit code 2]
    ");
    insta::assert_snapshot!(shop.run(&["update", "npm:@team/kit", "--yes"]), @"
    npm:@team/kit 1.0.0 → 1.1.0 brings:
      prompts: /rev
    [stderr]
    note: updated npm:@team/kit to 1.1.0
    ");
    shop.run(&["-p", "/rev main.rs"]);
    assert!(shop.asked().contains("Review main.rs twice.") && !shop.asked().contains("Counts letters."));
    assert_eq!(shop.run(&["update"]), "[stderr]\nnote: npm:@team/kit is the newest, 1.1.0\n");
}

#[test]
fn an_exact_version_is_kept() {
    let shop = Shop::new([]);
    shop.run(&["install", "npm:@team/kit", "--yes"]);
    shop.run(&["install", "npm:@team/kit@1.0.0", "--yes"]);
    assert!(shop.data("settings.json").contains(r#"["npm:@team/kit@1.0.0"]"#));
    assert!(shop.run(&["update"]).contains("stays as it is"));
}
