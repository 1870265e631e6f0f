//! What naga's SPIR-V reader cannot say, put right in the module that it made.

use naga::compact::{KeepUnused, compact};
use naga::{
    Arena, Block, EntryPoint, Expression, Function, GlobalVariable, Handle, ImageClass, ImageQuery, Module,
    Span, Statement, StorageAccess, Type, TypeInner, UniqueArena,
};
use std::collections::HashMap;

/// Puts right what our SPIR-V means by something else.
pub(crate) fn repair(module: &mut Module) {
    count_layers(module);
    store_to_elements(module);
    allow_elements(module);
}

/// All functions, those of entry points too.
fn all<'a>(
    functions: &'a mut Arena<Function>,
    entry_points: &'a mut [EntryPoint],
) -> impl Iterator<Item = &'a mut Function> {
    let entries = entry_points.iter_mut().map(|entry| &mut entry.function);
    functions.iter_mut().map(|(_, f)| f).chain(entries)
}

/// Visits a block, then those inside it.
fn for_blocks(body: &mut Block, mut visit: impl FnMut(&mut Block)) {
    let mut open = vec![body];
    while let Some(block) = open.pop() {
        visit(block);
        for (statement, _) in block.span_iter_mut() {
            match statement {
                Statement::Block(inner) => open.push(inner),
                Statement::If { accept, reject, .. } => open.extend([accept, reject]),
                Statement::Switch { cases, .. } => open.extend(cases.iter_mut().map(|case| &mut case.body)),
                Statement::Loop { body, continuing, .. } => open.extend([body, continuing]),
                _ => {}
            }
        }
    }
}

/// The type of an image, of the variable or parameter that it is, or is an element of.
fn image_type(
    types: &UniqueArena<Type>,
    variables: &Arena<GlobalVariable>,
    f: &Function,
    mut image: Handle<Expression>,
) -> Option<Handle<Type>> {
    loop {
        let ty = match f.expressions[image] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                image = base;
                continue;
            }
            Expression::GlobalVariable(var) => variables[var].ty,
            Expression::FunctionArgument(n) => f.arguments.get(n as usize)?.ty,
            _ => return None,
        };
        return match types[ty].inner {
            TypeInner::BindingArray { base, .. } => Some(base),
            _ => Some(ty),
        };
    }
}

/// Makes the last component of the size of an array of textures the count of its layers: naga reads the size as that of a layer,
/// without this component.
fn count_layers(module: &mut Module) {
    let Module { types, global_variables: variables, functions, entry_points, .. } = module;
    for f in all(functions, entry_points) {
        let count = |expression: &Expression| {
            let Expression::AccessIndex { base, index: 2 } = *expression else { return None };
            let Expression::ImageQuery { image, query: ImageQuery::Size { .. } } = f.expressions[base] else {
                return None;
            };
            let ty = image_type(types, variables, f, image)?;
            let is_array = matches!(types[ty].inner, TypeInner::Image { arrayed: true, .. });
            is_array.then_some(Expression::ImageQuery { image, query: ImageQuery::NumLayers })
        };
        let counts: Vec<_> =
            f.expressions.iter().filter_map(|(handle, e)| Some((handle, count(e)?))).collect();
        for (handle, count) in counts {
            f.expressions[handle] = count;
        }
    }
}

/// Lets the storage images of arrays be read and written, as they are: naga's reader finds what is allowed for single ones only.
fn allow_elements(module: &mut Module) {
    let mut used: HashMap<Handle<Type>, StorageAccess> = HashMap::new();
    for (_, ty) in module.types.iter() {
        if let TypeInner::BindingArray { base, .. } = ty.inner {
            used.insert(base, StorageAccess::empty());
        }
    }
    if used.is_empty() {
        return;
    }
    let Module { types, global_variables: variables, functions, entry_points, .. } = &mut *module;
    for f in all(functions, entry_points) {
        let mut uses = |f: &Function, image: Handle<Expression>, access: StorageAccess| {
            let ty = image_type(types, variables, f, image);
            if let Some(used) = ty.and_then(|ty| used.get_mut(&ty)) {
                *used |= access;
            }
        };
        for (_, expression) in f.expressions.iter() {
            if let Expression::ImageLoad { image, .. } = *expression {
                uses(f, image, StorageAccess::LOAD);
            }
        }
        let mut stored = Vec::new();
        for_blocks(&mut f.body, |block| {
            stored.extend(block.iter().filter_map(|statement| match statement {
                Statement::ImageStore { image, .. } => Some(*image),
                _ => None,
            }));
        });
        stored.into_iter().for_each(|image| uses(f, image, StorageAccess::STORE));
    }
    for (element, used) in used {
        let mut ty = module.types[element].clone();
        if let TypeInner::Image { class: ImageClass::Storage { access, .. }, .. } = &mut ty.inner
            && access.is_empty()
        {
            // What is only asked for its size may be either.
            *access = if used.is_empty() { StorageAccess::STORE } else { used };
            // The type is there already if another image is used alike; then the module stays as it is, and is refused.
            if module.types.get(&ty).is_none() {
                module.types.replace(element, ty);
            }
        }
    }
}

