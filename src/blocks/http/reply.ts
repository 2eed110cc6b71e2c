import { headerAddress } from '../../shared/header-address.ts'
import type { JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { defineFlow, PinError } from '../block.ts'
import { redirectTarget } from '../redirect-target.ts'
import { HTML_TYPE, PlainText, type Reply } from '../reply.ts'
import { csvText } from './csv-text.ts'
import { fileReply } from './reply-file.ts'
import { replyHeaders } from './reply-headers.ts'

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
  repeatable: true,
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
  run({ code, value, columns, name, headers: given }, context) {
    const { kind } = context.settings
    const headers = replyHeaders(given, kind === 'text')
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
function textOfBody(given: JsonValue | StoredJson): string {
  const value = given instanceof StoredJson ? given.value : given
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
