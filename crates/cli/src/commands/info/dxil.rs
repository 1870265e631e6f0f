//! What is in shaders of Direct3D 12.

use super::module_facts;
use anyhow::Result;
use serde_json::{Map, Value, json};
use xenoglot::dxil;
use xenoglot_dxil::container::{Container, Content, Format, FourCc, SubobjectContent, detect};
use xenoglot_dxil::root_signature::RootSignature;

/// The facts of a container's parts and of its shader.
pub fn facts(bytes: &[u8]) -> Result<Map<String, Value>> {
    if detect(bytes) != Some(Format::Container) {
        return shader_facts(bytes);
    }
    let mut facts = container_facts(&Container::parse(bytes)?);
    match shader_facts(bytes) {
        Ok(shader) => facts.extend(shader),
        // The container is described all the same.
        Err(error) => drop(facts.insert("cannot be read".into(), error.to_string().into())),
    }
    Ok(facts)
}

fn container_facts(container: &Container) -> Map<String, Value> {
    let mut facts = Map::new();
    let (major, minor) = container.version;
    facts.insert("version".into(), format!("{major}.{minor}").into());
    facts.insert("digest".into(), json!(container.digest()));
    facts.insert("parts".into(), json!(container.parts));
    for part in &container.parts {
        let name = match part.name {
            FourCc::DXIL => "program",
            FourCc::ILDB => "program with debug information",
            FourCc::STAT => "program for reflection",
            FourCc::ISG1 => "inputs",
            FourCc::OSG1 => "outputs",
            FourCc::PSG1 => "patch constants or primitive outputs",
            FourCc::PSV0 => "pipeline",
            FourCc::RTS0 => "root signature",
            FourCc::SFI0 => "features",
            FourCc::RDAT => "library",
            FourCc::HASH => "hash",
            FourCc::ILDN => "debug information",
            FourCc::VERS => "compiler",
            _ => continue,
        };
        let value = match container.content(part) {
            Ok(Content::RootSignature(signature)) => root_signature(&signature),
            Ok(Content::RuntimeData(data)) => {
                let mut value = json!(data);
                for (subobject, facts) in data.subobjects.iter().zip(list(&mut value["subobjects"])) {
                    use SubobjectContent::{GlobalRootSignature, LocalRootSignature};
                    if let GlobalRootSignature(bytes) | LocalRootSignature(bytes) = subobject.content {
                        facts["root signature"] = match RootSignature::parse(bytes) {
                            Ok(signature) => root_signature(&signature),
                            Err(error) => json!({ "cannot be read": error.to_string() }),
                        };
                    }
                }
                value
            }
            Ok(content) => json!(content),
            // The other parts are described all the same.
            Err(error) => json!({ "cannot be read": error.to_string() }),
        };
        facts.insert(name.into(), value);
    }
    facts
}

fn list(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

/// The root signature, as text too, and what devices would refuse.
fn root_signature(signature: &RootSignature) -> Value {
    let mut value = json!(signature);
    value["text"] = signature.to_string().into();
    let violations: Vec<String> = signature.validate().iter().map(ToString::to_string).collect();
    value["violations"] = violations.into();
    value
}

/// What the bitcode says.
fn shader_facts(bytes: &[u8]) -> Result<Map<String, Value>> {
    let module = dxil::load(bytes)?;
    let program = dxil::program(&module)?;
    let resources: Vec<Value> = program
        .resources
        .iter()
        .map(|r| {
            json!({
                "class": r.class.name(),
                "shape": format!("{:?}", r.shape),
                "space": r.space,
                "register": format!("{}{}", r.class.letter(), r.lower),
                "count": r.count,
                "bytes": r.bytes,
            })
        })
        .collect();
    let operations = module.functions.iter().filter(|f| f.name.starts_with(b"dx.op."));
    let operations: Vec<_> = operations.map(|f| String::from_utf8_lossy(&f.name).into_owned()).collect();
    let nodes: Vec<_> = dxil::programs(&module)?.into_iter().filter_map(|shader| shader.node).collect();
    let mut facts = Map::new();
    facts.insert("shader model".into(), json!(program.model));
    facts.insert("kind".into(), json!(program.kind));
    facts.insert("entry".into(), program.name.clone().into());
    facts.insert("workgroup".into(), json!(program.threads));
    facts.insert("resources".into(), resources.into());
    if !nodes.is_empty() {
        facts.insert("nodes".into(), json!(nodes));
    }
    facts.insert("operations".into(), operations.into());
    match dxil::lift(&module, &Default::default()) {
        Ok(lifted) => facts.insert("module".into(), module_facts(&lifted.module)),
        // The shader is described all the same.
        Err(error) => facts.insert("cannot be lifted".into(), error.to_string().into()),
    };
    Ok(facts)
}
