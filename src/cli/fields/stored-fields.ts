/** Fields and storages, as commands work with them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import type { Terminal } from '../command.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'

const MOST = 1_000

export interface FieldPlace {
  readonly storage: string
  readonly name: string
}

/** By their order and name, as forms have them. */
export async function fieldsOf(management: Management, storage: string): Promise<readonly JsonObject[]> {
  const body = { filters: { storage }, limit: MOST, sort: [{ name: 'asc' }] }
  return recordsOf(await management.call('POST', '/blueprintfields/search', body))
}

/** Throws Refused, with the nearest name, when there is none. */
export async function pathOfField(management: Management, { storage, name }: FieldPlace): Promise<string> {
  const fields = await fieldsOf(management, storage)
  const found = fields.find((field) => field.name === name)
  if (found) return `/blueprintfields/${guidOf(found)}`
  const nearest = nearestName(
    name,
    fields.map((field) => textIn(field.name)),
  )
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`The storage ${storage} has no field ${JSON.stringify(name)}.${advice}`, 404)
}

/** `sku (string, required)`. */
export function shownField({ name, type, required, unique, migration }: JsonObject): string {
  const more = [
    textIn(type),
    ...(required === true ? ['required'] : []),
    ...(unique === null || unique === undefined || unique === false ? [] : ['unique']),
    ...(isJsonObject(migration) ? ['its values are following a change'] : []),
  ]
  return `${textIn(name)}\t${more.join(', ')}`
}

export interface Preview {
  /** That have a value. */
  readonly documents: number
  readonly converted: number
  readonly misfits: number
  /** One line for each thing that names the field, or document that does not fit. */
  readonly lines: readonly string[]
}

/** What a change would do; without changes, what removing the field concerns. */
export async function previewOf(
  management: Management,
  path: string,
  changes?: JsonObject,
): Promise<Preview> {
  const reply = await management.call('POST', `${path}/check`, changes ?? {})
  const { documents, converted, misfits, used_by } = isJsonObject(reply) ? reply : {}
  const { total, documents: listed } = isJsonObject(misfits) ? misfits : {}
  return {
    documents: Number(documents ?? 0),
    converted: Number(converted ?? 0),
    misfits: Number(total ?? 0),
    lines: [
      ...objectsIn(listed).map(
        ({ guid, problem, value }) => `${textIn(guid)}: ${valueText(value)} ${textIn(problem)}`,
      ),
      ...objectsIn(used_by).map(({ kind, name }) => `used by the ${textIn(kind)} ${textIn(name)}`),
    ],
  }
}

function valueText(value: JsonValue | undefined): string {
  return value === undefined ? 'a value' : JSON.stringify(value).slice(0, 80)
}

/** Says what a preview found. */
export function showPreview({ documents, converted, misfits, lines }: Preview, terminal: Terminal): void {
  const parts = [
    `${documents} ${documents === 1 ? 'document has' : 'documents have'} a value`,
    ...(converted > 0 ? [`${converted} would be converted`] : []),
    ...(misfits > 0 ? [`${misfits} would not fit`] : []),
  ]
  terminal.print(`${parts.join(', ')}.`)
  for (const line of lines) terminal.complain(line)
}

/** Changes the field. What its new name is not yet read by is said. */
export async function changeField(
  management: Management,
  path: string,
  changes: JsonObject,
  terminal: Terminal,
): Promise<void> {
  const reply = await management.call('PUT', path, changes)
  const { migration, used_by } = isJsonObject(reply) ? reply : {}
  if (isJsonObject(migration))
    terminal.print(
      `${Number(migration.documents)} documents follow by a job of the server: quoin field list shows when it has ended.`,
    )
  else terminal.print('Done.')
  for (const { kind, name } of objectsIn(used_by))
    if (kind === 'blueprint' || kind === 'view')
      terminal.complain(`The ${textIn(kind)} ${textIn(name)} names the field: change it too.`)
}
