/** Runs that wait while a release is pushed: they go on with the blocks that they began with, or with the new ones where these fit. */
import { expect, test, vi } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { applicationsOfSuite } from './application-fixture.ts'
import { guidOf, objectsOf } from './harness.ts'

const applications = applicationsOfSuite({ QUOIN_RATE_LIMIT: '0' })

let made = 0
const fresh = () => `moved${made++}`

/** What is written when the order is approved. */
const blocks = (name: string, mark: string, more: JsonObject = {}): JsonObject => ({
  ask: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
  approval: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: name, scopes: ['a'] } },
  write: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@approval.approved', storage: name, set: `={ mark: "${mark}" }` },
  },
  ...more,
})

const folder = (name: string, content: JsonObject) =>
  applications.folderOf({
    'quoin.json': { name },
    'blueprints/order.json': { name, blocks: content },
    [`storages/${name}.json`]: {},
  })

async function push(name: string, content: JsonObject, words: readonly string[], as = 'admin') {
  return applications.run(['push', await folder(name, content), '--yes', ...words], as)
}

/** A release with the mark `old`, and a run that waits in it. */
async function waiting(name: string): Promise<void> {
  expect((await push(name, blocks(name, 'old'), [])).code).toBe(0)
  await applications.quoin.send('GET', `/${name}`)
}

/** The run goes on; gives what it wrote. */
async function decided(name: string): Promise<unknown> {
  const [wait] = objectsOf(
    await applications.quoin.manage('POST', '/_system/waits/search', { filters: { title: name } }),
  )
  await applications.quoin.manage('POST', `/_system/waits/${guidOf(wait ?? {})}/continue`, {
    way: 'approved',
  })
  await expect
    .poll(async () => (await applications.quoin.documents(name)).length, { timeout: 20_000 })
    .toBe(1)
  return (await applications.quoin.documents(name))[0]?.mark
}

test('without the scope waits_update nothing is pushed', async () => {
  const name = fresh()
  await waiting(name)
  const kinds = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
  const views = [...kinds, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
  const updates = ['applications_update', 'blueprints_update', 'blueprintactions_update']
  await applications.quoin.addUser(name, [...views, ...updates])
  const refused = await push(name, blocks(name, 'new'), ['--move-waits'], name)
  expect([refused.code, refused.complained]).toEqual([
    1,
    expect.stringContaining('The scope waits_update is missing'),
  ])
  expect(await decided(name)).toBe('old')
})

test('the plan says how many fit; without --move-waits they go on as they began', async () => {
  const name = fresh()
  await waiting(name)
  const plan = await applications.run(['plan', await folder(name, blocks(name, 'new')), '--json'])
  expect(JSON.parse(plan.printed)).toMatchObject({ movable_waits: 1 })
  const { code, printed } = await push(name, blocks(name, 'new'), [])
  expect([code, printed]).toEqual([
    0,
    expect.stringContaining(
      'warning: blueprints/order.json: 1 runs wait, and go on with the blocks that they began with. 1 of them fit the new ones: --move-waits moves them.',
    ),
  ])
  expect(printed).not.toContain('go on with its blocks')
  expect(await decided(name)).toBe('old')
})

test('with --move-waits they go on with the new blocks', async () => {
  const name = fresh()
  await waiting(name)
  const { code, printed } = await push(name, blocks(name, 'new'), ['--move-waits'])
  expect([code, printed]).toEqual([0, expect.stringContaining('1 runs that wait go on with its blocks.')])
  expect(await decided(name)).toBe('new')
})

test('a rollback moves them back with the same words as a push', async () => {
  const name = fresh()
  await waiting(name)
  expect((await applications.run(['rollback', name, '--accept', 'a'])).complained).toContain(
    '--accept needs --verify <number>.',
  )
  expect((await push(name, blocks(name, 'new'), ['--move-waits'])).code).toBe(0)
  const { code, printed } = await applications.run(['rollback', name, '--yes', '--wait', '--move-waits'])
  expect([code, printed]).toEqual([0, expect.stringContaining('1 runs that wait go on with its blocks.')])
  expect(await decided(name)).toBe('old')
})

test('a run whose block is gone stays, and the push says why', async () => {
  const name = fresh()
  await waiting(name)
  const { approval: _, write: _write, ...ask } = blocks(name, 'new')
  const other = {
    ...ask,
    other: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: `${name} other`, scopes: ['a'] } },
  }
  const { code, printed, complained } = await push(name, other, ['--move-waits'])
  expect([code, printed]).toEqual([0, expect.stringContaining('0 of them fit the new ones')])
  expect(complained).toContain(`the run that waits at ${name} stays: Version 2 has no block`)
  expect(await decided(name)).toBe('old')
})

/** `blocks` with another name for the one that waits. */
function renamed(name: string, asked: readonly string[], more: JsonObject = {}): JsonObject {
  const { approval = null, write, ...ask } = blocks(name, 'new', more)
  const wires = asked.map((block) => `@${block}.approved`)
  const writes = isJsonObject(write) && isJsonObject(write.in) ? write.in : {}
  return {
    ...ask,
    ...Object.fromEntries(asked.map((block) => [block, approval])),
    write: {
      type: 'function_create_document_from_mutations',
      in: { ...writes, flow: wires.length === 1 ? (wires[0] ?? '') : wires },
    },
  }
}

async function guidsOf(name: string): Promise<Record<string, string>> {
  const { quoin } = applications
  const [blueprint] = objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name } }))
  const filters = { blueprint_guid: guidOf(blueprint ?? {}) }
  const found = objectsOf(await quoin.manage('POST', '/blueprintactions/search', { filters }))
  return Object.fromEntries(found.map((one) => [String(one.name), guidOf(one)]))
}

