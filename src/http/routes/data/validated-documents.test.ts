import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, recordIn, recordsIn, textAt } from '../../../../test/json-at.ts'
import { createField, updateField } from '../../../records/fields/field-records.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { matchAll } from '../../../shared/query.ts'
import { documentOf } from '../../../storage/database.ts'
import { guidOf } from '../../../storage/document-fields.ts'
import { systemStorages } from '../../../storage/system-storages.ts'

const all = ['view', 'create', 'update', 'remove'].map((verb) => `storages_${verb}`)
const by = { guid: 'x', username: 'x' }
let fixture: DocumentServer
let path: string
let guid: string
let ann: string
let bob: string

const setRules = (rules: JsonValue) =>
  fixture.send('PUT', `/_system/storages/${guid}`, 'admin', { body: { rules } })

beforeAll(async () => {
  fixture = await openDocumentServer()
  ann = await fixture.addUser('ann', all)
  bob = await fixture.addUser('bob', all)
  await fixture.addUser('lead', [...all, 'deals_all'])
  await fixture.addUser('keeper', [...all, 'storages_rules'])
  guid = await fixture.make('deals', true)
  path = `/_system/storages/${guid}/documents`
  await createField(fixture.database, { storage: 'deals', name: 'title', type: 'string' }, by)
  await createField(
    fixture.database,
    { storage: 'deals', name: 'margin', type: 'number', visible_to: 'contains(user.scopes, "deals_all")' },
    by,
  )
  await createField(
    fixture.database,
    {
      storage: 'deals',
      name: 'approved',
      type: 'boolean',
      settable_by: 'contains(user.scopes, "deals_all")',
    },
    by,
  )
  await createField(
    fixture.database,
    {
      storage: 'deals',
      name: 'terms.rate',
      type: 'number',
      settable_by: 'contains(user.scopes, "deals_all")',
    },
    by,
  )
  const rules = {
    see: 'doc.owner == user.guid || contains(user.scopes, "deals_all")',
    create: 'doc.owner == user.guid || contains(user.scopes, "deals_all")',
    change: 'doc.owner == user.guid && doc.locked != true',
    remove: 'doc.owner == user.guid && doc.total / doc.parts > 1',
  }
  const set = await setRules(rules)
  expect(set.body, set.text).toMatchObject({ rules })
})
afterAll(() => fixture.close())

async function make(fields: JsonObject, as = 'admin'): Promise<string> {
  const made = await fixture.send('POST', path, as, { body: fields })
  expect(made.status, made.text).toBe(200)
  return textAt(made.body, '_meta', 'guid')
}

async function stored(document: string): Promise<JsonObject> {
  const found = await fixture.database.session().get('deals', document, { removed: true })
  if (!found) throw new Error('It is gone.')
  return documentOf(found)
}

const search = (as: string, body: JsonValue = {}) => fixture.send('POST', `${path}/search`, as, { body })
const verdict = ({ status, body }: { status: number; body: JsonValue | undefined }) => [
  status,
  jsonAt(body, 'error') ?? 'done',
]

