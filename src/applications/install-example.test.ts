/** Every example is an application that installs, twice too, and what it does by itself it does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { type Application, normalApplication } from '../shared/application/application.ts'
import { filesOf } from '../shared/application/application-files.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { applicationProblems, checkedFiles, switchedOn } from './check-application.ts'
import { everything, exampleNames, installExample, readExample } from './install-example.ts'
import { readFolder } from './read-folder.ts'

const DAY = 86_400_000
const by = { guid: '', username: 'test' }
let fixture: TestQuoin
let crm: Application
beforeAll(async () => {
  fixture = await openTestQuoin()
  crm = await readExample('crm')
  await installExample(fixture.quoin.applications, sooner(crm), by)
})
afterAll(() => fixture?.close())

/** What runs every night runs every second here. */
function sooner(application: Application): Application {
  const text = JSON.stringify(application)
  expect(text).toContain('"cron":"15 2 * * *"')
  return normalApplication(JSON.parse(text.replace('"cron":"15 2 * * *"', '"every":"1s"')))
}

const storages = ['_blueprints', '_blocks', '_deployments', '_groups', '_templates', '_fields', '_releases']
const own = ['crm-customers', 'crm-contacts', 'crm-deals']
const counts = async () =>
  Promise.all(
    [...storages, ...own].map(async (name) => [name, (await fixture.documents(name)).length] as const),
  )

test('there are seven examples, and each is a folder as a pull would write it, with nothing to complain about', async () => {
  const names = await exampleNames()
  expect(names).toEqual(['board', 'booking', 'cities', 'crm', 'inventory', 'tasks', 'webhooks'])
  for (const name of names) {
    const checked = await quoinCommand(['check', `examples/${name}`])
    expect(checked).toEqual({ code: 0, printed: `examples/${name} can run.`, complained: '' })
    expect([...filesOf(await readExample(name))].sort()).toEqual(
      [...(await readFolder(`examples/${name}`))].sort(),
    )
  }
})

test('a check of files that were checked before finds what a check of all of them finds', async () => {
  const { flows } = fixture.quoin
  const checked = checkedFiles()
  const found = async (application: Application, remembers: boolean, catalogue = flows.catalogue) => {
    const live = flows.live.copy()
    live.setAll(new Map([...live.table().blueprints.keys()].map((guid) => [guid, undefined])))
    const parts = { catalogue, live, extensions: switchedOn(flows), ...(remembers && { checked }) }
    return applicationProblems(application, parts)
  }
  const edited = (from: string, to: string) => {
    const text = JSON.stringify(crm.blueprints)
    expect(text).toContain(from)
    return { ...crm, blueprints: JSON.parse(text.replaceAll(from, to)) }
  }
  const [[one = '', file = {}] = []] = Object.entries(crm.blueprints)
  const without = new Map([...flows.catalogue].filter(([type]) => type !== 'state_form'))
  const rows: [string, Application, boolean, typeof flows.catalogue?][] = [
    ['as it is', crm, false],
    ['once more', crm, false],
    ['a text of a block', edited('New contact', 'Another contact'), false],
    ['a block that is unknown', edited('"state_breadcrumb"', '"state_crumb"'), true],
    ['once more with that', edited('"state_breadcrumb"', '"state_crumb"'), true],
    ['two files with the same addresses', { ...crm, blueprints: { ...crm.blueprints, copy: file } }, true],
    ['a file under another name', { ...crm, blueprints: { renamed: file } }, false],
    ['a block that is gone from the catalogue', crm, true, without],
    ['as it was', crm, false],
  ]
  expect(one).not.toBe('')
  for (const [what, application, isWrong, catalogue] of rows) {
    const [remembered, whole] = [
      await found(application, true, catalogue),
      await found(application, false, catalogue),
    ]
    expect([what, remembered]).toEqual([what, whole])
    expect([what, whole.some(({ warning }) => warning === undefined)]).toEqual([what, isWrong])
  }
  expect(checked.size).toBeGreaterThan(Object.keys(crm.blueprints).length)
})

test('an example that there is not is refused with the names of those that there are', async () => {
  for (const name of ['nothing', '..', '../examples/crm', 'tasks-resource.blueprint.json']) {
    const { code, complained } = await quoinCommand(['start', '--example', name])
    expect(code).toBe(2)
    expect(complained).toContain('choose one of: board, booking')
  }
})

test('everything is there and runs, and the example stays small', async () => {
  const there = Object.fromEntries(await counts())
  expect(there).toMatchObject({
    _blueprints: 5,
    _groups: 9,
    _templates: 1,
    _releases: 1,
    'crm-customers': 40,
  })
  const served = [...fixture.quoin.flows.live.table().blueprints.values()].map(({ name }) => name)
  expect(served.sort()).toEqual(
    Object.values(crm.blueprints)
      .map(({ name }) => name)
      .sort(),
  )
  const blocks = Object.values(crm.blueprints).map((one) =>
    isJsonObject(one.blocks) ? Object.keys(one.blocks) : [],
  )
  expect(blocks.flat().length).toBeLessThanOrEqual(205)
})

