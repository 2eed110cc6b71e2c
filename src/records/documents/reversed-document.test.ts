/** A document as it was before writes that its history has. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { documentRevisions } from './document-revisions.ts'
import { type DocumentState, reversedDocument } from './reversed-document.ts'

const present = (fields: JsonObject): DocumentState => ({ fields, removed: false })
const updated = (before: JsonObject, after: JsonObject): JsonObject => ({
  action: 'updated',
  revisions: documentRevisions(before, after),
})
const created = (after: JsonObject): JsonObject => ({
  action: 'created',
  revisions: documentRevisions(undefined, after),
})
const removed = { action: 'removed', revisions: [] }
const restored = { action: 'restored', revisions: [] }
const deleted = (before: JsonObject): JsonObject => ({
  action: 'deleted',
  revisions: documentRevisions(before, {}),
})

describe('refused', () => {
  const [was, is] = [{ a: 1 }, { a: 2 }]
  test.each<[string, DocumentState, JsonObject[], string]>([
    ['another value since', present({ a: 3 }), [updated(was, is)], 'It was changed since.'],
    ['a value that is gone', present({}), [updated(was, is)], 'It was changed since.'],
    ['a field more than was created', present({ a: 2, b: 1 }), [created(is)], 'It was changed since.'],
    [
      'a list that grew since',
      present({ l: [1, 2, 3] }),
      [updated({ l: [1] }, { l: [1, 2] })],
      'It was changed since.',
    ],
    ['a document that was deleted', undefined, [updated(was, is)], 'It was deleted since.'],
    ['one that was removed', { fields: is, removed: true }, [created(is)], 'It was removed since.'],
    ['one that was restored', present(is), [removed], 'It was restored since.'],
    ['one that was removed again', { fields: is, removed: true }, [restored], 'It was removed since.'],
    ['a guid that is taken', present(is), [deleted(is)], 'There is a document with its guid again.'],
    [
      'a value that the history leaves out',
      present({ a: 'x' }),
      [
        {
          action: 'updated',
          revisions: [{ key: 'a', type: 'set.field', value: 'x', previous_value: { left_out: 70_000 } }],
        },
      ],
      'Its history leaves out a value that is too long.',
    ],
    [
      'a name by which no path leads, in an older history',
      present({ o: {} }),
      [
        {
          action: 'updated',
          revisions: [{ key: 'o.', type: 'remove.field', value: null, previous_value: 1 }],
        },
      ],
      'Its history has a name that no path leads to.',
    ],
  ])('%s', (_what, now, records, problem) => {
    expect(reversedDocument(now, records)).toEqual({ problem })
  })

  test('a write of which the history has a part', () => {
    const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`f${n}`, n]))
    expect(reversedDocument(present(many), [updated({}, many)])).toHaveProperty('problem')
  })
})

describe('what it was', () => {
  test.each<[string, DocumentState, JsonObject[], DocumentState]>([
    ['created: nothing', present({ a: 1 }), [created({ a: 1 })], undefined],
    [
      'created and changed: nothing',
      present({ a: 2 }),
      [updated({ a: 1 }, { a: 2 }), created({ a: 1 })],
      undefined,
    ],
    [
      'changed, and others changed another field',
      present({ a: 2, b: 9 }),
      [updated({ a: 1 }, { a: 2 })],
      present({ a: 1, b: 9 }),
    ],
    ['removed: present', { fields: { a: 1 }, removed: true }, [removed], present({ a: 1 })],
    ['restored: removed', present({ a: 1 }), [restored], { fields: { a: 1 }, removed: true }],
    ['deleted: there again', undefined, [deleted({ a: { b: [1] } })], present({ a: { b: [1] } })],
    [
      'deleted by the run, removed by others before: removed',
      undefined,
      [{ ...deleted({ a: 1 }), removed: true }],
      { fields: { a: 1 }, removed: true },
    ],
    ['removed, then deleted: present', undefined, [deleted({ a: 1 }), removed], present({ a: 1 })],
    [
      'a list that lost its end',
      present({ l: [1] }),
      [updated({ l: [1, 2, 3] }, { l: [1] })],
      present({ l: [1, 2, 3] }),
    ],
    [
      'an inner field with a name that has a dot',
      present({ o: {} }),
      [updated({ o: { 'a.b': 1 } }, { o: {} })],
      present({ o: { 'a.b': 1 } }),
    ],
    [
      'an inner field',
      present({ o: { a: 2, b: 1 } }),
      [updated({ o: { a: 1, b: 1 } }, { o: { a: 2, b: 1 } })],
      present({ o: { a: 1, b: 1 } }),
    ],
  ])('%s', (_what, now, records, before) => {
    expect(reversedDocument(now, records)).toEqual({ state: before })
  })

  test('property: any writes, one after the other', () => {
    // Without null, which the history does not tell from a field that is not there.
    const value: fc.Arbitrary<JsonValue> = fc.oneof(
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom('a', 'b', true),
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 0, max: 2 }), {
        minKeys: 1,
        noNullPrototype: true,
      }),
    )
    const fields = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true })
    fc.assert(
      fc.property(fc.array(fields, { minLength: 2, maxLength: 5 }), (states) => {
        const records = states
          .slice(1)
          .map((after, at) => updated(states[at] ?? {}, after))
          .reverse()
        const [first = {}, last = {}] = [states[0], states.at(-1)]
        expect(reversedDocument(present(last), records)).toEqual({ state: present(first) })
        expect(reversedDocument(present(last), [...records, created(first)])).toEqual({ state: undefined })
      }),
      { numRuns: 500 },
    )
  })
})
