import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { matches } from '../../storage/search/evaluate-query.ts'
import { subjectOf } from './judge.ts'
import { scopeOf } from './reference-query.ts'
import {
  compileQueryRule,
  compileTestRule,
  type RuleFrame,
  ruleProblem,
  usesReferences,
} from './rule-expression.ts'

const context: RuleFrame['context'] = {
  timeZone: 'UTC',
  locale: 'en',
  now: () => Date.UTC(2026, 0, 1),
  random: () => new Uint8Array(),
  spend: () => undefined,
}
const own = scopeOf('deals')
const ann = { guid: 'a', username: 'ann', groups: [], scopes: ['hr'] }
const frame = (doc: JsonObject, user: JsonObject | undefined): RuleFrame => ({ doc, user, context })

test.each<[string, JsonObject | undefined, readonly string[] | undefined, boolean]>([
  ['an anonymous caller', undefined, ['*'], true],
  ['a user without scopes', { _meta: { guid: 'a' } }, undefined, true],
  ['a user with other scopes', { _meta: { guid: 'a' } }, ['deals_all'], true],
  ['an administrator', { _meta: { guid: 'a' } }, ['*'], false],
  ['a holder of storages_rules', { _meta: { guid: 'a' } }, ['storages_rules'], false],
])('whether rules bind %s', (_, record, scopes, bound) => {
  expect(subjectOf(record, scopes && new Set(scopes)).bound).toBe(bound)
})

test('a rule that cannot be read leads through no reference', () => {
  const owner = { from: 'deals', field: 'owner', storage: 'people', onDelete: 'refuse' } as const
  expect(usesReferences('doc.owner.name ==', own, owner)).toBe(false)
})

describe('a comparison with nothing is false', () => {
  test.each<[string, JsonObject, JsonObject | undefined, boolean]>([
    ['doc.owner == user.guid', {}, undefined, false],
    ['doc.owner == user.guid', { owner: null }, undefined, false],
    ['doc.owner == user.guid', { owner: 'a' }, ann, true],
    ['doc.owner != user.guid', { owner: 'a' }, undefined, false],
    ['!(doc.owner == user.guid)', { owner: 'a' }, undefined, false],
    ['doc.team == first(user.groups)', {}, ann, false],
    ['doc.team != first(user.groups)', { team: 't' }, ann, false],
    ['contains(user.scopes, "hr")', {}, ann, true],
    ['contains(user.scopes, "hr")', {}, undefined, false],
    ['doc.published <= today()', { published: '2025-12-31' }, undefined, true],
    ['doc.published <= today()', { published: '2026-01-02' }, ann, false],
    ['doc.owner == null', {}, undefined, true],
  ])('%s of %j', (rule, doc, user, expected) => {
    expect(ruleProblem(rule, 'see', own)).toBeUndefined()
    expect(compileTestRule(rule, own)(frame(doc, user))).toBe(expected)
    const query = compileQueryRule(rule, own)(frame({}, user))
    expect(matches(query, doc)).toBe(expected)
  })
})

test('what no run can use is refused when the rule is saved, and one that is stored stays readable', () => {
  const rule = 'format(doc.day, "YYYY") == "2026"'
  expect(ruleProblem(rule, 'write', own, { saved: true })).toMatch(/pattern has YYYY.*\(column 17\)\.$/)
  expect(ruleProblem(rule, 'write', own)).toBeUndefined()
})

describe('parts that no search can ask', () => {
  test.each<[string, JsonObject, JsonObject | undefined, boolean]>([
    ['doc.name.trim() == user.username', { name: ' ann ' }, ann, true],
    ['doc.name.trim() == user.username', {}, undefined, false],
    ['doc.name.trim() != user.username', { name: 'x' }, undefined, false],
    ['doc.total / doc.parts > 1 && doc.owner == user.guid', { total: 4, parts: 2, owner: 'a' }, ann, true],
    ['doc.total / doc.parts > 1 && doc.owner == user.guid', { total: 4, parts: 2 }, undefined, false],
    ['doc.owner == user.guid && doc.total / doc.parts > 1', { total: 4 }, ann, false],
    ['doc.name.length > 2 || doc.owner == user.guid', { name: 'a' }, undefined, false],
  ])('%s of %j', (rule, doc, user, expected) => {
    expect([ruleProblem(rule, 'write', own), typeof ruleProblem(rule, 'see', own)]).toEqual([
      undefined,
      'string',
    ])
    expect(compileTestRule(rule, own)(frame(doc, user))).toBe(expected)
  })

  test('what cannot be calculated throws', () => {
    expect(() => compileTestRule('doc.total / doc.parts > 1', own)(frame({ total: 1 }, ann))).toThrow(
      /nothing/,
    )
  })
})

