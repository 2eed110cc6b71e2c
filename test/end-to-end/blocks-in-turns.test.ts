/** Many blocks are staged, saved and removed in several turns of the event loop, and two who do it at once lose nothing. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { stageEdits } from '../../src/flows/blueprints/block-edits.ts'
import { createBlock, stageUpdate } from '../../src/flows/blueprints/block-staging.ts'
import { createBlueprint, removeBlueprint } from '../../src/flows/blueprints/blueprint-records.ts'
import { changeBlocks } from '../../src/flows/blueprints/record-step.ts'
import { discardStaged, saveStaged } from '../../src/flows/blueprints/settle-staged.ts'
import { getVersion } from '../../src/flows/live/versions.ts'
import { blockRecords } from '../../src/records/records.ts'
import { emptyContent } from '../../src/shared/empty-content.ts'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import type { Session } from '../../src/storage/database.ts'
import { textIn, updateHashOf } from '../../src/storage/document-fields.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { slowSteps, turnsDuring } from '../turns-during.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

const BLOCKS = 40
const by = { guid: '01900000-0000-7000-8000-00000000000a', username: 'ada' }
const deployer = { ...by, mayTakeAccountPages: true, lacks: () => false }

let quoin: TestQuoin
let blueprint: string

beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin.close())

beforeEach(async () => {
  const { records, random } = quoin.quoin.flows
  blueprint = guidOf(await createBlueprint(records, random, { name: 'Large' }, by))
})
afterEach(() => vi.restoreAllMocks())

const flows = () => quoin.quoin.flows
const content = (name: string, value = name) => ({
  ...emptyContent,
  ...{ type: 'value_default', name, in_pins: [{ id: 'value', value }] },
})
const added = (name: string) => ({
  guid: flows().newGuid(),
  update_hash: null,
  content: content(name),
})
const manyNamed = (name: string) => Array.from({ length: BLOCKS }, (_, at) => added(`${name}_${at}`))
const many = () => manyNamed('block')
const stage = (edits: Parameters<typeof stageEdits>[3]) =>
  stageEdits(flows().records, flows().catalogue, blueprint, edits, by)
const save = (guid = blueprint) => saveStaged(flows().records, guid, by)
const discard = () => discardStaged(flows().records, blueprint, by)
const remove = () => removeBlueprint(flows().records, blueprint, by)
const blocks = () => blockRecords(flows().records.database.session(), blueprint)
const changeOf = ({ unsaved }: JsonObject) => (isJsonObject(unsaved) ? unsaved.change : null)

describe('other work runs between the blocks', () => {
  test('and between the expressions of one block, of which there may be 500', async () => {
    slowSteps()
    const in_pins = Array.from({ length: 200 }, (_, at) => ({ id: `p${at}`, expression: `body.a${at}` }))
    const block = { ...added('wide'), content: { ...content('wide'), in_pins } }
    const staged = async () => expect(stage([block])).rejects.toMatchObject({ code: 'INVALID_BODY' })
    expect(await turnsDuring(staged)).toBeGreaterThan(80)
  })

  test('when they are staged, saved, discarded and removed', async () => {
    slowSteps()
    expect(await turnsDuring(() => stage(many()))).toBeGreaterThan(BLOCKS)
    expect(await turnsDuring(() => save())).toBeGreaterThan(BLOCKS)
    const changes = (await blocks()).map((record) => ({
      ...{ guid: guidOf(record), update_hash: updateHashOf(record) },
      content: content(textIn(record.name), 'other'),
    }))
    expect(await turnsDuring(() => stage(changes))).toBeGreaterThan(BLOCKS)
    expect(await turnsDuring(discard)).toBeGreaterThan(BLOCKS)
    expect(await turnsDuring(remove)).toBeGreaterThan(BLOCKS)
  })

  test('when saved blocks are compared with deployed ones: both are read, and held against each other', async () => {
    await stage(many())
    await save()
    await flows().deployments.deploy(blueprint, deployer)
    slowSteps()
    expect(await turnsDuring(() => flows().deployments.pending(blueprint))).toBeGreaterThan(3 * BLOCKS)
    expect(await turnsDuring(() => getVersion(flows().records, blueprint, 1))).toBeGreaterThan(BLOCKS)
  })

  test('when a large record is written and noted in the audit log', async () => {
    const notes = [{ text: 'x'.repeat(100_000) }]
    const update = (session: Session) =>
      session.update(systemStorages.blueprints, blueprint, setFields({ notes }))
    const session = flows().records.database.session({ user: by })
    expect(await turnsDuring(() => update(session))).toBeGreaterThan(1)
    await session.transaction.commit()
    const logged = await quoin.documents(systemStorages.auditLogs)
    expect(logged.at(-1)).toMatchObject({ category: 'blueprints', changes: ['notes'], guid: blueprint })
  })

  test('but for three seconds only: after five the embedded engine undoes what has its writer', async () => {
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    await changeBlocks(flows().records, blueprint, by, async (_session, pause) => {
      now += 20
      const early = pause()
      expect(early).toBeInstanceOf(Promise)
      await early
      now += 3_000
      expect(pause()).toBe(undefined)
    })
  })
})

describe('all or none', () => {
  test('are staged and saved when one in the middle fails', async () => {
    const { database } = flows().records
    let writes = 0
    const end = database.observe(systemStorages.blocks, () => {
      writes += 1
      if (writes === BLOCKS / 2) throw new Error('as planned')
    })
    slowSteps()
    await expect(stage(many())).rejects.toThrow('as planned')
    expect(await blocks()).toEqual([])
    writes = BLOCKS
    await stage(many())
    const staged = await blocks()
    writes = 0
    await expect(save()).rejects.toThrow('as planned')
    expect(await blocks()).toEqual(staged)
    end()
    expect(await save()).toHaveLength(BLOCKS)
  })
})

describe('two at once', () => {
  test('a block that is changed while all are saved is saved, and its change is staged', async () => {
    const edits = many()
    await stage(edits)
    slowSteps()
    const last = edits.at(-1)?.guid ?? ''
    const update = stageUpdate(flows().records, flows().catalogue, last, { title: 'New' }, by)
    await Promise.all([save(), update])
    const record = (await blocks()).find((one) => guidOf(one) === last) ?? {}
    const saved = record.title === 'New' && record.unsaved === null
    const isStaged = isJsonObject(record.unsaved) && record.unsaved.title === 'New'
    expect([record.is_created, saved || isStaged]).toEqual([true, true])
    expect(changeOf(record)).not.toBe('created')
  })

  test('one of two who change the same block is told of the other', async () => {
    const edits = many()
    await stage(edits)
    await save()
    const [first] = await blocks()
    slowSteps()
    const change = (value: string) =>
      stage([
        {
          ...{ guid: guidOf(first), update_hash: updateHashOf(first ?? {}) },
          content: content('block_0', value),
        },
        ...manyNamed(value),
      ])
    const outcomes = await Promise.allSettled([change('one'), change('two')])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await blocks()).toHaveLength(2 * BLOCKS)
  })

  test('two that are given one name at once do not both have it', async () => {
    await stage(many())
    slowSteps()
    const create = () =>
      createBlock(flows().records, flows().catalogue, { ...content('same'), blueprint_guid: blueprint }, by)
    const outcomes = await Promise.allSettled([stage([added('same')]), create(), stage([added('same')])])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await blocks()).filter(({ name }) => name === 'same')).toHaveLength(1)
  })

  test('a deploy while all are saved has all of them as they were, or all as they are', async () => {
    await stage(many())
    await save()
    const changed = (await blocks()).map((record) => ({
      ...{ guid: guidOf(record), update_hash: updateHashOf(record) },
      content: content(textIn(record.name), 'other'),
    }))
    await stage(changed)
    slowSteps()
    const deploy = flows().deployments.deploy(blueprint, deployer)
    await Promise.all([save(), deploy])
    expect([0, BLOCKS]).toContain((await flows().deployments.pending(blueprint)).length)
    expect((await blocks()).every(({ unsaved }) => unsaved === null)).toBe(true)
  })

  test.each(['removal', 'staging'])(
    'of a removal of the blueprint and a staging leaves no block behind, where the %s is first',
    async (first) => {
      await stage(many())
      await save()
      slowSteps()
      const more = () => stage(manyNamed('more'))
      const works = first === 'removal' ? [remove, more] : [more, remove]
      const outcomes = await Promise.allSettled(works.map((work) => work()))
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
      expect(await blocks()).toEqual([])
      await expect(remove()).rejects.toThrow('There is no blueprint')
    },
  )
})
