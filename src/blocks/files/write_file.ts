import { isLargerThan, type JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { attemptPins } from '../outside-attempts.ts'
import { placePins, storeFileAgain } from './store-file.ts'

/** Written out in one turn, in which nothing else is served. */
const MOST = { values: 500_000, characters: 16 * 1024 * 1024 }

export default defineFlow({
  identifier: 'write_file',
  title: 'Write file',
  words: 'Write file {name}',
  summary:
    'Stores text or JSON as a file (an asset). The file is stored at once: a run that fails later does not delete it. "Write rows" writes tables of any size.',
  effects: { calls: 'external' },
  deployScopes: ['assets_create', 'assets_remove'],
  in: {
    content: {
      type: 'any',
      required: true,
      help: 'What to write: text as it is; objects and lists as JSON. At most 16 MiB.',
    },
    ...placePins,
    type: { type: 'value', help: 'Media type, such as text/html. Empty: by what is written.' },
    ...attemptPins,
  },
  out: { file: { type: 'object', help: 'Guid, name, type and size, as fields of the type file hold them.' } },
  settings: {},
  async run(inputs, context) {
    const { content, name, directory, type } = inputs
    const { text, usual } = written(content)
    const file = () => ({
      name: name.trim(),
      directory: directory.trim(),
      type: type?.trim() || usual,
      content: once(text),
    })
    return { file: await storeFileAgain(context, inputs, file) }
  },
})

function written(content: JsonValue): { readonly text: string; readonly usual: string } {
  if (isLargerThan(content, MOST.values, MOST.characters))
    throw new PinError('content', 'must be at most 500,000 values and 16 MiB of text')
  if (typeof content === 'object') return { text: JSON.stringify(content), usual: 'application/json' }
  return { text: String(content), usual: 'text/plain; charset=utf-8' }
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
