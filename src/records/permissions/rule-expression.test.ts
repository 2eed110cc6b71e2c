import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { matches } from '../../storage/search/evaluate-query.ts'
import { compileQueryRule, compileTestRule, type RuleFrame, ruleProblem } from './rule-expression.ts'

const context: RuleFrame['context'] = {
  timeZone: 'UTC',
  locale: 'en',
  now: () => Date.UTC(2026, 0, 1),
  random: () => new Uint8Array(),
  spend: () => undefined,
}
const ann = { guid: 'a', username: 'ann', groups: [], scopes: ['hr'] }
const frame = (doc: JsonObject, user: JsonObject | undefined): RuleFrame => ({ doc, user, context })

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
    expect(ruleProblem(rule, 'see')).toBeUndefined()
    expect(compileTestRule(rule)(frame(doc, user))).toBe(expected)
    const query = compileQueryRule(rule)(frame({}, user))
    expect(matches(query, doc)).toBe(expected)
  })
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
    expect([ruleProblem(rule, 'write'), typeof ruleProblem(rule, 'see')]).toEqual([undefined, 'string'])
    expect(compileTestRule(rule)(frame(doc, user))).toBe(expected)
  })

  test('what cannot be calculated throws', () => {
    expect(() => compileTestRule('doc.total / doc.parts > 1')(frame({ total: 1 }, ann))).toThrow(/nothing/)
  })
})
