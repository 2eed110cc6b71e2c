import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { command, type Terminal } from '../command.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { readObject } from '../read-blueprint-file.ts'

export const fieldList = command({
  name: 'field list',
  operands: [{ name: '<storage>' }],
  flags: urlFlag,
  summary: 'Lists the fields of a storage.',
  about: 'Prints one line for each field: its name, a tab, its type and rules.',
  async run({ positionals: [storage = ''], values: { url } }, terminal) {
    const fields = await withManagement(terminal, url, (management) => fieldsOf(management, storage))
    for (const field of fields) terminal.print(shownField(field))
    if (fields.length === 0)
      terminal.complain(`${storage} has no fields. Add one: quoin field add ${storage} <name> <type>`)
    return 0
  },
})

export const fieldAdd = command({
  name: 'field add',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<type>' }],
  flags: {
    rules: {
      type: 'string',
      value: '<json>',
      help: 'Further settings of the field, for example {"required":true,"validation_rules":{"max_length":80}}.',
    },
    ...urlFlag,
  },
  summary: 'Adds a field to a storage.',
  about: `Refused, with the documents that do not fit, where stored values are not of the type.

Types: string, line, long_text, email, url, phone, number, integer, decimal, boolean, day, instant, date, choice, choices,
reference, file, files, list, object, array; autonumber, created_by and changed_by are written by Quoin. Some need a rule:

  quoin field add contracts price decimal --rules '{"validation_rules":{"currency":"EUR"}}'
  quoin field add contracts state choice --rules '{"validation_rules":{"choices":["open","signed"]}}'
  quoin field add contracts customer reference --rules '{"reference":{"storage":"customers"}}'`,
  async run({ positionals: [storage = '', name = '', type = ''], values: { rules, url } }, terminal) {
    const body = { ...readObject('rules', rules), storage, name, type }
    await withManagement(terminal, url, (management) => management.call('POST', '/blueprintfields', body))
    return 0
  },
})

export const fieldRename = command({
  name: 'field rename',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<new-name>' }],
  flags: {
    'dry-run': { type: 'boolean', help: 'Only says how many documents follow, and what names the field.' },
    ...urlFlag,
  },
  summary: 'Renames a field, with the values of stored documents.',
  about: `The values of more than 1,000 documents follow by a job, during which both names are read. Blueprints that name the
field are listed: deploy them with the new name.`,
  async run({ positionals: [storage = '', name = '', next = ''], values }, terminal) {
    await withManagement(terminal, values.url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      if (values['dry-run']) showPreview(await previewOf(management, path, { name: next }), terminal)
      else await changeField(management, path, { name: next }, terminal)
    })
    return 0
  },
})

export const fieldConvert = command({
  name: 'field convert',
  operands: [{ name: '<storage>' }, { name: '<name>' }, { name: '<type>' }],
  flags: {
    misfits: {
      type: 'string',
      value: '<json>',
      help: 'For values that do not fit: {} for nothing, {"value":0}, or {"keep_in":"price_text"} to keep them there.',
    },
    rules: {
      type: 'string',
      value: '<json>',
      help: 'Further settings that the type needs, for example {"validation_rules":{"choices":["open","done"]}}.',
    },
    'dry-run': { type: 'boolean', help: 'Only lists the values that do not fit.' },
    ...urlFlag,
  },
  summary: 'Gives a field another type, and converts the values of stored documents.',
  about:
    'Prints a line for each document that does not fit: its guid and its value. Nothing has changed then.',
  async run({ positionals: [storage = '', name = '', type = ''], values }, terminal) {
    const changes = { ...readObject('rules', values.rules), type }
    const misfits = values.misfits === undefined ? {} : { misfits: readObject('misfits', values.misfits) }
    return withManagement(terminal, values.url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      const preview = await previewOf(management, path, changes)
      const isRefused = preview.misfits > 0 && values.misfits === undefined
      if (values['dry-run'] || isRefused) showPreview(preview, terminal)
      if (values['dry-run']) return 0
      if (isRefused) {
        terminal.complain('Nothing was changed. Say with --misfits what is stored in place of these values.')
        return 1
      }
      await changeField(management, path, { ...changes, ...misfits }, terminal)
      return 0
    })
  },
})

export const fieldRemove = command({
  name: 'field remove',
  operands: [{ name: '<storage>' }, { name: '<name>' }],
  flags: {
    yes: {
      type: 'boolean',
      help: 'Remove it also while documents have a value or something names the field.',
    },
    ...urlFlag,
  },
  summary: 'Removes a field. Stored documents keep their values.',
  about:
    'Says how many documents have a value, and what names the field; then nothing is removed without --yes.',
  async run({ positionals: [storage = '', name = ''], values: { yes, url } }, terminal) {
    return withManagement(terminal, url, async (management) => {
      const path = await pathOfField(management, { storage, name })
      const preview = await previewOf(management, path)
      if (!yes && (preview.documents > 0 || preview.lines.length > 0)) {
        showPreview(preview, terminal)
        terminal.complain('Nothing was removed. Remove it all the same with --yes.')
        return 1
      }
      await management.call('DELETE', path)
      return 0
    })
  },
})

// Fields and storages, as commands work with them.

const MOST = 1_000

interface FieldPlace {
  readonly storage: string
  readonly name: string
}

/** By their order and name, as forms have them. */
export async function fieldsOf(management: Management, storage: string): Promise<readonly JsonObject[]> {
  const body = { filters: { storage }, limit: MOST, sort: [{ name: 'asc' }] }
  return recordsOf(await management.call('POST', '/blueprintfields/search', body))
}

/** Throws Refused, with the nearest name, when there is none. */
async function pathOfField(management: Management, { storage, name }: FieldPlace): Promise<string> {
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
function shownField({ name, type, required, unique, migration }: JsonObject): string {
  const more = [
    textIn(type),
    ...(required === true ? ['required'] : []),
    ...(unique === null || unique === undefined || unique === false ? [] : ['unique']),
    ...(isJsonObject(migration) ? ['its values are following a change'] : []),
  ]
  return `${textIn(name)}\t${more.join(', ')}`
}

interface Preview {
  /** That have a value. */
  readonly documents: number
  readonly converted: number
  readonly misfits: number
  /** One line for each thing that names the field, or document that does not fit. */
  readonly lines: readonly string[]
}

/** What a change would do; without changes, what removing the field concerns. */
async function previewOf(management: Management, path: string, changes?: JsonObject): Promise<Preview> {
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
function showPreview({ documents, converted, misfits, lines }: Preview, terminal: Terminal): void {
  const parts = [
    `${documents} ${documents === 1 ? 'document has' : 'documents have'} a value`,
    ...(converted > 0 ? [`${converted} would be converted`] : []),
    ...(misfits > 0 ? [`${misfits} would not fit`] : []),
  ]
  terminal.print(`${parts.join(', ')}.`)
  for (const line of lines) terminal.complain(line)
}

/** Changes the field. What its new name is not yet read by is said. */
async function changeField(
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