describe('fields behind references', () => {
  const reference = (from: string, field: string, storage: string) =>
    ({ from, field, storage, onDelete: 'refuse' }) as const
  const all = [
    reference('deals', 'firm', 'firms'),
    reference('deals', 'parts.maker', 'firms'),
    reference('firms', 'region', 'regions'),
    reference('regions', 'parent', 'regions'),
  ]
  const none = scopeOf('deals').references
  const scope = scopeOf('deals', { ...none, of: (storage) => all.filter(({ from }) => from === storage) })
  const stored: Readonly<Record<string, JsonObject>> = {
    'firms f': { owner: 'a', region: 'r', tags: ['x'] },
    'firms g': { region: 'gone' },
    'regions r': { lead: 'a', parent: 's' },
    'regions s': { lead: 'b', parent: 'r' },
  }
  const lookup = (storage: string, guid: string) => stored[`${storage} ${guid}`]

  test.each<[string, JsonObject, JsonObject | undefined, boolean]>([
    ['doc.firm.owner == user.guid', { firm: 'f' }, ann, true],
    ['doc.firm.owner == user.guid', { firm: 'f' }, undefined, false],
    ['doc.firm.owner == user.guid', { firm: 'g' }, ann, false],
    ['doc.firm.owner == user.guid', { firm: 'gone' }, ann, false],
    ['doc.firm.owner == user.guid', {}, ann, false],
    ['doc.firm.owner != user.guid', {}, undefined, false],
    ['doc.firm.owner != user.guid', { firm: 'gone' }, ann, true],
    ['doc.parts.maker.owner == user.guid', { parts: { maker: 'f' } }, ann, true],
    ['doc.parts.maker.owner == user.guid', { parts: { maker: { owner: 'a' } } }, ann, false],
    ['doc.firm.region.lead == user.guid', { firm: 'f' }, ann, true],
    ['doc.firm.region.lead == user.guid', { firm: 'g' }, ann, false],
    ['doc.firm.region.parent.lead == "b"', { firm: 'f' }, undefined, true],
    ['contains(doc.firm.tags, "x") && doc.firm.region.lead == user.guid', { firm: 'f' }, ann, true],
    ['!isEmpty(doc.firm.tags)', { firm: 'g' }, ann, false],
    ['isEmpty(doc.firm.region.lead)', { firm: 'g' }, ann, true],
  ])('%s of %j', (rule, doc, user, expected) => {
    expect(ruleProblem(rule, 'see', scope)).toBeUndefined()
    expect(compileTestRule(rule, scope)({ ...frame(doc, user), lookup })).toBe(expected)
    expect(matches(compileQueryRule(rule, scope)(frame({}, user)), doc, lookup)).toBe(expected)
  })

  test('stand beside parts that no search can ask', () => {
    const rule = 'doc.name.trim() == user.username && doc.firm.owner == user.guid'
    expect(ruleProblem(rule, 'write', scope)).toBeUndefined()
    const compiled = compileTestRule(rule, scope)
    expect(compiled({ ...frame({ name: ' ann', firm: 'f' }, ann), lookup })).toBe(true)
    expect(compiled({ ...frame({ name: ' ann', firm: 'g' }, ann), lookup })).toBe(false)
  })

  test.each([
    ['doc.firm.region.parent.parent.lead == "b"', /more than 3 references/],
    ['doc.firm.owner == doc.owner', /cannot be compared/],
    ['doc.n == 1 || doc.firm.name.trim() == "a"', /firm\.name.*in another document.*column 15/],
    ['length(doc.firm["region"].lead) > 3', /firm\.region\.lead is in another document/],
  ])('%s is refused', (rule, problem) => {
    expect(ruleProblem(rule, 'write', scope)).toMatch(problem)
  })
})
