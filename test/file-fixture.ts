/**
 * The files (assets) that a block in a test works with: records in a database of the engine that the suite runs on, and
 * bytes on the disk.
 */
import { randomFillSync, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { FlowBlock } from '../src/blocks/block.ts'
import type { BlockServices } from '../src/blocks/block-services.ts'
import { openAssets } from '../src/records/assets/assets.ts'
import { runFiles } from '../src/records/assets/file-links.ts'
import { openRecords } from '../src/records/records.ts'
import { openSigningSecret } from '../src/records/secrets/signing-secret.ts'
import type { JsonObject } from '../src/shared/json.ts'
import { search } from '../src/shared/query.ts'
import { type AssetFiles, openAssetFiles } from '../src/storage/assets/asset-files.ts'
import type { Database } from '../src/storage/database.ts'
import { guidOf } from '../src/storage/document-fields.ts'
import { filesOnDisk } from './asset-place.ts'
import { type Circumstances, type Ran, runBlock } from './run-block.ts'
import { openTestDatabase, withoutRules } from './test-database.ts'

export interface FileFixture {
  readonly database: Database
  /** What `run` gives as a service. */
  readonly files: BlockServices['files']
  /** On behalf of the user ada. */
  run(block: FlowBlock, input: Circumstances): Promise<Ran>
  /** Stores a file a second after the one before; gives its guid. */
  put(name: string, content: string | Buffer, directory?: string): Promise<string>
  /** The records of all files, oldest first. */
  records(): Promise<readonly JsonObject[]>
  /** The bytes of the newest file of this name. */
  content(name: string): Promise<Buffer>
  /** How many files are on the disk: as many as records, unless two have the same bytes. */
  onDisk(): Promise<number>
  /** Deletes all files. */
  empty(): Promise<void>
  close(): Promise<void>
}

const ada = { guid: '0190f2a0-0000-7000-8000-00000000ada0', username: 'ada' }

/** `openStore`: where the bytes are, if not on the disk. */
export async function openFileFixture(openStore?: () => Promise<AssetFiles>): Promise<FileFixture> {
  const { database, clock, directory, close } = await openTestDatabase()
  const store = await (openStore ? openStore() : openAssetFiles(join(directory, 'assets'), randomUUID))
  const assets = await openAssets(await openRecords(withoutRules(database), clock), store)
  const secret = await openSigningSecret(database, (bytes) => void randomFillSync(bytes))
  const files = runFiles(assets.once, secret, clock)

  async function records() {
    const sort = [{ field: '_meta.created', order: 'asc', missing: 'last' }] as const
    return (await assets.search(search({ sort, limit: 1_000 }))).records
  }

  return {
    database,
    files,
    records,
    run(block, input) {
      clock.now += 1_000
      return runBlock(block, { session: database.session({ user: ada }), services: { files }, ...input })
    },
    async put(name, content, place = 'files') {
      clock.now += 1_000
      async function* bytes() {
        yield Buffer.from(content)
      }
      const file = { name, directory: place, type: 'text/plain', content: bytes() }
      return guidOf(await files.save(file, { guid: '', username: '' }))
    },
    async content(name) {
      const record = (await records()).findLast((one) => one.name === name)
      if (!record) throw new TypeError(`There is no file ${name}.`)
      return buffer(files.read(record))
    },
    onDisk: async () => (await filesOnDisk(directory)).length,
    async empty() {
      for (const record of await records()) await assets.remove(guidOf(record), ada)
    },
    async close() {
      store.close()
      await close()
    },
  }
}
