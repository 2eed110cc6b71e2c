/** What the cells of a row mean in the fields of a storage. */
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { type TextDialect, valueOfText } from '../../shared/fields/value-of-text.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Session } from '../../storage/database.ts'
import { namingFields, referenceByName } from '../../storage/reference/reference-by-name.ts'
import type { FlowContext } from '../context.ts'

/** The fields of a document. Throws INVALID_BODY naming the field for a text that its type cannot be made of. */
export type RowReader = (row: JsonObject) => Promise<JsonObject>

/** Names that were found already: a list of goods names the same few suppliers again and again. */
const MOST_KNOWN = 10_000

export async function rowReader(
  session: Session,
  storage: string,
  { rulesOf, dialect }: { readonly rulesOf: FlowContext['rules']; readonly dialect: TextDialect },
): Promise<RowReader> {
  const rules = new Map((await rulesOf(storage)).map((rule) => [rule.name, rule]))
  const known = new Map<string, string>()

  async function referred(rule: FieldRule, target: string, text: string): Promise<string> {
    const key = JSON.stringify([target, text])
    const guid = known.get(key)
    if (guid !== undefined) return guid
    const found = await referenceByName(session, target, namingFields(await rulesOf(target)), text)
    if ('problem' in found) throw wrong(rule, found.problem)
    if (known.size < MOST_KNOWN) known.set(key, found.guid)
    return found.guid
  }

  async function read(rule: FieldRule, text: string): Promise<JsonValue> {
    const meant = valueOfText(rule, text, dialect)
    if ('problem' in meant) throw wrong(rule, meant.problem)
    const { value } = meant
    const target = rule.reference?.storage
    return target !== undefined && typeof value === 'string' ? referred(rule, target, value) : value
  }

  return async (row) => {
    const fields: Record<string, JsonValue> = {}
    for (const [name, value] of Object.entries(row)) {
      const rule = rules.get(name)
      fields[name] = rule && typeof value === 'string' ? await read(rule, value) : value
    }
    return fields
  }
}

function wrong({ name }: FieldRule, problem: string): QuoinError {
  return new QuoinError('INVALID_BODY', `The value of ${name} ${problem}.`, { fields: [name] })
}
