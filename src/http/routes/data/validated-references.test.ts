/** What rules hide of a document that others refer to: it stays hidden in expand, in filters that lead there, and in imports by name. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject } from '../../../shared/json.ts'

const scopes = ['view', 'create', 'update', 'remove'].map((verb) => `storages_${verb}`)
const deals = '/_system/storages/deals/documents'
let fixture: DocumentServer

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('ann', scopes)
  await fixture.addUser('lead', [...scopes, 'firms_all'])
  const firms = await fixture.make('firms', false)
  await fixture.make('deals', false)
  const visible = { visible_to: 'contains(user.scopes, "firms_all")' }
  for (const field of [
    { storage: 'firms', name: 'name', type: 'string', unique: true },
    { storage: 'firms', name: 'tax', type: 'string', unique: true, ...visible },
    {
      storage: 'deals',
      name: 'firm',
      type: 'reference',
      reference: { storage: 'firms', on_delete: 'refuse' },
    },
  ])
    await createField(fixture.database, field, { guid: 'x', username: 'x' })
  const firm = async (body: JsonObject) => {
    const made = await fixture.send('POST', `/_system/storages/${firms}/documents`, 'lead', { body })
    return textAt(made.body, '_meta', 'guid')
  }
  const [open, hidden] = [
    await firm({ name: 'Open', tax: 'T1', secret: false }),
    await firm({ name: 'Hidden', tax: 'T2', secret: true }),
  ]
  for (const [n, one] of [open, hidden].entries())
    await fixture.send('POST', deals, 'lead', { body: { n, firm: one } })
  const see = 'doc.secret != true || contains(user.scopes, "firms_all")'
  const set = await fixture.send('PUT', `/_system/storages/${firms}`, 'admin', { body: { rules: { see } } })
  expect(set.status, set.text).toBe(200)
})
afterAll(() => fixture.close())

const find = async (as: string, body: JsonObject) => {
  const reply = await fixture.send('POST', `${deals}/search`, as, { body: { sort: [{ n: 'asc' }], ...body } })
  return reply.status === 200 ? reply.body : reply.status
}
const load = async (as: string, firm: string, name: string) => {
  const query = new URLSearchParams({ mapping: JSON.stringify({ Firm: firm }), trial: 'true' })
  const raw = `n,Firm\n9,${name}\n`
  return (await fixture.send('POST', `${deals}/import?${query}`, as, { raw, type: 'text/csv' })).status
}
const expanded = (firm: unknown) => expect.objectContaining({ _expand: { firm } })

describe('who may not see it', () => {
  test('gets null in place of a hidden document, and of others no hidden field', async () => {
    expect(await find('ann', { expand: ['firm'] })).toEqual([
      expanded(expect.not.objectContaining({ tax: 'T1' })),
      expanded(null),
    ])
  })

  test.each([
    ['a hidden document', { 'firm.name': 'Hidden' }],
    ['a hidden field', { 'firm.tax': 'T1' }],
  ])('finds nothing by %s', async (_what, filters) => {
    expect([[], 400]).toContainEqual(await find('ann', { filters }))
  })

  test.each([
    ['a hidden document', 'firm.name', 'Hidden'],
    ['a hidden field', 'firm.tax', 'T1'],
  ])('cannot name %s in an import', async (_what, firm, name) => {
    expect(await load('ann', firm, name)).toBe(400)
  })
})

describe('who may see it', () => {
  test('gets it, finds by it and names it', async () => {
    expect(await find('lead', { expand: ['firm'] })).toEqual([
      expanded(expect.objectContaining({ tax: 'T1' })),
      expanded(expect.objectContaining({ name: 'Hidden' })),
    ])
    for (const filters of [{ 'firm.name': 'Hidden' }, { 'firm.tax': 'T2' }])
      expect(await find('lead', { filters })).toEqual([expect.objectContaining({ n: 1 })])
    expect(await load('lead', 'firm.tax', 'T2')).toBe(200)
    expect(await load('ann', 'firm.name', 'Open')).toBe(200)
  })
})
