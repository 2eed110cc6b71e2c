/** The rules of a storage as records: checked when they are saved, and with the indexes that make a list under `see` one indexed query. */
import { invalidField } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import type { Index } from '../../storage/document-index.ts'
import type { References } from '../../storage/reference/references.ts'
import { permissionNames, permissionsIn, type StoragePermissions } from '../fields/field-rules.ts'
import { type RuleScope, scopeOf } from './reference-query.ts'
import { ruleProblem, sampledRule } from './rule-expression.ts'

/** Each costs every write of the storage. */
const MOST_INDEXES = 4

/** As the record holds them: null for none. Throws INVALID_BODY that names the rule and the column. */
export function checkedRules(rules: JsonValue, scope: RuleScope): JsonObject | null {
  for (const name of permissionNames) {
    const text = isJsonObject(rules) ? rules[name] : undefined
    if (typeof text !== 'string') continue
    const problem = ruleProblem(text, name === 'see' ? 'see' : 'write', scope, { saved: true })
    if (problem) throw invalidField(`rules.${name}`, `The rule ${name} cannot be used: ${problem}`)
  }
  const input = permissionsIn(rules)
  return input ? { ...input } : null
}

/** Of a storage: over the fields by which the rules of all storages find its documents. */
export function ruleIndexes(
  storage: string,
  permissions: ReadonlyMap<string, StoragePermissions>,
  references: References,
): readonly Index[] {
  return [...permissions].flatMap(
    ([name, rules]) => seeIndexes(rules, scopeOf(name, references)).get(storage) ?? [],
  )
}

/** By storage. None for a rule of another version, which cannot be read. */
export function seeIndexes(
  { see }: StoragePermissions,
  scope: RuleScope,
): ReadonlyMap<string, readonly Index[]> {
  if (see === undefined || ruleProblem(see, 'see', scope)) return new Map()
  const fields = new Map<string, Set<string>>()
  addFields(sampledRule(see, scope), scope.storage, fields)
  return new Map(
    [...fields].map(([storage, names]) => [
      storage,
      [...names].slice(0, MOST_INDEXES).map((field) => ({ fields: [field] })),
    ]),
  )
}

function addFields(query: Query, storage: string, fields: Map<string, Set<string>>): void {
  switch (query.kind) {
    case 'and':
    case 'or':
      for (const inner of query.queries) addFields(inner, storage, fields)
      return
    case 'through':
      // The reference itself has one.
      addFields(query.query, query.storage, fields)
      return
    case 'term':
    case 'terms':
      if (query.field.startsWith('_meta.')) return
      fields.set(storage, (fields.get(storage) ?? new Set()).add(query.field))
      return
    default:
      return
  }
}
