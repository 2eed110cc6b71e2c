/** Endpoints of storages, fields, templates and validation rules. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf } from '../../end-to-end/harness.ts'
import { found, guarded, nobody, refused } from '../ask-quoin.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { on, reply } from '../flow-blocks.ts'

const notFound = { status: 404, body: { error: 'NOT_FOUND' } }

const createsStorage: Scenario = async (fixture) => {
  const name = fixture.name()
  const path = '/_system/storages'
  await guarded(fixture, 'POST', path, 'storages_create', { name })
  expect(fixture.quoin.database.has(name)).toBe(false)
  const made = await fixture.manage('POST', path, { name, description: 'New' })
  expect(made).toMatchObject({ name, description: 'New' })
  expect(await fixture.manage('GET', `${path}/${guidOf(made)}`)).toEqual(made)
  const again = await fixture.send('POST', path, { as: 'admin', body: { name } })
  expect(again).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
  const hidden = await fixture.send('POST', path, { as: 'admin', body: { name: '_users' } })
  expect(hidden).toMatchObject({ status: 400, body: { error: 'INVALID_BODY', fields: ['name'] } })
}

const listsStorages: Scenario = async (fixture) => {
  const path = '/_system/storages/search'
  await guarded(fixture, 'POST', path, 'storages_view')
  const name = fixture.name()
  const guid = await fixture.fill(name, [])
  expect(await found(fixture, path, { filters: { name } })).toMatchObject([{ name, _meta: { guid } }])
  const all = await found(fixture, path, { limit: 1000 })
  expect(all.filter((one) => String(one.name).startsWith('_'))).toEqual([])
}

const countsDocuments: Scenario = async (fixture) => {
  const guid = await fixture.fill(fixture.name(), [{ n: 1 }, { n: 2 }, { n: 3 }])
  const path = `/_system/storages/${guid}`
  await guarded(fixture, 'GET', `${path}/count`, 'storages_view')
  expect(await fixture.manage('GET', `${path}/count`)).toEqual({ count: 3 })
  const [one] = await found(fixture, `${path}/documents/search`, {})
  await fixture.manage('DELETE', `${path}/documents/${guidOf(one)}`)
  expect(await fixture.manage('GET', `${path}/count`)).toEqual({ count: 2 })
  const unknown = await fixture.send('GET', `/_system/storages/${nobody}/count`, { as: 'admin' })
  expect(unknown).toMatchObject(notFound)
}

const createsField: Scenario = async (fixture) => {
  const storage = fixture.name()
  const guid = await fixture.fill(storage, [])
  const body = { name: 'age', type: 'number', storage, required: true, validation_rules: { max: 150 } }
  await guarded(fixture, 'POST', '/blueprintfields', 'blueprintfields_create', body)
  const wrong = await fixture.send('POST', '/blueprintfields', {
    as: 'admin',
    body: { ...body, type: 'age' },
  })
  expect(wrong).toMatchObject({ status: 400, body: { error: 'INVALID_BODY', fields: ['type'] } })
  const documents = `/_system/storages/${guid}/documents`
  expect((await fixture.send('POST', documents, { as: 'admin', body: {} })).status).toBe(200)
  expect(await fixture.manage('POST', '/blueprintfields', body)).toMatchObject(body)
  for (const refused of [{}, { age: 151 }, { age: 'old' }]) {
    const answer = await fixture.send('POST', documents, { as: 'admin', body: refused })
    expect(answer).toMatchObject({ status: 400, body: { fields: ['age'] } })
  }
  expect((await fixture.send('POST', documents, { as: 'admin', body: { age: 150 } })).status).toBe(200)
}

const listsFields: Scenario = async (fixture) => {
  const path = '/blueprintfields/search'
  await guarded(fixture, 'POST', path, 'blueprintfields_view')
  const storage = fixture.name()
  const made = await fixture.manage('POST', '/blueprintfields', { name: 'city', type: 'string', storage })
  expect(await found(fixture, path, { filters: { storage } })).toEqual([made])
  expect(await found(fixture, path, { filters: { storage, type: 'number' } })).toEqual([])
}

const listsTemplates: Scenario = async (fixture) => {
  const path = '/blueprinttemplates/search'
  await guarded(fixture, 'POST', path, 'blueprinttemplates_view')
  const name = fixture.name()
  const made = await fixture.manage('POST', '/blueprinttemplates', { name, content: '{"layout":"side"}' })
  expect(await found(fixture, path, { filters: { name } })).toEqual([made])
  expect(await found(fixture, path, { filters: { name: 'none' } })).toEqual([])
}

const updatesRules: Scenario = async (fixture) => {
  const root = '/_system/blueprintvalidation'
  const made = await fixture.manage('POST', root, { rule_type: 'max_blocks', parameters: { max: 900 } })
  const hash = (record: JsonValue) => String(objectOf(objectOf(record)._meta).update_hash)
  const path = `${root}/${guidOf(made)}`
  const body = { parameters: { max: 800 } }
  await guarded(fixture, 'PUT', `${path}/${hash(made)}`, 'blueprintvalidation_update', body)
  const changed = await fixture.manage('PUT', `${path}/${hash(made)}`, body)
  expect(changed).toMatchObject(body)
  const late = await fixture.send('PUT', `${path}/${hash(made)}`, { as: 'admin', body: { message: 'late' } })
  expect(late).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
  expect(await fixture.manage('GET', path)).toEqual(changed)
  const unknown = await fixture.send('PUT', `${root}/${nobody}/${hash(changed)}`, { as: 'admin', body })
  expect(unknown).toMatchObject(notFound)
  await fixture.manage('DELETE', path)
  await changedRuleRules(fixture)
}

/** A deploy is refused by the rule as it is now: what it forbade before is allowed. */
const changedRuleRules: Scenario = async (fixture) => {
  const blocks = (type: string) => ({
    on: on('get', fixture.name()),
    unused: { type },
    reply: reply('@on.flow', 1),
  })
  const root = '/_system/blueprintvalidation'
  const rule = { rule_type: 'forbidden_block', parameters: { type: 'query_and' }, message: 'Not here' }
  const made = objectOf(await fixture.manage('POST', root, rule))
  expect(await refused(fixture, blocks('query_and'))).toContain('Not here')
  await fixture.run(blocks('query_bool_filter'))
  const path = `${root}/${guidOf(made)}`
  const hash = String(objectOf(made._meta).update_hash)
  await fixture.manage('PUT', `${path}/${hash}`, { parameters: { type: 'query_bool_filter' } })
  expect(await refused(fixture, blocks('query_bool_filter'))).toContain('Not here')
  await fixture.run(blocks('query_and'))
  await fixture.manage('DELETE', path)
  await fixture.run(blocks('query_bool_filter'))
}

export const scenarios: Scenarios = {
  'POST /_system/storages': createsStorage,
  'POST /_system/storages/search': listsStorages,
  'GET /_system/storages/{guid}/count': countsDocuments,
  'POST /blueprintfields': createsField,
  'POST /blueprintfields/search': listsFields,
  'POST /blueprinttemplates/search': listsTemplates,
  'PUT /_system/blueprintvalidation/{guid}/{updatehash}': updatesRules,
}
