import { expect, test } from 'vitest'
import { freeSteering, type Steering, type SteeringState, steer, steeredTo } from './steering.ts'

/** The run pauses at a place, or a command is asked for. The list of paused runs is read again after some time only. */
type Event = { readonly at: string } | Steering

function sent(events: readonly Event[]): readonly string[] {
  let state: SteeringState = freeSteering
  let place: string | undefined
  const all: string[] = []
  for (const event of events) {
    if (typeof event === 'object') place = event.at
    const { state: next, send } =
      typeof event === 'object' ? steeredTo(state, event.at) : steer(state, event, place)
    state = next
    if (send !== undefined) all.push(`${send} ${place}`)
  }
  return all
}

const [a, b, c] = [{ at: 'a' }, { at: 'b' }, { at: 'c' }]

test.each<[string, Event[], readonly string[]]>([
  ['nothing before the run is paused', ['step'], []],
  ['a command is sent once', [a, 'step', a, b], ['step a']],
  ['a key that comes early waits for the next pause', [a, 'step', 'step', a, b, c], ['step a', 'step b']],
  ['two wait', [a, 'step', 'step', 'resume', b, c], ['step a', 'step b', 'resume c']],
  ['keys in step with the pauses', [a, 'step', b, 'step', c, 'step'], ['step a', 'step b', 'step c']],
  ['to stop goes before what waits', [a, 'step', 'step', 'resume', 'stop', b, c], ['step a', 'stop b']],
])('%s', (_what, events, expected) => {
  expect(sent(events)).toEqual(expected)
})

test('a key that is held down waits for no more than fifty pauses', () => {
  let { state } = steer(freeSteering, 'step', 'a')
  for (let n = 0; n < 200; n += 1) state = steer(state, 'step', 'a').state
  expect(state.waiting).toHaveLength(50)
})
