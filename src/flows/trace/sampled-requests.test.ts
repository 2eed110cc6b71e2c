import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import { dueRequests, tooMany } from './sampled-requests.ts'

const flow = { trigger: '', slots: [], accept: () => undefined, first: undefined }

function opened(oneIn: number) {
  const clock = { now: 1_000_000 }
  const isDue = dueRequests(() => clock.now)
  const request = (query: Readonly<Record<string, string>>, body?: JsonValue, method = 'GET') => ({
    ...{ method, url: '/', headers: {}, ip: '', query, path: {}, body, user: undefined },
  })
  const ask = (query: Readonly<Record<string, string>> = {}, body?: JsonValue, isReady = () => true) =>
    isDue({ flow, blueprint: 'b', input: {}, request: request(query, body) }, oneIn, isReady)
  return { clock, isDue, ask, request }
}

describe('not due', () => {
  test('what is no request, what goes on after a wait, and a try again', () => {
    const { isDue, request } = opened(1)
    const start = { flow, blueprint: 'b', input: {} }
    expect(isDue(start, 1, () => true)).toBe(false)
    const unit = { attempt: 2, holdsReads: true, until: 0, committed: false, counted: new Map() }
    const again = { ...start, request: request({}), unit }
    expect(isDue(again, 1, () => true)).toBe(false)
    expect(isDue({ ...again, unit: { ...unit, attempt: 1 } }, 1, () => true)).toBe(true)
  })

  test('the same names again', () => {
    const { ask } = opened(100)
    expect([ask({ a: '1' }), ask({ a: '2' }), ask({ a: '3' })]).toEqual([true, false, false])
  })

  test('a third one in a second, which counts as no shape that was seen', () => {
    const { ask, clock } = opened(100)
    expect([ask(), ask({ a: '' }), ask({ b: '' })]).toEqual([true, true, false])
    clock.now += 1_000
    expect([ask({ b: '' }), ask({ b: '' })]).toEqual([true, false])
  })

  test('while the flow is not compiled for it', () => {
    const { ask } = opened(100)
    expect([ask({}, undefined, () => false), ask()]).toEqual([false, true])
  })

  test('names that differ behind their first 100 characters only', () => {
    const { ask } = opened(100)
    const long = 'x'.repeat(100)
    expect([ask({ [`${long}a`]: '' }), ask({ [`${long}b`]: '' })]).toEqual([true, false])
    expect([ask({}, { [`${long}a`]: 1 }), ask({}, { [`${long}b`]: 1 })]).toEqual([true, false])
  })

  test('names beyond twenty, which clients make up', () => {
    const { ask, clock } = opened(1_000)
    const found = Array.from({ length: 30 }, (_, at) => {
      clock.now += 1_000
      return ask({ [`name${at}`]: '' })
    })
    expect(found.filter(Boolean)).toHaveLength(20)
  })
})

test('the first of a shape, of query and body, and one in so many', () => {
  const { ask, clock } = opened(3)
  const after = (...asked: Parameters<typeof ask>) => {
    clock.now += 1_000
    return ask(...asked)
  }
  expect([after(), after(), after(), after(), after()]).toEqual([true, false, false, true, false])
  expect([after({}, { a: 1 }), after({}, { a: 2 }), after({}, { b: 1 })]).toEqual([true, false, true])
  // The clock is set back: neither the second nor the hour is waited for a second time.
  clock.now -= 7_200_000
  expect([ask({ c: '' }), ask({ d: '' }), ask({ e: '' })]).toEqual([true, true, false])
  // Once more in the next hour.
  clock.now += 3_600_000
  expect([after(), after(), after(), after()].filter(Boolean).length).toBeGreaterThan(0)
})

test('of a trigger the newest 200 stay, of a blueprint the newest 20 MB', () => {
  const known = Array.from({ length: 203 }, (_, at) => ({
    ...{ guid: `${at}`, trigger: at === 0 ? 'other' : 'busy', bytes: 10 },
  }))
  expect(tooMany(known, 'busy')).toEqual(['1', '2'])
  expect(known).toHaveLength(201)
  known.push({ guid: 'large', trigger: 'other', bytes: 20 * 1024 * 1024 - 500 })
  expect(tooMany(known, 'other')[0]).toBe('0')
  expect(known.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(20 * 1024 * 1024)
})
