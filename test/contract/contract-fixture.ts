import { importBlueprint } from '../../src/flows/blueprints/blueprint-file.ts'
import type { ImportedBlueprint } from '../../src/shared/application/blueprint-file.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { openAssetPlace } from '../asset-place.ts'
import { guidOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'

/** One running Quoin for the scenarios of a file, with the tasks example; `stranger` is a user without any scope. */
export interface ContractFixture extends TestQuoin {
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  /** A unique name: of a storage, an address, a user. */
  name(): string
  /** Makes a blueprint of the file format through the management endpoints. Gives its guid; it is inactive. */
  make(blocks: JsonObject): Promise<string>
  /** The same, and activates it. */
  run(blocks: JsonObject): Promise<string>
  /** Names of the files of assets, wherever they are kept. */
  files(): Promise<string[]>
  /** Makes a storage with these documents. Gives its guid. */
  fill(name: string, documents: readonly JsonObject[]): Promise<string>
}

export async function openContractFixture(): Promise<ContractFixture> {
  const assets = await openAssetPlace()
  const fixture = await openTestQuoin({
    ...assets.settings,
    QUOIN_EXAMPLES: '1',
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_LOCKOUT_ATTEMPTS: '3',
  })
  let count = 0
  const name = () => `row-${count++}`
  const close = async () => {
    await fixture.close()
    await assets.close()
  }
  try {
    await fixture.addUser('stranger', [])
    const address = await fixture.quoin.server.listen()
    const make = (blocks: JsonObject) =>
      makeBlueprint(fixture, importBlueprint({ name: name(), blocks }, fixture.quoin.flows.newGuid))
    return {
      ...fixture,
      address,
      name,
      make,
      files: () => assets.files(fixture.directory),
      close,
      async run(blocks) {
        const guid = await make(blocks)
        await fixture.manage('PUT', `/blueprints/update/set/active/${guid}`)
        return guid
      },
      async fill(storage, documents) {
        const guid = guidOf(await fixture.manage('POST', '/_system/storages', { name: storage }))
        if (documents.length > 0) await importDocuments(fixture, guid, documents)
        return guid
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** As the studio does it: all blocks and their wires in one request, and then what is staged is saved. */
async function makeBlueprint(fixture: TestQuoin, { name, blocks }: ImportedBlueprint): Promise<string> {
  const blueprint = guidOf(await fixture.manage('POST', '/blueprints', { name }))
  const edits = blocks.map(({ guid, ...content }) => ({ guid, update_hash: null, content }))
  await fixture.manage('POST', `/blueprints/${blueprint}/edits`, { edits: JSON.parse(JSON.stringify(edits)) })
  await fixture.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  return blueprint
}

async function importDocuments(
  fixture: TestQuoin,
  storage: string,
  documents: readonly JsonObject[],
): Promise<void> {
  const { statusCode, body } = await fixture.quoin.server.app.inject({
    method: 'POST',
    url: `/api/v1/_system/storages/${storage}/documents/import`,
    headers: {
      authorization: `Bearer ${await fixture.tokenOf('admin')}`,
      'content-type': 'application/x-ndjson',
    },
    payload: documents.map((one) => JSON.stringify(one)).join('\n'),
  })
  if (statusCode !== 200) throw new Error(`The documents were not imported: ${statusCode} ${body}`)
}