/// A function that does nothing but store a texel to the image that it takes.
struct Store {
    expressions: Vec<(Handle<Expression>, Expression)>,
    coordinate: Handle<Expression>,
    array_index: Option<Handle<Expression>>,
    value: Handle<Expression>,
}

/// Puts the body of functions that store to an image in the place of their calls. Our SPIR-V has such functions for elements of
/// arrays, whose type naga's reader does not find; naga's validator wants to see what a store goes to.
fn store_to_elements(module: &mut Module) {
    let stores: HashMap<Handle<Function>, Store> =
        module.functions.iter().filter_map(|(handle, f)| Some((handle, Store::of(f)?))).collect();
    if stores.is_empty() {
        return;
    }
    for f in all(&mut module.functions, &mut module.entry_points) {
        let Function { body, expressions, .. } = f;
        for_blocks(body, |block| {
            let mut new = Block::with_capacity(block.len());
            for (statement, span) in std::mem::take(block).span_into_iter() {
                match &statement {
                    Statement::Call { function, arguments, .. } if stores.contains_key(function) => {
                        let inlined = stores[function].inlined(expressions, arguments);
                        new.extend_block(inlined.unwrap_or_else(|| Block::from_vec(vec![statement])));
                    }
                    _ => new.push(statement, span),
                }
            }
            *block = new;
        });
    }
    // The functions themselves go, as nothing calls them.
    compact(module, KeepUnused::No);
}

impl Store {
    fn of(f: &Function) -> Option<Store> {
        let mut found = None;
        for statement in f.body.iter() {
            match *statement {
                Statement::Emit(_) | Statement::Return { value: None } => {}
                Statement::ImageStore { image, coordinate, array_index, value } if found.is_none() => {
                    let is_taken = matches!(f.expressions[image], Expression::FunctionArgument(0));
                    found = Some((coordinate, array_index, value)).filter(|_| is_taken);
                    found?;
                }
                _ => return None,
            }
        }
        let (coordinate, array_index, value) = found?;
        let expressions = f.expressions.iter().map(|(handle, e)| (handle, e.clone())).collect();
        Some(Store { expressions, coordinate, array_index, value })
    }

    /// The store of a call with some arguments. `None` if it takes expressions of a kind that our functions do not have.
    fn inlined(
        &self,
        expressions: &mut Arena<Expression>,
        arguments: &[Handle<Expression>],
    ) -> Option<Block> {
        let mut block = Block::new();
        let mut made: HashMap<Handle<Expression>, Handle<Expression>> = HashMap::new();
        for (handle, expression) in &self.expressions {
            let mut own = expression.clone();
            match &mut own {
                Expression::FunctionArgument(n) => {
                    made.insert(*handle, *arguments.get(*n as usize)?);
                    continue;
                }
                Expression::AccessIndex { base: of, .. }
                | Expression::Swizzle { vector: of, .. }
                | Expression::As { expr: of, .. } => *of = *made.get(of)?,
                Expression::Compose { components, .. } => {
                    for of in components {
                        *of = *made.get(of)?;
                    }
                }
                Expression::Constant(_) | Expression::GlobalVariable(_) => {}
                _ => return None,
            }
            let is_emitted = !own.needs_pre_emit();
            let new = expressions.append(own, Span::default());
            if is_emitted {
                let range = naga::Range::new_from_bounds(new, new);
                block.push(Statement::Emit(range), Span::default());
            }
            made.insert(*handle, new);
        }
        let image = *arguments.first()?;
        let (coordinate, value) = (*made.get(&self.coordinate)?, *made.get(&self.value)?);
        let array_index = match self.array_index {
            Some(index) => Some(*made.get(&index)?),
            None => None,
        };
        block.push(Statement::ImageStore { image, coordinate, array_index, value }, Span::default());
        Some(block)
    }
}
