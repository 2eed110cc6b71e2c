/** Every example application installs, twice too, and what it does by itself it does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { blueprintProblems } from './blueprint-problems.ts'
import { type Example, readExample } from './example-files.ts'
import { installExample } from './install-example.ts'
import { UsageError } from './read-words.ts'

const DAY = 86_400_000
let fixture: TestQuoin
let crm: Example
beforeAll(async () => {
  fixture = await openTestQuoin()
  crm = await readExample('crm')
  await installExample(fixture.quoin, { ...crm, blueprints: crm.blueprints.map(sooner) }, Date.now())
})
afterAll(() => fixture?.close())

/** What runs every night runs every second here. */
function sooner(blueprint: Example['blueprints'][number]): Example['blueprints'][number] {
  const nightly = '"cron":"15 2 * * *"'
  return JSON.parse(JSON.stringify(blueprint).replace(nightly, '"every":"1s"'))
}

const storages = [
  '_blueprints',
  '_blocks',
  '_deployments',
  '_groups',
  '_templates',
  '_fields',
  'crm-customers',
  'crm-contacts',
  'crm-deals',
]
const counts = async () =>
  Promise.all(storages.map(async (name) => [name, (await fixture.documents(name)).length] as const))

test.each(['nothing', '', '..', '../examples/crm', 'tasks.blueprint.json'])(
  'there is no example %j, and it says which there are',
  async (name) => {
    await expect(readExample(name)).rejects.toBeInstanceOf(UsageError)
    await expect(readExample(name)).rejects.toThrow('choose one of: crm')
  },
)

test('its blueprints run without a warning, and stay small', async () => {
  for (const blueprint of crm.blueprints)
    expect([blueprint.name, await blueprintProblems(blueprint)]).toEqual([
      blueprint.name,
      expect.objectContaining({ problems: [], warnings: [] }),
    ])
  const blocks = crm.blueprints.flatMap((one) =>
    Object.keys(objectOf(objectOf(JSON.parse(JSON.stringify(one))).blocks)),
  )
  expect(blocks.length).toBeLessThanOrEqual(205)
})

test('everything is there and runs', async () => {
  const there = Object.fromEntries(await counts())
  expect(there).toMatchObject({ _blueprints: 5, _groups: 4, _templates: 1, 'crm-customers': 40 })
  expect(there._fields).toBe(crm.fields.length)
  expect([...fixture.quoin.flows.live.table().blueprints.values()].map(({ name }) => name).sort()).toEqual(
    crm.blueprints.map(({ name }) => name).sort(),
  )
})

test('samples stand around today, and their rules hold', async () => {
  const deals = await fixture.documents('crm-deals')
  const today = new Date().toISOString().slice(0, 10)
  for (const { due, overdue, stage } of deals) {
    expect(due).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    const late = ['New', 'Qualified', 'Proposal'].includes(String(stage)) && String(due) < today
    expect(overdue).toBe(late)
  }
  expect(deals.filter(({ overdue }) => overdue).length).toBeGreaterThan(2)
})

test('installing again changes nothing, and does not bring back what was deleted', async () => {
  const before = await counts()
  await installExample(fixture.quoin, crm, Date.now())
  expect(await counts()).toEqual(before)
})

test('at night, deals that are past their date are marked, and only those', async () => {
  const late = async () => (await fixture.documents('crm-deals')).filter(({ overdue }) => overdue === true)
  const before = (await late()).length
  fixture.advance(30 * DAY)
  const then = new Date(Date.now() + 30 * DAY).toISOString().slice(0, 10)
  const open = (await fixture.documents('crm-deals')).filter(
    ({ stage, due }) => stage !== 'Won' && stage !== 'Lost' && String(due) < then,
  )
  expect(open.length).toBeGreaterThan(before)
  await expect.poll(async () => (await late()).length, { timeout: 15_000 }).toBe(open.length)
  expect((await late()).every(({ stage }) => stage !== 'Won' && stage !== 'Lost')).toBe(true)
})

test('what stands in the way is named, and nothing half made is left', async () => {
  const thief = {
    ...crm,
    blueprints: [{ ...objectOf(JSON.parse(JSON.stringify(crm.blueprints[1]))), name: 'Thief' }],
  }
  const before = await counts()
  await expect(installExample(fixture.quoin, thief, Date.now())).rejects.toThrow('Thief cannot be installed')
  const removed = (all: typeof before) => all.filter(([name]) => name === '_blueprints')
  expect(removed(await counts())).toEqual(removed(before))
})
