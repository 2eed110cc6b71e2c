import { buffer } from 'node:stream/consumers'
import { isFileStoreUnavailable } from '../../storage/file-store-unavailable.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, PinError } from '../block.ts'
import { attemptPins, attemptsIn, withAttempts } from '../outside-attempts.ts'
import { fileValue } from './store-file.ts'

const MOST = 1024 * 1024

export default defineFlow({
  identifier: 'read_file',
  title: 'Read file',
  words: 'Read file {file}',
  summary: 'Reads a file (an asset) of at most 1 MiB as text. "For each row" reads tables of any size.',
  effects: { calls: 'external' },
  deployScopes: ['assets_view'],
  in: {
    file: {
      type: 'any',
      required: true,
      help: 'The file: its guid, its name (the newest of that name), or the value of a field of the type file.',
    },
    ...attemptPins,
  },
  out: {
    text: { type: 'value', help: 'The content as text (UTF-8), or in Base64.' },
    file: { type: 'object', help: 'Guid, name, type and size of the file.' },
  },
  settings: {
    encoding: {
      kind: 'choice',
      options: ['utf-8', 'base64'],
      default: 'utf-8',
      help: 'The file must be text for utf-8, and can be any bytes for base64.',
    },
  },
  async run(inputs, context) {
    const { session, settings } = context
    const { files } = context.services
    const { file } = inputs
    const record = await assetRecord('file', assetNamed('file', file), session)
    if (Number(record.size) > MOST) throw new PinError('file', `has more than ${MOST} bytes`)
    const bytes = await withAttempts(attemptsIn(inputs, context), isFileStoreUnavailable, () =>
      buffer(files.read(record)),
    )
    return {
      text: settings.encoding === 'base64' ? bytes.toString('base64') : textOf(bytes),
      file: fileValue(record),
    }
  },
})

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new PinError('file', 'is not UTF-8 text')
  }
}
