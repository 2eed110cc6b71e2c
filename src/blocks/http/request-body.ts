/** What a request sends, as the builder has it written: JSON, text, a form, parts or bytes. */
import { isJsonObject, isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { PinError } from '../block.ts'

export interface RequestBody {
  readonly type?: string
  readonly body: string | Uint8Array | undefined
}

/** As large as a document may be. Written out in one turn, in which nothing else is served. */
const MOST_SENT = { values: 500_000, characters: 16 * 1024 * 1024 }
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const JSON_TYPE = 'application/json'

export const bodyKinds = ['auto', 'json', 'text', 'form', 'multipart', 'base64'] as const

/** Throws PinError('body', …). */
export async function requestBody(
  content: JsonValue | StoredJson | undefined,
  kind: string,
): Promise<RequestBody> {
  if (content === undefined || content === null) return { body: undefined }
  if (content instanceof StoredJson)
    return kind === 'auto' || kind === 'json'
      ? { type: JSON_TYPE, body: content.text }
      : requestBody(content.value, kind)
  if (isLargerThan(content, MOST_SENT.values, MOST_SENT.characters))
    throw new PinError('body', 'is too large to be sent: at most 500,000 values and 16 MiB of text')
  switch (kind) {
    case 'json':
      return { type: JSON_TYPE, body: JSON.stringify(content) }
    case 'text':
      return { type: 'text/plain; charset=utf-8', body: scalar('', content) }
    case 'form':
      return { type: 'application/x-www-form-urlencoded', body: formText(fieldsOf(content)) }
    case 'multipart':
      return parts(fieldsOf(content))
    case 'base64':
      return { type: 'application/octet-stream', body: bytesOf('', content) }
    default:
      return typeof content === 'object'
        ? { type: JSON_TYPE, body: JSON.stringify(content) }
        : { type: 'text/plain; charset=utf-8', body: String(content) }
  }
}

function fieldsOf(content: JsonValue): JsonObject {
  if (isJsonObject(content)) return content
  throw new PinError('body', 'must be an object of fields')
}

function itemsOf(value: JsonValue): readonly JsonValue[] {
  if (value === null) return []
  return Array.isArray(value) ? value : [value]
}

function formText(fields: JsonObject): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const item of itemsOf(value)) form.append(name, scalar(name, item))
  return form.toString()
}

/** The platform writes the parts: names and file names of any characters cannot end a header. */
async function parts(fields: JsonObject): Promise<RequestBody> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    for (const item of itemsOf(value))
      if (isJsonObject(item)) form.append(name, fileOf(name, item))
      else form.append(name, scalar(name, item))
  const written = new Response(form)
  const body = new Uint8Array(await written.arrayBuffer())
  return { type: written.headers.get('content-type') ?? 'multipart/form-data', body }
}

/** `{ file_name, type, text }`, or `base64` in place of `text`. */
function fileOf(name: string, { file_name: fileName, type, text, base64 }: JsonObject): File {
  if (typeof fileName !== 'string' || fileName === '' || (text === undefined) === (base64 === undefined))
    throw new PinError('body', `must give file_name and one of text and base64 for ${JSON.stringify(name)}`)
  const bytes = base64 === undefined ? Buffer.from(scalar(name, text ?? '')) : bytesOf(name, base64)
  return new File([bytes], fileName, { type: typeof type === 'string' ? type : 'application/octet-stream' })
}

function bytesOf(name: string, value: JsonValue): Uint8Array<ArrayBuffer> {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !BASE64.test(value))
    throw new PinError('body', `must be base64${of(name)}`)
  return new Uint8Array(Buffer.from(value, 'base64'))
}

function scalar(name: string, value: JsonValue): string {
  if (typeof value === 'object' && value !== null)
    throw new PinError('body', `must give text, a number or a condition${of(name)}`)
  return String(value ?? '')
}

function of(name: string): string {
  return name === '' ? '' : ` for ${JSON.stringify(name)}`
}
