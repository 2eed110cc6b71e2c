/** The rules of a storage as records: checked when they are saved, and with the indexes that make a list under `see` one indexed query. */
import { invalidField } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import type { Index } from '../../storage/document-index.ts'
import { permissionNames, permissionsIn, type StoragePermissions } from '../fields/field-rules.ts'
import { ruleProblem, sampledRule } from './rule-expression.ts'

/** Each costs every write of the storage. */
const MOST_INDEXES = 4

/** As the record holds them: null for none. Throws INVALID_BODY that names the rule and the column. */
export function checkedRules(rules: JsonValue): JsonObject | null {
  for (const name of permissionNames) {
    const text = isJsonObject(rules) ? rules[name] : undefined
    if (typeof text !== 'string') continue
    const problem = ruleProblem(text, name === 'see' ? 'see' : 'write')
    if (problem) throw invalidField(`rules.${name}`, `The rule ${name} cannot be used: ${problem}`)
  }
  const given = permissionsIn(rules)
  return given ? { ...given } : null
}

/** Over the fields by which `see` finds documents. None for a rule of another version, which cannot be read. */
export function ruleIndexes({ see }: StoragePermissions = {}): readonly Index[] {
  if (see === undefined || ruleProblem(see, 'see')) return []
  const fields = new Set<string>()
  addFields(sampledRule(see), fields)
  return [...fields].slice(0, MOST_INDEXES).map((field) => ({ fields: [field] }))
}

function addFields(query: Query, fields: Set<string>): void {
  switch (query.kind) {
    case 'and':
    case 'or':
      for (const inner of query.queries) addFields(inner, fields)
      return
    case 'term':
    case 'terms':
      if (!query.field.startsWith('_meta.')) fields.add(query.field)
      return
    default:
      return
  }
}
