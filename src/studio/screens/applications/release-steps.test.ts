import { expect, test } from 'vitest'
import { aboutLists, driftOf, stepOf } from './release-steps.ts'

test.each([
  ['created blueprints/deals.json', 'created', 'Blueprint deals', []],
  [
    'changed storages/deals.json: field title renamed to name, field note created',
    'changed',
    'Storage deals',
    ['field title renamed to name', 'field note created'],
  ],
  [
    'changed groups.json: Sales, east: setting scopes changed',
    'changed',
    'Group Sales, east: setting scopes changed',
    [],
  ],
  ['created connections.json: shop', 'created', 'Connection shop', []],
  ['removed templates/office.json', 'removed', 'Page template office', []],
  ['deployed blueprints/deals.json as it is', 'deployed', 'Blueprint deals', []],
  ['created tests/large-order.test.json', 'created', 'Test large-order', []],
  ['changed seed/stages.ndjson', 'changed', 'First documents of stages', []],
  ['changed quoin.json', 'changed', 'quoin.json', []],
  ['copied 3 values of deals.title', 'other', 'copied 3 values of deals.title', []],
  ['other words of a line', 'other', 'other words of a line', []],
  ['constructor of nothing', 'other', 'constructor of nothing', []],
])('%s is shown as such', (line, change, what, parts) => {
  expect(stepOf(line)).toEqual({ change, what, parts, meaning: '', values: [], isCut: false })
})

const reply = (value: string) => ({ type: 'httpconnection_set_json', in: { value } })
const released = {
  about: { name: 'crm' },
  blueprints: { deals: { name: 'Deals', blocks: { reply: reply('a') } }, old: { name: 'Old', blocks: {} } },
  storages: { deals: { fields: { title: { type: 'string' } } }, notes: {}, tags: { fields: { word: {} } } },
  groups: { Sales: { scopes: ['crm_read'] } },
}

test('each change since the release is listed with what a push makes of it', () => {
  const now = {
    about: { name: 'crm' },
    blueprints: { deals: { name: 'Deals', blocks: { reply: reply('b') }, layout: { reply: [1, 2] } } },
    storages: {
      deals: { fields: { title: { type: 'string' }, note: { type: 'string' } } },
      tags: { history: true },
    },
    groups: {},
  }
  const found = driftOf(released, now).map(({ change, what, parts, meaning }) => [
    change,
    what,
    parts,
    meaning,
  ])
  expect(found).toEqual([
    ['removed', 'Group Sales', [], 'A push of the folder makes it again, without its members.'],
    [
      'changed',
      'Storage deals',
      ['field note created'],
      'A push of the folder removes the new fields. Their values stay in the documents.',
    ],
    ['removed', 'Storage notes', [], 'A push of the folder makes it again, without its documents.'],
    [
      'changed',
      'Storage tags',
      ['setting history created', 'field word removed'],
      'A push of the folder makes the removed fields again, with the values that documents have.',
    ],
    ['changed', 'Blueprint deals', ['block reply changed'], 'A push of the folder sets it back.'],
    ['removed', 'Blueprint old', [], 'A push of the folder makes it again.'],
  ])
})

test('places of blocks are drift only where the release has them', () => {
  const at = (place: number) => ({
    blueprints: { deals: { name: 'Deals', blocks: { reply: reply('a') }, layout: { reply: [place, 0] } } },
  })
  const without = { blueprints: { deals: { name: 'Deals', blocks: { reply: reply('a') } } } }
  expect(driftOf(without, at(1))).toEqual([])
  expect(driftOf(at(1), at(2)).map(({ parts, meaning }) => [parts, meaning])).toEqual([
    [['block reply moved'], 'Only places on the canvas differ. Runs do not change.'],
  ])
})

test('what an application uses, offers and needs is read from quoin.json', () => {
  const about = {
    name: 'crm',
    uses: ['shop.goods'],
    needs: { quoin: '1.2', env: ['CRM_MAIL'], secrets: ['pay'] },
  }
  expect(aboutLists({ about })).toEqual({
    uses: ['shop.goods'],
    offers: [],
    needs: ['quoin 1.2', 'env CRM_MAIL', 'secrets pay'],
  })
  expect(aboutLists({})).toEqual({ uses: [], offers: [], needs: [] })
})
