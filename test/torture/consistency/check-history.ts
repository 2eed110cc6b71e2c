/** Holds what clients were told against the promises. */
import { documentModel } from './document-model.ts'
import { linearizable } from './linearizable.ts'
import { momentProblems, type View } from './one-moment.ts'
import type { List, Recorder } from './recorder.ts'

/** Read when everything is over. */
export interface FinalState {
  /** Keys of all orders, one for each document; and of those that a job has handled. */
  readonly orders: readonly string[]
  readonly handled: readonly string[]
  /** Names that are there. */
  readonly names: ReadonlySet<string>
}

export interface HistoryCheck {
  readonly checked: number
  readonly failures: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

/** `oneSnapshot`: whether the documents of a list and their total are of one moment. */
export function checkHistory(recorder: Recorder, final: FinalState, oneSnapshot: boolean): HistoryCheck {
  const { registers, changes, lists, races, orders, unexpected } = recorder
  const failures = unexpected.map((what) => `unexpected answer: ${what}`)
  let undecided = 0
  for (const [guid, calls] of registers) {
    const verdict = linearizable(calls, documentModel)
    if (verdict === 'not linearizable') failures.push(`document ${guid}: ${calls.length} calls in no order`)
    if (verdict === 'undecided') undecided += 1
  }
  failures.push(...momentProblems(changes, viewsOf(lists, recorder)))
  const otherTotals = lists.filter(({ total, count }) => total !== count)
  if (oneSnapshot)
    for (const { name, total, count } of otherTotals)
      failures.push(`${name}: ${count} documents, and a total of ${total}`)
  for (const { name, won, refused, unknown } of races) {
    const there = final.names.has(name)
    if (won > 1) failures.push(`${won} clients have made ${name}`)
    if (won + unknown === 0) failures.push(`${refused} clients were refused ${name}, and none has made it`)
    if (won > 0 && !there) failures.push(`${name} was made and is gone`)
  }
  failures.push(...orderFailures(orders, final))
  const documentCalls = [...registers.values()].reduce((total, calls) => total + calls.length, 0)
  return {
    checked: documentCalls + lists.length + races.length + orders.length,
    failures,
    figures: {
      calls: recorder.calls,
      'calls without an answer': recorder.lost,
      'calls of shared documents': documentCalls,
      'lost races with an update_hash': conflicts(recorder),
      lists: lists.length,
      'totals of another moment': otherTotals.length,
      'names raced for': races.length,
      orders: orders.length,
      ...(undecided > 0 && { 'undecided documents': undecided }),
    },
  }
}

function conflicts({ registers }: Recorder): number {
  return [...registers.values()].flat().filter(({ output }) => output?.is === 'conflict').length
}

function orderFailures(orders: Recorder['orders'], { orders: stored, handled }: FinalState): string[] {
  const count = new Map<string, number>()
  for (const key of stored) count.set(key, (count.get(key) ?? 0) + 1)
  const done = new Set(handled)
  return orders.flatMap(({ key, acknowledged }) => {
    const times = count.get(key) ?? 0
    return [
      ...(times > 1 ? [`${key} was stored ${times} times under one idempotency key`] : []),
      ...(acknowledged && times === 0 ? [`${key} was acknowledged and is gone`] : []),
      ...(times > 0 && !done.has(key) ? [`${key} was stored, and its job never ran`] : []),
    ]
  })
}

/**
 * A list shows every key of its group, with null for those that are not on it. Keys that were not there before the list, or
 * no more after it, and are not on it say nothing and are left out: there are many.
 */
function viewsOf(lists: readonly List[], { changes }: Recorder): View[] {
  const lives = new Map<string, { from: number; to: number }>()
  for (const { invoked, returned, sets } of changes)
    for (const [key, state] of sets) {
      const life = lives.get(key) ?? { from: invoked, to: Number.POSITIVE_INFINITY }
      lives.set(key, state === null ? { ...life, to: returned } : life)
    }
  return lists.map(({ name, invoked, returned, documents }) => {
    const sees = new Map<string, string | null>(documents)
    for (const [key, { from, to }] of lives)
      if (!sees.has(key) && from <= returned && to >= invoked) sees.set(key, null)
    return { name, invoked, returned, sees }
  })
}
