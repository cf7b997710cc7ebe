//! The pictures of a request: each within the limits of its wire format, and not more than it takes.
//!
//! The conversation as it is stored does not change. Only one choice is kept, from which picture on they are sent: so the
//! next requests begin with the same bytes, which the service has cached. Knows no session file.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_protocol::message::{Block, Content, Message};
use offshoot_session::json::Object;
use offshoot_session::text::counted;

use crate::picture::{FittedPicture, PictureKind, fit};
use crate::provider::{Api, PictureLimits, Request};

/// The custom type of the entry with the choice.
pub(crate) const CHOICE: &str = "offshoot.pictures";
/// In place of a picture beyond what a request takes.
const DROPPED: &str = "[older picture left out: the service takes no more in a request]";
/// Longer base64 is not decoded.
const MAX_BASE64: usize = 256 << 20;

/// Where the pictures of a request come from, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct PictureTrail {
    /// The entry of each; empty if they are not those of the session.
    pub(crate) owners: Vec<String>,
    /// The first that is sent, as an earlier request has chosen.
    pub(crate) from: usize,
}

/// What was found out about the pictures of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FittedPictures {
    /// The data of the entry with a new choice.
    pub(crate) choice: Option<String>,
    /// What a person should know.
    pub(crate) told: Vec<String>,
}

/// Remembers what has become of each picture, because decoding takes time, and who has been told.
#[derive(Debug, Default)]
pub(crate) struct PictureFitter {
    verdicts: Mutex<HashMap<VerdictKey, Arc<Verdict>>>,
    hasher: RandomState,
}

/// The wire format, the length of the base64, and a hash of it and its type.
type VerdictKey = (&'static str, usize, u64);

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    AsItIs {
        length: usize,
    },
    Changed(FittedPicture),
    /// Why it cannot be sent.
    Unusable(String),
}

impl Verdict {
    fn length(&self) -> usize {
        match self {
            Self::AsItIs { length } => *length,
            Self::Changed(fitted) => fitted.data.len(),
            Self::Unusable(_) => 0,
        }
    }
}

/// How many pictures a message has.
pub(crate) fn count_pictures(message: &Message) -> usize {
    blocks(message).iter().filter(|block| matches!(block, Block::Image { .. })).count()
}

impl PictureFitter {
    /// Makes the pictures of a request fit. Takes time with pictures that it has not seen.
    pub(crate) fn fit(&self, request: &mut Request, trail: &PictureTrail) -> FittedPictures {
        let Some(api) = Api::parse(&request.model.api).filter(|_| request.model.images) else {
            return FittedPictures::default();
        };
        let limits = PictureLimits::of(api);
        let mut told = Vec::new();
        let verdicts: Vec<Arc<Verdict>> =
            pictures(&request.messages).map(|picture| self.verdict((api, &limits), picture, &mut told)).collect();
        let lengths: Vec<usize> = verdicts.iter().map(|verdict| verdict.length()).collect();
        let is_sessions = trail.owners.len() == lengths.len();
        let from = match is_sessions {
            true => first_sent(&lengths, trail.from, &limits),
            // Nobody keeps a choice: what was chosen after each picture is found out again.
            false => (1..=lengths.len())
                .fold(0, |from, end| first_sent(lengths.get(..end).unwrap_or_default(), from, &limits)),
        };
        let choice = (is_sessions && from > trail.from).then(|| choice(api, &trail.owners, from));
        if choice.is_some() {
            let left_out = counted(from - trail.from, "older picture is", "older pictures are");
            told.push(format!(
                "{left_out} not sent any more: a request of {} takes {} with {} MB. The session keeps them",
                api.as_str(),
                counted(limits.count, "picture", "pictures"),
                limits.base64 / 1_000_000
            ));
        }
        let mut verdicts = verdicts.into_iter().enumerate();
        for message in &mut request.messages {
            if count_pictures(message) > 0 {
                replace(message, || {
                    let (at, verdict) = verdicts.next()?;
                    if at < from { Some(Block::text(DROPPED)) } else { replacement(&verdict) }
                });
            }
        }
        FittedPictures { choice, told }
    }

