//! `offshoot install`: what a package brings is shown, asked for and used; hostile packages are refused.

use std::fs;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::packages::Shop;

#[test]
fn a_package_of_a_registry_is_installed_and_used() {
    let shop = Shop::new([Reply::text("Yes.")]);
    insta::assert_snapshot!(shop.run(&["install", "npm:@team/kit", "--yes"]), @"
    npm:@team/kit (1.0.0) brings:
      skills: count
      prompts: /ask, /rev
    [stderr]
    note: installed npm:@team/kit 1.0.0
    ");
    assert!(shop.data("settings.json").contains(r#""packages": ["npm:@team/kit"]"#));
    let lock: Value = serde_json::from_str(&shop.data("packages-lock.json")).unwrap();
    let locked = &lock["packages"]["npm:@team/kit"];
    assert!(locked["version"] == "1.0.0" && locked["integrity"].as_str().unwrap().starts_with("sha512-"), "{lock}");
    shop.run(&["-p", "/rev main.rs"]);
    assert!(shop.asked().contains("Review main.rs.") && shop.asked().contains("Counts letters."));
    insta::assert_snapshot!(shop.run(&["packages"]), @"
    npm:@team/kit 1.0.0  user
      skills: count
      prompts: /ask, /rev
    ");
}

/// As in pi, `-e` takes a package of a registry or of git: it is fetched for one run.
#[test]
fn a_package_is_tried_without_being_installed() {
    let shop = Shop::new(["Reviewed.", "Asked.", "Plain."].map(Reply::text));
    let repository = shop.talk.world.work().join("kit.git");
    fs::create_dir_all(repository.join("prompts")).unwrap();
    fs::write(repository.join("prompts/look.md"), "Look at $1.").unwrap();
    shop.git(&repository, &["init", "--quiet"]);
    shop.git(&repository, &["add", "."]);
    shop.git(&repository, &["commit", "--quiet", "-m", "one"]);
    let redirected = format!("[url \"file://{}\"]\ninsteadOf = https://h.x/u/kit\n", repository.display());
    fs::write(shop.talk.world.home().join(".gitconfig"), redirected).unwrap();
    let told = shop.run(&["-e", "npm:@team/kit", "-e", "git:h.x/u/kit", "-p", "/rev main.rs"]);
    assert!(told.contains("note: fetching npm:@team/kit for this run"), "{told}");
    assert!(shop.asked().contains("Review main.rs.") && shop.asked().contains("Counts letters."), "{told}");
    assert_eq!(shop.temporary(), Vec::<String>::new());
    shop.run(&["-e", "git:h.x/u/kit", "-p", "/look x"]);
    assert!(shop.asked().contains("Look at x."), "{}", shop.asked());
    shop.run(&["-p", "/rev main.rs"]);
    assert!(!shop.asked().contains("Review main.rs."), "only where it is named");
    assert!(!shop.data("settings.json").contains("kit") && shop.data("packages-lock.json").is_empty());
    for (arguments, why) in [
        (&["-e", "npm:gone"][..], "404"),
        (&["-e", "npm:../x"], "npm names a package"),
        (&["--offline", "-e", "npm:@team/kit"], "the extension npm:@team/kit is not fetched: --offline"),
    ] {
        let told = shop.run(&[arguments, &["-p", "hi"]].concat());
        assert!(told.contains(why) && !told.contains("[exit code 0]"), "{arguments:?}: {told}");
        assert_eq!(shop.temporary(), Vec::<String>::new());
    }
    assert_eq!(shop.talk.server.seen().len(), 3, "nothing is sent without a package that was asked for");
}

/// The record decides what a missing package is.
#[test]
fn what_is_missing_is_installed_as_it_was() {
    let shop = Shop::new([Reply::text("Yes."), Reply::text("Yes.")]);
    shop.run(&["install", "npm:@team/kit", "--yes"]);
    let place = shop.talk.world.home().join(".local/share/offshoot/packages/npm/@team/kit");
    fs::remove_dir_all(&place).unwrap();
    let told = shop.run(&["-p", "--no-session", "--model", "nope", "hi"]);
    assert!(told.contains("there is no model"), "{told}");
    assert!(shop.run(&["packages"]).contains("not installed"));
    shop.run(&["install", "--yes"]);
    assert!(place.join("prompts/rev.md").exists());
    fs::remove_dir_all(&place).unwrap();
    shop.registry.publish("@team/kit", "1.0.0", &[("prompts/rev.md", "Somebody else's.")]);
    assert!(shop.run(&["install", "--yes"]).contains(", and the record says sha512-"));
    assert!(!place.exists());
}

#[test]
fn nothing_counts_before_the_user_agreed() {
    let shop = Shop::new([]);
    insta::assert_snapshot!(shop.run(&["install", "npm:@team/kit"]), @"
    npm:@team/kit (1.0.0) brings:
      skills: count
      prompts: /ask, /rev
    [stderr]
    error: a package counts only after you agreed
    hint: --yes agrees without a question
    [exit code 2]
    ");
    assert_eq!(shop.data("packages-lock.json"), "");
    assert!(!shop.data("settings.json").contains("kit"));
}

#[test]
fn a_hostile_package_is_refused() {
    let shop = Shop::new([]);
    let manifest = |json: Value| json.to_string();
    let needing = manifest(json!({"name": "deps", "version": "1.0.0", "dependencies": {"left-pad": "1"},
        "scripts": {"postinstall": "touch /tmp/pwned"}}));
    shop.registry.publish("deps", "1.0.0", &[("package.json", &needing)]);
    for (source, why) in [
        ("npm:deps", "it depends on 1 other package, and npm is not there to install it"),
        ("npm:gone", "404"),
        ("npm:@team/kit@^1", "a range needs npm"),
        ("npm:../x", "npm names a package"),
        ("git:h.x/../y", "git takes"),
        ("./nowhere", "there is no folder"),
    ] {
        let told = shop.run(&["install", source, "--yes"]);
        assert!(told.contains(why) && told.contains("error: "), "{source}: {told}");
    }
    // A link out of a folder.
    let folder = shop.talk.world.write("linked/prompts/x.md", "x").parent().unwrap().parent().unwrap().to_path_buf();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("prompts/passwd.md")).unwrap();
    assert!(shop.run(&["install", "./linked", "--yes"]).contains("prompts/passwd.md is a link out of the package"));
    assert!(!shop.data("settings.json").contains("packages"));
    let left = fs::read_dir(shop.talk.world.home().join(".local/share/offshoot/packages")).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [".gitignore"], "nothing is left behind");
}

/// One such entry refused the whole package, in the name of a temporary folder.
#[test]
fn a_stray_entry_of_a_manifest_is_skipped() {
    let shop = Shop::new([Reply::text("Yes.")]);
    let lists = json!({"skills": ["../../skills", "./skills", 7], "prompts": ["/etc/prompts", "prompts"]});
    let manifest = json!({"name": "out", "version": "1.0.0", "pi": lists}).to_string();
    let skill = "---\nname: knots\ndescription: Ties knots.\n---\nTie it.\n";
    let files =
        [("package.json", manifest.as_str()), ("skills/knots/SKILL.md", skill), ("prompts/rev.md", "Review $1.")];
    shop.registry.publish("out", "1.0.0", &files);
    shop.talk.world.write("skills/secret/SKILL.md", "---\nname: secret\ndescription: Not yours.\n---\n");
    let told = shop.run(&["install", "npm:out", "--yes"]);
    for part in [
        "its manifest lists \"../../skills\", which is outside the package: it is skipped",
        "its manifest lists \"/etc/prompts\", which is outside the package: it is skipped",
        "/rev",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = shop.run(&["-p", "/rev x"]);
    assert!(told.contains("warning: package npm:out: its manifest lists \"../../skills\""), "{told}");
    let asked = shop.asked();
    assert!(asked.contains("Review x.") && asked.contains("Ties knots.") && !asked.contains("Not yours."), "{asked}");
}

#[test]
fn a_repository_is_cloned_at_a_commit() {
    let shop = Shop::new([Reply::text("Yes.")]);
    let folder =
        shop.talk.world.write("repo/prompts/rev.md", "Version one of $1.").ancestors().nth(2).unwrap().to_path_buf();
    fs::create_dir_all(folder.join("hooks")).unwrap();
    shop.git(&folder, &["init", "-q", "-b", "main"]);
    shop.git(&folder, &["add", "."]);
    shop.git(&folder, &["commit", "-qm", "one"]);
    shop.git(&folder, &["tag", "v1"]);
    let config = format!("[url \"file://{}\"]\n\tinsteadOf = https://git.test/team/kit\n", folder.display());
    fs::write(shop.talk.world.home().join(".gitconfig"), config).unwrap();
    let told = shop.run(&["install", "git:git.test/team/kit", "--yes"]);
    assert!(told.contains("prompts: /rev") && told.contains("installed git:git.test/team/kit"), "{told}");
    shop.run(&["-p", "/rev x"]);
    assert!(shop.asked().contains("Version one of x."));

    fs::write(folder.join("prompts/rev.md"), "Version two of $1.").unwrap();
    shop.git(&folder, &["commit", "-qam", "two"]);
    let place = shop.talk.world.home().join(".local/share/offshoot/packages/git/git.test/team/kit/prompts/rev.md");
    fs::write(&place, "My own words.").unwrap();
    assert!(shop.run(&["update", "--yes"]).contains("files in "), "what was changed by hand stays");
    assert!(shop.run(&["remove", "git:git.test/team/kit"]).contains("were changed"));
    assert_eq!(fs::read_to_string(&place).unwrap(), "My own words.");
    fs::write(&place, "Version one of $1.").unwrap();
    shop.run(&["install", "git:git.test/team/kit", "--yes"]);
    assert_eq!(fs::read_to_string(&place).unwrap(), "Version two of $1.");
    shop.run(&["install", "git:git.test/team/kit@v1", "--yes"]);
    assert_eq!(fs::read_to_string(&place).unwrap(), "Version one of $1.");
    assert!(shop.run(&["update"]).contains("stays as it is"));
    shop.run(&["remove", "git:git.test/team/kit"]);
    assert!(!place.exists());
}
