//! A variable by its full name.

use crate::variables::{AdminVariables, Effect, MysqlVariables, VariableFault};

/// Full name and effect of a variable, and what is wrong with `value`.
pub(super) fn judge_variable(name: &str, value: &str) -> Option<(String, Effect, Option<VariableFault>)> {
    fn full_name(module: &str, name: &str) -> String {
        format!("{module}-{name}")
    }
    let (module, short) = name.split_once('-')?;
    if module.eq_ignore_ascii_case(MysqlVariables::MODULE) {
        let variable = MysqlVariables::variable(short)?;
        let fault = MysqlVariables::default().set(short, value).err();
        Some((full_name(MysqlVariables::MODULE, variable.name), variable.effect, fault))
    } else if module.eq_ignore_ascii_case(AdminVariables::MODULE) {
        let variable = AdminVariables::variable(short)?;
        let fault = AdminVariables::default().set(short, value).err();
        Some((full_name(AdminVariables::MODULE, variable.name), variable.effect, fault))
    } else {
        None
    }
}
