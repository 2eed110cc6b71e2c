import { expect, test } from 'vitest'
import { normalApplication } from '../shared/application/application.ts'
import type { JsonObject } from '../shared/json.ts'
import { sharingProblems, versionProblem } from './shared-storages.ts'

const needing = (quoin: string) => normalApplication({ about: { name: 'shop', needs: { quoin } } })

test.each([
  ['0.2', '0.1.9', 'needs Quoin 0.2, and the cluster has 0.1.9. Upgrade the cluster first.'],
  ['1.2.4', '1.2.3', 'Upgrade the cluster first'],
  ['1', '0.9.0', 'Upgrade the cluster first'],
  ['1', '2.0.0', 'change needs.quoin once it is adapted'],
  ['1', '1.0.0', undefined],
  ['1.2', '1.10.0', undefined],
  ['1.2.3', '1.2.3-rc.1', undefined],
])('needs.quoin %s on %s', (needs, version, problem) => {
  expect(versionProblem(needing(needs), version)).toEqual(
    problem === undefined ? [] : [expect.stringContaining(problem)],
  )
})

const crm = { name: 'crm', storages: ['customers', 'secrets'], offers: ['customers'], uses: [] }
const requested = (about: JsonObject) => normalApplication({ about: { name: 'shop', ...about } })
const used = new Map([['customers', 'blueprints/orders.json']])

test.each([
  [
    'what is not named',
    {},
    used,
    'blueprints/orders.json: uses the storage customers of the application crm',
  ],
  ['what is not offered', { uses: ['crm.secrets'] }, new Map(), 'which crm does not offer'],
  ['an application that is not there', { uses: ['erp.goods'] }, new Map(), 'there is no application erp'],
  ['an offer without a storage', { offers: ['orders'] }, new Map(), 'there is no storages/orders.json'],
  ['what is named and offered', { uses: ['crm.customers'] }, used, undefined],
  ['storages of no application', {}, new Map([['loose', 'blueprints/orders.json']]), undefined],
])('an application that uses %s', (_, about, storages, problem) => {
  expect(sharingProblems(requested(about), [crm], storages)).toEqual(
    problem === undefined ? [] : [expect.stringContaining(problem)],
  )
})

test('an offer that another application uses cannot be withdrawn', () => {
  const shop = { name: 'shop', storages: [], offers: [], uses: ['crm.customers'] }
  const withdrawn = normalApplication({ about: { name: 'crm' }, storages: { customers: {} } })
  expect(sharingProblems(withdrawn, [shop], new Map())).toEqual([
    'quoin.json: the application shop uses crm.customers. Keep customers in offers.',
  ])
})
