import type { JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const envSet = command({
  name: 'env set',
  operands: [{ name: '<name>' }, { name: '<value>' }],
  flags: {
    json: {
      type: 'boolean',
      help: 'Read the value as JSON: a number, true, a list or an object. Else it is a text.',
    },
    ...urlFlag,
  },
  summary: 'Sets a value of the environment, which expressions read as env.NAME.',
  about: `Adds the value or changes it. Runs that begin afterwards read it; no deploy is needed. Values are no place for secrets.
Write -- before a value that begins with -.`,
  async run({ positionals: [name = '', text = ''], values: { json = false, url } }, terminal) {
    const value = json ? parsed(text) : text
    const { setNamed } = await import('../named-records.ts')
    const { valueKind } = await import('./stored-values.ts')
    await withManagement(terminal, url, (management) => setNamed(management, valueKind, name, { value }))
    return 0
  },
})

function parsed(text: string): JsonValue {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new UsageError(`The value ${read.problem}: ${text}. Without --json it is a text.`)
}
