//! The kernel's description of its types (BTF), as questions about the calls of its functions need it.

use crate::kernel_memory::KernelMemory;
use crate::layout::description;
use btf_rs::{Btf, BtfType, Type};
use firstlight_isa::Isa;
use firstlight_profile::userspace::Missing;
use firstlight_profile::SymbolTable;

/// The kernel's description of its types.
pub struct Types(Btf);

impl Types {
    /// Reads it out of the running kernel.
    ///
    /// # Errors
    ///
    /// [`Missing::Types`] where the kernel has none.
    pub fn read<I: Isa>(memory: &KernelMemory, symbols: &SymbolTable<I>) -> Result<Self, Missing> {
        let bytes = description(memory, symbols).ok_or(Missing::Types)?;
        Btf::from_bytes(&bytes).map(Self).map_err(|_| Missing::Types)
    }

    /// The parameters of a function of the kernel: names and types.
    pub fn parameters(&self, function: &str) -> Option<Vec<(String, Type)>> {
        let is_function = |found: &Type| matches!(found, Type::Func(_));
        let found = self.0.resolve_types_by_name(function).ok()?.into_iter().find(is_function)?;
        let Type::FuncProto(prototype) = self.0.resolve_chained_type(found.as_btf_type()?).ok()? else { return None };
        let parameters = prototype.parameters.iter().filter(|parameter| !parameter.is_variadic());
        parameters.map(|each| Some((self.0.resolve_name(each).ok()?, self.plain_of(each)?))).collect()
    }

    /// What a function of the kernel returns; none for nothing.
    pub fn result(&self, function: &str) -> Option<Type> {
        let is_function = |found: &Type| matches!(found, Type::Func(_));
        let found = self.0.resolve_types_by_name(function).ok()?.into_iter().find(is_function)?;
        let Type::FuncProto(prototype) = self.0.resolve_chained_type(found.as_btf_type()?).ok()? else { return None };
        let result = self.plain(self.0.resolve_type_by_id(prototype.return_type_id()).ok()?)?;
        (!matches!(result, Type::Void)).then_some(result)
    }

    /// What a pointer points to.
    pub fn target(&self, pointer: &Type) -> Option<Type> {
        self.plain_of(pointer.as_btf_type()?)
    }

    /// What an array consists of.
    pub fn element(&self, array: &Type) -> Option<Type> {
        self.plain_of(array.as_btf_type()?)
    }

    /// The names of a structure's members, also of those inside members without a name.
    pub fn members(&self, of: &Type) -> Vec<String> {
        let (Type::Struct(structure) | Type::Union(structure)) = of else { return Vec::new() };
        let mut names = Vec::new();
        for member in &structure.members {
            match self.0.resolve_name(member).unwrap_or_default() {
                name if name.is_empty() => {
                    names.extend(self.plain_of(member).into_iter().flat_map(|inner| self.members(&inner)));
                }
                name => names.push(name),
            }
        }
        names
    }

    fn plain_of<T: BtfType + ?Sized>(&self, of: &T) -> Option<Type> {
        self.plain(self.0.resolve_chained_type(of).ok()?)
    }

    /// A member by its name, also inside members without one: its offset and type.
    pub fn member(&self, of: &Type, wanted: &str) -> Option<(u64, Type)> {
        let (Type::Struct(structure) | Type::Union(structure)) = of else { return None };
        structure.members.iter().find_map(|member| {
            let name = self.0.resolve_name(member).unwrap_or_default();
            let inner = self.plain(self.0.resolve_chained_type(member).ok()?)?;
            let offset = u64::from(member.bit_offset() / 8);
            match name.as_str() {
                "" => self.member(&inner, wanted).map(|(within, found)| (offset + within, found)),
                name => (name == wanted).then_some((offset, inner)),
            }
        })
    }

    // A type behind its other names and qualifiers.
    fn plain(&self, mut of: Type) -> Option<Type> {
        while let Type::Typedef(_) | Type::Const(_) | Type::Volatile(_) | Type::Restrict(_) | Type::TypeTag(_) = of {
            of = self.0.resolve_chained_type(of.as_btf_type()? as &dyn BtfType).ok()?;
        }
        Some(of)
    }
}
