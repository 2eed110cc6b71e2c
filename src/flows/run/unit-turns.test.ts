import { expect, test } from 'vitest'
import type { Timers } from '../../shared/clock.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import { type TurnRequest, type UnitTurn, unitTurns } from './unit-turns.ts'

const flow: CompiledFlow = { trigger: 'post', slots: [], accept: () => undefined, first: undefined }

/** Turns of one flow, and timers that the test lets run out. */
function openTurns() {
  const due: (() => void)[] = []
  const after: Timers['after'] = (_ms, call) => {
    due.push(call)
    const end = () => void (due.includes(call) && due.splice(due.indexOf(call), 1))
    return { end, refresh: () => undefined, ref: () => undefined, unref: () => undefined }
  }
  const turns = unitTurns(() => 0, { after })
  const begun: (UnitTurn & { readonly name: string })[] = []
  const failed: string[] = []
  const want = (name: string, requested: Partial<TurnRequest> = {}) => {
    const turn = turns({ flow, key: undefined, until: 1_000, again: false, signal: undefined, ...requested })
    if (!(turn instanceof Promise)) begun.push({ ...turn, name })
    else
      turn.then(
        (one) => begun.push({ ...one, name }),
        (error) => failed.push(`${name}: ${error.code}`),
      )
  }
  return { want, begun, failed, due, names: () => begun.map(({ name }) => name) }
}

/** Lets promises that are settled be heard of. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('runs of a flow begin at once until one of them is undone', () => {
  const { want, begun, names } = openTurns()
  for (let number = 0; number < 100; number++) want(`${number}`)
  expect(names()).toHaveLength(100)
  for (const { text, end } of begun) {
    expect(text).toBeUndefined()
    end(false)
  }
})

test('a conflict halves them, down to one after the other with the text of their flow, and those that succeed open it again', async () => {
  const { want, begun, names } = openTurns()
  for (const name of ['a', 'b', 'c', 'd']) want(name)
  begun[0]?.end(true)
  begun[0]?.end(true)
  want('e')
  want('f', { again: true })
  begun[1]?.end(false)
  await settled()
  expect(names()).toEqual(['a', 'b', 'c', 'd'])
  begun[2]?.end(true)
  begun[3]?.end(true)
  await settled()
  expect(names()).toEqual(['a', 'b', 'c', 'd', 'f'])
  expect(begun[4]?.text).toBe('post')
  begun[4]?.end(false)
  await settled()
  expect(names().at(-1)).toBe('e')
  begun[5]?.end(false)
  const before = begun.length
  let most = 0
  for (let round = 0; round < 200; round++) {
    const from = begun.length
    for (let one = 0; one < 100; one++) want(`${round}.${one}`)
    most = Math.max(most, begun.length - from)
    for (let at = from; at < begun.length; at++) {
      begun[at]?.end(false)
      await settled()
    }
    if (most === 100) break
  }
  expect(begun.length).toBeGreaterThan(before)
  expect(most).toBe(100)
})

test('runs with one key come one after the other, in order, those with another or none beside them', async () => {
  const { want, begun, names } = openTurns()
  want('first', { key: 'room 1' })
  want('second', { key: 'room 1' })
  want('third', { key: 'room 1' })
  want('other', { key: 'room 2' })
  want('none')
  expect(begun.map(({ name, text }) => [name, text])).toEqual([
    ['first', 'post room 1'],
    ['other', 'post room 2'],
    ['none', undefined],
  ])
  begun[0]?.end(false)
  await settled()
  expect(names().at(-1)).toBe('second')
  begun[3]?.end(true)
  await settled()
  expect(names().at(-1)).toBe('third')
  begun[4]?.end(false)
  want('later', { key: 'room 1' })
  expect(names().at(-1)).toBe('later')
})

test('a run that waited too long is refused, one that is stopped goes on, and those behind it keep their places', async () => {
  const { want, begun, failed, due, names } = openTurns()
  const stop = new AbortController()
  want('first', { key: 'k' })
  want('late', { key: 'k' })
  want('stopped', { key: 'k', signal: stop.signal })
  want('last', { key: 'k' })
  due[0]?.()
  stop.abort()
  await settled()
  expect(failed).toEqual(['late: UNAVAILABLE'])
  expect(names()).toEqual(['first', 'stopped'])
  begun[1]?.end(false)
  await settled()
  expect(names()).toEqual(['first', 'stopped'])
  begun[0]?.end(false)
  await settled()
  expect(names()).toEqual(['first', 'stopped', 'last'])
  expect(due).toEqual([])
})
