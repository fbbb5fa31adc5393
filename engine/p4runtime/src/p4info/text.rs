//! P4Info as protobuf text, in p4c's form: fields by number, two spaces of indent, no commas.

use prost::Message;
use prost_reflect::text_format::FormatOptions;
use prost_reflect::{DescriptorPool, DynamicMessage};

use crate::proto::DESCRIPTORS;
use crate::proto::p4::config::v1::P4Info;

const MESSAGE: &str = "p4.config.v1.P4Info";

/// The text form, with the two comment lines that p4c puts on top.
///
/// # Errors
/// The message cannot be reflected, which would be a fault of the build.
pub fn p4info_text(info: &P4Info) -> Result<String, prost_reflect::DescriptorError> {
    let pool = DescriptorPool::decode(DESCRIPTORS)?;
    let mut out = format!("# proto-file: p4/config/v1/p4info.proto\n# proto-message: {MESSAGE}\n\n");
    let message = pool
        .get_message_by_name(MESSAGE)
        .and_then(|descriptor| DynamicMessage::decode(descriptor, info.encode_to_vec().as_slice()).ok());
    if let Some(message) = message {
        out.push_str(&message.to_text_format_with_options(&FormatOptions::new().pretty(true)));
        out.push('\n');
    }
    Ok(out)
}
