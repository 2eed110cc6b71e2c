import { importBlueprint } from '../../src/engine/blueprint-file.ts'
import type { ImportedBlueprint } from '../../src/shared/blueprint-file.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'

/** One running Quoin for the scenarios of a file, with the tasks example; `stranger` is a user without any scope. */
export interface ContractRoom extends TestQuoin {
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  /** A name that nobody else uses: of a storage, an address, a user. */
  name(): string
  /** Makes a blueprint of the file format through the management endpoints. Gives its guid; it is inactive. */
  make(blocks: JsonObject): Promise<string>
  /** The same, and activates it. */
  run(blocks: JsonObject): Promise<string>
  /** Makes a storage with these documents. Gives its guid. */
  fill(name: string, documents: readonly JsonObject[]): Promise<string>
}

export async function openContractRoom(): Promise<ContractRoom> {
  const room = await openTestQuoin({
    QUOIN_EXAMPLES: '1',
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_LOCKOUT_ATTEMPTS: '3',
  })
  let count = 0
  const name = () => `row-${count++}`
  try {
    await room.addUser('stranger', [])
    const address = await room.quoin.server.listen()
    const make = (blocks: JsonObject) => makeBlueprint(room, importBlueprint({ name: name(), blocks }, name))
    return {
      ...room,
      address,
      name,
      make,
      async run(blocks) {
        const guid = await make(blocks)
        await room.manage('PUT', `/blueprints/update/set/active/${guid}`)
        return guid
      },
      async fill(storage, documents) {
        const guid = guidOf(await room.manage('POST', '/_system/storages', { name: storage }))
        for (const one of documents) await room.manage('POST', `/_system/storages/${guid}/documents`, one)
        return guid
      },
    }
  } catch (error) {
    await room.close()
    throw error
  }
}

/** As `quoin import` does it: the blocks first, then their wires, which need the guids that the blocks were given. */
async function makeBlueprint(room: TestQuoin, { name, blocks }: ImportedBlueprint): Promise<string> {
  const blueprint = guidOf(await room.manage('POST', '/blueprints', { name }))
  const guids = new Map<string, string>()
  for (const { guid, in_pins: _later, ...content } of blocks) {
    const made = await room.manage('POST', '/blueprintactions', { ...content, blueprint_guid: blueprint })
    guids.set(guid, guidOf(made))
  }
  for (const { guid, in_pins } of blocks) {
    if (in_pins.length === 0) continue
    const pins = in_pins.map(({ from, ...pin }): JsonValue => {
      const wires = from?.map((end) => ({ pin: end.pin, block: guids.get(end.block) ?? end.block }))
      return { ...pin, ...(wires && { from: wires }) }
    })
    await room.manage('PUT', `/blueprintactions/${guids.get(guid)}`, { in_pins: pins })
  }
  await room.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  return blueprint
}