    fn verdict(
        &self,
        (api, limits): (Api, &PictureLimits),
        (data, mime): (&str, &str),
        told: &mut Vec<String>,
    ) -> Arc<Verdict> {
        let key = (api.as_str(), data.len(), self.hasher.hash_one((data, mime)));
        let known = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let verdict = Arc::new(judge((data, mime), limits));
            if let Verdict::Unusable(why) = verdict.as_ref() {
                told.push(format!("a picture is not sent: {why}"));
            }
            self.verdicts.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&verdict));
            verdict
        })
    }
}

fn judge((data, mime): (&str, &str), limits: &PictureLimits) -> Verdict {
    if data.len() > MAX_BASE64 {
        return Verdict::Unusable("it is too large to be read".to_owned());
    }
    // Some programs store the address of the data, or break it into lines.
    let bare = data.rsplit_once("base64,").map_or(data, |(_, data)| data);
    let whole: String = bare.split_whitespace().collect();
    let Ok(bytes) = STANDARD.decode(&whole) else {
        return Verdict::Unusable(format!("what is stored as {} is not base64", shown(mime)));
    };
    let Some(kind) = PictureKind::of(&bytes) else {
        return Verdict::Unusable(format!("what is stored as {} is neither PNG, JPEG, GIF nor WebP", shown(mime)));
    };
    match fit(kind, &bytes, limits.each) {
        Ok(fitted) if fitted.data == data && fitted.mime == mime => Verdict::AsItIs { length: data.len() },
        Ok(fitted) => Verdict::Changed(fitted),
        Err(why) => Verdict::Unusable(why),
    }
}

/// A stored type may be any text.
fn shown(mime: &str) -> String {
    mime.chars().filter(char::is_ascii_graphic).take(40).collect()
}

/// `None` if the picture is sent as it is.
fn replacement(verdict: &Verdict) -> Option<Block> {
    match verdict {
        Verdict::AsItIs { .. } => None,
        Verdict::Changed(FittedPicture { data, mime, .. }) => {
            Some(Block::Image { data: data.clone(), mime_type: (*mime).to_owned() })
        }
        Verdict::Unusable(why) => Some(Block::text(format!("[picture left out: {why}]"))),
    }
}

/// The first picture that is sent. Beyond a limit the oldest go until half of it is left, so that the next pictures find
/// room. A length of 0 is not sent anyway.
fn first_sent(lengths: &[usize], from: usize, limits: &PictureLimits) -> usize {
    let sent = lengths.get(from..).unwrap_or_default();
    let count = sent.iter().filter(|length| **length > 0).count();
    if count <= limits.count && sent.iter().sum::<usize>() <= limits.base64 {
        return from;
    }
    let (mut count, mut sum) = (0, 0);
    for (at, length) in sent.iter().enumerate().rev().filter(|(_, length)| **length > 0) {
        if count > 0 && (count + 1 > limits.count / 2 || sum + length > limits.base64 / 2) {
            return from + at + 1;
        }
        (count, sum) = (count + 1, sum + length);
    }
    from
}

/// The entry of the first picture that is sent, and how many pictures of that entry come before it.
fn choice(api: Api, owners: &[String], from: usize) -> String {
    let owner = owners.get(from).map(String::as_str).unwrap_or_default();
    let skip = owners.get(..from).unwrap_or_default().iter().rev().take_while(|other| *other == owner).count();
    let data = Object::new().str("wire", api.as_str()).str("from", owner);
    if skip > 0 { data.raw("skip", skip).finish() } else { data.finish() }
}

fn pictures(messages: &[Message]) -> impl Iterator<Item = (&str, &str)> {
    messages.iter().flat_map(blocks).filter_map(|block| match block {
        Block::Image { data, mime_type } => Some((data.as_str(), mime_type.as_str())),
        Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall { .. } => None,
    })
}

fn blocks(message: &Message) -> &[Block] {
    match message {
        Message::User(user) => blocks_of(&user.content),
        Message::Custom(custom) => blocks_of(&custom.content),
        Message::ToolResult(result) => &result.content,
        // Models do not send pictures.
        Message::Assistant(_) => &[],
    }
}

fn blocks_of(content: &Content) -> &[Block] {
    match content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => &[],
    }
}

