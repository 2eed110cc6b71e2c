/** A server on the engine of the run, and a folder of sources that `quoin import-from` reads. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import { openTestQuoin, type TestQuoin } from './end-to-end/harness.ts'
import { type CommandEnd, quoinCommand } from './recording-terminal.ts'

export interface ImportFixture extends TestQuoin {
  /** Where its server listens. */
  readonly url: string
  /** Replaces what the folder has. Gives its path. */
  files(contents: Readonly<Record<string, string | Buffer>>): Promise<string>
  /** `quoin import-from …` as the administrator. */
  importFrom(...words: readonly string[]): Promise<CommandEnd>
  /** The same as another user. */
  importAs(username: string, ...words: readonly string[]): Promise<CommandEnd>
  /** Documents of a storage without `_meta`, in the order in which they were created. */
  stored(storage: string): Promise<JsonObject[]>
  /** Name → type and what else is set of each field of a storage. */
  fields(storage: string): Promise<Readonly<Record<string, JsonValue>>>
}

/** `settings`: more environment variables. */
export async function openImportFixture(
  settings: Readonly<Record<string, string>> = {},
): Promise<ImportFixture> {
  const opened = await openTestQuoin(settings)
  const url = await opened.quoin.server.listen()
  const importAs = async (username: string, ...words: readonly string[]) =>
    quoinCommand(['import-from', ...words, '--url', url], { QUOIN_TOKEN: await opened.tokenOf(username) })
  const folder = join(opened.directory, 'source')
  return {
    ...opened,
    url,
    async files(contents) {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder)
      for (const [name, content] of Object.entries(contents)) {
        await mkdir(dirname(join(folder, name)), { recursive: true })
        await writeFile(join(folder, name), content)
      }
      return folder
    },
    importFrom: (...words) => importAs('admin', ...words),
    importAs,
    async stored(storage) {
      return (await opened.documents(storage)).map(({ _meta, ...fields }) => fields)
    },
    async fields(storage) {
      const found = await opened.manage('POST', '/blueprintfields/search', {
        filters: { storage },
        limit: 1_000,
      })
      const shown = (Array.isArray(found) ? found : []).map((field): [string, JsonValue] => {
        const { name, type, required, unique, reference, validation_rules: rules, label } = Object(field)
        const leads = reference ? ` ${reference.storage}` : ''
        const limits = Object.keys(rules ?? {}).length > 0 ? ` ${JSON.stringify(rules)}` : ''
        const more = `${required ? ' required' : ''}${unique ? ' unique' : ''}${label ? ` "${label}"` : ''}`
        return [String(name), `${type}${leads}${limits}${more}`]
      })
      return Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}
