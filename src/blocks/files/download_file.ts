import { isUtf8 } from 'node:buffer'
import { defineFlow } from '../block.ts'
import { prepareRequest, sendingIn, sendPrepared } from '../http/prepared-request.ts'
import { beginningOf, headersOf, refuseCompressed, refusedReply } from '../http/read-answer.ts'
import { headerParameters, headerParts } from '../http/reply-headers.ts'
import {
  addressPins,
  bodyPin,
  bodySettings,
  headPins,
  repeatSettings,
  requestAttemptPins,
  retrySettings,
} from '../http/request-pins.ts'
import { type AnswerHead, type OpenAnswer, tooLarge, withAnswer } from '../http/send-request.ts'
import { placePins, storeFile } from './store-file.ts'

// The name of a file that another server sends: from its header `content-disposition`, else from its address.

/** Bytes. Names of assets have at most 255. */
const LONGEST = 200
const WITHOUT_NAME = 'download'
/** As in names of assets: control and format characters, which can hide the end of a name. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const ENDING = /\.[\p{L}\p{N}]{1,16}$/u

/** Always a name that an asset can have, whatever the server sends. */
function sentName({ headers, url }: AnswerHead): string {
  const said = headers['content-disposition']
  const last = url.pathname.split('/').at(-1) ?? ''
  return (
    plainName(typeof said === 'string' ? disposedName(said) : undefined) ??
    plainName(percentDecoded(last)) ??
    WITHOUT_NAME
  )
}

/** `filename*` of RFC 6266 goes first. */
function disposedName(header: string): string | undefined {
  const parameters = headerParameters(headerParts(header, ';').slice(1))
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(parameters.get('filename*') ?? '') ?? []
  const plain = parameters.get('filename')
  return (
    (encoded === undefined ? undefined : percentDecoded(encoded)) ??
    (plain === undefined ? undefined : utf8Of(plain))
  )
}

function plainName(text: string | undefined): string | undefined {
  const [last = ''] = (text ?? '').toWellFormed().split(/[/\\]/).slice(-1)
  const name = shortened(last.replace(INVISIBLE, '').trim())
  return name === '' || name === '.' || name === '..' ? undefined : name
}

/** The ending stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST) return name
  const ending = ENDING.exec(name)?.[0] ?? ''
  const most = LONGEST - Buffer.byteLength(ending)
  let stem = ''
  for (const char of name.slice(0, name.length - ending.length)) {
    if (Buffer.byteLength(stem + char) > most) break
    stem += char
  }
  return `${stem.trim()}${ending}`
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The client reads headers byte by byte; many servers write names in UTF-8. */
function utf8Of(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return bytes.toString('latin1') === text && isUtf8(bytes) ? bytes.toString('utf8') : text
}

const NOTHING = new Uint8Array()

export default defineFlow({
  identifier: 'download_file',
  title: 'Download file',
  words: 'Download {url}',
  summary:
    'Requests a file from another server and stores it as a file (an asset) while it arrives. A reply that is cut off or too large stores nothing. The file is stored at once: a run that fails later does not delete it.',
  effects: { calls: 'external' },
  deployScopes: ['assets_create', 'assets_remove'],
  in: {
    ...addressPins,
    method: { type: 'value', default: 'GET', choices: ['GET', 'POST'], help: 'Method: GET or POST.' },
    ...headPins,
    body: bodyPin,
    ...placePins,
    name: {
      type: 'value',
      help: 'Name of the file. Empty: what the other server calls it, or the end of its address, without characters that a name cannot have.',
    },
    type: {
      type: 'value',
      help: 'Media type, such as text/csv. Empty: what the other server says. What the bytes say goes first.',
    },
    timeout: {
      type: 'number',
      default: 60,
      min: 0.1,
      max: 600,
      help: 'Maximum seconds until the file is complete, over all attempts.',
    },
    max_size: {
      type: 'number',
      default: 104_857_600,
      min: 0,
      max: 524_288_000,
      integer: true,
      help: 'Maximum bytes of the file; a larger one is an error. 100 MiB if not set, 500 MiB at most.',
    },
    ...requestAttemptPins,
  },
  out: {
    file: { type: 'object', help: 'Guid, name, type and size, as fields of the type file hold them.' },
    code: { type: 'number', help: 'Status code of the reply.' },
    headers: {
      type: 'object',
      help: 'Headers of the reply, in lower case. A repeated header is a list.',
    },
    failed: {
      type: 'flow',
      help: 'Taken for a status code outside of 200 to 299, where nothing is stored. An error of the block if it is not wired.',
    },
  },
  settings: { ...bodySettings, ...repeatSettings, ...retrySettings },
  async run(inputs, context) {
    const { max_size: maxSize, name, type, directory, replace } = inputs
    const { settings, wired } = context
    const sending = sendingIn(inputs, settings, context)
    const prepared = await prepareRequest({ ...inputs, bodyAs: settings.body_as }, context)
    const store = async ({ body, ...head }: OpenAnswer) => {
      if (!isGood(head.code)) return { ...head, bytes: wired('failed') ? NOTHING : await beginningOf(body) }
      refuseCompressed(head.headers)
      if (Number(head.headers['content-length']) > maxSize) throw tooLarge(maxSize)
      const file = {
        name: name?.trim() || sentName(head),
        directory: directory.trim(),
        type: type?.trim() || String(head.headers['content-type'] ?? ''),
        content: bounded(body, maxSize),
      }
      return { ...head, file: await storeFile(context, file, replace) }
    }
    const answer = await sendPrepared(prepared, sending, (one, limits) =>
      withAnswer(one, prepared.agent, limits, store),
    )
    const input = { code: answer.code, headers: headersOf(answer) }
    if ('file' in answer) return { ...input, file: answer.file }
    if (wired('failed')) return { ...input, next: 'failed' }
    throw refusedReply(answer)
  },
})

function isGood(code: number): boolean {
  return code >= 200 && code <= 299
}

async function* bounded(body: AsyncIterable<Buffer>, maxSize: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxSize) throw tooLarge(maxSize)
    yield chunk
  }
}