/// Asks for each picture of a message what takes its place. Equal lines in a row become one.
fn replace(message: &mut Message, mut next: impl FnMut() -> Option<Block>) {
    let mut change = |blocks: &mut Vec<Block>| {
        let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
        for block in std::mem::take(blocks) {
            let replaced = if matches!(block, Block::Image { .. }) { next() } else { None };
            match replaced {
                Some(line @ Block::Text { .. }) if out.last() == Some(&line) => {}
                Some(other) => out.push(other),
                None => out.push(block),
            }
        }
        *blocks = out;
    };
    match message {
        Message::User(user) => change_content(&mut Arc::make_mut(user).content, change),
        Message::Custom(custom) => change_content(&mut Arc::make_mut(custom).content, change),
        Message::ToolResult(result) => change(&mut Arc::make_mut(result).content),
        Message::Assistant(_) => {}
    }
}

fn change_content(content: &mut Content, mut change: impl FnMut(&mut Vec<Block>)) {
    match content {
        Content::Blocks(blocks) => change(blocks),
        Content::Text(_) => {}
    }
}

#[cfg(test)]
#[cfg(feature = "images")]
mod tests {
    use offshoot_protocol::ThinkingLevel;
    use offshoot_protocol::message::UserMessage;
    use offshoot_protocol::model::Model;

    use super::*;
    use crate::provider::Hooks;
    use image::{DynamicImage, ImageFormat};

