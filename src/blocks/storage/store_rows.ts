import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { dialectOf, type TextDialect, valueOfText } from '../../shared/fields/value-of-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { refusalOf } from '../../storage/create-all.ts'
import type { Session } from '../../storage/database.ts'
import { namingFields, referenceByName } from '../../storage/reference/reference-by-name.ts'
import { upsertDocument } from '../../storage/upsert-document.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { builderStorage } from '../names.ts'
import { csvRows } from '../rows/csv-rows.ts'
import { csvTable } from '../rows/csv-table.ts'
import { keyFields, orUnknownKey, withoutKeyValue } from './document-queries.ts'
import { writtenMutations } from './document-writes.ts'

// What the cells of a row mean in the fields of a storage.

/** The fields of a document. Throws INVALID_BODY naming the field for a text that its type cannot be made of. */
type RowReader = (row: JsonObject) => Promise<JsonObject>

/** Names that were found already: a list of goods names the same few suppliers again and again. */
const MOST_KNOWN = 10_000

async function rowReader(
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

const MOST_ROWS = 50_000
/** Lines that are wrong, in the reply. */
const MOST_LINES = 100
/** Milliseconds of work in one turn of the event loop. */
const TURN_MS = 10

interface WrongLine {
  readonly line: number
  readonly fields: readonly string[]
  readonly reason: string
}

export default defineFlow({
  identifier: 'store_rows',
  title: 'Store rows',
  summary:
    'Stores a document for each row of a list or of CSV text, all or none. Texts become what the fields of the storage ask for, such as numbers and dates, and a reference is found by name. When rows are wrong the run fails, and the reply lists the line and the reason of each, at most 100.',
  effects: { writes: 'creates' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the documents.' },
    rows: {
      type: 'array',
      orPin: 'text',
      help: `Objects with the fields of a document, such as the rows of "Rows of a file", or =rows.rows.map(row => ({ ... })). At most ${MOST_ROWS}, in one transaction.`,
    },
    text: {
      type: 'value',
      orPin: 'rows',
      help: 'CSV text, if rows is empty. Its first line names the fields: "Customer since" is customer_since. Empty cells are left out.',
    },
    lines: {
      type: 'array',
      help: 'The line of each row, for error messages. Empty: rows are numbered from 1.',
    },
    by: {
      type: 'array',
      help: 'The unique field by which a document is found and changed, such as sku; of fields that are unique together a list, or the name that they share. Empty: each row creates a document.',
    },
    decimal: {
      type: 'value',
      default: 'point',
      choices: ['point', 'comma'],
      help: 'Decimal mark of numbers that are texts.',
    },
    dates: {
      type: 'value',
      choices: ['dmy', 'mdy', 'ymd'],
      help: 'Order of day, month and year in days such as 3/4/2026. Empty: those are refused.',
    },
    set_new: {
      type: 'object',
      language: 'set',
      help: 'Fields that only a new document gets, after those of its row.',
    },
  },
  out: {
    count: { type: 'number', help: 'Number of rows.' },
    created: { type: 'number', help: 'How many documents are new.' },
  },
  settings: asSettings,
  async run(inputs, { session, signal, rules }) {
    const { storage: named, by, set_new: added } = inputs
    const storage = builderStorage(named)
    const keys = by ? keyFields(by) : []
    const { rows, lines } = await table(inputs, signal)
    if (rows.length > MOST_ROWS)
      throw new PinError('rows', `has ${rows.length} rows; at most ${MOST_ROWS} fit`)
    const fresh = added === undefined ? [] : writtenMutations({ set: added, mutations: undefined })
    const read = await rowReader(session, storage, { rulesOf: rules, dialect: dialectOf(inputs) })
    const wrong: { readonly error: QuoinError; readonly at: WrongLine }[] = []
    let created = 0
    let began = performance.now()
    for (const [i, row] of rows.entries()) {
      if (performance.now() - began > TURN_MS) {
        await nextTurn()
        signal.throwIfAborted()
        began = performance.now()
      }
      try {
        if (await stored(row, read)) created += 1
      } catch (thrown) {
        const error = refusalOf(thrown)
        const line = lines?.[i]
        const at = {
          line: typeof line === 'number' ? line : i + 1,
          fields: error.fields ?? [],
          reason: error.outside ?? error.message,
        }
        wrong.push({ error, at })
        if (wrong.length === MOST_LINES) break
      }
    }
    const [first] = wrong
    if (first) {
      // The flow at error may continue and commit: the rows that are right must not be committed with it.
      await session.transaction.rollback()
      throw refused(
        first,
        wrong.map(({ at }) => at),
      )
    }
    return { count: rows.length, created }

    /** Whether the document is new. */
    async function stored(row: JsonValue, read: RowReader): Promise<boolean> {
      if (!isJsonObject(row)) throw new QuoinError('INVALID_BODY', 'It is not an object.')
      const fields = await read(row)
      const change = writtenMutations({ set: fields, mutations: undefined })
      const create = [...change, ...fresh]
      if (keys.length === 0) {
        await session.create(storage, create)
        return true
      }
      const upserted = await orUnknownKey(() =>
        upsertDocument(session, { storage, by: keys, fields, create, change }),
      )
      if (upserted) return upserted.created
      throw withoutKeyValue(keys)
    }
  },
})

interface PinValues {
  readonly rows: readonly JsonValue[] | undefined
  readonly lines: readonly JsonValue[] | undefined
  readonly text: string | undefined
}

async function table({ rows, lines, text }: PinValues, signal: AbortSignal) {
  if (rows !== undefined) return { rows, lines }
  if (text === undefined) throw new PinError('rows', 'is empty, and so is text')
  return csvTable(csvRows([text]), { asFields: true, limit: MOST_ROWS, pin: 'text', signal })
}

function refused(
  { error, at }: { readonly error: QuoinError; readonly at: WrongLine },
  lines: readonly WrongLine[],
): QuoinError {
  const list: JsonObject[] = lines.map(({ line, fields, reason }) => ({ line, fields: [...fields], reason }))
  const reasons: Record<string, string> = {}
  for (const { line, fields, reason } of lines)
    for (const field of fields) reasons[field] ??= `line ${line}: ${reason}`
  return new QuoinError('FLOW_FAILED', `Nothing was stored. Line ${at.line}: ${at.reason}`, {
    flow: { status: error.status, code: 'WRONG_ROWS', details: { lines: list } },
    ...(Object.keys(reasons).length > 0 && { reasons }),
    cause: error,
  })
}
