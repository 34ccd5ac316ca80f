//! Tests of the input decoder: what is a message, what is control, and that cutting never matters.

use super::*;
use proptest::prelude::*;

fn decode(bytes: &[u8]) -> Vec<Input> {
    Decoder::new(Source::Terminal).take(bytes)
}

fn block(text: &str) -> Input {
    Input::Block(text.to_owned())
}

fn paste(text: &str) -> Vec<u8> {
    format!("\x1b[200~{text}\x1b[201~").into_bytes()
}

#[test]
fn a_paste_and_its_enter_are_one_block() {
    let text = "From: a\nTo: b\n---\n  two\tlines, blanks, ü€🎉 \n/abort\n\n";
    assert_eq!(decode(&[paste(text), b"\r".to_vec()].concat()), [block(text)]);
}

#[test]
fn nothing_is_submitted_before_enter() {
    let mut decoder = Decoder::new(Source::Terminal);
    assert_eq!(decoder.take(&paste("text\r\nmore\r")), []);
    assert_eq!(decoder.take(b" and typed"), []);
    assert_eq!(decoder.take(b"\r"), [block("text\r\nmore\r and typed")]);
}

#[test]
fn blocks_in_one_read_are_blocks_of_their_own() {
    let bytes = [paste("one"), b"\r".to_vec(), paste("two"), b"\rthree\r".to_vec()].concat();
    assert_eq!(decode(&bytes), [block("one"), block("two"), block("three")]);
}

#[test]
fn only_the_exact_block_is_control() {
    assert_eq!(decode(b"/abort\r"), [Input::Abort { discarded: false }]);
    assert_eq!(
        decode(&[paste("/abort"), b"\r".to_vec()].concat()),
        [Input::Abort { discarded: false }]
    );
    for text in [
        "/abort ",
        " /abort",
        "/abort now",
        "x /abort",
        "/abort\n",
        "/ABORT",
    ] {
        assert_eq!(decode(&[paste(text), b"\r".to_vec()].concat()), [block(text)]);
    }
}

#[test]
fn blanks_alone_are_no_message() {
    assert_eq!(decode(b"\r\r  \r\n\r"), []);
}

#[test]
fn ctrl_c_aborts_and_takes_the_half_block_with_it() {
    assert_eq!(decode(b"\x03"), [Input::Abort { discarded: false }]);
    assert_eq!(
        decode(b"half\x03next\r"),
        [Input::Abort { discarded: true }, block("next")]
    );
}

#[test]
fn ctrl_c_in_a_paste_discards_the_whole_paste() {
    let bytes = [paste("one\x03two\nthree"), b"\rnext\r".to_vec()].concat();
    let inputs = decode(&bytes);
    assert_eq!(inputs, [Input::Abort { discarded: true }, block("next")]);
}

#[test]
fn a_paste_without_an_end_does_not_wedge_the_seat() {
    let bytes = [
        b"\x1b[200~lost".to_vec(),
        b"\x03".to_vec(),
        paste("next"),
        b"\r".to_vec(),
    ]
    .concat();
    assert_eq!(decode(&bytes), [Input::Abort { discarded: true }, block("next")]);
    assert_eq!(
        decode(b"\x1b[200~lost\x03\rnext\r"),
        [Input::Abort { discarded: true }, block("next")]
    );
}

#[test]
fn escapes_in_a_paste_are_text() {
    let text = "\x1b[31mred\x1b[0m \x1b\x1b[20 \x1b[200~ \x1b";
    assert_eq!(decode(&[paste(text), b"\r".to_vec()].concat()), [block(text)]);
}

#[test]
fn keys_without_a_meaning_leave_no_trace() {
    assert_eq!(
        decode(b"a\x1b[Ab\x1bOPc\x1b[1;5Cd\x1b[201~e\x00\x15f\x1bg\r"),
        [block("abcdefg")]
    );
}

#[test]
fn backspace_takes_back_a_character() {
    assert_eq!(decode("aü\x7f\x7f\x7fbé\x08c\r".as_bytes()), [block("bc")]);
}

#[test]
fn a_block_up_to_the_limit_is_taken_and_one_over_it_is_refused_whole() {
    let text = "x".repeat(LARGEST_BLOCK);
    assert_eq!(decode(&[paste(&text), b"\r".to_vec()].concat()), [block(&text)]);
    let bytes = [paste(&text), b"y\rnext\r".to_vec()].concat();
    assert_eq!(
        decode(&bytes),
        [
            Input::TooLarge {
                bytes: LARGEST_BLOCK + 1
            },
            block("next")
        ]
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(decode(b"a\xffb\r"), [block("a\u{fffd}b")]);
}

#[test]
fn without_a_terminal_each_line_is_a_message() {
    let mut decoder = Decoder::new(Source::Lines);
    let inputs = decoder.take(b"one\r\n\n  two\x1b[200~ \n/abort\nlast");
    assert_eq!(
        inputs,
        [
            block("one"),
            block("  two\x1b[200~ "),
            Input::Abort { discarded: false }
        ]
    );
    assert_eq!(decoder.finish(), [block("last")]);
    assert_eq!(decoder.finish(), []);
}

#[test]
fn a_terminals_half_block_is_no_message() {
    let mut decoder = Decoder::new(Source::Terminal);
    assert_eq!(decoder.take(b"half"), []);
    assert_eq!(decoder.finish(), []);
}

/// Bytes rich in everything the decoder looks at.
fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\x1b[200~".to_vec()),
        Just(b"\x1b[201~".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\x03".to_vec()),
        Just(b"\x1b".to_vec()),
        Just(b"\x7f".to_vec()),
        Just(b"/abort".to_vec()),
        "[a-zü€🎉\n\t ]{0,8}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_input(
        bytes in terminal_bytes(),
        cuts in proptest::collection::vec(0usize..200, 0..12),
    ) {
        for source in [Source::Terminal, Source::Lines] {
            let mut whole = Decoder::new(source);
            let mut expected = whole.take(&bytes);
            expected.extend(whole.finish());
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut decoder = Decoder::new(source);
            let mut inputs = Vec::new();
            for pair in cuts.windows(2) {
                inputs.extend(decoder.take(&bytes[pair[0]..pair[1]]));
            }
            inputs.extend(decoder.finish());
            prop_assert_eq!(&inputs, &expected);
        }
    }

    #[test]
    fn any_pasted_text_arrives_to_the_byte(text in "[^\u{3}\u{1b}]{1,60}") {
        prop_assume!(!text.bytes().all(|byte| byte.is_ascii_whitespace()) && text != "/abort");
        let bytes = [paste(&text), b"\r".to_vec()].concat();
        prop_assert_eq!(decode(&bytes), [block(&text)]);
    }
}