    fn encoded(width: u32, height: u32, format: ImageFormat) -> String {
        let mut bytes = std::io::Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).unwrap();
        STANDARD.encode(bytes.into_inner())
    }

    fn picture(data: &str, mime: &str) -> Block {
        Block::Image { data: data.to_owned(), mime_type: mime.to_owned() }
    }

    fn request(api: Api, pictures: Vec<Block>) -> Request {
        let model = Model { api: api.as_str().to_owned(), images: true, ..Model::default() };
        Request {
            model: Arc::new(model),
            system: String::new(),
            messages: pictures.into_iter().map(|picture| UserMessage::new("see", vec![picture], 0).into()).collect(),
            tools: Vec::new(),
            thinking: ThinkingLevel::Off,
            max_tokens: None,
            key: None,
            session_id: None,
            hooks: Hooks::default(),
        }
    }

    fn trail(count: usize, from: usize) -> PictureTrail {
        PictureTrail { owners: (0..count).map(|at| format!("e{at}")).collect(), from }
    }

    fn sent(request: &Request) -> Vec<(String, String)> {
        pictures(&request.messages).map(|(data, mime)| (data.to_owned(), mime.to_owned())).collect()
    }

    fn lines(request: &Request) -> Vec<String> {
        let of = |message: &Message| blocks(message).iter().skip(1).filter_map(Block::as_text).collect::<String>();
        request.messages.iter().map(of).collect()
    }

    /// Each of these was a 400 on every prompt.
    #[test]
    fn a_stored_picture_that_cannot_be_read_becomes_a_line_and_a_wrong_type_is_put_right() {
        let (png, gif) = (encoded(3, 2, ImageFormat::Png), encoded(3, 2, ImageFormat::Gif));
        let torn = STANDARD.encode(&STANDARD.decode(&png).unwrap()[..50]);
        let pdf = STANDARD.encode(b"%PDF-1.7 and so on");
        for api in Api::ALL {
            let blocks = vec![
                picture(&png, "image/png"),
                picture(&png, "image/jpeg"),
                picture(&format!("data:image/png;base64,{png}"), "image/png"),
                picture(&png.as_str().replace('A', "A\n"), "image/png"),
                picture("not base64!", "image/png"),
                picture("", "image/png"),
                picture(&pdf, "application/pdf"),
                picture(&torn, "image/png"),
                picture(&gif, "image/gif"),
            ];
            let (fitter, count) = (PictureFitter::default(), blocks.len());
            let mut made = request(api, blocks.clone());
            let fitted = fitter.fit(&mut made, &trail(count, 0));
            assert_eq!((fitted.choice, fitted.told.len()), (None, 4), "{:?}", fitted.told);
            let sent = sent(&made);
            assert!(sent[..4].iter().all(|picture| *picture == (png.clone(), "image/png".to_owned())), "{sent:?}");
            assert_eq!(sent.len(), 5, "{sent:?}");
            let takes_gif = api == Api::Anthropic;
            assert_eq!(sent[4].1, if takes_gif { "image/gif" } else { "image/png" });
            let lines = lines(&made);
            for (line, words) in
                lines[4..8].iter().zip(["not base64", "neither PNG", "application/pdf", "cannot be read"])
            {
                assert!(line.starts_with("[picture left out: ") && line.contains(words), "{words}: {line}");
            }
            let mut again = request(api, blocks);
            assert_eq!(fitter.fit(&mut again, &trail(count, 0)), FittedPictures::default(), "told once");
            assert_eq!(again.messages, made.messages);
        }
    }

    #[test]
    fn a_picture_that_is_too_large_is_scaled_for_the_request() {
        let mut made = request(Api::Anthropic, vec![picture(&encoded(2400, 12, ImageFormat::Png), "image/png")]);
        PictureFitter::default().fit(&mut made, &trail(1, 0));
        let bytes = STANDARD.decode(&sent(&made)[0].0).unwrap();
        let scaled = image::load_from_memory(&bytes).unwrap();
        assert_eq!((scaled.width(), scaled.height()), (2000, 10));
    }

    #[test]
    fn beyond_the_number_of_pictures_the_oldest_go_at_once_and_stay_away() {
        let png = encoded(1, 1, ImageFormat::Png);
        let pictures = |count| vec![picture(&png, "image/png"); count];
        for api in Api::ALL {
            let most = PictureLimits::of(api).count;
            let fitter = PictureFitter::default();
            let mut full = request(api, pictures(most));
            assert_eq!(fitter.fit(&mut full, &trail(most, 0)), FittedPictures::default());
            assert_eq!(sent(&full).len(), most);
            let mut over = request(api, pictures(most + 1));
            let fitted = fitter.fit(&mut over, &trail(most + 1, 0));
            let from = most + 1 - most / 2;
            let wire = api.as_str();
            assert_eq!(fitted.choice, Some(format!(r#"{{"wire":"{wire}","from":"e{from}"}}"#)));
            assert!(fitted.told.len() == 1 && fitted.told[0].contains("older pictures are not sent"), "{fitted:?}");
            assert_eq!(sent(&over).len(), most / 2);
            assert_eq!(lines(&over)[0], DROPPED);
            // The next picture changes nothing before it.
            let mut next = request(api, pictures(most + 2));
            assert_eq!(fitter.fit(&mut next, &trail(most + 2, from)), FittedPictures::default());
            assert_eq!(next.messages[..=most], over.messages[..]);
        }
    }

    #[test]
    fn pictures_of_one_message_are_counted_too() {
        let png = encoded(1, 1, ImageFormat::Png);
        let mut made = request(Api::Anthropic, Vec::new());
        made.messages = vec![UserMessage::new("see", vec![picture(&png, "image/png"); 101], 0).into()];
        let trail = PictureTrail { owners: vec!["e0".to_owned(); 101], from: 0 };
        let fitted = PictureFitter::default().fit(&mut made, &trail);
        assert_eq!(fitted.choice.unwrap(), r#"{"wire":"anthropic-messages","from":"e0","skip":51}"#);
        assert_eq!(
            (sent(&made).len(), blocks(&made.messages[0]).len()),
            (50, 52),
            "one line for all that were left out"
        );
    }

    #[test]
    fn beyond_the_bytes_of_a_request_the_oldest_go_until_half_is_left() {
        let limits = PictureLimits { count: 100, base64: 1000, ..PictureLimits::of(Api::Anthropic) };
        assert_eq!(first_sent(&[100; 10], 0, &limits), 0);
        assert_eq!(first_sent(&[100; 11], 0, &limits), 6);
        assert_eq!(first_sent(&[100; 12], 6, &limits), 6);
        assert_eq!(first_sent(&[100, 0, 100, 900], 0, &limits), 3, "the newest is always sent");
        assert_eq!(first_sent(&[0; 300], 0, &limits), 0);
    }

    /// An extension has changed the messages: nobody keeps a choice, and yet earlier messages stay the same.
    #[test]
    fn without_a_choice_the_same_pictures_are_left_out_again() {
        let png = encoded(1, 1, ImageFormat::Png);
        let fitter = PictureFitter::default();
        let made = |count| {
            let mut made = request(Api::Anthropic, vec![picture(&png, "image/png"); count]);
            assert_eq!(fitter.fit(&mut made, &PictureTrail::default()), FittedPictures::default());
            made
        };
        let (before, after) = (made(120), made(121));
        assert_eq!(after.messages[..120], before.messages[..]);
        assert_eq!(sent(&after).len(), 70);
    }
}