describe('rules that cannot be used', () => {
  it.each([
    ['a syntax error', { see: 'doc.owner ==' }, 'rules.see', /column 1[0-9]/],
    ['what no search can ask', { see: 'doc.title.length > 3' }, 'rules.see', /column \d+/],
    ['a search that calculates', { see: 'doc.a / doc.b > 1' }, 'rules.see', /column 1/],
    ['maybe', { see: 'doc.owner == maybe(user.guid)' }, 'rules.see', /maybe/],
    ['maybe in a change', { change: 'doc.owner == maybe(user.guid)' }, 'rules.change', /maybe/],
    ['free text', { see: 'search(doc.title, "x")' }, 'rules.see', /search/],
    ['an unknown name', { create: 'docs.owner == user.guid' }, 'rules.create', /column 1/],
    ['what users set themselves', { see: 'doc.mail == user.email' }, 'rules.see', /email/],
    ['random values', { create: 'randomToken() == doc.x' }, 'rules.create', /random/],
    [
      'a pattern that no date has',
      { change: 'format(doc.day, "YYYY") == "2026"' },
      'rules.change',
      /pattern has YYYY/,
    ],
    ['a text', { remove: '"yes"' }, 'rules.remove', /condition|true/],
    ['an empty text', { see: '' }, undefined, /./],
    ['another rule', { read: 'true' }, undefined, /./],
    ['too long a text', { see: `doc.a == "${'x'.repeat(2_000)}"` }, undefined, /./],
    ['too deep a text', { see: `${'('.repeat(900)}true${')'.repeat(900)}` }, 'rules.see', /./],
  ])('%s', async (_what, rules: JsonObject, field, message) => {
    const before = await fixture.send('GET', `/_system/storages/${guid}`, 'admin')
    const reply = await setRules(rules)
    expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([400, 'INVALID_BODY'])
    if (field !== undefined) expect(jsonAt(reply.body, 'fields')).toEqual([field])
    expect(textAt(reply.body, 'message')).toMatch(message)
    expect((await fixture.send('GET', `/_system/storages/${guid}`, 'admin')).body).toEqual(before.body)
  })

  it('are set by those alone who hold storages_rules', async () => {
    const rules = { see: 'true' }
    const refused = await fixture.send('PUT', `/_system/storages/${guid}`, 'ann', { body: { rules } })
    expect(verdict(refused)).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(textAt(refused.body, 'message')).toContain('storages_rules')
    const created = await fixture.send('POST', '/_system/storages', 'ann', { body: { name: 'open', rules } })
    expect(created.status).toBe(403)
    expect(fixture.database.has('open')).toBe(false)
    const described = await fixture.send('PUT', `/_system/storages/${guid}`, 'ann', {
      body: { description: 'd' },
    })
    expect([described.status, jsonAt(described.body, 'rules', 'see')]).toEqual([200, expect.any(String)])
  })
})

