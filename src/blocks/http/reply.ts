import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { csvCell } from '../../shared/csv-cell.ts'
import { type FieldPath, fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { headerAddress } from '../../shared/header-address.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, PinError } from '../block.ts'
import { redirectTarget } from '../names.ts'
import { FileBody, HTML_TYPE, PlainText, type Reply } from '../reply.ts'
import { cellValue } from '../rows/table-text.ts'
import { replyHeaders } from './reply-headers.ts'

const LONGEST = 255

/** The file of an asset, by its guid or name, or by a value that holds its guid, as file fields of documents do. */
function fileReply(
  input: JsonValue | StoredJson,
  name: string | undefined,
  session: Session,
): MaybePromise<Reply> {
  const value = input instanceof StoredJson ? input.value : input
  const asset = assetNamed('value', value)
  if (name !== undefined && (name === '' || name.length > LONGEST))
    throw new PinError('name', `must be 1 to ${LONGEST} characters`)
  return andThen(assetRecord('value', asset, session), (record) => {
    const named = name === undefined ? record : { ...record, name }
    return { code: 200, value: new FileBody(named), headers: {} }
  })
}

const MOST_ROWS = 10_000
const MOST_COLUMNS = 200
/** Rows that are written in one turn of the event loop. */
const ROWS_A_TURN = 500
/** Spreadsheets take the text for UTF-8 then. */
const BYTE_ORDER_MARK = '\ufeff'

/** A list of objects as CSV (RFC 4180), a header first. Throws PinError for `value` and `columns`. */
function csvText(
  input: JsonValue | StoredJson,
  columns: readonly JsonValue[] | undefined,
): MaybePromise<string> {
  const rows = rowsOf(input instanceof StoredJson ? input.value : input)
  const names = columns === undefined || columns.length === 0 ? namesIn(rows) : columns.map(columnName)
  if (names.length > MOST_COLUMNS) throw new PinError('columns', `must be at most ${MOST_COLUMNS}`)
  const header = `${BYTE_ORDER_MARK}${names.map(csvCell).join(',')}\r\n`
  // A field of the objects is read as it is called; only a name that the builder gave leads into objects.
  const paths = names.map((name): FieldPath => (columns?.length ? parseFieldPath(name) : [name]))
  if (rows.length <= ROWS_A_TURN) return header + linesOf(rows, paths)
  return runCooperatively(header, rows, paths)
}

async function runCooperatively(
  header: string,
  rows: readonly JsonObject[],
  paths: readonly FieldPath[],
): Promise<string> {
  let text = header
  for (let at = 0; at < rows.length; at += ROWS_A_TURN) {
    text += linesOf(rows.slice(at, at + ROWS_A_TURN), paths)
    await yieldToEventLoop()
  }
  return text
}

function linesOf(rows: readonly JsonObject[], paths: readonly FieldPath[]): string {
  return rows
    .map((row) => `${paths.map((path) => csvCell(cellValue(valueAt(row, path)))).join(',')}\r\n`)
    .join('')
}

function rowsOf(value: JsonValue): readonly JsonObject[] {
  const rows = value === null ? [] : value
  if (!Array.isArray(rows)) throw new PinError('value', 'must be a list of objects')
  if (rows.length > MOST_ROWS) throw new PinError('value', 'must hold at most 10,000 rows')
  return rows.map((row, at) => {
    if (!isJsonObject(row)) throw new PinError('value', `must be a list of objects; item ${at} is none`)
    return row
  })
}

/** All fields, in the order in which they are found. */
function namesIn(rows: readonly JsonObject[]): string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name in row) if (name !== '_meta') names.add(name)
  return [...names]
}

function columnName(name: JsonValue): string {
  const problem = typeof name === 'string' ? fieldNameProblem(name) : 'is no text'
  if (typeof name !== 'string' || problem !== undefined)
    throw new PinError('columns', `must be names of fields; ${JSON.stringify(name)} ${problem}`)
  return name
}

/** Replies with these codes have no body. */
const BODILESS = new Set([204, 205, 304])
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const LONGEST_NAME = 255

