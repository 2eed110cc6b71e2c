/** One request to an operation of the OpenAPI document: as described, nearly so, or hostile. */
import type { ApiDocument, ApiOperation, ApiParameter } from '../../../src/http/docs/open-api-document.ts'
import { isJsonObject, type JsonValue } from '../../../src/shared/json.ts'
import type { RandomSource } from '../random-source.ts'
import { extensionNames } from './fuzz-extension.ts'
import { hostileBody, hostileHeaders, hostileText } from './hostile-values.ts'
import type { KnownThings } from './known-things.ts'
import { type Making, type Mood, one, spoiled, valueFor } from './schema-values.ts'

export interface Target {
  /** Upper case. */
  readonly method: string
  /** As the document writes it. */
  readonly path: string
  readonly operation: ApiOperation
  /** Of a door that the document does not describe: the form of its errors, besides that of the API. */
  readonly errors?: 'JSON-RPC' | 'OAuth' | 'page' | 'SCIM'
  /** What its clients always send. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface FuzzRequest {
  readonly target: Target
  readonly mood: Mood
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

export interface RequestMaking {
  readonly document: ApiDocument
  readonly known: KnownThings
  readonly random: RandomSource
}

/** Paths that are no text: bytes that are no UTF-8, U+0000, a lone %. */
const brokenSegments = ['%zz', '%00', '%ff', '%e2%28%a1', '..%2f..%2fetc%2fpasswd', 'a%00b', '%']

export function makeRequest(target: Target, { document, known, random }: RequestMaking): FuzzRequest {
  const mood = random.oneOf(['good', 'good', 'bad', 'hostile', 'hostile'] as const)
  // Where there is nothing but the path, what is wrong has to be in it.
  const inPath = target.operation.requestBody ? 0.3 : 0.7
  const making: Making = {
    document,
    random,
    word: () => (random.chance(0.2) ? known.guid(target.path, random) : known.word(random)),
  }
  const { parameters = [] } = target.operation
  const path = target.path.replace(/\{([^}]+)\}/g, (_, name) => segment(String(name)))
  const query = queryOf(parameters.filter((parameter) => parameter.in === 'query'))
  const headers: Record<string, string> = { ...target.headers }
  for (const { name } of parameters.filter((parameter) => parameter.in === 'header'))
    if (random.chance(0.3)) headers[name] = encodeURIComponent(making.word())
  const body = bodyOf()
  if (body) headers['content-type'] = body.type
  if (mood === 'hostile' && random.chance(0.4)) Object.assign(headers, one(hostileHeaders, random))
  return { target, mood, url: `${path}${query}`, headers, body: body?.bytes }

  function segment(name: string): string {
    if (mood === 'hostile' && random.chance(inPath))
      return random.chance(0.3)
        ? random.oneOf(brokenSegments)
        : encodeURIComponent(one(hostileText, random).toWellFormed()) || '-'
    if (mood === 'bad' && random.chance(inPath)) return encodeURIComponent(known.word(random).toWellFormed())
    // The names of extensions are no guids.
    if (name === 'name') return random.oneOf(extensionNames)
    if (/number/.test(name)) return String(random.below(4))
    return known.guid(target.path, random)
  }

  function queryOf(described: readonly ApiParameter[]): string {
    const parts: string[] = []
    const put = (name: string, value: string) =>
      parts.push(`${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`)
    for (const { name, schema = {}, required } of described) {
      if (!required && !random.chance(0.5)) continue
      const value =
        mood === 'good' || random.chance(0.5) ? valueFor(schema, making) : one(hostileText, random)
      put(name, typeof value === 'string' ? value : JSON.stringify(value))
      if (mood === 'hostile' && random.chance(0.1)) put(name, 'again')
    }
    if (mood !== 'good' && random.chance(0.15)) put(one(hostileText, random), one(hostileText, random))
    if (mood === 'hostile' && random.chance(0.1))
      parts.push(random.oneOf(['?', '&&&', '=', 'a[b]=1', '%zz', 'x'.repeat(4_000)]))
    return parts.length === 0 ? '' : `?${parts.join('&')}`
  }

  function bodyOf(): { readonly bytes: Buffer; readonly type: string } | undefined {
    const [described] = Object.entries(target.operation.requestBody?.content ?? {})
    if (!described) return undefined
    const [type, { schema = {} }] = described
    if (mood === 'hostile' && random.chance(0.3)) return { bytes: one(hostileBody, random), type }
    if (type.startsWith('multipart/')) return multipart(random, making.word())
    if (mood === 'bad' && random.chance(0.1)) return undefined
    const good = valueFor(schema, making)
    const value = mood === 'good' ? good : spoiled(good, random)
    if (type.endsWith('urlencoded')) return { bytes: Buffer.from(formText(value)), type }
    // One document a line, or one JSON value.
    return { bytes: Buffer.from(`${JSON.stringify(value)}${type.endsWith('ndjson') ? '\n' : ''}`), type }
  }
}

function formText(value: JsonValue): string {
  if (!isJsonObject(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([name, one]) => [
    name,
    typeof one === 'string' ? one : JSON.stringify(one),
  ])
  return String(new URLSearchParams(pairs))
}

function multipart(random: RandomSource, word: string): { readonly bytes: Buffer; readonly type: string } {
  const field = random.oneOf(['file', 'directory', 'filename', ''])
  const name = random.chance(0.5) ? `; filename="${one(hostileText, random).replaceAll(/[\r\n"]/g, '')}"` : ''
  const end = random.oneOf(['\r\n--b--\r\n', '\r\n--b\r\n', ''])
  const text = `--b\r\ncontent-disposition: form-data; name="${field}"${name}\r\ncontent-type: image/png\r\n\r\n${word}${end}`
  return { bytes: Buffer.from(text), type: 'multipart/form-data; boundary=b' }
}

/** For a failure: enough to send it again. */
export function inWords({ target, url, headers, body }: FuzzRequest, role: string): string {
  const { authorization, ...others } = headers
  const sent = body === undefined ? '' : ` body ${JSON.stringify(body.toString('latin1').slice(0, 400))}`
  return `${target.method} ${url.slice(0, 300)} as ${role} ${JSON.stringify(others).slice(0, 300)}${sent}`
}
