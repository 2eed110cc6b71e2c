import { QuoinError } from '../../shared/errors.ts'
import { imageFits, imageFormats, LONGEST_SIDE } from '../../shared/files/image-request.ts'
import { textIn } from '../../storage/document-fields.ts'
import { isFileStoreUnavailable } from '../../storage/file-store-unavailable.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, PinError } from '../block.ts'
import { attemptPins, attemptsIn, withAttempts } from '../outside-attempts.ts'
import { placePins, storeFileAgain } from './store-file.ts'

const { directory, replace } = placePins
const side = { type: 'number', min: 1, max: LONGEST_SIDE, integer: true } as const

export default defineFlow({
  identifier: 'convert_image',
  title: 'Convert image',
  summary:
    'Stores an image (JPEG, PNG, WebP, AVIF, GIF) smaller, or in another format, as a new file: turned upright and without metadata, such as the place where it was taken.',
  effects: { calls: 'external' },
  deployScopes: ['assets_view', 'assets_create', 'assets_remove'],
  in: {
    file: {
      type: 'any',
      required: true,
      help: 'The image: its guid, its name (the newest of that name), or the value of a field of the type file.',
    },
    width: { ...side, help: 'Pixels. Follows from the height if empty. An image is never enlarged.' },
    height: { ...side, help: 'Pixels. Follows from the width if empty.' },
    quality: {
      ...{ type: 'number', default: 80, min: 1, max: 100, integer: true },
      help: 'From 1, the smallest file, to 100, the finest image. PNG loses nothing and has none.',
    },
    name: {
      type: 'value',
      help: 'Name of the new file. Empty: that of the image with the end of the format.',
    },
    directory,
    replace,
    ...attemptPins,
  },
  out: { file: { type: 'object', help: 'Guid, name, type and size of the new file.' } },
  settings: {
    format: {
      kind: 'choice',
      options: ['same', ...imageFormats],
      default: 'same',
      help: 'Format of the new file. same: that of the image; PNG for GIF.',
    },
    fit: {
      kind: 'choice',
      options: imageFits,
      default: 'inside',
      help: 'inside: all of the image, within width and height. cover: exactly width and height, the edges cut off.',
    },
  },
  async run(inputs, context) {
    const { file, width, height, quality, name: input, directory: place } = inputs
    const { session, settings } = context
    const { files } = context.services
    const record = await assetRecord('file', assetNamed('file', file), session)
    const requested = {
      ...{ width, height, quality },
      format: imageFormats.find((format) => format === settings.format),
      fit: imageFits.find((fit) => fit === settings.fit),
    }
    const { bytes, type } = await withAttempts(attemptsIn(inputs, context), isFileStoreUnavailable, () =>
      files.image(record, requested),
    ).catch(asPin)
    const end = type.replace('image/', '').replace('jpeg', 'jpg')
    const own = `${textIn(record.name).replace(/\.[a-z0-9]{1,5}$/i, '')}.${end}`
    const stored = () => ({
      ...{ name: input?.trim() || own, directory: place.trim() },
      ...{ type, content: inOnePiece(bytes) },
    })
    return { file: await storeFileAgain(context, inputs, stored) }
  },
})

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** What is wrong with the image is wrong with the pin. */
function asPin(error: unknown): never {
  if (error instanceof QuoinError && error.code === 'INVALID_QUERY')
    throw new PinError('file', `is no image that can be converted. ${error.message}`)
  throw error
}
