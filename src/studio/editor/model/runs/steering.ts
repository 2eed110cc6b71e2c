/**
 * Keys and clicks for a run that is paused. A command is for the block before which the run stands, so there is one on its way:
 *
 *   free  → a command is sent
 *   sent  → further ones wait; the next one is sent when the run pauses again. To stop takes the place of all that wait
 *   ended → what waits is dropped, which the user is told
 */
export type Steering = 'step' | 'resume' | 'stop'

export interface SteeringState {
  /** Where the run stood when the command was sent that is on its way. */
  readonly sentAt: string | undefined
  readonly waiting: readonly Steering[]
}

interface Steered {
  readonly state: SteeringState
  readonly send?: Steering
}

export const freeSteering: SteeringState = { sentAt: undefined, waiting: [] }

/** A held key sends no more than these. */
const MOST_WAITING = 50

/** `place`: where the run stands; undefined while it goes. */
export function steer(state: SteeringState, how: Steering, place: string | undefined): Steered {
  if (state.sentAt === undefined && place !== undefined)
    return { state: { sentAt: place, waiting: [] }, send: how }
  if (how === 'stop') return { state: { ...state, waiting: ['stop'] } }
  return { state: { ...state, waiting: [...state.waiting, how].slice(0, MOST_WAITING) } }
}

/** The run stands there now. */
export function steeredTo(state: SteeringState, place: string): Steered {
  if (state.sentAt === place) return { state }
  const [next, ...waiting] = state.waiting
  return next === undefined ? { state: freeSteering } : { state: { sentAt: place, waiting }, send: next }
}
