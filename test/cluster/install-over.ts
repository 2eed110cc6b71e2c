import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importBlueprintFile } from '../../src/cli/blueprint-commands.ts'
import { readOptions } from '../../src/options/options.ts'
import type { JsonObject } from '../../src/shared/json.ts'

/** As `quoin import --activate --url` does. Gives the guid. */
export async function installOver(address: string, token: string, blueprint: JsonObject): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-storm-'))
  const printed: string[] = []
  try {
    const file = join(folder, 'blueprint.json')
    await writeFile(file, JSON.stringify(blueprint))
    const code = await importBlueprintFile.run([file, '--activate', '--url', address], {
      options: () => readOptions({ QUOIN_TOKEN: token }),
      print: (line) => void printed.push(line),
      complain: (line) => void printed.push(line),
      announce: (line) => void printed.push(line),
      readLine: async () => '',
      readSecret: async () => '',
      clock: Date.now,
      random: (bytes) => void crypto.getRandomValues(bytes),
    })
    const [guid] = printed
    if (code !== 0 || guid === undefined) throw new Error(printed.join('\n'))
    return guid
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
