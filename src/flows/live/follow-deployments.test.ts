import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { seededRandom } from '../../../test/seeded-random.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { openRecords } from '../../records/records.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'
import { type Flows, type FlowsOptions, openFlows } from '../flows.ts'
import type { LiveTable } from './live-blueprints.ts'

const builder = { guid: '', username: 'builder' }
/** More than are read in one search. */
const MANY = 60

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
})
afterEach(() => fixture.close())

async function open(compiledBefore?: FlowsOptions['compiledBefore']): Promise<Flows> {
  return openFlows({
    ...(compiledBefore && { compiledBefore }),
    ...bareRunServices,
    records: await openRecords(withoutRules(fixture.database), fixture.clock),
    catalogue: await loadBlocks(),
    random: seededRandom(1),
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    reservedRoots: new Set(),
  })
}

async function logged({ log }: Flows): Promise<readonly JsonObject[]> {
  await log.flush()
  return documentsOf(await fixture.database.session().find(systemStorages.systemLogs, search({})))
}

function install(flows: Flows, uri: string): Promise<string> {
  const blocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: uri } },
  }
  return installBlueprint(flows, { name: uri, blocks }, builder)
}

/** Replaces the deployed blocks in the storage, without telling any node. */
async function spoil(guid: string, blocks: readonly unknown[]): Promise<void> {
  await transact(fixture.database, async (session) => {
    const record = await session.get(systemStorages.blueprints, guid)
    const deployment = record && documentOf(record).deployment_guid
    const changes = setFields({ blocks: JSON.parse(JSON.stringify(blocks)) })
    const written = await session.update(systemStorages.deployments, String(deployment), changes)
    expect(written.outcome).toBe('written')
  })
}

const urisOf = ({ blueprints }: LiveTable) =>
  [...blueprints.values()].flatMap(({ compiled }) => compiled.endpoints.map(({ listening }) => listening.uri))

const emptyBlock = {
  ...{ title: '', description: '', position: { x: 0, y: 0 }, in_pins: [], custom_out_pins: [] },
  ...{ fields: {}, scopes: [] },
}

describe('at the start', () => {
  test('what the process compiled before is taken over, but for flows that are others now', async () => {
    const flowsOf = ({ live }: Flows) => {
      const all = [...live.table().blueprints.values()].flatMap(({ compiled }) => compiled.endpoints)
      return new Map(all.map(({ listening, flow }) => [listening.uri, flow]))
    }
    const before = await open()
    await install(before, 'same')
    const other = await install(before, 'other')
    const known = before.live.table().blueprints
    const blocks = known.get(other)?.compiled.blocks ?? []
    await spoil(
      other,
      blocks.map((block) => (block.name === 'reply' ? { ...block, title: 'Another' } : block)),
    )
    const compiled = new Map([...known].map(([guid, live]) => [guid, live.compiled]))
    const former = flowsOf(before)
    await before.close()

    const after = await open(compiled)
    const now = flowsOf(after)
    expect([...now.keys()]).toEqual(['same', 'other'])
    expect(now.get('same')).toBe(former.get('same'))
    expect(now.get('other')).not.toBe(former.get('other'))
    await after.close()
  })

  test.each<[string, unknown[], RegExp]>([
    [
      'blocks that do not compile',
      [{ guid: 'a', type: 'nope', ...emptyBlock }],
      /"broken" could not be started: .* 1 problem\. a: There is no block of the type "nope"/,
    ],
    ['something that is no block', [{ type: 7 }], /"broken" could not be started/],
  ])('%s keep their blueprint off, are logged, and keep no other off', async (_name, blocks, message) => {
    const before = await open()
    await install(before, 'first')
    const broken = await install(before, 'broken')
    await install(before, 'last')
    await spoil(broken, blocks)
    await before.close()

    const after = await open()
    expect(urisOf(after.live.table())).toEqual(['first', 'last'])
    expect(await logged(after)).toEqual([
      expect.objectContaining({ level: 'error', blueprint: broken, message: expect.stringMatching(message) }),
    ])
    await after.close()
  })

  test.each([
    ['the saved blocks', false],
    ['no blocks at all', true],
  ])('a deploy of %s takes the place of something that is no block', async (_name, isEmpty) => {
    const before = await open()
    const guid = isEmpty
      ? await installBlueprint(before, { name: 'broken', blocks: {} }, builder)
      : await install(before, 'broken')
    await spoil(guid, [{ type: 7 }])
    await before.close()

    const mended = await open()
    expect(mended.live.table().blueprints.has(guid)).toBe(false)
    expect(await mended.deployments.pending(guid)).toHaveLength(isEmpty ? 0 : 2)
    const deployer = { ...builder, mayTakeAccountPages: true, lacks: () => false }
    await expect(mended.deployments.deploy(guid, deployer)).resolves.toMatchObject({ version: 2 })
    await mended.close()

    const after = await open()
    expect(after.live.table().blueprints.get(guid)).toMatchObject({ deployment: 2 })
    await after.close()
  })

  test('a setting that its block does not have keeps running, is logged and can be rolled back to', async () => {
    const before = await open()
    const guid = await install(before, 'former')
    const [stored] = before.live.table().blueprints.values()
    const blocks = stored?.compiled.blocks.map((block) => ({
      ...block,
      fields: { ...block.fields, colour: 1 },
    }))
    await spoil(guid, blocks ?? [])
    await before.close()

    const after = await open()
    expect(urisOf(after.live.table())).toEqual(['former'])
    const message = expect.stringMatching(
      /"former" runs as before\. .* will be refused at its next deploy: 2 problems\. get\.colour: The block has no setting colour/,
    )
    expect(await logged(after)).toEqual([
      expect.objectContaining({ level: 'warn', blueprint: guid, message }),
    ])
    const deployer = { ...builder, mayTakeAccountPages: true, lacks: () => false }
    // The saved blocks have no such setting: this is version 2.
    await after.deployments.activate(guid, deployer)
    await expect(after.deployments.rollBack(guid, 1, deployer)).resolves.toMatchObject({ version: 3 })
    const checked = await after.deployments.check(guid, blocks ?? [])
    expect(checked.problems).toContainEqual(expect.objectContaining({ pin: 'colour' }))
    await after.close()
  })

  test('many are served as they were deployed, and one that is not active is not', async () => {
    const uris = Array.from({ length: MANY }, (_, number) => `many-${number}`)
    const before = await open()
    const guids: string[] = []
    for (const uri of uris) guids.push(await install(before, uri))
    const served = before.live.table()
    const [off = ''] = guids
    await before.deployments.deactivate(off, builder)
    await before.close()

    const after = await open()
    const table = after.live.table()
    expect(urisOf(table)).toEqual(uris.slice(1))
    for (const [guid, { name, deployment }] of table.blueprints)
      expect(served.blueprints.get(guid)).toMatchObject({ name, deployment })
    expect(await logged(after)).toEqual([])
    expect(table.version).toBe(1)
    await after.close()
  })
})

test('what a listener refuses is off, and the others are served', async () => {
  const before = await open()
  const guids = [
    await install(before, 'first'),
    await install(before, 'second'),
    await install(before, 'third'),
  ]
  await before.close()

  const after = await open()
  for (const guid of guids) after.live.set(guid, undefined)
  const unwatch = after.live.watch((table) => {
    if (urisOf(table).includes('second')) throw new Error('not this one')
  })
  await after.deployments.restore()
  unwatch()
  expect(urisOf(after.live.table())).toEqual(['first', 'third'])
  expect((await logged(after)).map(({ message }) => message)).toEqual([
    'The active blueprint "second" could not be started: not this one',
  ])
  await after.close()
})
