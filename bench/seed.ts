import { isJsonObject } from '../src/shared/json.ts'
import type { Candidate } from './candidates.ts'
import { runLoad } from './load.ts'
import { guidIn } from './management-api.ts'
import { ask } from './requests.ts'
import type { SeededCandidate } from './rows.ts'
import { SEEDED, STATUSES, taskBody } from './sample-tasks.ts'

/** A divisor of STATUSES: then all tasks of a status go one after the other through one lane. */
const LANES = STATUSES / 4
const EACH_NTH = 10

/** Creates the tasks through the API. Both candidates then hold the tasks of each status in the same order. */
export async function seed(candidate: Candidate): Promise<SeededCandidate> {
  const { base, name } = candidate
  await Promise.all(Array.from({ length: LANES }, (_, lane) => fillLane(candidate, lane)))
  const reply = await fetch(`${base}/api/v1/tasks?limit=${SEEDED}`)
  const tasks: unknown = await reply.json()
  const guids = Array.isArray(tasks) ? tasks.filter(isJsonObject).map(guidIn) : []
  if (new Set(guids).size !== SEEDED)
    throw new Error(`${name} holds ${guids.length} tasks and not ${SEEDED}.`)
  return { ...candidate, guids: guids.filter((_, index) => index % EACH_NTH === 0) }
}

async function fillLane({ port, token, name }: Candidate, lane: number): Promise<void> {
  let number = lane
  const { errors, firstError } = await runLoad({
    port,
    connections: 1,
    next() {
      if (number >= SEEDED) return undefined
      const body = taskBody(number)
      number += LANES
      return ask({ method: 'POST', path: 'tasks', token, body, expected: 201 })
    },
  })
  if (errors > 0) throw new Error(`${name} could not be filled with tasks: ${firstError}`)
}