test('samples have the guids by which others refer to them, and stand around today', async () => {
  const customers = new Set(
    (await fixture.documents('crm-customers')).map((one) => JSON.stringify(one._meta).slice(0, 50)),
  )
  const deals = await fixture.documents('crm-deals')
  const today = new Date().toISOString().slice(0, 10)
  for (const { due, overdue, stage, customer } of deals) {
    expect(due).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect([...customers].some((one) => one.includes(String(customer)))).toBe(true)
    const late = ['New', 'Qualified', 'Proposal'].includes(String(stage)) && String(due) < today
    expect(overdue).toBe(late)
  }
  expect(deals.filter(({ overdue }) => overdue).length).toBeGreaterThan(2)
})

test('installing again changes nothing, and does not bring back what was deleted', async () => {
  const before = await counts()
  await installExample(fixture.quoin.applications, crm, by)
  expect(await counts()).toEqual(before)
})

test('at night, deals that are past their date are marked, and only those', async () => {
  const late = async () => (await fixture.documents('crm-deals')).filter(({ overdue }) => overdue === true)
  fixture.advance(30 * DAY)
  const then = new Date(Date.now() + 30 * DAY).toISOString().slice(0, 10)
  const open = (await fixture.documents('crm-deals')).filter(
    ({ stage, due }) => stage !== 'Won' && stage !== 'Lost' && String(due) < then,
  )
  expect(open.length).toBeGreaterThan(2)
  await expect.poll(async () => (await late()).length, { timeout: 15_000 }).toBe(open.length)
  expect((await late()).every(({ stage }) => stage !== 'Won' && stage !== 'Lost')).toBe(true)
})

test('what stands in the way is named, and nothing half made is left', async () => {
  const thief = normalApplication({
    about: { name: 'thief' },
    blueprints: { thief: { ...crm.blueprints.deals, name: 'Thief' } },
    groups: { Thieves: { scopes: ['steal'] } },
  })
  const before = await counts()
  await expect(installExample(fixture.quoin.applications, thief, by)).rejects.toThrow(
    'The example thief cannot be installed: ',
  )
  expect(await counts()).toEqual(before)
})

test('objects that an earlier version installed without a release are left as they are', async () => {
  const { applications } = fixture.quoin
  await fixture.manage('POST', '/_system/authentication-groups', { name: 'Guests', scopes: ['look'] })
  const guests = { about: { name: 'guests' }, groups: { Guests: { scopes: ['look', 'touch'] } } }
  const before = await counts()
  await installExample(applications, normalApplication(guests), by)
  expect(await counts()).toEqual(before)
  const more = { ...guests, groups: { ...guests.groups, Hosts: { scopes: ['open'] } } }
  await expect(installExample(applications, normalApplication(more), by)).rejects.toThrow(
    '1 of its objects are there already, such as: adopted groups.json: Guests.',
  )
  expect(await counts()).toEqual(before)
})

test('first documents with a key are kept in step, and others stay', async () => {
  const { applications } = fixture.quoin
  const push = async (documents: JsonObject[]) => {
    const stages = normalApplication({
      about: { name: 'stages' },
      storages: {
        stages: {
          fields: {
            code: { type: 'string', unique: true },
            title: { type: 'string' },
            since: { type: 'day' },
          },
        },
      },
      seed: { stages: { upsert_by: 'code', documents } },
    })
    const { steps, state } = await applications.plan({ ...stages }, everything(by))
    const released = await applications.push({ ...stages }, { state, allowLoss: false }, everything(by))
    expect(released).toMatchObject({ problems: [] })
    return steps
  }
  const stored = async () =>
    (await fixture.documents('stages')).map(({ code, title, since }) => [code, title, since]).sort()
  const first = [
    { code: 'a', title: 'New', _meta: { guid: '0197a000-0000-7000-8000-00000000000a' } },
    { code: 'b', title: 'Won', since: '2026-01-01||+1d' },
  ]
  expect(await push(first)).toContain('documents of seed/stages.ndjson: 2 created')
  expect(await stored()).toEqual([
    ['a', 'New', undefined],
    ['b', 'Won', '2026-01-02'],
  ])
  expect((await fixture.documents('stages')).map(guidOf)).toContain('0197a000-0000-7000-8000-00000000000a')
  expect(await push(first)).toEqual([])
  const changed = [
    { code: 'a', title: 'Renamed' },
    { code: 'c', title: 'Lost' },
  ]
  expect(await push(changed)).toContain('documents of seed/stages.ndjson: 1 created, 1 changed')
  expect(await stored()).toEqual([
    ['a', 'Renamed', undefined],
    ['b', 'Won', '2026-01-02'],
    ['c', 'Lost', undefined],
  ])
})