test('a block of which two could be the renamed one gets no new name: the run stays', async () => {
  const name = fresh()
  await waiting(name)
  const { approval } = await guidsOf(name)
  const { code, complained } = await push(name, renamed(name, ['one', 'two']), ['--move-waits'])
  expect([code, complained]).toEqual([0, expect.stringContaining('stays: Version 2 has no block')])
  expect(Object.values(await guidsOf(name))).not.toContain(approval)
  expect(await decided(name)).toBe('old')
})

test('a renamed block keeps its guid, and the run that waits at it goes on with the new blocks', async () => {
  const name = fresh()
  const reading = (block: string) => ({
    reads: { type: 'value_default', in: { value: `=${block}.comment` } },
  })
  expect((await push(name, blocks(name, 'old', reading('approval')), [])).code).toBe(0)
  await applications.quoin.send('GET', `/${name}`)
  const { approval, ...others } = await guidsOf(name)
  const content = renamed(name, ['decision'], reading('decision'))
  const { code, printed } = await push(name, content, ['--move-waits'])
  expect([code, printed]).toEqual([
    0,
    expect.stringMatching(/block approval renamed to decision.*1 runs that wait go on with its blocks\./s),
  ])
  expect(await guidsOf(name)).toEqual({ ...others, decision: approval })
  // What is pushed is what the folder says, also where an expression reads the block.
  const drift = await applications.run(['drift', await folder(name, content)])
  expect([drift.code, drift.printed]).toEqual([0, ''])
  expect(await decided(name)).toBe('new')
})

test('a block that has another name in the studio, not saved, keeps its guid', async () => {
  const name = fresh()
  await waiting(name)
  const before = await guidsOf(name)
  await applications.quoin.manage('PUT', `/blueprintactions/${before.approval}`, { name: 'asked' })
  expect((await push(name, blocks(name, 'new'), ['--move-waits'])).code).toBe(0)
  expect(await guidsOf(name)).toEqual(before)
  expect(await decided(name)).toBe('new')
})

test('a run whose job begins while it is moved goes on with the new blocks', async () => {
  const name = fresh()
  await waiting(name)
  expect((await push(name, blocks(name, 'new'), [])).code).toBe(0)
  const { quoin } = applications
  const [blueprint] = objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name } }))
  const { queues } = quoin.quoin.database.capabilities
  const { versions } = quoin.quoin.flows
  const compiled = versions.compiled.bind(versions)
  const [read, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const looked = vi.spyOn(versions, 'compiled')
  // The move has seen that the job has not begun; then the job reads the version of the wait, and runs when the wait is moved.
  looked.mockImplementationOnce(async (live, number) => {
    await queues.configure('_waits', { paused: false })
    await read.promise
    return compiled(live, number)
  })
  looked.mockImplementationOnce(async (live, number) => {
    read.resolve()
    await moved.promise
    return compiled(live, number)
  })
  try {
    await queues.configure('_waits', { paused: true })
    const [wait] = objectsOf(
      await quoin.manage('POST', '/_system/waits/search', { filters: { title: name } }),
    )
    await quoin.manage('POST', `/_system/waits/${guidOf(wait ?? {})}/continue`, { way: 'approved' })
    const move = await quoin.manage('POST', '/_system/waits/move', { blueprint: guidOf(blueprint ?? {}) })
    expect(move).toMatchObject({ moved: 1, kept: [] })
    moved.resolve()
    await expect.poll(async () => (await quoin.documents(name)).map(({ mark }) => mark)).toEqual(['new'])
  } finally {
    looked.mockRestore()
    await queues.configure('_waits', { paused: false })
  }
})

test('a blueprint whose runs wait is removed with --allow-loss only, and a rollback has them continue, decided or not', async () => {
  const name = fresh()
  const { quoin, run } = applications
  await waiting(name)
  await quoin.send('GET', `/${name}`)
  const files = { 'quoin.json': { name }, [`storages/${name}.json`]: {} }
  const without = await applications.folderOf(files)
  const waits = 'blueprints/order.json: 2 runs wait, and none of them continues without it.'
  const refused = await run(['push', without, '--yes'])
  expect([refused.code, refused.printed + refused.complained]).toEqual([1, expect.stringContaining(waits)])
  expect((await run(['push', without, '--yes', '--allow-loss'])).code).toBe(0)
  // It is decided while nothing can continue it.
  const filters = { title: name }
  const [first, second] = objectsOf(await quoin.manage('POST', '/_system/waits/search', { filters }))
  const decide = (wait: JsonObject = {}) =>
    quoin.manage('POST', `/_system/waits/${guidOf(wait)}/continue`, { way: 'approved' })
  await decide(first)
  const dead = { filters: { queue: '_waits', status: 'dead' } }
  const letters = async () => objectsOf(await quoin.manage('POST', '/queue/search', dead)).length
  await expect.poll(letters, { timeout: 20_000 }).toBe(1)
  const rollback = await run(['rollback', name, '--yes'])
  const since = '2 runs wait since a release that had it, and go on with the blocks that they began with.'
  expect([rollback.code, rollback.printed]).toEqual([0, expect.stringContaining(since)])
  await decide(second)
  const marks = async () => (await quoin.documents(name)).map(({ mark }) => String(mark)).toSorted()
  await expect.poll(marks, { timeout: 20_000 }).toEqual(['old'])
  // The one that has failed is named by the next plan, and continues with its release.
  const pushed = await push(name, blocks(name, 'old', { more: { type: 'value_default' } }), ['--move-waits'])
  const failed = '1 runs whose wait is over have failed to continue.'
  expect([pushed.code, pushed.printed]).toEqual([0, expect.stringContaining(failed)])
  await expect.poll(marks, { timeout: 20_000 }).toEqual(['old', 'old'])
}, 60_000)
