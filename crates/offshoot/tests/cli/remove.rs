//! `offshoot remove`: a package goes from the settings, the record and the disk.

use crate::packages::Shop;

#[test]
fn a_package_is_removed() {
    let shop = Shop::new([]);
    shop.run(&["install", "npm:@team/kit@1.0.0", "--yes"]);
    assert_eq!(shop.run(&["remove", "npm:@team/kit"]), "[stderr]\nnote: removed npm:@team/kit@1.0.0\n");
    assert!(!shop.data("settings.json").contains("kit") && !shop.data("packages-lock.json").contains("kit"));
    assert!(shop.run(&["remove", "npm:@team/kit"]).contains("the settings list no package"));
    shop.talk.no_problems();
}
