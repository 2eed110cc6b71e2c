import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const connectionSet = command({
  name: 'connection set',
  operands: [{ name: '<name>' }, { name: '<file>', completes: 'file' }],
  flags: urlFlag,
  summary: 'Sets a connection: a server that flows call by name.',
  about: `The file is JSON: base_url, and if wanted auth, headers and description (docs/http.md). auth names a secret: set that
with quoin secret set. Adds the connection or changes what the file has; requests that begin afterwards use it.`,
  async run({ positionals: [name = '', file = ''], values: { url } }, terminal) {
    const fields = await fieldsOfFile(file)
    const { setNamed } = await import('../named-records.ts')
    const { connectionKind } = await import('./stored-connections.ts')
    await withManagement(terminal, url, (management) => setNamed(management, connectionKind, name, fields))
    return 0
  },
})

async function fieldsOfFile(file: string): Promise<JsonObject> {
  const { readFile } = await import('node:fs/promises')
  const read = readJson(await readFile(file, 'utf8'))
  if ('problem' in read) throw new UsageError(`The file ${read.problem}: ${file}.`)
  if (!isJsonObject(read.value)) throw new UsageError(`The file is not a JSON object: ${file}.`)
  return read.value
}
