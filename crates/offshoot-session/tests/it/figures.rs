//! Token counts and costs in words. The script of pages is held to the same table by `conformance/page-figures.test.mjs`.

use offshoot_session::json::Json;
use offshoot_session::text::{dollars, grouped, in_short};

#[test]
fn figures_are_written_as_the_table_says() {
    let table = Json::parse(include_str!("figures.json")).unwrap();
    for (name, rows) in table.members() {
        for row in rows.items() {
            let mut row = row.items();
            let (number, wanted) = (row.next().unwrap().as_f64().unwrap(), row.next().unwrap().as_str().unwrap());
            let words = match name.as_ref() {
                "inShort" => in_short(number as u64),
                "grouped" => grouped(number as u64),
                "dollars" => dollars(number),
                other => panic!("no function for {other}"),
            };
            assert_eq!(words, wanted, "{name}({number})");
        }
    }
}
