/** A cluster that the tests of a suite push folders to: opened before the first of them, closed behind the last. Only tests and hooks may ask it. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { type CommandEnd, quoinCommand } from '../recording-terminal.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

/** By path: a text as it is, anything else as JSON. */
export type Folder = Readonly<Record<string, JsonValue>>

export interface ApplicationFixture {
  readonly quoin: TestQuoin
  /** The address of the server. */
  readonly base: string
  /** For the folders of the suite. */
  readonly directory: string
  /** A new folder with these files. */
  folderOf(files: Folder): Promise<string>
  /** The texts of all files of a folder, by path. */
  filesIn(folder: string): Promise<Record<string, string>>
  /** A command of `quoin` as this user. */
  run(words: readonly string[], as?: string, input?: string): Promise<CommandEnd>
}

/** The settings are those of `openTestQuoin`. */
export function applicationsOfSuite(settings: Readonly<Record<string, string>> = {}): ApplicationFixture {
  let opened: Pick<ApplicationFixture, 'quoin' | 'base' | 'directory'> | undefined
  let made = 0
  beforeAll(async () => {
    const quoin = await openTestQuoin(settings)
    const base = await quoin.quoin.server.listen()
    opened = { quoin, base, directory: await mkdtemp(join(tmpdir(), 'quoin-test-')) }
  })
  afterAll(async () => {
    await opened?.quoin.close()
    if (opened) await rm(opened.directory, { recursive: true, force: true })
  })
  const cluster = () => {
    if (opened === undefined)
      throw new Error('The cluster is opened before the first test, and not with its file.')
    return opened
  }
  return {
    get quoin() {
      return cluster().quoin
    },
    get base() {
      return cluster().base
    },
    get directory() {
      return cluster().directory
    },
    async folderOf(files) {
      made += 1
      const folder = join(cluster().directory, `folder${made}`)
      for (const [path, content] of Object.entries(files)) {
        await mkdir(join(folder, dirname(path)), { recursive: true })
        await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
      }
      return folder
    },
    async filesIn(folder) {
      const names = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
      const texts = files
        .sort()
        .map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const)
      return Object.fromEntries(await Promise.all(texts))
    },
    async run(words, as = 'admin', input = '') {
      const { quoin, base } = cluster()
      return quoinCommand([...words, '--url', base], { QUOIN_TOKEN: await quoin.tokenOf(as) }, input)
    },
  }
}
