import { defineFlow } from '../block.ts'
import { prepareRequest, sendingIn, sendPrepared } from '../http/prepared-request.ts'
import { beginningOf, headersOf, refuseCompressed, refusedReply } from '../http/read-answer.ts'
import {
  addressPins,
  bodyPin,
  bodySettings,
  headPins,
  repeatSettings,
  requestAttemptPins,
  retrySettings,
} from '../http/request-pins.ts'
import { type OpenAnswer, tooLarge, withAnswer } from '../http/send-request.ts'
import { sentName } from './sent-name.ts'
import { placePins, storeFile } from './store-file.ts'

const NOTHING = new Uint8Array()

export default defineFlow({
  identifier: 'download_file',
  title: 'Download file',
  words: 'Download {url}',
  summary:
    'Requests a file from another server and stores it as a file (an asset) while it arrives. A reply that is cut off or too large stores nothing. The file is stored at once: a run that fails later does not delete it.',
  outside: true,
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
    const given = { code: answer.code, headers: headersOf(answer) }
    if ('file' in answer) return { ...given, file: answer.file }
    if (wired('failed')) return { ...given, next: 'failed' }
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