export default defineFlow({
  identifier: 'reply',
  title: 'Reply',
  words: 'Reply[ {code}][ {value}]',
  summary:
    'Replies to the request with JSON, text, HTML, a CSV file, an uploaded file or a redirect. The flow continues after the reply.',
  effects: { cacheable: true },
  in: {
    connection: {
      type: 'connection',
      help: 'The request to reply to. Default: the one that started the flow.',
    },
    code: {
      type: 'number',
      min: 200,
      max: 599,
      integer: true,
      help: 'Status code. Default: 200, and 303 for a redirect, which takes 301, 302, 303, 307 and 308.',
    },
    value: {
      type: 'any',
      raw: true,
      help: 'The body: any value for JSON, a text for text and HTML, a list of objects for CSV, the guid or name of an asset for a file, a path such as /tasks or a full address for a redirect.',
    },
    columns: {
      type: 'array',
      help: 'CSV: names of the columns, in their order; a dot leads into an object. Empty: all fields of the objects but _meta.',
    },
    name: {
      type: 'value',
      help: 'CSV and files: name of the file. Default: list.csv, and the name of the asset.',
    },
    headers: {
      type: 'object',
      help: 'Further headers of the reply, by name. A text may have any content-type that no browser runs, such as text/xml. Refused are those that "Reply with JSON" refuses.',
    },
  },
  out: {},
  settings: {
    kind: {
      kind: 'choice',
      options: ['json', 'text', 'html', 'csv', 'file', 'redirect'],
      default: 'json',
      help: 'What is sent. HTML is sent with the security headers of pages: scripts and styles come from files of this server only. A file is sent whatever the scopes of assets are; parts of it (range) and 304 are replied as for assets.',
    },
  },
  takesText: ({ kind }) => (kind === 'json' || kind === 'csv' || kind === 'file' ? [] : ['value']),
  check({ headers }, { kind }) {
    replyHeaders(headers, kind === 'text')
  },
  run({ code, value, columns, name, headers: input }, context) {
    const { kind } = context.settings
    const headers = replyHeaders(input, kind === 'text')
    const type = kind === 'text' ? headers['content-type'] : undefined
    const made =
      kind === 'file'
        ? fileReply(value ?? null, name, context.session)
        : replyOf(kind, value ?? null, { columns, name })
    return andThen(made, (reply) => {
      context.reply({
        ...reply,
        ...withCode(kind, code, reply),
        headers: { ...headers, ...reply.headers, ...(type && { 'content-type': type }) },
      })
      return undefined
    })
  },
})

function withCode(kind: string, code: number | undefined, reply: Reply): Partial<Reply> {
  if (code === undefined) return {}
  if (kind === 'redirect' && !REDIRECTS.has(code))
    throw new PinError('code', 'must be one of 301, 302, 303, 307, 308 for a redirect')
  if (kind === 'file' && code !== 200) throw new PinError('code', 'must be 200 for a file')
  return { code, value: BODILESS.has(code) ? undefined : reply.value }
}

interface CsvPins {
  readonly columns: readonly JsonValue[] | undefined
  readonly name: string | undefined
}

function replyOf(kind: string, value: JsonValue | StoredJson, csv: CsvPins): MaybePromise<Reply> {
  const plain = (text: string, type: string, more: Reply['headers'] = {}): Reply => ({
    code: 200,
    value: new PlainText(text),
    headers: { ...more, 'content-type': type },
  })
  switch (kind) {
    case 'text':
      return plain(textOfBody(value), 'text/plain; charset=utf-8')
    case 'html':
      return plain(textOfBody(value), HTML_TYPE)
    case 'csv':
      return andThen(csvText(value, csv.columns), (text) =>
        plain(text, 'text/csv; charset=utf-8; header=present', {
          'content-disposition': disposition(csv.name ?? 'list.csv'),
        }),
      )
    case 'redirect': {
      const location = headerAddress(redirectTarget('value', textOfBody(value)))
      return { code: 303, value: undefined, headers: { location, 'cache-control': 'no-store' } }
    }
    default:
      return { code: 200, value, headers: {} }
  }
}

/** A body that is text: scalars are written out, and nothing is an empty body. */
function textOfBody(input: JsonValue | StoredJson): string {
  const value = input instanceof StoredJson ? input.value : input
  if (value === null) return ''
  if (typeof value === 'object') throw new PinError('value', 'must be text')
  return String(value)
}

function disposition(name: string): string {
  if (name === '' || name.length > LONGEST_NAME)
    throw new PinError('name', `must be 1 to ${LONGEST_NAME} characters`)
  const plain = name.replace(/[^\x20-\x7e]|["\\%/]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