describe('what a user sees', () => {
  it('own documents, all, or none; totals and counts with them', async () => {
    const [one, two] = [await make({ owner: ann, n: 1 }), await make({ owner: bob, n: 2 })]
    await make({ n: 3 })
    const seen = async (as: string) => {
      const found = await search(as, { filters: { n: { gt: 0 } } })
      const count = await search(as, { filters: { n: { gt: 0 } }, count: true })
      const ns = recordsIn(found.body).map(({ n }) => n)
      expect([found.headers['x-total-count'], jsonAt(count.body, 'count')]).toEqual([
        `${ns.length}`,
        ns.length,
      ])
      return ns.sort()
    }
    // In turns: nothing of one is left for the other.
    for (const _ of [1, 2, 3])
      expect([await seen('ann'), await seen('bob'), await seen('lead'), await seen('keeper')]).toEqual([
        [1],
        [2],
        [1, 2, 3],
        [1, 2, 3],
      ])
    const counted = (as: string) => fixture.send('GET', `/_system/storages/${guid}/count`, as)
    expect(jsonAt((await counted('ann')).body, 'count')).toBe(1)
    const reads = ['ann', 'bob', 'lead', 'admin'].map(async (as) => [
      (await fixture.send('GET', `${path}/${one}`, as)).status,
      (await fixture.send('GET', `${path}/${two}`, as)).status,
    ])
    expect(await Promise.all(reads)).toEqual([
      [200, 404],
      [404, 200],
      [200, 200],
      [200, 200],
    ])
    const exported = await fixture.send('GET', `${path}/export`, 'ann')
    expect(
      exported.text
        .trim()
        .split('\n')
        .map((line) => recordIn(JSON.parse(line)).n),
    ).toEqual([1])
    const history = async (as: string) => (await fixture.send('GET', `${path}/${two}/history`, as)).status
    expect([await history('ann'), await history('bob'), await history('admin')]).toEqual([404, 200, 200])
  })

  it('no hidden field, in documents, exports and histories', async () => {
    const document = await make({ owner: ann, title: 'wide', margin: 7, lines: [{ margin: 1 }] })
    const shown = await fixture.send('GET', `${path}/${document}`, 'ann')
    expect(Object.keys(recordIn(shown.body))).toEqual(['_meta', 'owner', 'title', 'lines'])
    expect(jsonAt((await fixture.send('GET', `${path}/${document}`, 'lead')).body, 'margin')).toBe(7)
    const listed = await search('ann', { filters: { title: 'wide' } })
    expect(listed.text).not.toContain('"margin":7')
    expect((await fixture.send('GET', `${path}/export`, 'ann')).text).not.toContain('"margin":7')
    const history = await fixture.send('GET', `${path}/${document}/history`, 'ann')
    expect(history.text).toContain('wide')
    expect(history.text).not.toMatch(/"key":"margin"/)
    expect((await fixture.send('GET', `${path}/${document}/history`, 'lead')).text).toMatch(/"key":"margin"/)
    const changed = await fixture.send('PUT', `${path}/${document}`, 'ann', { body: { title: 'wider' } })
    expect([changed.status, changed.text.includes('"margin":7')]).toEqual([200, false])
    expect(await stored(document)).toMatchObject({ title: 'wider', margin: 7 })
  })

  it.each([
    ['a filter', { filters: { margin: 7 } }],
    ['a range', { filters: { margin: { gte: 0 } } }],
    ['exists', { filters: { margin: { exists: true } } }],
    ['a filter in it', { filters: { 'margin.a': 7 } }],
    ['not', { filters: { margin: { not: 7 } } }],
    ['an order', { sort: [{ margin: 'asc' }] }],
    ['a count', { filters: { margin: 7 }, count: true }],
  ])('nothing by a hidden field: %s', async (_what, body) => {
    const refused = await search('ann', body)
    expect(verdict(refused)).toEqual([400, 'INVALID_QUERY'])
    expect(textAt(refused.body, 'message')).toContain('margin')
    expect((await search('lead', body)).status).toBe(200)
  })

  it.each(['ndjson', 'csv', 'xlsx'])(
    'no export in the order of a hidden field, before its head: %s',
    async (format) => {
      const sort = encodeURIComponent(JSON.stringify([{ margin: 'asc' }]))
      const exported = (user: string) =>
        fixture.send('GET', `${path}/export?format=${format}&sort=${sort}`, user)
      const audited = () => fixture.database.session().count(systemStorages.auditLogs, matchAll)
      const before = await audited()
      const refused = await exported('ann')
      expect([refused.status, textAt(refused.body, 'message')]).toEqual([
        400,
        expect.stringContaining('margin'),
      ])
      expect(await audited()).toBe(before)
      expect((await exported('lead')).status).toBe(200)
    },
  )

  it('free text does not look into a hidden field', async () => {
    await createField(
      fixture.database,
      { storage: 'deals', name: 'remark', type: 'string', visible_to: 'contains(user.scopes, "deals_all")' },
      by,
    )
    await make({ owner: ann, title: 'plain', remark: 'zebra' })
    await make({ owner: ann, title: 'zebra' })
    const titles = async (as: string) =>
      recordsIn((await search(as, { query: 'zebra' })).body).map(({ title }) => title)
    expect((await titles('lead')).sort()).toEqual(['plain', 'zebra'])
    expect(await titles('ann')).toEqual(['zebra'])
  })
})

