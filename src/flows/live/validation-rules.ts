/**
 * Rules of the house that blueprints are held against when they are deployed, beside what the compiler asks anyway. A
 * rule of the severity `error` refuses the deploy (422, naming the blocks); `warning` and `info` only write to the system
 * log.
 */

import { type Actor, getRecord, notFound } from '../../records/records.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Database, documentOf, type Written } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { findRuleKind, ruleKinds } from './validation-kinds.ts'

export type Severity = 'error' | 'warning' | 'info'

export interface ValidationRuleInput {
  readonly rule_type: string
  readonly parameters: JsonObject
  /** Said instead of the rule's own words. */
  readonly message?: string
  readonly severity?: Severity
}

export async function openValidationRules(database: Database): Promise<void> {
  await database.ensure(systemStorages.validationRules, { text: true })
}

/** INVALID_BODY for an unknown rule type, listing the known ones, and for parameters that do not fit it. */
export async function createValidationRule(
  database: Database,
  input: ValidationRuleInput,
  by: Actor,
): Promise<JsonObject> {
  const { rule_type, parameters, message = '', severity = 'error' } = input
  checkParameters(rule_type, parameters)
  const stamps = { created_by: { ...by }, modified_by: { ...by } }
  const fields = setFields({ rule_type, parameters, message, severity, ...stamps })
  const origin = { user: by }
  return transact(
    database,
    async (session) => documentOf(await session.create(systemStorages.validationRules, fields)),
    origin,
  )
}

export async function getValidationRule(database: Database, guid: string): Promise<JsonObject> {
  return getRecord(database.session(), systemStorages.validationRules, guid, 'validation rule')
}

/** Changes what is given, if `updateHash` is still the rule's; else CONFLICT. */
export async function updateValidationRule(
  database: Database,
  guid: string,
  updateHash: string,
  changes: Partial<ValidationRuleInput>,
  by: Actor,
): Promise<JsonObject> {
  const { rule_type, parameters, message, severity } = changes
  const mutations = setFields({ rule_type, parameters, message, severity, modified_by: { ...by } })
  return transact(
    database,
    async (session) => {
      const written: Written = await session.update(systemStorages.validationRules, guid, mutations, {
        updateHash,
      })
      if (written.outcome === 'not_found') throw notFound(guid, 'validation rule')
      if (written.outcome === 'conflict')
        throw new QuoinError(
          'CONFLICT',
          'The rule was changed since you read it. Read it again and use its _meta.update_hash.',
        )
      const rule = documentOf(written.document)
      // After the write, so that type and parameters are checked as they are together; a throw undoes it.
      checkParameters(String(rule.rule_type), isJsonObject(rule.parameters) ? rule.parameters : {})
      return rule
    },
    { user: by },
  )
}

export async function removeValidationRule(database: Database, guid: string, by: Actor): Promise<void> {
  await transact(
    database,
    async (session) => {
      const removed = await session.setRemoved(systemStorages.validationRules, guid, true)
      if (removed.outcome !== 'written') throw notFound(guid, 'validation rule')
    },
    { user: by },
  )
}

function checkParameters(type: string, parameters: JsonObject): void {
  const kind = findRuleKind(type)
  if (!kind) {
    const known = Object.keys(ruleKinds).join(', ')
    throw invalidField('rule_type', `There is no rule type ${JSON.stringify(type)}. Use one of ${known}.`)
  }
  const known = Object.keys(kind.parameters)
  const unknown = Object.keys(parameters).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalidField(
      `parameters.${unknown}`,
      `${type} has no parameter ${unknown}. Use ${known.join(', ')}.`,
    )
  for (const [name, problemOf] of Object.entries(kind.parameters)) {
    const problem = problemOf(parameters[name])
    if (problem) throw invalidField(`parameters.${name}`, `${name} ${problem}.`)
  }
}
