import { expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import { type Application, normalApplication } from './application.ts'
import { applicationChanges, changedValues, changeText, valueTexts } from './application-changes.ts'

function application(parts: Partial<Record<keyof Application, JsonObject>>): Application {
  return normalApplication({ about: { name: 'crm' }, ...parts })
}

const deals = (blocks: JsonObject, layout: JsonObject = {}) =>
  application({ blueprints: { deals: { name: 'Deals', blocks, layout } } })
const goods = (fields: JsonObject, rest: JsonObject = {}) =>
  application({ storages: { goods: { ...rest, fields } } })
const reply = (pins: JsonObject, more: JsonObject = {}) => ({
  reply: { type: 'httpconnection_set_json', in: pins, ...more },
})
const text = (length: number, end: string) => `${'a'.repeat(length)}${end}`

function shownChanges(before: Application, after: Application) {
  const changes = applicationChanges(before, after)
  return [changes.map(changeText), changedValues(before, after, changes).flatMap(valueTexts)]
}

test.each<[string, Application, Application, string[], string[]]>([
  ['the same', deals(reply({ status: 200 })), deals(reply({ status: 200 })), [], []],
  [
    'a secret value, whatever it is within',
    application({
      connections: {
        pay: { base_url: 'https://ann:4711@pay.example', headers: { 'X-Api-Key': 'old-value' } },
      },
      alerts: { slow: { webhook: 'https://hooks.example/T1/old-value' } },
      ...{ storages: { goods: { fields: { token: { type: 'string', default_value: 'old-value' } } } } },
      blueprints: { deals: { blocks: reply({ value: { password: 'old-value' }, secret: 'pay_key' }) } },
    }),
    application({
      connections: {
        pay: { base_url: 'https://ann:0815@pay.example/', headers: { 'X-Api-Key': 'new-value' } },
      },
      alerts: { slow: { webhook: 'https://hooks.example/T1/new-value' } },
      ...{ storages: { goods: { fields: { token: { type: 'string', default_value: 'new-value' } } } } },
      blueprints: { deals: { blocks: reply({ value: { password: 'new-value' }, secret: 'shop_key' }) } },
    }),
    [
      'changed connections.json: pay: setting base_url changed, setting headers changed',
      'changed storages/goods.json: field token changed',
      'changed blueprints/deals.json: block reply changed',
      'changed alerts.json: slow: setting webhook changed',
    ],
    [
      'setting base_url: “https://•••@pay.example” → “https://•••@pay.example/”',
      'setting headers, X-Api-Key: "•••" → "•••"',
      'field token, default_value: "•••" → "•••"',
      'block reply, in › secret: “pay_key” → “shop_key”',
      'block reply, in › value › password: "•••" → "•••"',
      'setting webhook: "•••" → "•••"',
    ],
  ],
  [
    'a secret within what is new as a whole',
    deals({}),
    deals(reply({ value: { all: [{ password: 'new-value' }, { name: 'token', value: 'new-value' }] } })),
    ['changed blueprints/deals.json: block reply created'],
    [
      'block reply, in › value: nothing → {"all":[{"password":"•••"},{"name":"token","value":"•••"}]}',
      'block reply, type: nothing → “httpconnection_set_json”',
    ],
  ],
  [
    'pins, settings and scopes',
    deals(reply({ status: 200, value: '@a.value' }, { fields: { cache: 5 }, scopes: ['*public'] })),
    deals(reply({ status: 201, value: '@b.value' }, { fields: {}, scopes: ['crm_read'] })),
    ['changed blueprints/deals.json: block reply changed'],
    [
      'block reply, in › status: 200 → 201',
      'block reply, in › value: “@a.value” → “@b.value”',
      'block reply, fields › cache: 5 → nothing',
      'block reply, scopes: *public → crm_read',
    ],
  ],
  [
    'fields and rules',
    goods({ price: { type: 'number' }, title: { type: 'string' } }, { rules: { read: 'any' } }),
    goods(
      { price: { type: 'number', required: true }, name: { type: 'string', was: 'title' } },
      { rules: { read: 'own' }, history: true },
    ),
    [
      'changed storages/goods.json: setting history created, setting rules changed, field title renamed to name, field price changed',
    ],
    [
      'setting history: nothing → true',
      'setting rules, read: “any” → “own”',
      'field price, required: nothing → true',
    ],
  ],
  [
    'a block that stands elsewhere, which has no values',
    deals(reply({ status: 200 }), { reply: [0, 0] }),
    deals(reply({ status: 200 }), { reply: [9, 0] }),
    ['changed blueprints/deals.json: block reply moved'],
    [],
  ],
  [
    'a new block with its place is not moved',
    deals({}),
    deals({ end: { type: 'x' } }, { end: [9, 0] }),
    ['changed blueprints/deals.json: block end created'],
    ['block end, type: nothing → “x”'],
  ],
  [
    'a renamed block, and what was wired to it',
    deals({ ask: { type: 'on' }, ...reply({ flow: '@ask.flow' }) }),
    deals({ begin: { type: 'on' }, ...reply({ flow: '@begin.flow' }) }),
    ['changed blueprints/deals.json: block ask renamed to begin, block reply changed'],
    ['block reply, in › flow: “@ask.flow” → “@begin.flow”'],
  ],
  [
    'two that could be the renamed one are new',
    deals({ ask: { type: 'on' } }),
    deals({ one: { type: 'on' }, two: { type: 'on' } }),
    ['changed blueprints/deals.json: block ask removed, block one created, block two created'],
    ['block one, type: nothing → “on”', 'block two, type: nothing → “on”'],
  ],
  [
    'scopes of groups: all of a new one, and of a changed one what is added and what is taken away',
    application({ groups: { Sales: { scopes: ['deals_read', 'deals_write'] }, Idle: { scopes: ['x'] } } }),
    application({
      groups: {
        Sales: { scopes: ['deals_close', 'deals_read', 'admin'] },
        Boss: { description: 'All', scopes: ['*'] },
        Idle: { scopes: [] },
        None: {},
      },
    }),
    [
      'created groups.json: Boss',
      'changed groups.json: Idle: setting scopes removed',
      'created groups.json: None',
      'changed groups.json: Sales: setting scopes changed',
    ],
    [
      'scopes: nothing → *',
      'scopes: x → nothing',
      'scopes: nothing → admin, deals_close',
      'scopes: deals_write → nothing',
    ],
  ],
  [
    'what is new is listed with who may call and read it, and without values',
    application({}),
    application({
      storages: {
        goods: {
          rules: { read: 'doc.owner == user.username' },
          fields: {
            api_key: { type: 'string', default_value: 'new-value' },
            code: { type: 'string', unique: true, settable_by: "has_scope('crm_write')" },
            title: { type: 'string', default_value: 'none' },
          },
        },
      },
      blueprints: {
        deals: {
          name: 'Deals',
          blocks: {
            all: {
              type: 'on_startup_register_resource',
              in: { uri: 'goods', storage: 'goods' },
              fields: { write_scopes: ['crm_write'] },
              scopes: ['crm_read'],
            },
            ask: { type: 'on_startup_register_uri_post', in: { uri: '/deals' }, scopes: ['b', 'a'] },
            home: { type: 'state_page', in: { url: 'home', title: 'Home' } },
            made: { type: 'value_default', in: { value: 1 } },
          },
        },
      },
    }),
    ['created storages/goods.json', 'created blueprints/deals.json'],
    [
      'setting rules: nothing → {"read":"doc.owner == user.username"}',
      'field api_key, secret: nothing → true',
      'field code, unique: nothing → true',
      "field code, settable_by: nothing → “has_scope('crm_write')”",
      'resource /goods: nothing → crm_read',
      'resource /goods, write_scopes: nothing → crm_write',
      'POST /deals: nothing → a, b',
      'page /home: nothing → *public',
    ],
  ],
  [
    'a long text is cut around the first difference',
    deals(reply({ value: text(500, 'old') })),
    deals(reply({ value: text(500, 'new') })),
    ['changed blueprints/deals.json: block reply changed'],
    [`block reply, in › value: …${text(30, 'old')}” → …${text(30, 'new')}”`],
  ],
  [
    'a value that is too large to read',
    deals(reply({ value: [1] })),
    deals(reply({ value: Array.from({ length: 3_000 }, (_, n) => n) })),
    ['changed blueprints/deals.json: block reply changed'],
    ['block reply, in › value: 1 → “(too large to show)”'],
  ],
  [
    'signs that cannot be seen',
    deals(reply({ value: 'a' })),
    deals(reply({ value: 'a\u001b[2J\n' })),
    ['changed blueprints/deals.json: block reply changed'],
    ['block reply, in › value: “a” → “a⟨U+001B⟩[2J↵ ”'],
  ],
])('%s', (_, before, after, steps, values) => {
  expect(shownChanges(before, after)).toEqual([steps, values])
})

test('lines are bounded for a block and for a plan', () => {
  const many = (value: number, pins: number, blocks: number) => {
    const all = Object.fromEntries(Array.from({ length: pins }, (_, n) => [`p${n}`, value]))
    const named = Array.from({ length: blocks }, (_, n) => [`b${n}`, { type: 'x', in: all }])
    return deals(Object.fromEntries(named))
  }
  const [, ofBlock] = shownChanges(many(1, 30, 1), many(2, 30, 1))
  expect([ofBlock?.length, ofBlock?.at(-1)]).toEqual([21, 'and more'])
  const endpoints = Array.from({ length: 60 }, (_, n) => [
    `b${n}`,
    { type: 'on_startup_register_uri_get', in: { uri: `u${n}` } },
  ])
  const [, ofNew] = shownChanges(application({}), deals(Object.fromEntries(endpoints)))
  expect([ofNew?.length, ofNew?.at(-1)]).toEqual([51, 'and more'])
  const [, ofPlan] = shownChanges(many(1, 20, 50), many(2, 20, 50))
  expect([ofPlan?.length, ofPlan?.at(-1)]).toEqual([301, 'and more'])
})