describe('what a user may write', () => {
  it.each([
    ['create own', 'ann', 'POST', 'none', { owner: 'ann' }, [200, 'done']],
    ['create for another', 'ann', 'POST', 'none', { owner: 'bob' }, [403, 'DENIED_BY_RULE']],
    ['create without an owner', 'ann', 'POST', 'none', { a: 1 }, [403, 'DENIED_BY_RULE']],
    [
      'create with a field of others',
      'ann',
      'POST',
      'none',
      { owner: 'ann', approved: true },
      [403, 'DENIED_BY_RULE'],
    ],
    [
      'create an object around it',
      'ann',
      'POST',
      'none',
      { owner: 'ann', terms: { days: 3 } },
      [200, 'done'],
    ],
    [
      'create an object with it',
      'ann',
      'POST',
      'none',
      { owner: 'ann', terms: { rate: 3 } },
      [403, 'DENIED_BY_RULE'],
    ],
    ['change the object around it', 'ann', 'PUT', 'own', { terms: { days: 4, rate: 1 } }, [200, 'done']],
    ['take it away', 'ann', 'PUT', 'own', { terms: { days: 4 } }, [403, 'DENIED_BY_RULE']],
    ['change it in its object', 'ann', 'PUT', 'own', { 'terms.rate': 2 }, [403, 'DENIED_BY_RULE']],
    ['create with it', 'lead', 'POST', 'none', { owner: 'ann', approved: true }, [200, 'done']],
    ['change own', 'ann', 'PUT', 'own', { a: 2 }, [200, 'done']],
    ['change to another owner', 'ann', 'PUT', 'own', { owner: 'bob' }, [403, 'DENIED_BY_RULE']],
    ['change one that is locked', 'ann', 'PUT', 'locked', { a: 2 }, [403, 'DENIED_BY_RULE']],
    ['unlock it', 'ann', 'PUT', 'locked', { locked: false }, [403, 'DENIED_BY_RULE']],
    ['set a field of others', 'ann', 'PUT', 'own', { approved: true }, [403, 'DENIED_BY_RULE']],
    ['send it back as it is', 'ann', 'PUT', 'own', { approved: false, a: 3 }, [200, 'done']],
    ['change what is not seen', 'bob', 'PUT', 'own', { a: 2 }, [404, 'NOT_FOUND']],
    ['break a type of what is not seen', 'bob', 'PUT', 'own', { title: 5 }, [404, 'NOT_FOUND']],
    ['set a field of others there', 'bob', 'PUT', 'own', { approved: true }, [404, 'NOT_FOUND']],
    ['change what is seen', 'lead', 'PUT', 'own', { a: 2 }, [403, 'DENIED_BY_RULE']],
    ['change as keeper of rules', 'keeper', 'PUT', 'locked', { a: 2 }, [200, 'done']],
    ['remove own', 'ann', 'DELETE', 'own', undefined, [200, 'done']],
    [
      'remove by a rule that divides by nothing',
      'ann',
      'DELETE',
      'locked',
      undefined,
      [403, 'DENIED_BY_RULE'],
    ],
    ['delete so', 'ann', 'DELETE', 'locked?hard=true', undefined, [403, 'DENIED_BY_RULE']],
    ['remove what is not seen', 'bob', 'DELETE', 'own', undefined, [404, 'NOT_FOUND']],
    ['restore what is not seen', 'bob', 'POST', 'own/restore', undefined, [404, 'NOT_FOUND']],
  ] as const)('%s', async (_what, as, method, which, body, expected) => {
    const owners: Readonly<Record<string, string>> = { ann, bob }
    const own = await make({ owner: ann, total: 4, parts: 2, approved: false, terms: { rate: 1 } })
    const locked = await make({ owner: ann, locked: true })
    const fields =
      body && 'owner' in body
        ? { ...body, owner: owners[body.owner] ?? '' }
        : (body as JsonObject | undefined)
    const place = which === 'none' ? '' : `/${which.replace('own', own).replace('locked', locked)}`
    if (which.includes('restore')) await fixture.send('DELETE', `${path}/${own}`, 'admin')
    const before = [await stored(own), await stored(locked), await total()]
    const reply = await fixture.send(method, `${path}${place}`, as, fields ? { body: fields } : {})
    expect(verdict(reply), reply.text).toEqual(expected)
    if (expected[0] !== 200) expect([await stored(own), await stored(locked), await total()]).toEqual(before)
  })

  it('a refusal says what may not be done, and in which storage', async () => {
    const locked = await make({ owner: ann, locked: true })
    const messages = await Promise.all([
      fixture.send('POST', path, 'ann', { body: { owner: bob } }),
      fixture.send('PUT', `${path}/${locked}`, 'ann', { body: { a: 2 } }),
      fixture.send('DELETE', `${path}/${locked}`, 'ann'),
    ])
    expect(messages.map(({ body }) => jsonAt(body, 'message'))).toEqual([
      'You may not create this document: the permission create of the storage deals refuses it.',
      'You may not change this document in this way: the permission change of the storage deals refuses it.',
      'You may not remove, restore or delete this document: the permission remove of the storage deals refuses it.',
    ])
  })

  it('tells nothing of the state of a document that is not seen', async () => {
    const own = await make({ owner: ann })
    const reply = await fixture.send('PUT', `${path}/${own}?update_hash=wrong`, 'bob', { body: { a: 1 } })
    expect(verdict(reply)).toEqual([404, 'NOT_FOUND'])
    const conflict = await fixture.send('PUT', `${path}/${own}?update_hash=wrong`, 'ann', { body: { a: 1 } })
    expect(verdict(conflict)).toEqual([409, 'CONFLICT'])
  })

  it('imports all of what it may create, or nothing', async () => {
    const lines = [
      { owner: ann, imported: 1 },
      { owner: bob, imported: 1 },
      { owner: ann, imported: 1 },
    ]
    const send = (documents: readonly JsonObject[]) =>
      fixture.send('POST', `${path}/import`, 'ann', {
        raw: documents.map((one) => JSON.stringify(one)).join('\n'),
        type: 'application/x-ndjson',
      })
    const before = await total()
    const refused = await send(lines)
    expect(verdict(refused)).toEqual([403, 'DENIED_BY_RULE'])
    expect(textAt(refused.body, 'message')).toContain('ine 2')
    const set = await send([{ owner: ann }, { owner: ann, approved: true }])
    expect([...verdict(set), textAt(set.body, 'message')]).toEqual([
      403,
      'DENIED_BY_RULE',
      expect.stringContaining('ine 2'),
    ])
    expect(await total()).toBe(before)
    expect((await send([{ owner: ann, imported: 1 }])).body).toEqual({ imported: 1 })
  })
})

