/** Rules that lead to other documents: what they let users write, and which rules and fields are refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { documents, type GoodsFixture, openGoodsFixture, own, type Role, rules } from './goods-fixture.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'

let fixture: GoodsFixture
beforeAll(async () => {
  fixture = await openGoodsFixture()
})
afterAll(() => fixture?.quoin.close())
beforeEach(() => fixture.reset())

const send: GoodsFixture['send'] = (...sent) => fixture.send(...sent)
const guid = (name: string) => fixture.guid(name)
const numbers = (body: JsonValue | undefined) =>
  objectsOf(body)
    .map(({ n }) => Number(n))
    .sort()

describe('writes', () => {
  const good = (n: number) => guid(`good ${n}`)
  type Write = readonly [
    what: string,
    sent: () => readonly [Parameters<typeof send>[0], string, Role, JsonValue?],
    status: number,
  ]
  const of = (name: string, more: JsonObject = {}) => ({ n: 16, supplier: guid(name), ...more })
  const both = (path: string): readonly Write[] => [
    [
      'create under the own supplier',
      () => ['POST', path, 'ann', of('ann’s')],
      path === '/goods' ? 201 : 200,
    ],
    ['create under another one', () => ['POST', path, 'ann', of('bob’s')], 403],
    ['create without one', () => ['POST', path, 'ann', { n: 16 }], 403],
    ['create with see only', () => ['POST', path, 'lead', of('ann’s')], 403],
    ['change own', () => ['PUT', `${path}/${good(1)}`, 'ann', { n: 3 }], 200],
    [
      'give it to another supplier',
      () => ['PUT', `${path}/${good(1)}`, 'ann', { supplier: guid('bob’s') }],
      403,
    ],
    [
      'take one from another supplier',
      () => ['PUT', `${path}/${good(2)}`, 'ann', { supplier: guid('ann’s') }],
      404,
    ],
    ['lock it for oneself', () => ['PUT', `${path}/${good(1)}`, 'ann', { locked: true }], 403],
    ['change what is only seen', () => ['PUT', `${path}/${good(1)}`, 'lead', { n: 3 }], 403],
    ['change what is not seen', () => ['PUT', `${path}/${good(1)}`, 'bob', { n: 3 }], 404],
    ['remove own', () => ['DELETE', `${path}/${good(1)}`, 'ann'], 200],
    ['remove what is only seen', () => ['DELETE', `${path}/${good(1)}`, 'lead'], 403],
    ['remove what is not seen', () => ['DELETE', `${path}/${good(1)}`, 'bob'], 404],
  ]
  const writes: readonly Write[] = [
    ...both(documents),
    ...both('/goods'),
    ['delete own', () => ['DELETE', `${documents}/${good(1)}?hard=true`, 'ann'], 200],
    ['delete what is not seen', () => ['DELETE', `${documents}/${good(1)}?hard=true`, 'bob'], 404],
    ['change many of own', () => ['POST', '/many', 'ann'], 200],
    ['change many, only seen', () => ['POST', '/many', 'lead'], 403],
    [
      'change many by name',
      () => ['POST', `${documents}/update-many`, 'ann', { guids: [good(1), good(2)], set: { n: 5 } }],
      200,
    ],
    ['remove many, only seen', () => ['POST', `${documents}/remove-many`, 'lead', { filters: {} }], 403],
    ['upsert own', () => ['POST', '/upsert', 'ann', { code: 'c1', n: 5 }], 200],
    [
      'upsert a new one of another',
      () => ['POST', '/upsert', 'ann', { code: 'x', supplier: guid('bob’s') }],
      403,
    ],
    ['upsert what is only seen', () => ['POST', '/upsert', 'lead', { code: 'c1', n: 5 }], 403],
  ]
  test.each(writes)('%s %#', async (_what, sent, status) => {
    const before = await fixture.quoin.documents('goods')
    const answer = await send(...sent())
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
    const after = await fixture.quoin.documents('goods')
    if (status >= 400) expect(after).toEqual(before)
    else expect(after).not.toEqual(before)
    // Whatever was allowed, the documents of others are as they were.
    expect(after.find((one) => one.n === 2)).toEqual(before.find((one) => one.n === 2))
  })

  test('a removed document is restored under the rule remove, and its supplier counts then', async () => {
    await send('DELETE', `${documents}/${good(1)}`, 'ann')
    const restore = async (as: Role) => (await send('POST', `${documents}/${good(1)}/restore`, as)).status
    expect([await restore('bob'), await restore('lead')]).toEqual([404, 403])
    await send('PUT', `/_system/storages/suppliers/documents/${guid('ann’s')}`, 'admin', { active: false })
    expect(await restore('ann')).toBe(403)
    await send('PUT', `/_system/storages/suppliers/documents/${guid('ann’s')}`, 'admin', { active: true })
    expect(await restore('ann')).toBe(200)
  })

  test('an import creates all of what it may, or nothing', async () => {
    const load = async (names: readonly string[]) => {
      const lines = names.map((name) => JSON.stringify({ supplier: guid(name), n: 32 })).join('\n')
      const answer = await fixture.quoin.quoin.server.app.inject({
        method: 'POST',
        url: `/api/v1${documents}/import`,
        headers: {
          authorization: `Bearer ${await fixture.quoin.tokenOf('ann')}`,
          'content-type': 'application/x-ndjson',
        },
        payload: lines,
      })
      return [
        answer.statusCode,
        numbers(await fixture.quoin.documents('goods')).filter((n) => n === 32).length,
      ]
    }
    expect(await load(['ann’s', 'bob’s'])).toEqual([403, 0])
    expect(await load(['ann’s', 'ann’s', 'ann’s'])).toEqual([200, 3])
  })

  test('an action of a table is for rows that it shows', async () => {
    const ann = await fixture.visitor('ann')
    for (const [n, status] of [
      [2, 409],
      [1, 303],
    ] as const)
      expect([
        n,
        (await ann.submit(await ann.get('/goods'), 't', { _row: `take ${good(n)}` })).status,
      ]).toEqual([n, status])
  })
})

describe('what a rule cannot be', () => {
  const setRules = (input: JsonObject) =>
    send('PUT', `/_system/storages/${fixture.goods}`, 'admin', { rules: input })
  test.each<[string, JsonObject, string, RegExp]>([
    [
      'two documents compared',
      { see: 'doc.supplier.owner == doc.owner' },
      'rules.see',
      /cannot be compared.*column 1/,
    ],
    [
      'the same in a change',
      { change: 'doc.n > 1 && doc.owner == doc.supplier.owner' },
      'rules.change',
      /cannot be compared.*column \d+/,
    ],
    [
      'a text that is worked on',
      { change: 'doc.supplier.name.trim() == "a"' },
      'rules.change',
      /supplier\.name.* is in another document.*column 1/,
    ],
    [
      'a number that is worked on',
      { create: 'doc.supplier.a / 2 > 1 || doc.n == 1' },
      'rules.create',
      /supplier\.a is in another document/,
    ],
    [
      'more references than three',
      { see: 'doc.parent.parent.parent.parent.owner == user.guid' },
      'rules.see',
      /more than 3 references.*column 1/,
    ],
  ])('%s', async (_what, input, field, message) => {
    const parent = guidOf(
      await fixture.quoin.manage('POST', '/blueprintfields', {
        ...{ storage: 'goods', name: 'parent', type: 'reference' },
        reference: { storage: 'goods', on_delete: 'clear' },
      }),
    )
    const refused = await setRules(input)
    await fixture.quoin.manage('DELETE', `/blueprintfields/${parent}`)
    expect([refused.status, objectOf(refused.body).fields]).toEqual([400, [field]])
    expect(objectOf(refused.body).message).toMatch(message)
    expect(objectOf((await send('GET', `/_system/storages/${fixture.goods}`, 'admin')).body).rules).toEqual(
      rules,
    )
  })

  test('a field that a rule leads through stays a reference while the rule does', async () => {
    const fields = objectsOf(await fixture.quoin.manage('POST', '/blueprintfields/search', {}))
    for (const [storage, name] of [
      ['goods', 'supplier'],
      ['suppliers', 'region'],
    ]) {
      const field = guidOf(objectOf(fields.find((one) => one.storage === storage && one.name === name)))
      for (const [method, body] of [
        ['PUT', { reference: null }],
        ['DELETE', undefined],
      ] as const) {
        const refused = await send(method, `/blueprintfields/${field}`, 'admin', body)
        expect([refused.status, objectOf(refused.body).message]).toEqual([
          409,
          expect.stringMatching(/The rule see of the storage goods leads through the field/),
        ])
      }
      const kept = await send('PUT', `/blueprintfields/${field}`, 'admin', { label: 'Other' })
      expect(kept.status).toBe(200)
    }
  })

  test('a rule follows the new name of a field that it leads through, also one of another storage', async () => {
    const fields = objectsOf(await fixture.quoin.manage('POST', '/blueprintfields/search', {}))
    const see = async () =>
      objectOf(objectOf((await send('GET', `/_system/storages/${fixture.goods}`, 'admin')).body).rules).see
    const before = await see()
    expect(before).toMatch(/doc\.supplier\.owner.*doc\.supplier\.region\.lead/)
    for (const [storage, name, renamed] of [
      ['goods', 'supplier', /doc\.other\.owner.*doc\.other\.region\.lead/],
      ['suppliers', 'region', /doc\.supplier\.owner.*doc\.supplier\.other\.lead/],
    ] as const) {
      const field = guidOf(objectOf(fields.find((one) => one.storage === storage && one.name === name)))
      const rename = (to: string) => send('PUT', `/blueprintfields/${field}`, 'admin', { name: to })
      expect((await rename('other')).status).toBe(200)
      expect(await see()).toMatch(renamed)
      expect((await rename(name)).status).toBe(200)
      expect(await see()).toBe(before)
    }
  })

  test('a field does not become a reference where a rule works on what is in it', async () => {
    await setRules({ ...rules, change: `${own} && doc.maker.name.trim() == "a"` })
    const refused = await send('POST', '/blueprintfields', 'admin', {
      ...{ storage: 'goods', name: 'maker', type: 'reference' },
      reference: { storage: 'suppliers', on_delete: 'clear' },
    })
    await setRules(rules)
    expect([refused.status, objectOf(refused.body).message]).toEqual([
      409,
      expect.stringMatching(/The rule change of the storage goods cannot be used then/),
    ])
  })
})
