/** Rules that cannot be evaluated: they allow and show nothing, and are reported by storage and name. */
import { expect, test } from 'vitest'
import { StoredJson } from '../../storage/stored-json.ts'
import type { StorageRules } from '../fields/field-rules.ts'
import { compiledRules } from './compiled-rules.ts'
import { subjectOf } from './judge.ts'
import { openPermissions } from './permissions.ts'
import { storageView } from './storage-view.ts'

/** Fails where the user is in no group. */
const failing = 'doc.n > 1 / length(user.groups)'
const failingField = '1 / length(user.groups) > 0'
const storageRules: StorageRules = {
  rules: [
    {
      ...{ name: 'price', storage: 'deals', type: 'number', required: false, defaultValue: undefined },
      ...{ limits: {}, visibleTo: failingField, settableBy: failingField },
    },
  ],
  closed: false,
  permissions: { see: failing, create: failing, change: failing, remove: failing },
}
const document = new StoredJson('{"n":5,"price":1}')
const user = { guid: 'a', username: 'ann', groups: [], scopes: [] }

function viewOf(groups: readonly string[], rules: StorageRules = storageRules) {
  const reported: string[] = []
  const reasons: string[] = []
  const compiled = compiledRules('deals', rules)
  if (!compiled) throw new Error('The storage has rules.')
  const context = () => ({
    ...{ timeZone: 'UTC', locale: 'en', now: () => 0 },
    ...{ random: () => new Uint8Array(), spend: () => undefined },
  })
  const failed = (storage: string, rule: string, error: unknown) => {
    reported.push(`${storage} ${rule}`)
    reasons.push(error instanceof Error ? error.message : '')
  }
  const view = storageView('deals', compiled, { user: { ...user, groups: [...groups] }, context, failed })
  return { view, reported, reasons }
}

test('a rule that cannot be evaluated shows and allows nothing, and is reported', () => {
  const { view, reported } = viewOf([])
  const allowed = (['create', 'change', 'remove'] as const).map((name) => view.allows(name, document))
  expect([view.sees(document), ...allowed]).toEqual([false, false, false, false])
  expect([view.hidden, view.unsettable]).toEqual([['price'], ['price']])
  expect(reported.toSorted()).toEqual([
    ...['deals change', 'deals create', 'deals remove', 'deals see'],
    ...['deals settable_by of price', 'deals visible_to of price'],
  ])
})

test('a rule that compares a field with a list shows nothing, and the reason is reported', () => {
  const see = 'doc.n == (length(user.groups) == 0 ? 5 : user.groups)'
  const compares = { ...storageRules, permissions: { see } }
  expect(viewOf([], compares).view.sees(document)).toBe(true)
  const { view, reasons } = viewOf(['sales'], compares)
  expect(view.sees(document)).toBe(false)
  expect(reasons).toContain('A search compares fields with texts, numbers, true and false; this is a list.')
})

test('the same rules are evaluated for a user in a group, and nothing is reported', () => {
  const { view, reported } = viewOf(['sales'])
  expect([view.sees(document), view.allows('change', document)]).toEqual([true, true])
  expect([view.hidden, view.unsettable, reported]).toEqual([[], [], []])
})

test('a rule that fails in each request is logged once', async () => {
  const logged: string[] = []
  const rules = { storageRules: () => storageRules, noPermissions: () => false }
  const permissions = openPermissions({ rules, clock: () => 0, warn: (message) => logged.push(message) })
  const subject = subjectOf({ _meta: { guid: 'a' }, username: 'ann' }, new Set())
  for (let n = 0; n < 3; n++) expect(await permissions.hidden('deals', subject)).toEqual(['price'])
  expect(logged.filter((message) => message.includes('visible_to of price'))).toEqual([
    expect.stringContaining(
      'The rule visible_to of price of the storage deals cannot be evaluated, and allows nothing: ',
    ),
  ])
})