describe('a change of rules', () => {
  it('takes effect at once, and a rule that cannot be evaluated shows nothing', async () => {
    await make({ owner: bob, mark: 9 })
    const seen = async () => recordsIn((await search('ann', { filters: { mark: 9 } })).body).length
    const before = await fixture.send('GET', `/_system/storages/${guid}`, 'admin')
    expect(await seen()).toBe(0)
    await setRules({ see: 'doc.mark == 9' })
    expect(await seen()).toBe(1)
    await setRules({ see: 'doc.mark > 1 / length(user.groups)' })
    expect(await seen()).toBe(0)
    await setRules(null)
    expect(await seen()).toBe(1)
    expect(verdict(await search('ann', { filters: { margin: 1 } }))).toEqual([400, 'INVALID_QUERY'])
    await setRules(jsonAt(before.body, 'rules') ?? null)
    expect(await seen()).toBe(0)
  })

  it('of a field counts at once', async () => {
    const field = await createField(fixture.database, { storage: 'deals', name: 'late', type: 'number' }, by)
    await make({ owner: ann, late: 5 })
    const shown = async () => (await search('ann', { filters: { owner: ann } })).text.includes('"late":5')
    expect(await shown()).toBe(true)
    await updateField(fixture.database, guidOf(field), { visible_to: 'false' }, by)
    expect(await shown()).toBe(false)
    await updateField(fixture.database, guidOf(field), { visible_to: null }, by)
    expect(await shown()).toBe(true)
  })
})

async function total(): Promise<number> {
  return fixture.database.session().count('deals', { kind: 'all' }, true)
}
