import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Job } from '../../storage/job.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import type { Flows } from '../flows.ts'
import { flowsOf } from '../live/flows-of.ts'
import type { RunStart } from '../run/run-start.ts'
import { type WaitRecord, waitRecordOf } from '../run/wait-record.ts'

export interface WaitTarget extends Pick<RunStart, 'flow' | 'blueprint' | 'given' | 'resume'> {
  /** What the caller of the request held that the run began with; undefined where blocks act as an anonymous caller. */
  readonly callerScopes: ReadonlySet<string> | undefined
}

/**
 * The run that continues after a wait; undefined when there is nothing to do: the wait has ended, or another job goes on with
 * it. Rejects, so that the job is tried again, while the blueprint is not active or has no such block.
 */
export async function waitTarget(
  flows: Pick<Flows, 'live' | 'records' | 'versions'>,
  { guid: job, payload }: Pick<Job, 'guid' | 'payload'>,
): Promise<WaitTarget | undefined> {
  const { database } = flows.records
  const session = database.session()
  const stored = await session.get(ownStorages.waits, textIn(payload.wait))
  if (!stored) return undefined
  const record = waitRecordOf(documentOf(stored))
  if (record.state === 'waiting') {
    // Its time has come. Who ends the wait from now on is told that it is over.
    const fields = setFields({ state: 'resumed', job })
    const { outcome } = await session.update(ownStorages.waits, record.guid, fields, {
      updateHash: record.updateHash,
    })
    if (outcome !== 'written') throw new Error('The wait has ended at the same time.')
    await session.transaction.commit()
  } else if (record.job !== job) return undefined
  const flow = await flowOf(flows, record)
  const resume = { wait: record.guid, job }
  return { flow, blueprint: record.blueprint, given: {}, resume, callerScopes: record.callerScopes }
}

async function flowOf(
  { live, versions }: Pick<Flows, 'live' | 'versions'>,
  { blueprint, deployment, version, trigger, block }: WaitRecord,
) {
  const active = live.table().blueprints.get(blueprint)
  if (!active)
    throw new Error(
      'The blueprint of the run that waits is not active. Activate it, and continue the run again.',
    )
  const numbers = version === 'current' ? [0, deployment] : [deployment]
  for (const number of numbers) {
    const compiled = await versions.compiled(active, number)
    const flow = flowsOf(compiled).find((one) => one.trigger === trigger)
    if (flow?.resumePoints?.has(block)) return flow
  }
  throw new Error(
    `Version ${deployment} of the blueprint has no block ${block} that waits. End the wait, or deploy a version with the block.`,
  )
}
